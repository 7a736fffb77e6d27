"""Contacts that slide, stop, slide back or roll, against Coulomb's law and closed forms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_formulas import GRAVITY, hertz_depth, mindlin_stiffness
from contact_models import RADIUS, SOLID, ball_on_floor, block, regimes, rest_depth

import cosim
from cosim_mechanics import Multibody


def slides_back(friction: float, modulus: float, slope: float, until: float) -> Any:
    """Return the times of a stop and of breaking loose, place and speed of a block thrown up at 1 m/s.

    Its bristle reverses with critical damping: with omega^2 = k_t / m and a start at rest under the
    acceleration A, its load changes by m A (1 - exp(-omega t)), and the speed is A t exp(-omega t).
    """
    down, hold = GRAVITY * math.sin(slope), GRAVITY * math.cos(slope)
    omega = math.sqrt(mindlin_stiffness(modulus, RADIUS, rest_depth(modulus, hold)))
    deceleration = down + friction * hold
    stop = 1.0 / deceleration
    phase = -math.log(
        1.0 - (2.0 + 1e-6) * friction * hold / deceleration
    )  # 1e-6: the excess at which it breaks loose
    speed = deceleration * phase * math.exp(-phase) / omega
    place = -0.5 * stop + deceleration / omega**2 * (1.0 - (1.0 + phase) * math.exp(-phase))
    loose = stop + phase / omega
    sliding_time, acceleration = until - loose, down - friction * hold
    place += speed * sliding_time + 0.5 * acceleration * sliding_time**2
    return stop, loose, place, speed + acceleration * sliding_time


@pytest.mark.parametrize("modulus", [1e7, 1e10])
def test_sliding_turns_into_rolling_at_its_time_and_speed(modulus: float) -> None:
    speed, friction = 2.0, 0.3
    model = ball_on_floor(
        modulus,
        RADIUS - rest_depth(modulus),
        [0, 0, 0, speed, 0, 0],
        static_friction=friction,
        dynamic_friction=friction,
    )
    result = model.simulate(until=0.4, accuracy=1e-6)
    assert result["ball.vx"][-1] == pytest.approx(5.0 / 7.0 * speed, rel=1e-6)
    assert result["ball.wy"][-1] * RADIUS == pytest.approx(5.0 / 7.0 * speed, rel=1e-6)
    assert regimes(result)[-1][0] == pytest.approx(2.0 * speed / (7.0 * friction * GRAVITY), rel=1e-6)
    assert regimes(result)[-1][1] == 1
    assert result["energy.dissipated"][-1] == pytest.approx(speed**2 / 7.0, rel=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-8


@pytest.mark.few(2)
@pytest.mark.parametrize("damping", [0.0, 0.05, 1.0, 5.0])
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "bdf", "radau5"])
def test_sliding_turns_into_rolling_with_any_damping_of_the_bristle(damping: float, integrator: str) -> None:
    model = ball_on_floor(
        1e7, RADIUS - rest_depth(1e7), [0, 0, 0, 2.0, 0, 0], static_friction=0.3, dynamic_friction=0.3,
        stick_damping=damping,
    )  # fmt: skip
    result = model.simulate(until=0.4, accuracy=1e-6, integrator=f"integrators.{integrator}")
    rolled = result["ball.vx"][-1] + 0.4 * result["ball.wy"][-1] * RADIUS
    assert rolled == pytest.approx(2.0, rel=1e-4)  # angular momentum about the point of contact
    assert result["ball.vx"][-1] == pytest.approx(5.0 / 7.0 * 2.0, rel=3e-2 if damping < 0.1 else 1e-4)
    assert abs(result["energy.residual"]).max() < 1e-4


def test_viscous_friction_acts_on_the_foot_of_a_bristle() -> None:
    """v' = -g (mu_d + mu_v v) gives the time and the place of its stop in closed form."""
    model = block(0.0, 1.0, 0.3, 0.3, 1e9)
    model["floor"].viscous_friction = 0.5
    result = model.simulate(until=1.0, accuracy=1e-8)
    stop = math.log(1.0 + 0.5 / 0.3) / (0.5 * GRAVITY)
    assert regimes(result)[-1] == (pytest.approx(stop, rel=1e-4), 1)
    distance = 1.0 / (0.5 * GRAVITY) - 0.3 / 0.5 * stop
    assert result["ball.x"][-1] == pytest.approx(distance, rel=1e-3)


@pytest.mark.parametrize("k", [3, 7])
def test_corners_that_stop_sliding_at_one_time_cost_few_steps(k: int) -> None:
    """Friction along the direction of the velocity would lead to ever shorter steps in these two runs."""
    file = Path(__file__).parents[2] / "examples" / "thrown_crate" / "thrown_crate.toml"
    model = cosim.Model.from_file(file)
    model["crate_joint"].u = [0, 0, 0, 1.5 + 0.013 * k, 0.2 - 0.007 * k, 0]
    result = model.simulate(until=2.0, accuracy=1e-6)
    assert result.statistics["steps"] < 5000
    assert abs(result["energy.residual"]).max() < 1e-5


@pytest.mark.parametrize(
    ("static", "dynamic", "speed", "modulus"),
    [
        (0.8, 0.8, -1.0, 1e9), (0.4, 0.3, -1.0, 1e9), (0.3, 0.2, -1.0, 1e11), (0.3, 0.2, 0.0, 1e9),
        (0.8, 0.6, 1.0, 1e9), (0.3, 0.3, 1.0, 1e9),
    ],
)  # fmt: skip
def test_a_block_on_a_slope_stops_sticks_and_slides_back(
    static: float, dynamic: float, speed: float, modulus: float
) -> None:
    slope, until = math.radians(20.0), 1.0
    down, hold = GRAVITY * math.sin(slope), GRAVITY * math.cos(slope)
    result = block(slope, speed, static, dynamic, modulus).simulate(until=until, accuracy=1e-7)
    acceleration = down - math.copysign(dynamic * hold, speed)
    stop = min(-speed / acceleration, until) if acceleration * speed <= 0.0 else until
    x = speed * stop + 0.5 * acceleration * stop**2
    if math.tan(slope) > static and stop < until:
        x += 0.5 * (down - dynamic * hold) * (until - stop) ** 2
    assert result["ball.x"][-1] == pytest.approx(x, rel=1e-3)
    regime = 1 if math.tan(slope) < static else 2
    assert regimes(result)[-1][1] == regime
    assert abs(result["energy.residual"]).max() < 1e-8


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("static", "dynamic"), [(0.3, 0.2), (0.2, 0.2), (0.3, 0.3), (0.3639, 0.2), (0.3, 0.05)]
)
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9, 1e11])
def test_a_block_slides_back_with_the_speed_of_coulomb(static: float, dynamic: float, modulus: float) -> None:
    """The impulse of the reversing bristle is that of Coulomb's law, whatever its stiffness."""
    slope = math.radians(20.0)
    result = block(slope, -1.0, static, dynamic, modulus).simulate(until=1.0, accuracy=1e-8)
    stop, loose, place, speed = slides_back(dynamic, modulus, slope, 1.0)
    if modulus > 1e6:  # a soft contact is deep, so rounding of the start still changes its depth
        assert regimes(result)[-2:] == [
            (pytest.approx(stop, abs=1e-9), 1), (pytest.approx(loose, abs=1e-9), 2)
        ]  # fmt: skip
    assert [regime for _, regime in regimes(result)] == [2, 1, 2]
    assert result["ball.x"][-1] == pytest.approx(place, rel=1e-8 if modulus > 1e6 else 1e-6)
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=1e-8)
    coulomb = GRAVITY * (math.sin(slope) - dynamic * math.cos(slope)) * (1.0 - stop)
    assert result["ball.vx"][-1] == pytest.approx(coulomb, rel=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-8


@pytest.mark.few(7)
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("excess", [-0.2, -1e-4, -1e-6, 0.0, 2e-6, 1e-4, 0.2])
def test_a_block_that_stopped_slides_back_if_its_weight_exceeds_static_friction(
    excess: float, modulus: float
) -> None:
    slope = math.atan(0.3 * (1.0 + excess))
    result = block(slope, -0.5, 0.3, 0.2, modulus).simulate(until=1.0, accuracy=1e-8)
    assert result["floor.regime"][-1] == (2 if excess > 0.0 else 1)


@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9, 1e11])
@pytest.mark.parametrize("excess", [-0.02, 0.02, 0.2])
def test_a_ball_that_stops_slipping_rolls_within_its_cone_and_slips_back_outside(
    excess: float, modulus: float
) -> None:
    """The effective mass of a ball at its contact is 2/7 m; its bristle is damped critically for it."""
    slope = math.radians(40.0)
    static = 2.0 / 7.0 * math.tan(slope) / (1.0 + excess)
    dynamic = 0.8 * static
    down, hold = GRAVITY * math.sin(slope), GRAVITY * math.cos(slope)
    model = ball_on_floor(
        modulus, RADIUS - rest_depth(modulus, hold), [0, 1.0 / RADIUS, 0, 0, 0, 0], slope,
        static_friction=static, dynamic_friction=dynamic,
    )  # fmt: skip
    stop = 1.0 / (down + 3.5 * dynamic * hold)
    result = model.simulate(until=stop + 0.5, accuracy=1e-8)
    acceleration = 5.0 / 7.0 * down if excess < 0.0 else down - dynamic * hold
    assert regimes(result)[1] == (pytest.approx(stop, abs=1e-8), 1)
    assert result["floor.regime"][-1] == (1 if excess < 0.0 else 2)
    assert result["ball.vx"][-1] == pytest.approx(
        (down + dynamic * hold) * stop + 0.5 * acceleration, rel=1e-7
    )


def test_the_default_damping_of_a_bristle_suits_a_rolling_ball() -> None:
    """The damping ratio of sqrt(7/2), critical for the whole mass, takes twice the steps."""

    def steps(damping: float) -> int:
        model = ball_on_floor(
            1e7, RADIUS - rest_depth(1e7), [0, 0, 0, 1.0, 0, 0], static_friction=0.3, dynamic_friction=0.3,
            stick_damping=damping,
        )  # fmt: skip
        return int(model.simulate(until=1.0, accuracy=1e-4).statistics["steps"])

    assert steps(math.sqrt(7.0 / 2.0)) > 1.9 * steps(1.0)


def test_a_ball_on_a_turntable_circles_with_two_sevenths_of_its_rate() -> None:
    turning, speed, modulus = 2.0, 0.3, 1e8
    model = Multibody("turntable")
    table = model.body("table", mass=10.0, inertia=(1e9, 1e9, 1e9))
    model.joint("pin", child=table, u=turning)
    ball = model.body("ball", mass=1.0, inertia=(SOLID,) * 3)
    u = [(turning * 0.5 - speed) / RADIUS, 0, 0, 0, speed, 0]
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0.5, 0, RADIUS - rest_depth(modulus)], u=u)
    model.add(
        "mechanics.sphere_contact", "floor", body1=table, body2=ball, radius=RADIUS, stiffness=modulus,
        static_friction=0.8, dynamic_friction=0.8,
    )  # fmt: skip
    result = model.simulate(until=12.0, accuracy=1e-7)
    rate = 2.0 / 7.0 * turning
    radius = speed / rate
    np.testing.assert_allclose(
        result["ball.x"], 0.5 - radius + radius * np.cos(rate * result.time), atol=1e-4
    )
    np.testing.assert_allclose(result["ball.y"], radius * np.sin(rate * result.time), atol=1e-4)


@pytest.mark.parametrize(("mass", "radius"), [(3e-6, 0.003), (1.0, 0.1)])
def test_a_ball_that_rolls_on_a_stiff_floor_costs_few_steps(mass, radius):
    """The stretch of the bristle is near rounding: its tolerance is not smaller than that."""
    model = Multibody("rest", gravity=(0.0, 0.0, -GRAVITY))
    ball = model.body("ball", mass=mass, inertia=(0.4 * mass * radius**2,) * 3)
    depth = hertz_depth(mass * GRAVITY, 5e10, radius)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, radius - depth])
    law = {"stiffness": 5e10, "restitution": 0.6, "static_friction": 0.8, "dynamic_friction": 0.8}
    model.add("mechanics.sphere_contact", "floor", body1="ground", body2=ball, radius=radius, **law)
    model.add("measures.sinusoid", "push", amplitude=19.0 * mass, frequency=np.pi)
    model.add("mechanics.applied_force", "load", body=ball, axis=(1, 0, 0))
    model.connect("push", "load.force")
    simulator = cosim.Simulator(model.build(), integrator="integrators.radau5", accuracy=1e-7)
    simulator.advance_to(0.05)
    assert simulator.statistics.integrator_steps < 200


def test_a_run_resumed_while_a_block_sticks_has_the_same_bytes() -> None:
    system = block(math.radians(20.0), -1.0, 0.4, 0.3).build()
    uninterrupted = cosim.Simulator(system, accuracy=1e-6)
    uninterrupted.advance_to(0.1634)
    saved = uninterrupted.state.to_bytes()
    uninterrupted.advance_to(0.5)
    resumed = cosim.Simulator(system, system.state_from_bytes(saved), accuracy=1e-6)
    resumed.advance_to(0.5)
    assert uninterrupted.state["floor.regime"] == 1
    assert resumed.state.to_bytes() == uninterrupted.state.to_bytes()
