"""A stop at the end of a joint's range against a closed form."""

from __future__ import annotations

import math

import pytest

from cosim_mechanics import Multibody


@pytest.mark.parametrize("speed", [1.5, 0.0])
def test_a_mass_rebounds_from_a_stop_like_from_a_spring(speed: float) -> None:
    """Without dissipation the depth is v sqrt(m/k), the contact lasts pi sqrt(m/k) and the speed returns."""
    mass, stiffness, upper, until = 2.0, 800.0, 0.3, 1.2
    model = Multibody("stop", gravity=(0, 0, 0))
    body = model.body("body", mass=mass, inertia=(0, 0, 0))
    model.joint("slider", name="slide", child=body, q=0.0, u=speed)
    stop = {"lower": -2.0, "upper": upper, "stiffness": stiffness, "dissipation": 0.0}
    model.add("mechanics.coordinate_stop", "stop", coordinate="slide", **stop)
    paths = ["slide.q", "slide.u"]
    result = model.simulate(until=until, accuracy=1e-10, signals=paths, output_interval=1e-3)
    if speed == 0.0:
        assert not result["slide.q"].any() and not result["slide.u"].any()
        return
    rate = math.sqrt(stiffness / mass)
    assert result["slide.q"].max() - upper == pytest.approx(speed / rate, rel=1e-4)  # rows are 1 ms apart
    assert result["slide.u"][-1] == pytest.approx(-speed, rel=1e-9)
    leaves = upper / speed + math.pi / rate
    assert result["slide.q"][-1] == pytest.approx(upper - speed * (until - leaves), rel=1e-8)
