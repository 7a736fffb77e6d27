"""Loads that jump, ramp or drop break a block loose where they exceed static friction."""

from __future__ import annotations

import math

import pytest
from contact_formulas import GRAVITY, mindlin_stiffness
from contact_models import RADIUS, SOLID, block, pushed, regimes, rest_depth

from cosim_mechanics import Multibody


@pytest.mark.few(4)
@pytest.mark.parametrize("push", [-0.7, -0.501, -0.499, -0.4, 0.4, 0.499, 0.501, 0.55, 0.6, 0.9, 2.0])
def test_a_push_on_a_block_that_stopped_before(push: float) -> None:
    """It breaks loose above static friction; the forces of its stop long before do not matter."""
    result = pushed(block(0.0, 1.0, 0.5, 0.3, 1e8), (0.5, 0.0, push)).simulate(until=1.0, accuracy=1e-7)
    speed = math.copysign((abs(push) - 0.3) * GRAVITY * 0.5, push) if abs(push) > 0.5 else 0.0
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=1e-6, abs=1e-9)


@pytest.mark.by_turns
@pytest.mark.parametrize("ratio", [0.99, 1.0, -1.0, 1.001, 1.02, -1.1, 1.4, 2.0, -4.0, 100.0])
@pytest.mark.parametrize("before", [0.0, 0.4, -0.4])
@pytest.mark.parametrize("modulus", [1e5, 1e8, 1e11])
def test_a_jump_above_static_friction_slides_from_its_instant_on(
    ratio: float, before: float, modulus: float
) -> None:
    model = block(0.0, 0.0, 0.5, 0.3, modulus)
    model.gravity = (before * GRAVITY, 0, -GRAVITY)
    result = pushed(model, (0.5, 0.0, 0.5 * ratio - before)).simulate(until=1.0, accuracy=1e-7)
    slides = abs(ratio) > 1.0
    speed = math.copysign(0.5 * abs(ratio) - 0.3, ratio) * GRAVITY * 0.5 if slides else 0.0
    # a foot that already carries more than dynamic friction shows the jump only when it moves
    error = 1e-7 if before * ratio <= 0.0 else 1e-3 / (modulus / 1e5) ** (1 / 3)
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=error, abs=1e-9)


@pytest.mark.parametrize(("static", "dynamic"), [(0.5, 0.5), (0.5, 0.3), (0.5, 0.05)])
def test_a_pulse_shorter_than_the_stretch_of_the_bristle(static: float, dynamic: float) -> None:
    """The bristle takes some milliseconds to stretch; then the block slides and stops by dynamic friction."""
    pulse, height = 1e-3, 2.0
    model = pushed(block(0.0, 0.0, static, dynamic, 1e8), (0.5, 0.0, height), (0.5 + pulse, 0.0, -height))
    result = model.simulate(until=1.0, accuracy=1e-8)
    distance = 0.5 * (height - dynamic) * GRAVITY * pulse**2 * height / dynamic
    stretch = static * GRAVITY / mindlin_stiffness(1e8, RADIUS, rest_depth(1e8))
    assert result["ball.vx"][-1] == pytest.approx(0.0, abs=1e-9)
    assert result["ball.x"][-1] == pytest.approx(distance, abs=stretch)


@pytest.mark.parametrize("jump", [0.2, 0.35, 0.45, 0.499])
@pytest.mark.parametrize("rate", [0.2, 5.0])
def test_a_jump_and_a_ramp_break_loose_where_they_reach_static_friction(jump: float, rate: float) -> None:
    until = (0.6 - jump) / rate
    model = pushed(block(0.0, 0.0, 0.5, 0.3, 1e8), (0.1, 0.0, jump), (0.1, until, 0.6 - jump))
    result = model.simulate(until=0.5 + until, accuracy=1e-7)
    loose = (0.5 - jump) / rate
    speed = GRAVITY * ((0.3 * 0.4) + 0.5 * ((until - loose) * (0.2 + 0.3)))
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=3e-3)


def test_a_load_breaks_loose_if_the_normal_force_drops() -> None:
    model = pushed(block(0.0, 0.0, 0.5, 0.3, 1e8), (0.0, 0.0, 0.4))
    model["floor"].restitution = 0.3
    model.add("signals.step", "step", start_time=0.5, height=0.5 * GRAVITY)
    model.add("mechanics.applied_force", "lift", body="ball", axis=(0, 0, 1))
    model.connect("step", "lift.force")
    result = model.simulate(until=1.0, accuracy=1e-7)
    assert result["ball.vx"][-1] == pytest.approx((0.4 - 0.15) * GRAVITY * 0.5, rel=2e-3)


@pytest.mark.parametrize("ratio", [0.99, 1.02, 2.0])
def test_a_block_on_a_moving_sledge_breaks_loose_at_its_cone(ratio: float) -> None:
    """A force pulls the sledge; the block is left behind if friction cannot accelerate it as much."""
    model = Multibody("sledge")
    sledge = model.body("sledge", mass=3.0, inertia=(1, 1, 1))
    model.joint("slider", child=sledge, u=0.7)
    load = model.body("ball", mass=1.0, inertia=(SOLID,) * 3)
    model.joint("translation", child=load, q=[0, 0, RADIUS - rest_depth(1e8)], u=[0.7, 0, 0])
    model.add(
        "mechanics.sphere_contact", "floor", body1=sledge, body2=load, radius=RADIUS, stiffness=1e8,
        static_friction=0.5, dynamic_friction=0.3,
    )  # fmt: skip
    model.add("signals.step", "step", start_time=0.5, height=ratio * 0.5 * 4.0 * GRAVITY)
    model.add("mechanics.applied_force", "pull", body=sledge, axis=(1, 0, 0))
    model.connect("step", "pull.force")
    result = model.simulate(until=1.0, accuracy=1e-7)
    friction = 0.3 if ratio > 1.0 else 0.5 * ratio
    assert result["ball.vx"][-1] == pytest.approx(0.7 + friction * GRAVITY * 0.5, rel=1e-5)


@pytest.mark.by_turns
@pytest.mark.parametrize("speed", [1e-6, 1e-3, 0.02, 0.5])
@pytest.mark.parametrize("push", [0.2, 0.4, 0.55, 3.0])
def test_a_start_with_a_small_speed_under_load(push: float, speed: float) -> None:
    """A sliding block has dynamic friction from the start; one that barely moves has static friction."""
    model = block(0.0, speed, 0.5, 0.3, 1e9)
    model.gravity = (push * GRAVITY, 0, -GRAVITY)
    result = model.simulate(until=0.5, accuracy=1e-8)
    slides = push > 0.5 or (push > 0.3 and speed > 1e-4)
    expected = speed + (push - 0.3) * GRAVITY * 0.5 if slides or speed > 0.495 else 0.0
    assert result["ball.vx"][-1] == pytest.approx(expected, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(("rate", "modulus"), [(2.0, 1e5), (2.0, 1e7), (20.0, 1e7), (2.0, 1e9)])
def test_a_ramp_breaks_loose_at_static_friction(rate: float, modulus: float) -> None:
    until = 0.65 * GRAVITY / rate
    model = block(0.0, 0.0, 0.5, 0.3, modulus)
    model.add("signals.ramp", "ramp", height=rate * until, duration=until)
    model.add("mechanics.applied_force", "push", body="ball", axis=(1, 0, 0))
    model.connect("ramp", "push.force")
    result = model.simulate(until=until, accuracy=1e-7)
    loose = 0.5 * GRAVITY / rate
    assert regimes(result)[-1] == (pytest.approx(loose, rel=2e-6), 2)
    speed = 0.5 * rate * (until**2 - loose**2) - 0.3 * GRAVITY * (until - loose)
    bristle_speed = rate / mindlin_stiffness(modulus, RADIUS, rest_depth(modulus))
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=1e-4, abs=1.2 * bristle_speed)
