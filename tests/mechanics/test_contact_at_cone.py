"""Bodies on slopes within the cone of friction, exactly at it, and close to it: they stop and stay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from contact_formulas import GRAVITY, hertz_depth, mindlin_stiffness
from contact_models import RADIUS, ball_on_floor, block, box_on_slope, rest_depth

from cosim_mechanics import Multibody


def box_in_equilibrium_at_its_cone() -> Multibody:
    """Return a box that starts pitched, so that its corners carry its weight and the moment of friction."""
    model, slope, arm = box_on_slope(1.0, 0.0), math.atan(0.5), 0.18
    weight, pull = GRAVITY * math.cos(slope) / 4.0, GRAVITY * math.sin(slope) / 4.0
    loads = [weight + sign * pull * 0.05 / arm for sign in (1.0, -1.0)]
    front, rear = [hertz_depth(load, 1e8, 0.02) for load in loads]
    pitch = (front - rear) / (2.0 * arm)
    model["box_joint"].q = [
        math.cos(pitch / 2), 0, math.sin(pitch / 2), 0, 0, 0, 0.05 - 0.5 * (front + rear),
    ]  # fmt: skip
    return model


@pytest.mark.few(1)
@pytest.mark.parametrize("modulus", [1e7, 1e10])
def test_a_body_within_its_cone_stays(modulus: float) -> None:
    slope = math.radians(20.0)
    result = block(slope, 0.0, 0.8, 0.8, modulus).simulate(
        until=100.0, accuracy=1e-5, integrator="integrators.radau5"
    )
    assert np.ptp(result["ball.x"]) < 1e-10
    assert abs(result["ball.vx"][-1]) < 1e-9
    # the bristle carries the weight along the slope
    tangential = mindlin_stiffness(modulus, RADIUS, rest_depth(modulus, GRAVITY * math.cos(slope)))
    stretch = result["floor.stretch[0]"][-1]
    assert stretch == pytest.approx(GRAVITY * math.sin(slope) / tangential, rel=1e-6)


@pytest.mark.by_turns
@pytest.mark.parametrize("speed", [0.0, 0.1, -0.3])
@pytest.mark.parametrize("share", [0.5, 0.88, 0.99, 0.999])
def test_a_box_on_four_corners_comes_to_rest_close_to_its_cone(share: float, speed: float) -> None:
    slope = math.atan(0.5 * share)
    deceleration = 0.5 * GRAVITY * math.cos(slope) - math.copysign(GRAVITY * math.sin(slope), speed)
    stop = abs(speed) / deceleration
    result = box_on_slope(share, speed).simulate(until=stop + 2.0, accuracy=1e-6)
    assert np.ptp(result["box.x"][result.time > stop + 1.0]) < 1e-11
    assert abs(result["box.vx"][-1]) < 1e-10
    assert result["box.x"][-1] == pytest.approx(0.5 * speed * stop, rel=1e-3, abs=3e-5)
    assert len(result.events) < 30
    assert abs(result["energy.residual"]).max() < 1e-7


def test_a_box_exactly_at_its_cone_stops_and_stays() -> None:
    slope = math.atan(0.5)
    stop = 0.3 / (2.0 * GRAVITY * math.sin(slope))
    result = box_on_slope(1.0, -0.3).simulate(until=stop + 2.0, accuracy=1e-6)
    assert np.ptp(result["box.x"][result.time > stop + 1.0]) < 1e-7
    assert result["box.x"][-1] == pytest.approx(-0.15 * stop, abs=3e-5)


def test_a_box_in_equilibrium_exactly_at_its_cone_stays() -> None:
    result = box_in_equilibrium_at_its_cone().simulate(until=5.0, accuracy=1e-8)
    assert np.ptp(result["box.x"]) < 1e-10
    assert abs(result["box.vx"][-1]) < 1e-12


def test_a_box_exactly_at_its_cone_keeps_the_impulse_of_its_pitching() -> None:
    """A box that is put down level pitches first; then weight and friction balance, and its speed stays."""
    result = box_on_slope(1.0, 0.0).simulate(until=5.0, accuracy=1e-8)
    speeds = result["box.vx"][result.time > 0.1]
    assert 0.0 <= speeds[-1] < 1e-5
    assert np.ptp(speeds) < 1e-9


@pytest.mark.parametrize("speed", [-0.3, 0.0])
def test_a_block_exactly_at_its_cone_stops_and_stays(speed: float) -> None:
    slope = math.atan(0.5)
    stop = -speed / (2.0 * GRAVITY * math.sin(slope))
    result = block(slope, speed, 0.5, 0.5).simulate(until=stop + 2.0, accuracy=1e-6)
    assert np.ptp(result["ball.x"][result.time > stop + 1.0]) < 1e-10
    assert result["ball.x"][-1] == pytest.approx(0.5 * speed * stop, abs=3e-5)


def test_two_equal_contacts_at_one_point_share_the_load() -> None:
    slope, friction = math.radians(20.0), {"static_friction": 0.4, "dynamic_friction": 0.3}
    height = RADIUS - rest_depth(1e8, 0.5 * GRAVITY * math.cos(slope))
    model = ball_on_floor(1e8, height, [-1.0, 0, 0], slope, "translation", **friction)
    model.add(
        "mechanics.sphere_contact", "second_floor", body1="ground", body2="ball", radius=RADIUS,
        stiffness=1e8, **friction,
    )  # fmt: skip
    result = model.simulate(until=1.0, accuracy=1e-7)
    deceleration = GRAVITY * (math.sin(slope) + 0.3 * math.cos(slope))
    assert result["ball.x"][-1] == pytest.approx(-0.5 / deceleration, rel=1e-3)
    assert np.ptp(result["ball.x"][result.time > 0.8]) < 1e-9
    np.testing.assert_array_equal(result["floor.stretch[0]"], result["second_floor.stretch[0]"])
