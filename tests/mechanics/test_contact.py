"""Contacts that rest, stick, slide and roll, against Hertz, Coulomb and closed forms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import cosim
from cosim_mechanics import Multibody, SphereContact, shapes

RADIUS, GRAVITY = 0.1, 9.81
SOLID = 0.4 * RADIUS * RADIUS


def rest_depth(modulus: float, load: float = GRAVITY) -> float:
    """Depth of a ball of `RADIUS` that carries `load`, N, by Hertz."""
    return float((3.0 * load / (4.0 * modulus * math.sqrt(RADIUS))) ** (2.0 / 3.0))


def ball_on_floor(
    modulus: float,
    height: float = RADIUS,
    u: Any = (0,) * 6,
    slope: float = 0.0,
    joint: str = "free",
    **values: Any,
) -> Multibody:
    """A solid ball of 1 kg, its centre `height` above a floor that falls along x by `slope` (rad)."""
    g = (GRAVITY * math.sin(slope), 0.0, -GRAVITY * math.cos(slope))
    model = Multibody("ball", gravity=g)
    ball = model.body("ball", mass=1.0, inertia=(SOLID,) * 3)
    place = [0, 0, height] if joint == "translation" else [1, 0, 0, 0, 0, 0, height]
    model.joint(joint, child=ball, q=place, u=u)
    model.add(
        "mechanics.sphere_contact",
        "floor",
        body1="ground",
        body2=ball,
        radius=RADIUS,
        stiffness=modulus,
        **values,
    )
    return model


def block(slope: float, speed: float, static: float, dynamic: float, modulus: float = 1e8) -> Multibody:
    """A body of 1 kg that does not turn, pressed into a slope as it rests there."""
    height = RADIUS - rest_depth(modulus, GRAVITY * math.cos(slope))
    friction = {"static_friction": static, "dynamic_friction": dynamic}
    return ball_on_floor(modulus, height, [speed, 0, 0], slope, "translation", **friction)


def regimes(result: Any) -> list[tuple[float, float]]:
    """Times of changes of regime, and the regimes after them."""
    return [(e.time, e.after["floor.regime"]) for e in result.events if "floor.regime" in e.changed]


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
def test_an_impact_leaves_the_share_of_the_speed_that_was_given(restitution: float, speed: float) -> None:
    model = ball_on_floor(1e7, RADIUS, [0, 0, 0, 0, 0, -speed], restitution=restitution)
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.1 if speed < 1.0 else 0.05, accuracy=1e-9)
    assert result["ball.vz"][-1] == pytest.approx(restitution * speed, rel=1e-6)


@pytest.mark.parametrize(("speed", "dissipation"), [(0.05, 0.0), (0.05, 0.4), (1.0, 0.4), (3.0, 2.0)])
def test_hunt_and_crossley_lose_their_share(speed: float, dissipation: float) -> None:
    """With the force k d^1.5 (1 + c v), v / (1 + c v) dv = -k/m d^1.5 dd; c is 1.5 times the dissipation."""
    model = ball_on_floor(1e7, RADIUS, [0, 0, 0, 0, 0, -speed], dissipation=dissipation)
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.1 if speed < 1.0 else 0.05, accuracy=1e-9)
    c = 1.5 * dissipation
    leaves = speed
    if c > 0.0:
        entered = c * speed - math.log1p(c * speed)
        leaves = brentq(lambda x: x + math.log1p(-x) + entered, 0.0, 1.0 - 1e-12, xtol=1e-15) / c
    assert result["ball.vz"][-1] == pytest.approx(leaves, rel=1e-6)


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


@pytest.mark.few(1)
@pytest.mark.parametrize("modulus", [1e7, 1e10])
def test_a_body_within_its_cone_stays(modulus: float) -> None:
    result = block(math.radians(20.0), 0.0, 0.8, 0.8, modulus).simulate(
        until=100.0, accuracy=1e-5, integrator="integrators.radau5"
    )
    assert np.ptp(result["ball.x"]) < 1e-10
    assert abs(result["ball.vx"][-1]) < 1e-9
    # From its start a bristle carries it: 2 (1 - nu) / (2 - nu) 2 E sqrt(R x) s = m g sin(slope).
    tangential = (
        2 * 0.7 / 1.7 * 2 * modulus * math.sqrt(RADIUS * rest_depth(modulus, GRAVITY * math.cos(0.34906585)))
    )
    stretch = result["floor.stretch[0]"][-1]
    assert stretch == pytest.approx(GRAVITY * math.sin(0.34906585) / tangential, rel=1e-6)


def box_on_slope(share: float, speed: float, static: float = 0.5, dynamic: float = 0.5) -> Multibody:
    """A box on four corners; its weight pulls with `share` of what static friction holds."""
    slope, modulus = math.atan(static * share), 1e8
    model = Multibody("box", gravity=(GRAVITY * math.sin(slope), 0, -GRAVITY * math.cos(slope)))
    box = model.body("box", mass=1.0, inertia=(0.01, 0.01, 0.02))
    depth = (3.0 * GRAVITY * math.cos(slope) / 4.0 / (4.0 * modulus * math.sqrt(0.02))) ** (2.0 / 3.0)
    model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, 0.05 - depth], u=[0, 0, 0, speed, 0, 0])
    model.shape_contacts(
        "floor", "ground", shapes.HalfSpace(), box, shapes.Box((0.4, 0.4, 0.1), 0.02), stiffness=modulus,
        restitution=0.5, static_friction=static, dynamic_friction=dynamic,
    )  # fmt: skip
    return model


@pytest.mark.by_turns
@pytest.mark.parametrize("speed", [0.0, 0.1, -0.3])
@pytest.mark.parametrize("share", [0.5, 0.88, 0.99, 0.999])
def test_a_box_on_four_corners_comes_to_rest_close_to_its_cone(share: float, speed: float) -> None:
    slope = math.atan(0.5 * share)
    slowing = 0.5 * GRAVITY * math.cos(slope) - math.copysign(GRAVITY * math.sin(slope), speed)
    stop = abs(speed) / slowing
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


def box_in_equilibrium_at_its_cone() -> Multibody:
    """A box that starts pitched, so that its four corners carry its weight and the moment of friction."""
    model, slope, arm = box_on_slope(1.0, 0.0), math.atan(0.5), 0.18
    weight, pull = GRAVITY * math.cos(slope) / 4.0, GRAVITY * math.sin(slope) / 4.0
    loads = [weight + sign * pull * 0.05 / arm for sign in (1.0, -1.0)]
    front, rear = [(3.0 * load / (4.0 * 1e8 * math.sqrt(0.02))) ** (2.0 / 3.0) for load in loads]
    pitch = (front - rear) / (2.0 * arm)
    model["box_joint"].q = [
        math.cos(pitch / 2), 0, math.sin(pitch / 2), 0, 0, 0, 0.05 - 0.5 * (front + rear),
    ]  # fmt: skip
    return model


def test_a_box_in_equilibrium_exactly_at_its_cone_stays() -> None:
    result = box_in_equilibrium_at_its_cone().simulate(until=5.0, accuracy=1e-8)
    assert np.ptp(result["box.x"]) < 1e-10
    assert abs(result["box.vx"][-1]) < 1e-12


def test_exactly_at_the_cone_an_impulse_is_neither_lost_nor_gained() -> None:
    """A box that is put down level pitches first; then its weight and its friction are in balance."""
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


@pytest.mark.parametrize("static", [0.3, 0.8])
def test_a_spinning_ball_that_bounces_gains_no_energy(static: float) -> None:
    """With that of the bristle, which gives back what an impact has stretched it by."""
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
    """Kinetic, that of its weight, of Hertz and what is dissipated, each by its own formula."""
    model = ball_on_floor(
        1e7, 0.3, [0, -10.0, 2.0, 2.0, 0, 0], static_friction=0.3, dynamic_friction=0.25, restitution=0.7,
    )  # fmt: skip
    names = ["ball.*", "floor.*", "energy.*"]
    result = model.simulate(until=3.0, accuracy=1e-9, output_interval=1e-3, signals=names)
    speed2 = sum(result[f"ball.v{axis}"] ** 2 for axis in "xyz")
    spin2 = sum(result[f"ball.w{axis}"] ** 2 for axis in "xyz")
    depth = np.maximum(RADIUS - result["ball.z"], 0.0)
    held = 0.5 * speed2 + 0.5 * SOLID * spin2 + GRAVITY * result["ball.z"]
    held = held + 8.0 / 15.0 * 1e7 * math.sqrt(RADIUS) * depth**2.5
    assert abs(held + result["floor.dissipated_energy"] - held[0]).max() < 1e-6 * held[0]
    assert held[0] - held[-1] > 1.0
    assert result["floor.regime"][-1] == 1
    assert result["ball.wy"][-1] * RADIUS == pytest.approx(result["ball.vx"][-1], abs=1e-9)
    # What slid turned its angular momentum about the ground into rolling.
    assert result["ball.vx"][-1] == pytest.approx((2.0 - 0.4 * 10.0 * RADIUS) / 1.4, rel=1e-3)


def test_two_equal_contacts_in_one_point_hold_like_one() -> None:
    slope, friction = math.radians(20.0), {"static_friction": 0.4, "dynamic_friction": 0.3}
    height = RADIUS - rest_depth(1e8, 0.5 * GRAVITY * math.cos(slope))
    model = ball_on_floor(1e8, height, [-1.0, 0, 0], slope, "translation", **friction)
    model.add(
        "mechanics.sphere_contact", "again", body1="ground", body2="ball", radius=RADIUS, stiffness=1e8,
        **friction,
    )  # fmt: skip
    result = model.simulate(until=1.0, accuracy=1e-7)
    slowing = GRAVITY * (math.sin(slope) + 0.3 * math.cos(slope))
    assert result["ball.x"][-1] == pytest.approx(-0.5 / slowing, rel=1e-3)
    assert np.ptp(result["ball.x"][result.time > 0.8]) < 1e-9
    np.testing.assert_array_equal(result["floor.stretch[0]"], result["again.stretch[0]"])


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
    """v' = -g (mu_d + mu_v v): the closed form of its stop, and a rest without a jump of the force."""
    model = block(0.0, 1.0, 0.3, 0.3, 1e9)
    model["floor"].viscous_friction = 0.5
    result = model.simulate(until=1.0, accuracy=1e-8)
    stop = math.log(1.0 + 0.5 / 0.3) / (0.5 * GRAVITY)
    assert regimes(result)[-1] == (pytest.approx(stop, rel=1e-4), 1)
    way = 1.0 / (0.5 * GRAVITY) - 0.3 / 0.5 * stop
    assert result["ball.x"][-1] == pytest.approx(way, rel=1e-3)


@pytest.mark.parametrize("k", [3, 7])
def test_corners_that_slide_to_rest_at_once_do_not_stall(k: int) -> None:
    """With the velocity's direction as that of friction these two ended in ever shorter steps."""
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
    before = down - math.copysign(dynamic * hold, speed)
    stop = min(-speed / before, until) if before * speed <= 0.0 else until
    x = speed * stop + 0.5 * before * stop**2
    if math.tan(slope) > static and stop < until:
        x += 0.5 * (down - dynamic * hold) * (until - stop) ** 2
    assert result["ball.x"][-1] == pytest.approx(x, rel=1e-3)
    stick = 1 if math.tan(slope) < static else 2
    assert regimes(result)[-1][1] == stick
    assert abs(result["energy.residual"]).max() < 1e-8


def slides_back(friction: float, modulus: float, slope: float, until: float) -> Any:
    """Times of a stop and of breaking loose, place and speed of a block of 1 kg thrown up at 1 m/s.

    Its bristle turns round critically damped: with omega^2 = k_t / m and a start at rest under the
    acceleration A, its load is that of before plus m A (1 - exp(-omega t)), its speed A t exp(-omega t).
    """
    down, hold = GRAVITY * math.sin(slope), GRAVITY * math.cos(slope)
    omega = math.sqrt(4 * 0.7 / 1.7 * modulus * math.sqrt(RADIUS * rest_depth(modulus, hold)))
    start = down + friction * hold
    stop = 1.0 / start
    turned = -math.log(1.0 - (2.0 + 1e-6) * friction * hold / start)
    speed = start * turned * math.exp(-turned) / omega
    place = -0.5 * stop + start / omega**2 * (1.0 - (1.0 + turned) * math.exp(-turned))
    rest, then = until - stop - turned / omega, down - friction * hold
    return stop, stop + turned / omega, place + speed * rest + 0.5 * then * rest**2, speed + then * rest


@pytest.mark.few(7)
@pytest.mark.parametrize(
    ("static", "dynamic"), [(0.3, 0.2), (0.2, 0.2), (0.3, 0.3), (0.3639, 0.2), (0.3, 0.05)]
)
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9, 1e11])
def test_a_block_slides_back_with_the_speed_of_coulomb(static: float, dynamic: float, modulus: float) -> None:
    """What the bristle gives and takes until it has turned is equal, whatever its stiffness."""
    slope = math.radians(20.0)
    result = block(slope, -1.0, static, dynamic, modulus).simulate(until=1.0, accuracy=1e-8)
    stop, loose, place, speed = slides_back(dynamic, modulus, slope, 1.0)
    if modulus > 1e6:  # A soft one is deep, and its depth still changes by what the start rounds.
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
def test_a_block_that_stopped_slides_back_where_its_weight_pulls_harder_than_static_friction(
    excess: float, modulus: float
) -> None:
    slope = math.atan(0.3 * (1.0 + excess))
    result = block(slope, -0.5, 0.3, 0.2, modulus).simulate(until=1.0, accuracy=1e-8)
    assert result["floor.regime"][-1] == (2 if excess > 0.0 else 1)


@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9, 1e11])
@pytest.mark.parametrize("excess", [-0.02, 0.02, 0.2])
def test_a_ball_that_stops_slipping_on_a_slope_rolls_within_its_cone_and_slips_back_outside(
    excess: float, modulus: float
) -> None:
    """At its contact a ball of mass m weighs 2/7 m, for which its bristle is damped critically."""
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
    after = 5.0 / 7.0 * down if excess < 0.0 else down - dynamic * hold
    assert regimes(result)[1] == (pytest.approx(stop, abs=1e-8), 1)
    assert result["floor.regime"][-1] == (1 if excess < 0.0 else 2)
    assert result["ball.vx"][-1] == pytest.approx((down + dynamic * hold) * stop + 0.5 * after, rel=1e-7)


def test_a_bristle_is_damped_for_a_rolling_ball() -> None:
    """One that is damped for all of its mass, by a damping ratio of sqrt(7/2), takes twice the steps."""

    def steps(damping: float) -> int:
        model = ball_on_floor(
            1e7, RADIUS - rest_depth(1e7), [0, 0, 0, 1.0, 0, 0], static_friction=0.3, dynamic_friction=0.3,
            stick_damping=damping,
        )  # fmt: skip
        return int(model.simulate(until=1.0, accuracy=1e-4).statistics["steps"])

    assert steps(math.sqrt(7.0 / 2.0)) > 1.9 * steps(1.0)


def pushed(model: Multibody, *loads: tuple[float, float, float]) -> Multibody:
    """A block under forces along x that reach a height, in its weights, from a time on in a duration."""
    for i, (start, duration, height) in enumerate(loads):
        values = {"start_time": start, "height": height * GRAVITY}
        if duration > 0.0:
            model.add("signals.ramp", f"load{i}", duration=duration, **values)
        else:
            model.add("signals.step", f"load{i}", **values)
        model.add("mechanics.applied_force", f"push{i}", body="ball", axis=(1, 0, 0))
        model.connect(f"load{i}", f"push{i}.force")
    return model


@pytest.mark.few(4)
@pytest.mark.parametrize("push", [-0.7, -0.501, -0.499, -0.4, 0.4, 0.499, 0.501, 0.55, 0.6, 0.9, 2.0])
def test_a_push_on_a_block_that_stopped_breaks_it_loose_above_static_friction(push: float) -> None:
    """It stopped long ago: what acted then says nothing about what acts now."""
    result = pushed(block(0.0, 1.0, 0.5, 0.3, 1e8), (0.5, 0.0, push)).simulate(until=1.0, accuracy=1e-7)
    speed = math.copysign((abs(push) - 0.3) * GRAVITY * 0.5, push) if abs(push) > 0.5 else 0.0
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=1e-6, abs=1e-9)


@pytest.mark.by_turns
@pytest.mark.parametrize("ratio", [0.99, 1.0, -1.0, 1.001, 1.02, -1.1, 1.4, 2.0, -4.0, 100.0])
@pytest.mark.parametrize("before", [0.0, 0.4, -0.4])
@pytest.mark.parametrize("modulus", [1e5, 1e8, 1e11])
def test_a_load_that_jumps_above_static_friction_slides_from_the_instant_of_the_jump(
    ratio: float, before: float, modulus: float
) -> None:
    model = block(0.0, 0.0, 0.5, 0.3, modulus)
    model.gravity = (before * GRAVITY, 0, -GRAVITY)
    result = pushed(model, (0.5, 0.0, 0.5 * ratio - before)).simulate(until=1.0, accuracy=1e-7)
    slides = abs(ratio) > 1.0
    speed = math.copysign(0.5 * abs(ratio) - 0.3, ratio) * GRAVITY * 0.5 if slides else 0.0
    # A foot that bears more than dynamic friction already shows the jump only when it moves.
    error = 1e-7 if before * ratio <= 0.0 else 1e-3 / (modulus / 1e5) ** (1 / 3)
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=error, abs=1e-9)


@pytest.mark.parametrize(("static", "dynamic"), [(0.5, 0.5), (0.5, 0.3), (0.5, 0.05)])
def test_loads_that_jump_and_come_back_within_the_stretch(static: float, dynamic: float) -> None:
    """The bristle takes some milliseconds at E = 1e8; what slides then stops by dynamic friction."""
    pulse, height = 1e-3, 2.0
    model = pushed(block(0.0, 0.0, static, dynamic, 1e8), (0.5, 0.0, height), (0.5 + pulse, 0.0, -height))
    result = model.simulate(until=1.0, accuracy=1e-8)
    way = 0.5 * (height - dynamic) * GRAVITY * pulse**2 * height / dynamic
    stretch = static * GRAVITY / 3.2e5
    assert result["ball.vx"][-1] == pytest.approx(0.0, abs=1e-9)
    assert result["ball.x"][-1] == pytest.approx(way, abs=stretch)


@pytest.mark.parametrize("jump", [0.2, 0.35, 0.45, 0.499])
@pytest.mark.parametrize("rate", [0.2, 5.0])
def test_a_ramp_that_begins_with_a_jump_breaks_loose_where_it_reaches_static_friction(
    jump: float, rate: float
) -> None:
    until = (0.6 - jump) / rate
    model = pushed(block(0.0, 0.0, 0.5, 0.3, 1e8), (0.1, 0.0, jump), (0.1, until, 0.6 - jump))
    result = model.simulate(until=0.5 + until, accuracy=1e-7)
    loose = (0.5 - jump) / rate
    speed = GRAVITY * ((0.3 * 0.4) + 0.5 * ((until - loose) * (0.2 + 0.3)))
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=3e-3)


def test_a_normal_force_that_drops_lets_a_load_break_loose() -> None:
    model = pushed(block(0.0, 0.0, 0.5, 0.3, 1e8), (0.0, 0.0, 0.4))
    model["floor"].restitution = 0.3
    model.add("signals.step", "step", start_time=0.5, height=0.5 * GRAVITY)
    model.add("mechanics.applied_force", "lift", body="ball", axis=(0, 0, 1))
    model.connect("step", "lift.force")
    result = model.simulate(until=1.0, accuracy=1e-7)
    assert result["ball.vx"][-1] == pytest.approx((0.4 - 0.15) * GRAVITY * 0.5, rel=2e-3)


@pytest.mark.parametrize("ratio", [0.99, 1.02, 2.0])
def test_two_bodies_that_move_break_loose_at_their_cone(ratio: float) -> None:
    """A block on a sledge that a force pulls: the sledge moves away when it exceeds what friction gives."""
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
    """What slides is held by dynamic friction from the start; what barely moves, as at rest."""
    model = block(0.0, speed, 0.5, 0.3, 1e9)
    model.gravity = (push * GRAVITY, 0, -GRAVITY)
    result = model.simulate(until=0.5, accuracy=1e-8)
    slides = push > 0.5 or (push > 0.3 and speed > 1e-4)
    expected = speed + (push - 0.3) * GRAVITY * 0.5 if slides or speed > 0.495 else 0.0
    assert result["ball.vx"][-1] == pytest.approx(expected, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(("rate", "modulus"), [(2.0, 1e5), (2.0, 1e7), (20.0, 1e7), (2.0, 1e9)])
def test_a_push_that_grows_breaks_the_contact_at_the_static_friction(rate: float, modulus: float) -> None:
    until = 0.65 * GRAVITY / rate
    model = block(0.0, 0.0, 0.5, 0.3, modulus)
    model.add("signals.ramp", "ramp", height=rate * until, duration=until)
    model.add("mechanics.applied_force", "push", body="ball", axis=(1, 0, 0))
    model.connect("ramp", "push.force")
    result = model.simulate(until=until, accuracy=1e-7)
    time = 0.5 * GRAVITY / rate
    assert regimes(result)[-1] == (pytest.approx(time, rel=2e-6), 2)
    speed = 0.5 * rate * (until**2 - time**2) - 0.3 * GRAVITY * (until - time)
    stiffness = 4 * 0.7 / 1.7 * modulus * math.sqrt(RADIUS * rest_depth(modulus))
    given = rate / stiffness  # the speed of a stretching bristle
    assert result["ball.vx"][-1] == pytest.approx(speed, rel=1e-4, abs=1.2 * given)


def test_a_ball_on_a_turntable_goes_round_with_two_sevenths_of_its_speed() -> None:
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


def test_a_stiff_impact_passes_at_an_accuracy_near_what_time_can_resolve() -> None:
    """The damping force begins with an infinite slope: a step across the touch is as short as it can be."""
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


def test_saved_while_it_sticks_it_goes_on_to_the_same_bytes() -> None:
    system = block(math.radians(20.0), -1.0, 0.4, 0.3).build()
    whole = cosim.Simulator(system, accuracy=1e-6)
    whole.advance_to(0.1634)
    saved = whole.state.to_bytes()
    whole.advance_to(0.5)
    again = cosim.Simulator(system, system.state_from_bytes(saved), accuracy=1e-6)
    again.advance_to(0.5)
    assert whole.state["floor.regime"] == 1
    assert again.state.to_bytes() == whole.state.to_bytes()


def test_elastic_surfaces_without_friction_touch_and_part_at_events() -> None:
    drop = 0.2
    result = ball_on_floor(1e11, RADIUS + drop).simulate(until=3.2, accuracy=1e-6)
    changes = regimes(result)
    assert [regime for _, regime in changes] == [2.0, 0.0] * 8
    first, parts = changes[0][0], changes[1][0]
    assert first == pytest.approx(math.sqrt(2.0 * drop / GRAVITY), rel=1e-9)
    period = parts + first  # it leaves as fast as it came
    for k in range(8):
        assert changes[2 * k][0] == pytest.approx(first + k * period, rel=1e-5)
        assert changes[2 * k + 1][0] == pytest.approx(parts + k * period, rel=1e-5)
    assert abs(result["energy.residual"]).max() < 1e-4


@pytest.mark.parametrize(
    ("height", "speed", "expected"),
    [(RADIUS, -0.1, [2.0, 0.0]), (RADIUS - 1e-4, 0.0, [2.0, 0.0]), (RADIUS, 0.1, []), (RADIUS, 0.0, [])],
)
def test_elastic_surfaces_may_start_in_touch(height: float, speed: float, expected: list[float]) -> None:
    model = ball_on_floor(1e7, height, [0, 0, 0, 0, 0, speed], viscous_friction=0.5)
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.02, accuracy=1e-8)
    assert [regime for _, regime in regimes(result)] == expected
    assert abs(result["energy.residual"]).max() < 1e-9


def test_viscous_friction_of_elastic_surfaces_follows_a_sliding_that_turns_back() -> None:
    height = RADIUS - rest_depth(1e7, GRAVITY * math.cos(0.3))
    model = ball_on_floor(1e7, height, [-0.5, 0, 0], 0.3, "translation", viscous_friction=2.0)
    result = model.simulate(until=4.0, accuracy=1e-8)
    assert result["ball.vx"][-1] == pytest.approx(math.tan(0.3) / 2.0, rel=1e-4)
    assert abs(result["energy.residual"]).max() < 1e-6


@pytest.mark.parametrize("damping", [{"restitution": 0.5}, {"dissipation": 0.25}])
def test_with_damping_and_without_friction_nothing_is_an_event(damping: dict[str, float]) -> None:
    result = ball_on_floor(1e7, 0.3, **damping).simulate(until=1.0, accuracy=1e-6)
    assert regimes(result) == []


def test_located_touches_of_elastic_balls_save_evaluations_and_error() -> None:
    def drop(height: float, accuracy: float) -> tuple[int, np.ndarray]:
        result = ball_on_floor(1e7, height).simulate(until=2.0, accuracy=accuracy, output_interval=0.1)
        return result.statistics["evaluations"], result["ball.z"]

    spent, worst = 0, 0.0
    for height in (0.3, 0.37, 0.45):
        evaluations, heights = drop(height, 1e-5)
        spent += evaluations
        worst = max(worst, abs(heights - drop(height, 1e-11)[1]).max())
    assert spent < 3200  # 3,961 in steps across the touches
    assert worst < 1.5e-5  # 9e-5


@pytest.mark.parametrize(("restitution", "refused"), [(1e-12, True), (9.9e-5, True), (1e-4, False)])
def test_restitutions_that_would_take_for_ever_are_refused(restitution: float, refused: bool) -> None:
    model = ball_on_floor(1e7, 0.11, restitution=restitution)
    if refused:
        with pytest.raises(cosim.SimulationError, match="restitution.*below.*rest"):
            model.simulate(until=0.2)
    else:
        assert 0.0 < RADIUS - model.simulate(until=0.2)["ball.z"][-1] < rest_depth(1e7)


def test_friction_at_rest_below_friction_in_motion_is_refused() -> None:
    with pytest.raises(cosim.SimulationError, match="static friction"):
        ball_on_floor(1e7, static_friction=0.2, dynamic_friction=0.3).simulate(until=0.1, accuracy=1e-6)


@pytest.mark.parametrize(
    ("given", "frictions"),
    [
        ({}, (0.0, 0.0)),
        ({"static_friction": 0.5}, (0.5, 0.5)),
        ({"dynamic_friction": 0.4}, (0.4, 0.4)),
        ({"static_friction": 0.5, "dynamic_friction": 0.0}, (0.5, 0.0)),
    ],
)
def test_one_friction_counts_for_both(given: dict[str, float], frictions: tuple[float, float]) -> None:
    contact = ball_on_floor(1e7, **given)["floor"]
    assert (contact.static_friction, contact.dynamic_friction) == frictions


def test_a_friction_that_is_set_later_counts_for_both() -> None:
    contact = ball_on_floor(1e7)["floor"]
    contact.static_friction = 0.7
    assert (contact.static_friction, contact.dynamic_friction) == (0.7, 0.7)


def test_a_contact_needs_a_radius_of_its_own() -> None:
    with pytest.raises(cosim.ModelError, match="radius"):
        SphereContact(stiffness=1e5)


@pytest.mark.parametrize("mass, radius", [(3e-6, 0.003), (1.0, 0.1)])
def test_a_ball_that_is_rolled_on_a_stiff_floor_is_not_held_to_less_than_rounding(mass, radius):
    model = Multibody("rest", gravity=(0.0, 0.0, -9.81))
    ball = model.body("ball", mass=mass, inertia=(0.4 * mass * radius**2,) * 3)
    depth = (3.0 * mass * 9.81 / (4.0 * 5e10 * np.sqrt(radius))) ** (2.0 / 3.0)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, radius - depth])
    law = {"stiffness": 5e10, "restitution": 0.6, "static_friction": 0.8, "dynamic_friction": 0.8}
    model.add("mechanics.sphere_contact", "floor", body1="ground", body2=ball, radius=radius, **law)
    model.add("measures.sinusoid", "push", amplitude=19.0 * mass, frequency=np.pi)
    model.add("mechanics.applied_force", "load", body=ball, axis=(1, 0, 0))
    model.connect("push", "load.force")
    simulator = cosim.Simulator(model.build(), integrator="integrators.radau5", accuracy=1e-7)
    simulator.advance_to(0.05)
    assert simulator.statistics.integrator_steps < 200
