"""Error bars from a single run of participants whose derivatives are polynomials of their outputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim_fmu import CoSimulation
from cosim_master.trust.assess_coupling import assess_coupling
from cosim_master.trust.explained_bars import EXACT


class CubicSpring(cosim.Component):
    """A lag and a mass on a cubic spring; one force is not a polynomial.

    Law: w' = (u - w) / lag, v' = w - 4 x - 0.3 v - cubic x^3 - grip tanh(20 v), x' = v.
    """

    u = cosim.input()
    lag = cosim.parameter(unit="s", default=0.05)
    cubic = cosim.parameter(default=6.0)
    grip = cosim.parameter(default=0.0)
    w = cosim.auxiliary_state()
    v = cosim.auxiliary_state()
    x = cosim.auxiliary_state(start=1.0)
    y = cosim.output()

    @cosim.kernel
    def derivatives(u, lag, cubic, grip, w, v, x, w_dot, v_dot, x_dot):
        w_dot[0] = (u - w) / lag
        v_dot[0] = w - 4.0 * x - 0.3 * v - cubic * x * x * x - grip * math.tanh(20.0 * v)
        x_dot[0] = v

    @cosim.kernel
    def shown(x, y):
        y[0] = x


CONNECTIONS = [
    {"from": "a.part.y", "to": "b.part.u", "factor": 1.5},
    {"from": "b.part.y", "to": "a.part.u", "factor": -2.0},
]


def assess(algorithm: str, step: float, grip: float = 0.0) -> tuple[str, list[float]]:
    """The verdict without a second run, and the ratios of bars to errors, of a and b."""
    parts, uncut = {}, cosim.Model("whole")
    for name, lag in (("a", 0.05), ("b", 0.3)):
        model = cosim.Model(name)
        model.add(CubicSpring, "part", lag=lag, grip=grip)
        uncut.add(CubicSpring, name, lag=lag, grip=grip)
        parts[name] = model.build()
    uncut.connect("a.y", "b.u", factor=1.5)
    uncut.connect("b.y", "a.u", factor=-2.0)
    result = CoSimulation(parts, CONNECTIONS, step=step, algorithm=algorithm).simulate(300 * step)
    master_algorithm = cosim.registry().get("master_algorithm", f"fmu.{algorithm}")()
    assert result.evidence is not None
    report = assess_coupling(result.evidence, master_algorithm, step)
    exact = uncut.simulate(until=300 * step, accuracy=1e-10, output_interval=step)
    ratios = []
    for name in "ab":
        error = np.abs(result[f"{name}.part.y"] - exact[f"{name}.y"]).max()
        ratios.append(report[f"{name}.part.y"].error / error)
    return report.verdict, ratios


@pytest.mark.parametrize(("algorithm", "step"), [("jacobi", 0.01), ("gauss_seidel", 0.01), ("jacobi", 0.03)])
def test_a_bar_is_twice_the_error(algorithm: str, step: float) -> None:
    verdict, ratios = assess(algorithm, step)
    assert verdict != "unknown"
    assert ratios == pytest.approx([EXACT, EXACT], rel=0.1)


def test_bars_hold_if_a_force_is_no_polynomial() -> None:
    verdict, ratios = assess("jacobi", 0.01, grip=1.0)
    assert verdict == "unknown" or min(ratios) >= 1.0
    assert max(ratios) > 1.2 * EXACT
