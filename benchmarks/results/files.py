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
from peers import try_peer

import cosim

ROUNDS = 3
OPTIONS: dict[str, Any] = {"integrator": "integrators.runge_kutta_4", "fixed_step": 1e-3}


def measure_files(rows: int, signals: int) -> dict[str, float]:
    """Seconds to write a result of so many rows and signals, by format: from memory, and piece by piece."""
    random = np.random.default_rng(49)
    values = {f"s{i}": random.standard_normal(rows) for i in range(signals)}
    result = cosim.Result(np.arange(rows) * 1e-3, values)
    pieces = [result[i:j] for i, j in zip(*_bounds(result, 43_690), strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        seconds = {}
        for name in ("parquet", "csv"):
            path = Path(folder) / f"run.{name}"
            write = result.to_parquet if name == "parquet" else result.to_csv
            seconds[f"{name} cosim"] = least_time(lambda write=write, path=path: write(path), ROUNDS)

            def stream(path: Path = path) -> None:
                written = cosim.kit.result_sink(path).stream(path)
                for piece in pieces:
                    written.append(piece)
                written.close(result[0.0:0.0])

            seconds[f"{name} streamed"] = least_time(stream, ROUNDS)
    return seconds


def _bounds(result: cosim.Result, rows: int) -> tuple[list[float], list[float]]:
    """First and last time of each piece of so many rows, s."""
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
    system, step_times = system_of(Swing), []
    for monitored in (False, True):
        simulators = [cosim.Simulator(system, accuracy=1e-6, **OPTIONS) for _ in range(5)]
        for simulator in simulators:
            simulator.initialize()
            if monitored:
                simulator.set_monitor(lambda state: None)
        waiting = iter(simulators)
        step_times.append(
            least_time(lambda waiting=waiting: next(waiting).advance_to(steps * 1e-3), 5) / steps * 1e6
        )
    return step_times[0], step_times[1]


def add_peers(cases: list[list[int]], measured: list[dict[str, float]]) -> None:
    """Add the seconds of pyarrow and polars to those of each case, and print their versions."""
    request = json.dumps({"cases": cases, "rounds": ROUNDS})
    answer = try_peer("polars", "results/peer_tables.py", [request])
    if answer is not None:
        for seconds, of_peers in zip(measured, answer["rows"], strict=True):
            seconds.update(of_peers)
        print("pyarrow {}, polars {}\n".format(*answer["versions"]))


def main() -> None:
    """Print the memory of runs, the cost of a monitor, and a table of the times to write files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--peers", default="polars")
    options = parser.parse_args()
    for rows in options.rows:
        numbers, grown = measure_memory(rows)
        print(f"memory of a run with {rows:,} rows of 2: {numbers:.0f} MB of numbers, {grown:.0f} MB at most")
    plain, monitored = measure_monitor(20_000)
    print(f"a step: {plain:.2f} µs, with a monitor {monitored:.2f} µs\n")
    cases = [[rows, 2] for rows in options.rows] + [[max(options.rows) // 1000, 1000]]
    measured = [measure_files(*case) for case in cases]
    if options.peers:
        add_peers(cases, measured)
    writers = sorted({name for seconds in measured for name in seconds})
    heads = " | ".join(f"{name}, s" for name in writers)
    print(f"| rows | signals | {heads} |\n|{'---|' * (2 + len(writers))}")
    for (rows, signals), seconds in zip(cases, measured, strict=True):
        cells = " | ".join(f"{seconds[name]:.3g}" for name in writers if name in seconds)
        print(f"| {rows} | {signals} | {cells} |")


if __name__ == "__main__":
    main()
