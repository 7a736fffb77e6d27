"""Steps across a jump of a derivative that no event locates, at an accuracy near the resolution of time."""

from __future__ import annotations

import math

import pytest

import cosim


class JumpingRate(cosim.Component):
    """A rate that jumps at 0.3 s."""

    height = cosim.parameter(default=1e6)
    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(t, height, x_dot):
        x_dot[0] = height if t > 0.3 else 0.0


class SingularRate(cosim.Component):
    """A rate that tends to infinity at 0.5 s, while its integral stays finite."""

    x = cosim.auxiliary_state()

    @cosim.kernel
    def law(t, x_dot):
        x_dot[0] = 1.0 / math.sqrt(abs(0.5 - t) + 1e-300)


class Explosion(cosim.Component):
    """x' = x^2, which is infinite at 1 s."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(x, x_dot):
        x_dot[0] = x * x


EXPLICIT = ("runge_kutta_merson", "bogacki_shampine", "dormand_prince", "tsitouras", "dormand_prince_853")


def model(part: type[cosim.Component], **values: float) -> cosim.Model:
    """Return a model of one part."""
    jumps = cosim.Model("jumps")
    jumps.add(part, "part", **values)
    return jumps


@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("height", [0.0, 1.0, 1e6, -1e6])
def test_steps_across_a_jump_are_not_shorter_than_the_resolution_of_time(
    integrator: str, height: float
) -> None:
    result = model(JumpingRate, height=height).simulate(
        until=2.0, accuracy=1e-10, integrator=f"integrators.{integrator}"
    )
    assert result["part.x"][-1] == pytest.approx(1.0 + 1.7 * height, rel=1e-9)
    assert result.statistics["steps"] < 200


@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("part", [SingularRate, Explosion])
def test_a_singularity_is_an_error(integrator: str, part: type[cosim.Component]) -> None:
    with pytest.raises(cosim.SimulationError, match="step smaller than|thousand million steps"):
        model(part).simulate(until=2.0, accuracy=1e-10, integrator=f"integrators.{integrator}")
