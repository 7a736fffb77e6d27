"""Contacts that rest or collide, with friction or without, against Hertz and closed forms of impacts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from contact_formulas import GRAVITY
from contact_models import RADIUS, SOLID, ball_on_floor, regimes, rest_depth
from scipy.optimize import brentq


@pytest.mark.few(2)
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9, 1e11])
def test_a_ball_rests_at_the_depth_of_hertz(modulus: float) -> None:
    result = ball_on_floor(modulus, restitution=0.5).simulate(
        until=2.5 if modulus < 1e6 else 0.5, accuracy=1e-5
    )
    assert RADIUS - result["ball.z"][-1] == pytest.approx(rest_depth(modulus), rel=1e-3)
    assert abs(result["energy.residual"]).max() < 1e-6


@pytest.mark.by_turns
@pytest.mark.parametrize("restitution", [1.0, 0.9, 0.5, math.exp(-2.0), 0.05])
@pytest.mark.parametrize("speed", [0.01, 3.0])
def test_the_speed_after_an_impact_is_the_restitution_times_that_before(
    restitution: float, speed: float
) -> None:
    model = ball_on_floor(1e7, RADIUS, [0, 0, 0, 0, 0, -speed], restitution=restitution)
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.1 if speed < 1.0 else 0.05, accuracy=1e-9)
    assert result["ball.vz"][-1] == pytest.approx(restitution * speed, rel=1e-6)


@pytest.mark.parametrize(("speed", "dissipation"), [(0.05, 0.0), (0.05, 0.4), (1.0, 0.4), (3.0, 2.0)])
def test_the_speed_after_an_impact_with_the_damping_of_hunt_and_crossley(
    speed: float, dissipation: float
) -> None:
    """The force k d^1.5 (1 + c v) gives v / (1 + c v) dv = -k/m d^1.5 dd; c is 1.5 times the dissipation.

    Both ways have the same integral over d, hence c v - log(1 + c v) is equal for both speeds.
    """
    model = ball_on_floor(1e7, RADIUS, [0, 0, 0, 0, 0, -speed], dissipation=dissipation)
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.1 if speed < 1.0 else 0.05, accuracy=1e-9)
    c = 1.5 * dissipation
    speed_after = speed
    if c > 0.0:
        integral = c * speed - math.log1p(c * speed)
        speed_after = brentq(lambda x: x + math.log1p(-x) + integral, 0.0, 1.0 - 1e-12, xtol=1e-15) / c
    assert result["ball.vz"][-1] == pytest.approx(speed_after, rel=1e-6)


def test_an_oblique_impact_sticks_within_the_cone_and_slides_outside() -> None:
    friction = {"static_friction": 0.3, "dynamic_friction": 0.3}
    for slip, sticks in ((0.1, True), (5.0, False)):
        model = ball_on_floor(1e8, RADIUS + 1e-3, [0, 0, 0, slip, 0, -1.0], **friction)
        model.gravity = (0, 0, 0)
        result = model.simulate(until=0.02, accuracy=1e-8)
        assert (1 in [regime for _, regime in regimes(result)]) == sticks
        assert regimes(result)[-1][1] == 0
        if not sticks:  # It slides all the time: impulse mu m (1 + e) v_n.
            assert result["ball.vx"][-1] == pytest.approx(slip - 0.3 * 2.0, rel=1e-4)
        assert abs(result["energy.residual"]).max() < 1e-8


def test_a_stiff_impact_at_an_accuracy_near_the_resolution_of_time() -> None:
    """The damping force starts with an infinite slope, so a step across the touch is as short as possible."""
    u = [2.028345798058071, -15.180649955283547, -1.1331712934568738]
    u += [1.557951337396001, 1.7361740638249987, -0.5688192131637191]
    ends = []
    for integrator in ("runge_kutta_merson", "dormand_prince"):
        model = ball_on_floor(
            136488639.57002813, 0.25822325102911226, u, restitution=0.2, static_friction=1.2,
            dynamic_friction=1.2,
        )  # fmt: skip
        result = model.simulate(until=0.2, accuracy=1e-10, integrator=f"integrators.{integrator}")
        ends.append([result[f"ball.{name}"][-1] for name in ("x", "y", "z", "vx", "vy", "vz")])
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("static", [0.3, 0.8])
def test_a_spinning_ball_that_bounces_gains_no_energy(static: float) -> None:
    """The energy includes that of the bristle, which an impact stretches."""
    model = ball_on_floor(
        1e6, 0.15, [30.0, -20.0, 5.0, 1.0, -0.5, -1.0], static_friction=static, dynamic_friction=0.9 * static,
        restitution=0.8,
    )  # fmt: skip
    signals = ["energy.*", "floor.*"]
    result = model.simulate(until=1.0, accuracy=1e-8, output_interval=2e-4, signals=signals)
    elastic = result["energy.kinetic"] + result["energy.potential"]
    for i in range(3):
        elastic = elastic + 0.5 * result["floor.tangential_stiffness"] * result[f"floor.stretch[{i}]"] ** 2
    assert (elastic - np.minimum.accumulate(elastic)).max() < 1e-9
    assert elastic[0] - elastic[-1] > 0.1
    assert len(regimes(result)) > 10


def test_a_ball_that_bounces_slides_and_rolls_accounts_for_its_energy() -> None:
    """Kinetic, gravitational, elastic and dissipated energy, each by its own formula, have a constant sum."""
    model = ball_on_floor(
        1e7, 0.3, [0, -10.0, 2.0, 2.0, 0, 0], static_friction=0.3, dynamic_friction=0.25, restitution=0.7,
    )  # fmt: skip
    names = ["ball.*", "floor.*", "energy.*"]
    result = model.simulate(until=3.0, accuracy=1e-9, output_interval=1e-3, signals=names)
    speed_squared = sum(result[f"ball.v{axis}"] ** 2 for axis in "xyz")
    spin_squared = sum(result[f"ball.w{axis}"] ** 2 for axis in "xyz")
    depth = np.maximum(RADIUS - result["ball.z"], 0.0)
    mechanical_energy = 0.5 * speed_squared + 0.5 * SOLID * spin_squared + GRAVITY * result["ball.z"]
    mechanical_energy = mechanical_energy + 8.0 / 15.0 * 1e7 * math.sqrt(RADIUS) * depth**2.5
    assert (
        abs(mechanical_energy + result["floor.dissipated_energy"] - mechanical_energy[0]).max()
        < 1e-6 * mechanical_energy[0]
    )
    assert mechanical_energy[0] - mechanical_energy[-1] > 1.0
    assert result["floor.regime"][-1] == 1
    assert result["ball.wy"][-1] * RADIUS == pytest.approx(result["ball.vx"][-1], abs=1e-9)
    # the angular momentum about the ground is kept, so it gives the speed of rolling
    assert result["ball.vx"][-1] == pytest.approx((2.0 - 0.4 * 10.0 * RADIUS) / 1.4, rel=1e-3)
