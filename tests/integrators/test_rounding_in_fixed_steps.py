"""Fixed steps of implicit methods whose equations cannot be solved to the tolerance because of rounding."""

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
    direction = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(direction, speed, x_dot, v_dot, z_dot):
        x_dot[0] = 1.1 * direction * speed
        v_dot[0] = 0.0
        z_dot[0] = 0.3 * direction * speed

    @cosim.every("100 ms", does="discrete")
    def turn(direction, direction_next):
        direction_next[0] = -direction


@pytest.mark.by_turns
@pytest.mark.parametrize("speed", [7e5, 1e8, 3e12])
@pytest.mark.parametrize("step", [0.1, 0.037, 0.0777])
@pytest.mark.parametrize("method", IMPLICIT)
def test_a_large_state_leaves_zero(method: str, step: float, speed: float) -> None:
    """The tick at 0 reverses it, so it goes to -0.1 s times its speed and is at 0 after every second tick."""
    simulator = cosim.Simulator(
        system_of(s=Shuttle(speed=speed)), integrator=f"integrators.{method}", fixed_step=step
    )
    for until, expected_time in ((0.05, -0.05), (0.1, -0.1), (0.2, 0.0), (1.9, -0.1), (2.0, 0.0)):
        simulator.advance_to(until)
        travel_times = [simulator.state["s.x"] / (1.1 * speed), simulator.state["s.z"] / (0.3 * speed)]
        assert travel_times == pytest.approx([expected_time] * 2, abs=1e-14), until
