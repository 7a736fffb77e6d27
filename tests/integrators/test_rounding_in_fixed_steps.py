"""Fixed steps of implicit methods where rounding is larger than what their equations are solved to."""

from __future__ import annotations

import pytest
from kernel_parts import system_of

import cosim

IMPLICIT = ("bdf", "esdirk43", "generalized_alpha", "implicit_euler", "radau3", "radau5", "trapezoid")


class Shuttle(cosim.Component):
    """Leaves 0 and comes back to it, at a constant speed."""

    x = cosim.position(unit="m")
    v = cosim.speed(unit="m/s")
    z = cosim.auxiliary_state(unit="m")
    speed = cosim.parameter(unit="m/s", default=1.0)
    way = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(way, speed, x_dot, v_dot, z_dot):
        x_dot[0] = 1.1 * way * speed
        v_dot[0] = 0.0
        z_dot[0] = 0.3 * way * speed

    @cosim.every("100 ms", does="discrete")
    def turn(way, way_next):
        way_next[0] = -way


@pytest.mark.by_turns
@pytest.mark.parametrize("speed", [7e5, 1e8, 3e12])
@pytest.mark.parametrize("step", [0.1, 0.037, 0.0777])
@pytest.mark.parametrize("method", IMPLICIT)
def test_a_large_state_leaves_zero(method: str, step: float, speed: float) -> None:
    """The tick at 0 turns it: it is at -0.1 s times its speed, and at 0 after each second tick."""
    simulator = cosim.Simulator(
        system_of(s=Shuttle(speed=speed)), integrator=f"integrators.{method}", fixed_step=step
    )
    for until, seconds in ((0.05, -0.05), (0.1, -0.1), (0.2, 0.0), (1.9, -0.1), (2.0, 0.0)):
        simulator.advance_to(until)
        found = [simulator.state["s.x"] / (1.1 * speed), simulator.state["s.z"] / (0.3 * speed)]
        assert found == pytest.approx([seconds] * 2, abs=1e-14), until
