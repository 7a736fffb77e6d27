"""Elastic contacts without friction touch and part at events; damped ones need none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from contact_formulas import GRAVITY
from contact_models import RADIUS, ball_on_floor, regimes, rest_depth


def test_elastic_surfaces_without_friction_touch_and_part_at_events() -> None:
    drop = 0.2
    result = ball_on_floor(1e11, RADIUS + drop).simulate(until=3.2, accuracy=1e-6)
    changes = regimes(result)
    assert [regime for _, regime in changes] == [2.0, 0.0] * 8
    first_touch, first_parting = changes[0][0], changes[1][0]
    assert first_touch == pytest.approx(math.sqrt(2.0 * drop / GRAVITY), rel=1e-9)
    period = first_parting + first_touch  # it rises as long as it fell
    for k in range(8):
        assert changes[2 * k][0] == pytest.approx(first_touch + k * period, rel=1e-5)
        assert changes[2 * k + 1][0] == pytest.approx(first_parting + k * period, rel=1e-5)
    assert abs(result["energy.residual"]).max() < 1e-4


@pytest.mark.parametrize(
    ("height", "speed", "expected"),
    [(RADIUS, -0.1, [2.0, 0.0]), (RADIUS - 1e-4, 0.0, [2.0, 0.0]), (RADIUS, 0.1, []), (RADIUS, 0.0, [])],
)
def test_elastic_surfaces_that_start_in_touch(height: float, speed: float, expected: list[float]) -> None:
    model = ball_on_floor(1e7, height, [0, 0, 0, 0, 0, speed], viscous_friction=0.5)
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.02, accuracy=1e-8)
    assert [regime for _, regime in regimes(result)] == expected
    assert abs(result["energy.residual"]).max() < 1e-9


def test_viscous_friction_follows_a_slide_that_reverses() -> None:
    height = RADIUS - rest_depth(1e7, GRAVITY * math.cos(0.3))
    model = ball_on_floor(1e7, height, [-0.5, 0, 0], 0.3, "translation", viscous_friction=2.0)
    result = model.simulate(until=4.0, accuracy=1e-8)
    assert result["ball.vx"][-1] == pytest.approx(math.tan(0.3) / 2.0, rel=1e-4)
    assert abs(result["energy.residual"]).max() < 1e-6


@pytest.mark.parametrize("damping", [{"restitution": 0.5}, {"dissipation": 0.25}])
def test_damped_contacts_without_friction_have_no_events(damping: dict[str, float]) -> None:
    result = ball_on_floor(1e7, 0.3, **damping).simulate(until=1.0, accuracy=1e-6)
    assert regimes(result) == []


def test_located_touches_of_elastic_balls_save_evaluations_and_error() -> None:
    def drop(height: float, accuracy: float) -> tuple[int, np.ndarray]:
        result = ball_on_floor(1e7, height).simulate(until=2.0, accuracy=accuracy, output_interval=0.1)
        return result.statistics["evaluations"], result["ball.z"]

    total, largest_error = 0, 0.0
    for height in (0.3, 0.37, 0.45):
        evaluations, heights = drop(height, 1e-5)
        total += evaluations
        largest_error = max(largest_error, abs(heights - drop(height, 1e-11)[1]).max())
    assert total < 3200  # steps across the touches need 3,961
    assert largest_error < 1.5e-5  # and have an error of 9e-5
