"""A witness that was held and released has one event at each later crossing."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import brentq

import cosim


class Friction(cosim.Component):
    """Law: v' = a sin(w t) - s cap; s flips where v = 0."""

    a = cosim.parameter(default=2.0)
    w = cosim.parameter(default=3.0)
    cap = cosim.parameter(default=1.0)
    v = cosim.speed(start=0.9)
    s = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(t, a, w, cap, s, v_dot):
        v_dot[0] = a * math.sin(w * t) - s * cap

    @cosim.witness
    def slip(v):
        return v

    @cosim.on(slip, does="discrete")
    @cosim.kernel
    def turn(s, s_next):
        s_next[0] = -s


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince_853", "bogacki_shampine"])
@pytest.mark.parametrize("start", [0.9, 1.5])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_friction_changes_its_sign_once_at_each_turn(sign: float, start: float, integrator: str) -> None:
    """It sticks until a sin(w t) = cap; the speed until it is 0 again, twice, is known in closed form."""
    model = cosim.Model("m")
    model.add(Friction(v=sign * start, s=sign, a=sign * 2.0), "f")
    result = model.simulate(
        until=4.6, signals=["f.v", "f.s"], accuracy=1e-10, integrator=f"integrators.{integrator}"
    )
    assert [finding.kind for finding in result.findings] == ["chattering", "held", "released"]
    release = (2.0 * math.pi + math.asin(0.5)) / 3.0

    def speed(t: float, since: float, side: float) -> float:
        return 2.0 / 3.0 * (math.cos(3.0 * since) - math.cos(3.0 * t)) - side * (t - since)

    first = brentq(lambda t: speed(t, release, 1.0), release + 0.5, release + 1.5, xtol=1e-14)
    second = brentq(lambda t: speed(t, first, -1.0), first + 0.5, first + 1.5, xtol=1e-14)
    later_events = [event.time for event in result.events if event.time > release + 0.1]
    assert later_events == pytest.approx([first, second], abs=1e-8)
    assert result.findings[-1].time == pytest.approx(release, abs=1e-3)
    is_moving = (result.time > release + 1e-3) & (abs(result["f.v"]) > 1e-8)
    assert (result["f.v"][is_moving] * result["f.s"][is_moving] > 0.0).all()
