"""Boxes, balls, stacks and blocks that break loose under loads, near their thresholds and far from them."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from applied_loads import push
from contact_formulas import GRAVITY, hertz_depth, mindlin_stiffness

import cosim
from cosim_mechanics import Multibody, shapes

FRICTION = {"static_friction": 0.5, "dynamic_friction": 0.3}


def box_on_floor(modulus: float, slope: float = 0.0, speed: float = 0.0) -> Multibody:
    """Return a box of 1 kg on four corners."""
    hold = GRAVITY * math.cos(slope)
    model = Multibody("box", gravity=(GRAVITY * math.sin(slope), 0, -hold))
    box = model.body("box", mass=1.0, inertia=(0.01, 0.01, 0.02))
    height = 0.05 - hertz_depth(0.25 * hold, modulus, 0.02)
    model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, height], u=[0, 0, 0, speed, 0, 0])
    shape = shapes.Box((0.4, 0.4, 0.1), 0.02)
    model.shape_contacts(
        "floor", "ground", shapes.HalfSpace(), box, shape, stiffness=modulus, restitution=0.5, **FRICTION
    )
    return model


class Kick(cosim.Component):
    """Sets the speed of the block at 0.1 s."""

    when = cosim.timer(start=0.1)
    speed = cosim.parameter(unit="m/s")

    @cosim.on(when, does="unrestricted")
    def kick(self, state: Any, next_state: Any) -> None:
        """Change the state of the block."""
        next_state["block_joint.u"] = [state["kick.speed"], 0.0, 0.0]


def sums_of(model: Multibody) -> int:
    """Return the number of groups of contacts that decide by the sum of their loads."""
    blocks = model.build().assembly.blocks
    return sum(block.label == "zeroing of grip" for block in blocks)


def coulomb(times: list[float], loads: list[float], static: float, dynamic: float) -> float:
    """Return the speed after 1 s of 1 kg under a piecewise linear load, by Coulomb's law."""
    count = 200_000
    step = 1.0 / count
    speed = 0.0
    for load in np.interp((np.arange(count) + 0.5) * step, times, loads).tolist():
        if speed == 0.0:
            if abs(load) > static * GRAVITY:
                speed = (load - math.copysign(dynamic * GRAVITY, load)) * step
        else:
            after = speed + (load - math.copysign(dynamic * GRAVITY, speed)) * step
            speed = after if after * speed > 0.0 else 0.0
    return speed


@pytest.mark.by_turns
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("speed", [0.0, -0.3])
def test_a_box_within_its_cone_stays_with_unequal_loads_of_its_corners(share: float, speed: float) -> None:
    """The rear corners carry less than a quarter of the weight, and more than a quarter of the load."""
    slope = math.atan(0.5 * share)
    stop = -speed / (GRAVITY * (math.sin(slope) + 0.3 * math.cos(slope)))
    result = box_on_floor(1e8, slope, speed).simulate(until=stop + 2.0, accuracy=1e-6)
    assert np.ptp(result["box.x"][result.time > stop + 1.0]) < 1e-10
    assert abs(result["box.vx"][-1]) < 1e-10
    assert abs(result["energy.residual"]).max() < 1e-6


@pytest.mark.by_turns
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("before", [0.0, 0.8, -0.8])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0.6, 0.8, 0)])
@pytest.mark.parametrize("ratio", [0.9, 0.99, 1.02, -1.1, 2.0, 6.0])
def test_a_jumping_load_on_a_box(ratio: float, axis: Any, before: float, modulus: float) -> None:
    """All corners break loose together, with the speed of Coulomb's law from the jump on."""
    model, cone = box_on_floor(modulus), 0.5 * GRAVITY
    push(model, "box", [(0.0, 0.3, before * cone), (0.5, 0.0, (ratio - before) * cone)], axis)
    result = model.simulate(until=1.0, accuracy=1e-7)
    speed = math.copysign(abs(ratio) * cone - 0.3 * GRAVITY, ratio) * 0.5 if abs(ratio) > 1.0 else 0.0
    # the box tilts towards its front corner while it breaks loose
    error = (5e-3 if axis == (1, 0, 0) else 2.5e-2) / (modulus / 1e5) ** (1 / 3)
    for name, share in zip(("vx", "vy"), axis, strict=False):
        assert result[f"box.{name}"][-1] == pytest.approx(
            speed * share, rel=error, abs=2e-5 if modulus < 1e6 else 1e-9
        )


@pytest.mark.few(8)
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("ratio", [0.0, 0.99, 1.0, 1.001, 1.02, -1.4, 4.0, 100.0])
def test_a_jumping_load_on_a_ball(ratio: float, modulus: float) -> None:
    """The friction of a rolling ball is 2/7 of a force at its centre; above static friction it slips."""
    model = Multibody("ball")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 0.1 - hertz_depth(GRAVITY, modulus, 0.1)])
    model.add(
        "mechanics.sphere_contact",
        "floor",
        body1="ground",
        body2=ball,
        radius=0.1,
        stiffness=modulus,
        **FRICTION,
    )
    force = ratio * 3.5 * 0.5 * GRAVITY
    push(model, "ball", [(0.2, 0.0, force)])
    result = model.simulate(until=0.7, accuracy=1e-8)
    if abs(ratio) > 1.0:
        friction = math.copysign(0.3 * GRAVITY, ratio)
        assert result["ball.vx"][-1] == pytest.approx((force - friction) * 0.5, rel=1e-6)
        assert result["ball.wy"][-1] == pytest.approx(friction * 0.1 / 0.004 * 0.5, rel=1e-6)
    else:
        assert result["ball.vx"][-1] == pytest.approx(force / 1.4 * 0.5, rel=1e-6, abs=1e-12)
        assert result["ball.wy"][-1] * 0.1 == pytest.approx(result["ball.vx"][-1], rel=1e-3, abs=1e-12)


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(24))
def test_a_block_under_random_loads_moves_by_coulombs_law(seed: int) -> None:
    """Loads jump and ramp at intervals of 1 ms and more; a bristle takes about 1 ms to stretch."""
    chance = random.Random(seed)
    static, dynamic = 0.5, chance.choice([0.5, 0.4, 0.3, 0.1])
    times, loads, changes, now = [0.0], [0.0], [], 0.05
    while now < 0.85:
        share = chance.choice([0, 0.3, 0.7, 0.9, 1.05, 1.2, 1.5, 3, 10]) * chance.choice([-1, 1])
        duration = chance.choice([0.0, 0.0, 0.0, 1e-3, 1e-2, 5e-2])
        target = share * static * GRAVITY
        changes.append((now, duration, target - loads[-1]))
        times += [now, now + duration]
        loads += [loads[-1], target]
        now += duration + chance.choice([1e-3, 1e-2, 0.1, 0.2])
    model = Multibody("block")
    body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
    model.joint("translation", child=body, q=[0, 0, 0.1 - hertz_depth(GRAVITY, 1e9, 0.1)])
    model.add(
        "mechanics.sphere_contact", "floor", body1="ground", body2=body, radius=0.1, stiffness=1e9,
        static_friction=static, dynamic_friction=dynamic,
    )  # fmt: skip
    push(model, "block", changes)
    result = model.simulate(until=1.0, accuracy=1e-7)
    largest = max(abs(result["block.vx"]).max(), 0.1)
    speed = coulomb([*times, 2.0], [*loads, loads[-1]], static, dynamic)
    assert result["block.vx"][-1] == pytest.approx(speed, abs=1e-2 * largest)


@pytest.mark.by_turns
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.59, 0.8, 0.95, 1.02])
@pytest.mark.parametrize("duration", [1e-3, 1e-2, 0.1, 0.5])
def test_a_load_that_jumps_and_then_grows(duration: float, share: float, modulus: float) -> None:
    """It breaks loose where the load exceeds static friction; the jump before does not matter."""
    model, cone, dynamic_force = Multibody("block"), 0.5 * GRAVITY, 0.3 * GRAVITY
    body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
    depth = hertz_depth(GRAVITY, modulus, 0.1)
    model.joint("translation", child=body, q=[0, 0, 0.1 - depth])
    law = {"radius": 0.1, "stiffness": modulus, **FRICTION}
    model.add("mechanics.sphere_contact", "floor", body1="ground", body2=body, **law)
    push(model, "block", [(0.1, 0.0, share * cone), (0.1, duration, (2.0 - share) * cone)])
    result = model.simulate(until=0.1 + duration + 0.2, accuracy=1e-8)
    sliding_time = (1.0 - max(0.0, (1.0 - share) / (2.0 - share))) * duration
    speed = (0.5 * (max(share, 1.0) + 2.0) * cone - dynamic_force) * sliding_time + (
        2.0 * cone - dynamic_force
    ) * 0.2
    constant = 1.0 / math.sqrt(mindlin_stiffness(modulus, 0.1, depth))  # s, of the bristle
    assert result["block.vx"][-1] == pytest.approx(speed, abs=0.35 * cone * constant)


@pytest.mark.parametrize("dynamic", [0.5, 0.3])
@pytest.mark.parametrize("modulus", [1e6, 1e9])
@pytest.mark.parametrize("speed", [1.0, -3.0])
def test_a_sticking_block_slides_after_a_handler_sets_its_speed(
    speed: float, modulus: float, dynamic: float
) -> None:
    model = Multibody("block")
    body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
    model.joint("translation", child=body, q=[0, 0, 0.1 - hertz_depth(GRAVITY, modulus, 0.1)])
    model.add(
        "mechanics.sphere_contact", "floor", body1="ground", body2=body, radius=0.1, stiffness=modulus,
        static_friction=0.5, dynamic_friction=dynamic,
    )  # fmt: skip
    model.add(Kick, "kick", speed=speed)
    result = model.simulate(until=2.0, accuracy=1e-7, output_interval=0.05)
    stop = abs(speed) / (dynamic * GRAVITY)
    sliding = (result.time > 0.1) & (result.time < 0.1 + 0.8 * stop)
    expected = speed - math.copysign(dynamic * GRAVITY, speed) * (result.time - 0.1)
    np.testing.assert_allclose(result["block.vx"][sliding], expected[sliding], rtol=0.02)
    assert result["block.x"][-1] == pytest.approx(0.5 * speed * stop, rel=0.03)
    assert abs(result["block.vx"][-1]) < 1e-9


def test_pulling_the_top_of_a_stack_leaves_the_boxes_below() -> None:
    """Each pair of bodies breaks loose by its own loads."""
    model, below, top = Multibody("stack"), "ground", 0.0
    for i in range(3):
        load = GRAVITY * (3 - i) / 4
        top += 0.2 - hertz_depth(load, 1e7, 0.01)
        box = model.body(f"box{i}", mass=1.0, inertia=(0.011, 0.011, 0.015))
        model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, top - 0.1])
        half_space = shapes.HalfSpace((0, 0, 0.1 if i else 0))
        model.shape_contacts(
            f"on{i}", below, half_space, box, shapes.Box((0.3, 0.3, 0.2), 0.01), stiffness=1e7,
            restitution=0.3, **FRICTION,
        )  # fmt: skip
        below = box
    push(model, "box2", [(0.3, 0.0, 0.6 * GRAVITY)])
    result = model.simulate(until=0.5, accuracy=1e-6)
    assert result["box2.vx"][-1] == pytest.approx(0.3 * GRAVITY * 0.2, rel=3e-3)
    for i in range(2):
        assert abs(result[f"box{i}.x"][-1]) < 1e-3  # m; their contacts are elastic
        assert [result[f"on{i}_{corner}.regime"][-1] for corner in (1, 3, 5, 7)] == [1, 1, 1, 1]


def test_a_run_resumed_in_any_phase_of_a_load_has_the_same_bytes() -> None:
    """The phases of `load_course` include a start, a reversal and a load above static friction."""
    model = box_on_floor(1e7)
    push(model, "box", [(0.05, 0.0, 0.47 * GRAVITY), (0.1, 0.0, -0.9 * GRAVITY), (0.2, 0.05, 1.2 * GRAVITY)])
    system = model.build()
    uninterrupted = cosim.Simulator(system, accuracy=1e-6)
    times, saved_states, phases = [0.05, 0.0503, 0.051, 0.053, 0.06, 0.1, 0.1004, 0.15, 0.24, 0.3], [], set()
    for time in times:
        uninterrupted.advance_to(time)
        saved_states.append(uninterrupted.state.to_bytes())
        phases.add(uninterrupted.state["floor_1.load_course"])
    assert phases >= {0, 2, 3, 4}
    for i, state in enumerate(saved_states):
        resumed = cosim.Simulator(system, system.state_from_bytes(state), accuracy=1e-6)
        for time in times[i + 1 :]:
            resumed.advance_to(time)
        assert resumed.state.to_bytes() == uninterrupted.state.to_bytes()


@pytest.mark.parametrize(
    ("wall", "acceleration"), [(0.0, 3.0 - 0.3), (0.2, 3.0 - 0.3 * 1.2), (2.0, 5.0 / 7.0 * (3.0 - 0.3))]
)
def test_a_ball_in_a_corner_can_slide_on_the_floor_and_stick_to_the_wall(
    wall: float, acceleration: float
) -> None:
    """Contacts in two planes break loose separately; with 2 weights at the wall the ball rolls there."""
    model, modulus = Multibody("corner", gravity=(-wall * GRAVITY, 0, -GRAVITY)), 1e8
    place = [hertz_depth(load * GRAVITY, modulus, 0.1) if load else 0.0 for load in (wall, 1.0)]
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0.1 - place[0], 0, 0.1 - place[1]])
    for name, frame in {"floor": (0, 0, 0), "wall": ((0, 0, 0), (0, math.pi / 2, 0))}.items():
        model.add(
            "mechanics.sphere_contact", name, body1="ground", body2=ball, radius=0.1, frame_on_body1=frame,
            stiffness=modulus, restitution=0.3, **FRICTION,
        )  # fmt: skip
    push(model, "ball", [(0.1, 0.0, 3.0 * GRAVITY)], axis=(0, 1, 0))
    result = model.simulate(until=0.3, accuracy=1e-7)
    assert result["floor.regime"][-1] == 2
    assert result["ball.vy"][-1] == pytest.approx(acceleration * GRAVITY * 0.2, rel=2e-3)


def test_only_contacts_in_a_common_plane_decide_by_their_sum() -> None:
    assert sums_of(box_on_floor(1e7)) == 1
    model = Multibody("balls")
    for i in range(2):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, 0.3 * i, 0, 0.1])
        for name, frame in {"floor": (0, 0, 0), "wall": ((0, 0, 0), (0, math.pi / 2, 0))}.items():
            model.add(
                "mechanics.sphere_contact", f"{name}{i}", body1="ground", body2=ball, radius=0.1,
                frame_on_body1=frame, stiffness=1e7, **FRICTION,
            )  # fmt: skip
    assert sums_of(model) == 0
