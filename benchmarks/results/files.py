"""Results written to files beside pyarrow and polars, memory of a long run, and what a monitor costs.

    python benchmarks/results/files.py [--rows 1000000 10000000] [--peers ""]

CPU times of all threads, the least of three. The peers write the same numbers, which have all their digits.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from measured import Swing, least_time, memory, system_of
from peers import PeerError, run_peer

import cosim

ROUNDS = 3
OPTIONS: dict[str, Any] = {"integrator": "integrators.runge_kutta_4", "fixed_step": 1e-3}


def measure_files(rows: int, signals: int) -> dict[str, float]:
    """Seconds to write a result in memory, and to write it piece by piece."""
    random = np.random.default_rng(49)
    values = {f"s{i}": random.standard_normal(rows) for i in range(signals)}
    result = cosim.Result(np.arange(rows) * 1e-3, values)
    pieces = [result[i:j] for i, j in zip(*_bounds(result, 43_690), strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for name in ("parquet", "csv"):
            path = Path(folder) / f"run.{name}"
            write = result.to_parquet if name == "parquet" else result.to_csv
            found[f"{name} cosim"] = least_time(lambda write=write, path=path: write(path), ROUNDS)

            def stream(path: Path = path) -> None:
                written = cosim.kit.result_sink(path).stream(path)
                for piece in pieces:
                    written.append(piece)
                written.close(result[0.0:0.0])

            found[f"{name} streamed"] = least_time(stream, ROUNDS)
    return found


def _bounds(result: cosim.Result, rows: int) -> tuple[list[float], list[float]]:
    firsts = result.time[::rows]
    lasts = [*result.time[rows - 1 :: rows], result.time[-1]][: len(firsts)]
    return firsts.tolist(), [float(time) for time in lasts]


def measure_memory(rows: int) -> tuple[float, float]:
    """MB of the numbers of a run, and by how much its memory grew at most."""
    system, until = system_of(Swing), rows * 1e-3
    signals = ["swing.height", "swing.speed"]
    cosim.simulate(system, until=1.0, signals=signals, **OPTIONS)
    before = memory()
    result = cosim.simulate(system, until=until, output_interval=1e-3, signals=signals, **OPTIONS)
    numbers = result.time.nbytes + sum(values.nbytes for values in result.signals.values())
    return numbers / 1e6, memory("VmHWM") - before


def measure_monitor(steps: int) -> tuple[float, float]:
    """µs of a step without a monitor, and with one that does nothing."""
    system, found = system_of(Swing), []
    for monitored in (False, True):
        simulators = [cosim.Simulator(system, accuracy=1e-6, **OPTIONS) for _ in range(5)]
        for simulator in simulators:
            simulator.initialize()
            if monitored:
                simulator.set_monitor(lambda state: None)
        waiting = iter(simulators)
        found.append(
            least_time(lambda waiting=waiting: next(waiting).advance_to(steps * 1e-3), 5) / steps * 1e6
        )
    return found[0], found[1]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--peers", default="polars")
    given = parser.parse_args()
    for rows in given.rows:
        numbers, grown = measure_memory(rows)
        print(f"memory of a run with {rows:,} rows of 2: {numbers:.0f} MB of numbers, {grown:.0f} MB at most")
    plain, monitored = measure_monitor(20_000)
    print(f"a step: {plain:.2f} µs, with a monitor {monitored:.2f} µs\n")
    cases = [[rows, 2] for rows in given.rows] + [[max(given.rows) // 1000, 1000]]
    found = [measure_files(*case) for case in cases]
    if given.peers:
        try:
            answer = run_peer(
                "polars", "results/peer_tables.py", [json.dumps({"cases": cases, "rounds": ROUNDS})]
            )
            for ours, theirs in zip(found, answer["rows"], strict=True):
                ours.update(theirs)
            print("pyarrow {}, polars {}\n".format(*answer["versions"]))
        except PeerError as error:
            print(f"polars: {error}", file=sys.stderr)
    columns = sorted({name for row in found for name in row})
    print(
        f"| rows | signals | {' | '.join(f'{name}, s' for name in columns)} |\n|{'---|' * (2 + len(columns))}"
    )
    for (rows, signals), row in zip(cases, found, strict=True):
        print(f"| {rows} | {signals} | {' | '.join(f'{row[name]:.3g}' for name in columns if name in row)} |")


if __name__ == "__main__":
    main()
