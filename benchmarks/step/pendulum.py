"""A pendulum of ten links, 5 s with 501 rows: `model.simulate()` beside Exudyn and MuJoCo.

Usage: python benchmarks/step/pendulum.py [--passes 2]

All integrate the tree of ``benchmarks/dynamics/trees.py`` and keep a row every 10 ms: ours its default
recording (states, energies, what parts compute), the others angles and rates. The error is that of
angles and rates at the end, against two runs of ours at 1e-12 that agree. MuJoCo has steps of one length
alone and Exudyn estimates errors in its own way, so programs are compared at errors, not at tolerances:
ours without any option beside their fastest runs that are as right, then the fastest run of each program
that is right to two levels.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dynamics"))
from compare import model_of
from runs import OURS, Run, best, fastest, least, of_peer, rows, run_and_print
from trees import GRAVITY, chain

import cosim

LINKS, UNTIL, INTERVALS, RUNS = 10, 5.0, 500, 5
LEVELS = (1e-3, 1e-6)
METHODS = ("runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853")
TOLERANCES = [m * 10.0**-e for e in range(3, 10) for m in (3.0, 1.0)]
STEPS_IN_INTERVAL = [1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 30]  # where steps have one length
NAMES = [f"j{i}.{kind}" for kind in "qu" for i in range(LINKS)]


def end_of(result: cosim.Result) -> np.ndarray:
    """Angles and rates at the end."""
    return np.array([float(result[name][-1]) for name in NAMES])


def compare(passes: int) -> list[str]:
    """Rows of the table."""
    tree = chain(LINKS)
    model = model_of(tree)
    exact, other = (
        end_of(model.simulate(until=UNTIL, accuracy=1e-12, integrator=f"integrators.{name}"))
        for name in METHODS[2:]
    )
    doubt = abs(exact - other).max()
    if doubt > 1e-2 * min(LEVELS):
        raise SystemExit(f"the reference is not certain enough: {doubt:.1e}")

    def run(method: str, **options: object) -> Run:
        seconds, result = least(lambda: model.simulate(until=UNTIL, **options), RUNS)
        assert len(result.time) == INTERVALS + 1
        error = float(abs(end_of(result) - exact).max())
        return Run(OURS, method, float(options.get("accuracy", 0.0)), error, seconds)  # type: ignore[arg-type]

    def ours() -> list[Run]:
        return [
            run(name, accuracy=tolerance, relative_tolerance=tolerance, integrator=f"integrators.{name}")
            for name in METHODS
            for tolerance in TOLERANCES
        ]

    with tempfile.TemporaryDirectory() as folder:
        task = {
            "tree": {**tree, "gravity": GRAVITY},
            "until": UNTIL,
            "intervals": INTERVALS,
            "tolerances": TOLERANCES,
            "steps_in_interval": STEPS_IN_INTERVAL,
            "runs": RUNS,
        }
        file = Path(folder) / "task.json"
        file.write_text(json.dumps(task))

        def error_of(answer: dict) -> float:
            assert answer["rows"] == INTERVALS + 1, answer
            return float(abs(np.array(answer["end"]) - exact).max())

        peers = [of_peer(n, f"pendulum_{n}.py", str(file), error_of) for n in ("exudyn", "mujoco")]
        default = [lambda: [run("as it stands")]]
        everything = best([*default, ours, *peers], passes)
    plain = next(r for r in everything if r.method == "as it stands")
    everything.remove(plain)
    others = [r for r in fastest(everything, plain.error) if r.program != OURS]
    lines = rows("10 links, `model.simulate()` without options; the others as right", [plain, *others])
    for level in LEVELS:
        lines += rows(f"10 links, right to {level:.0e}", fastest(everything, level))
    return lines


if __name__ == "__main__":
    run_and_print(compare)
