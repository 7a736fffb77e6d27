"""Error bars of couplings that are far from linear, against the system solved as a whole.

    python benchmarks/masters/nonlinear.py

The 13 couplings of `nonlinear_couplings`, under four algorithms. Prints the true error of the worst output,
over its range; the smallest ratio of an error bar to its true error, for bars estimated from the run and for
those of a second run with half the step; and the verdict. The constants of the estimate were chosen without
these couplings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from nonlinear_couplings import COUPLINGS, Coupling, Vector
from scipy.integrate import solve_ivp

import cosim
from cosim_fmu import CoSimulation

ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("waveform_iteration", {}),
    ("jacobi", {"extrapolation": 2}),
]
MOST_PASSES = 200
SMALLEST_ERROR = 1e-9
"""Errors below this part of the range are those of the participants' own integration."""


def exact(coupling: Coupling, times: Vector) -> dict[str, Vector]:
    """Every output at rising times (s), of the whole system solved as one."""
    parts, into = coupling.parts, {target: source for source, target in coupling.links}
    edges = np.cumsum([0, *(len(part.start) for part in parts.values())])
    slices = {name: slice(edges[i], edges[i + 1]) for i, name in enumerate(parts)}

    def settled(states: Vector) -> tuple[dict[str, float], dict[str, Vector]]:
        """Outputs and inputs at these states; outputs are passed on until they no longer change."""
        outputs: dict[str, float] = {}
        for _ in range(MOST_PASSES):
            before, inputs = dict(outputs), dict[str, Vector]()
            for name, part in parts.items():
                inputs[name] = np.array([outputs.get(into[f"{name}.{u}"], 0.0) for u in part.inputs])
                output_values = part.output_values(states[slices[name]], inputs[name])
                outputs |= {f"{name}.{y}": float(v) for y, v in zip(part.outputs, output_values, strict=True)}
            if before == outputs:
                break
        return outputs, inputs

    def rates(time: float, states: Vector) -> Vector:
        inputs = settled(states)[1]
        return np.concatenate([parts[n].rates(states[slices[n]], inputs[n]) for n in parts])

    start = np.concatenate([part.start for part in parts.values()])
    solved = solve_ivp(rates, times[[0, -1]], start, method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times)
    rows = [settled(states)[0] for states in solved.y.T]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


class Judged(NamedTuple):
    """The smallest ratio of a bar to its error in one run: estimated from the run, and by a second run."""

    estimated: float
    verified: float


def judge(name: str, algorithm: str, options: dict[str, Any]) -> Judged | None:
    """Run a coupling, and print its row; None where the run fails."""
    coupling = COUPLINGS[name]()
    loop = CoSimulation(coupling.parts, coupling.links, algorithm, coupling.step, options=options)
    row = f"| {name} | {algorithm}{options or ''} | "
    try:
        result = loop.simulate(coupling.until)
        report = result.coupling
        second = loop.verify(result, coupling.until)
    except cosim.CosimError as error:
        print(f"{row}{str(error)[:90]} | | | |")
        return None
    true = exact(coupling, result.time)
    errors = {y: float(np.abs(result[y] - value).max()) for y, value in true.items()}
    scales = {each.name.partition(" → ")[0]: each.scale for each in report.connections}
    estimated, verified = (
        min(float(bars[y].error) / max(errors[y], SMALLEST_ERROR * scale) for y, scale in scales.items())
        for bars in (report, second)
    )
    worst = max(errors[y] / scale for y, scale in scales.items())
    print(f"{row}{worst:.1e} | {estimated:.2g} | {verified:.3g} | {report.verdict} |", flush=True)
    return Judged(estimated, verified)


def main() -> None:
    """Print a row for each coupling and algorithm, and how many bars hold."""
    print("| coupling | algorithm | true error | bar over error | verified | verdict |\n|" + "---|" * 6)
    cases = [
        judged
        for name in COUPLINGS
        for algorithm, options in ALGORITHMS
        if (judged := judge(name, algorithm, options)) is not None
    ]
    for title, ratios in (
        ("from the run", [case.estimated for case in cases]),
        ("second run", [case.verified for case in cases]),
    ):
        hold = sum(ratio >= 1.0 for ratio in ratios)
        print(f"{title}: {hold} of {len(ratios)} hold, smallest {min(ratios):.2g}")


if __name__ == "__main__":
    main()
