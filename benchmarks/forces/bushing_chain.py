"""Time of one evaluation of a chain of free bodies hung in bushings, beside Drake and Simbody.

Run it as ``python benchmarks/forces/bushing_chain.py``; a table goes to the terminal, with ``--write`` also a
picture beside this file. Every body has six degrees of freedom to Ground and a bushing to the one above it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim import kit
from cosim_mechanics import Multibody

sys.path.insert(0, str(Path(__file__).parents[1]))
from peers import PeerError, run_peer

LENGTHS = (1, 4, 16, 64)
REPEAT_SIGNATURE = "TIiifFFFIFFi>i"
CHAIN: dict[str, Any] = {
    "mass": 1.0,
    "center_of_mass": [0.0, 0.0, -0.1],
    "inertia": [0.1, 0.2, 0.15],
    "above": [0.0, 0.0, 0.25],
    "below": [0.0, 0.0, -0.25],
    "stiffness": [10.0, 12.0, 14.0, 1000.0, 1100.0, 1200.0],
    "damping": [0.1, 0.1, 0.2, 1.0, 1.1, 1.2],
    "gap": 0.01,
}


def chain(bodies: int) -> cosim.System:
    """Bodies below each other, each a little too low and turned a little, so that every spring works."""
    model = Multibody("bushing_chain")
    place = {"stiffness": CHAIN["stiffness"], "damping": CHAIN["damping"], "frame_on_body2": CHAIN["above"]}
    for i in range(bodies):
        values = {name: CHAIN[name] for name in ("mass", "center_of_mass", "inertia")}
        body = model.body(f"body{i}", **values)
        half = 0.01 * (i % 5)
        z = -(0.5 + CHAIN["gap"]) * (i + 1)
        model.joint("free", child=body, q=[np.cos(half), np.sin(half), 0, 0, 0, 0, z])
        above = "ground" if i == 0 else f"body{i - 1}"
        model.add("mechanics.linear_bushing", f"bushing{i}", body1=above, body2=body,
                  frame_on_body1=CHAIN["below"], **place)  # fmt: skip
    return model.build()


def evaluation(system: cosim.System, rounds: int) -> float:
    """One walk through the stages Time … Acceleration in compiled code, s; the best of some rounds."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    walk = kit.compile_function(kit.repeat_walk, REPEAT_SIGNATURE)
    first, last = system.derivative_range
    count, times = max(100, 40_000 // system.nu), []
    for _ in range(rounds):
        start = time.perf_counter()
        if walk(system.table, system.ints, first, last, 0.0, *system.arrays(state), count):
            raise SystemExit("an evaluation failed")
        times.append((time.perf_counter() - start) / count)
    return min(times)


def last_acceleration(system: cosim.System) -> float:
    """The acceleration of the lowest body along z, m/s2, which Simbody has to reproduce."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    return float(state[f"body{system.nu // 6 - 1}.az"])


def peer(name: str, script: str, bodies: int, rounds: int) -> dict[str, float]:
    """The output of a peer: ``seconds`` of one evaluation; empty if it cannot run here."""
    try:
        answer: dict[str, float] = run_peer(
            name, script, [json.dumps({**CHAIN, "bodies": bodies, "rounds": rounds})]
        )
    except PeerError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return {}
    return answer


def table(rows: list[list[float]]) -> str:
    """Markdown, µs."""
    lines = [
        "| bodies | cosim | Drake | Simbody | Drake / cosim | Simbody / cosim |",
        "|---|---|---|---|---|---|",
    ]
    for bodies, ours, drake, simbody in rows:
        cells = [f"{1e6 * t:.2f}" for t in (ours, drake, simbody)] + [
            f"{t / ours:.1f}" for t in (drake, simbody)
        ]
        lines.append(f"| {bodies:.0f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(rows: list[list[float]], path: Path) -> None:
    """A picture of the table."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for column, label in enumerate(("cosim", "Drake", "Simbody"), start=1):
        axes.loglog([row[0] for row in rows], [1e6 * row[column] for row in rows], "o-", label=label)
    axes.set_xlabel("bodies")
    axes.set_ylabel("one evaluation, µs")
    axes.grid(True, alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


def main(arguments: list[str] | None = None) -> int:
    """Measure side by side and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="the best of this many rounds counts")
    parser.add_argument("--write", action="store_true", help="write bushing_chain.png beside this file")
    options = parser.parse_args(arguments)
    rows = []
    for bodies in LENGTHS:
        system = chain(bodies)
        ours = evaluation(system, options.rounds)
        drake = peer("drake", "forces/chain_drake.py", bodies, options.rounds)
        simbody = peer("simbody", "forces/chain_simbody.cpp", bodies, options.rounds)
        ours = min(
            ours, evaluation(system, options.rounds)
        )  # before and after the others, on a shared machine
        if simbody:
            np.testing.assert_allclose(
                last_acceleration(system), simbody["acceleration"], rtol=1e-9, atol=1e-9
            )
        nan = float("nan")
        rows.append([float(bodies), ours, drake.get("seconds", nan), simbody.get("seconds", nan)])
    print(f"{platform.machine()}, Python {platform.python_version()}, cosim {cosim.__version__}; µs\n")
    print(table(rows))
    if options.write:
        draw(rows, Path(__file__).with_suffix(".png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
