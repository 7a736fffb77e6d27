"""Contacts that break loose, far from their thresholds and near them: boxes, balls, stacks, random loads."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody, shapes

GRAVITY = 9.81
FRICTION = {"static_friction": 0.5, "dynamic_friction": 0.3}


def push(model: Multibody, body: str, loads: list[tuple[float, float, float]], axis: Any = (1, 0, 0)) -> None:
    """Forces that rise by a height, N, from a time on in a duration."""
    for i, (start, duration, height) in enumerate(loads):
        values = {"start_time": start, "height": height}
        if duration > 0.0:
            model.add("signals.ramp", f"load{i}", duration=duration, **values)
        else:
            model.add("signals.step", f"load{i}", **values)
        model.add("mechanics.applied_force", f"push{i}", body=body, axis=axis)
        model.connect(f"load{i}", f"push{i}.force")


def depth(load: float, modulus: float, radius: float) -> float:
    """By Hertz."""
    return float((3.0 * load / (4.0 * modulus * math.sqrt(radius))) ** (2.0 / 3.0))


def box_on_floor(modulus: float, slope: float = 0.0, speed: float = 0.0) -> Multibody:
    """A box of 1 kg on four corners."""
    hold = GRAVITY * math.cos(slope)
    model = Multibody("box", gravity=(GRAVITY * math.sin(slope), 0, -hold))
    box = model.body("box", mass=1.0, inertia=(0.01, 0.01, 0.02))
    height = 0.05 - depth(0.25 * hold, modulus, 0.02)
    model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, height], u=[0, 0, 0, speed, 0, 0])
    shape = shapes.Box((0.4, 0.4, 0.1), 0.02)
    model.shape_contacts(
        "floor", "ground", shapes.HalfSpace(), box, shape, stiffness=modulus, restitution=0.5, **FRICTION
    )
    return model


@pytest.mark.by_turns
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("speed", [0.0, -0.3])
def test_a_box_within_its_cone_stays_though_its_corners_share_the_load_unequally(
    share: float, speed: float
) -> None:
    """The rear corners bear less than a quarter of the weight, and more than that of the load."""
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
def test_a_load_on_a_box_that_jumps(ratio: float, axis: Any, before: float, modulus: float) -> None:
    """All corners break loose together, with the speed of Coulomb's law from the jump on."""
    model, cone = box_on_floor(modulus), 0.5 * GRAVITY
    push(model, "box", [(0.0, 0.3, before * cone), (0.5, 0.0, (ratio - before) * cone)], axis)
    result = model.simulate(until=1.0, accuracy=1e-7)
    speed = math.copysign(abs(ratio) * cone - 0.3 * GRAVITY, ratio) * 0.5 if abs(ratio) > 1.0 else 0.0
    # It tilts while it breaks loose, towards the corner in front.
    error = (5e-3 if axis == (1, 0, 0) else 2.5e-2) / (modulus / 1e5) ** (1 / 3)
    for name, share in zip(("vx", "vy"), axis, strict=False):
        assert result[f"box.{name}"][-1] == pytest.approx(
            speed * share, rel=error, abs=2e-5 if modulus < 1e6 else 1e-9
        )


@pytest.mark.few(8)
@pytest.mark.parametrize("modulus", [1e5, 1e7, 1e9])
@pytest.mark.parametrize("ratio", [0.0, 0.99, 1.0, 1.001, 1.02, -1.4, 4.0, 100.0])
def test_a_load_on_a_ball_that_jumps(ratio: float, modulus: float) -> None:
    """At the contact 2/7 of a force on the centre of a ball act: it rolls, or slips and turns."""
    model = Multibody("ball")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 0.1 - depth(GRAVITY, modulus, 0.1)])
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


def coulomb(times: list[float], loads: list[float], static: float, dynamic: float) -> float:
    """Speed after 1 s of a mass of 1 kg under loads between which lines run, by Coulomb's law."""
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


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(24))
def test_random_loads_that_jump_and_ramp_move_a_block_as_coulomb_has_it(seed: int) -> None:
    """Jumps follow each other in as little as 1 ms, as long as a bristle takes to stretch."""
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
    model.joint("translation", child=body, q=[0, 0, 0.1 - depth(GRAVITY, 1e9, 0.1)])
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
def test_a_load_that_jumps_and_grows_from_there_on(duration: float, share: float, modulus: float) -> None:
    """It breaks loose where the load exceeds static friction, whatever the jump has stretched."""
    model, cone, slides_with = Multibody("block"), 0.5 * GRAVITY, 0.3 * GRAVITY
    body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
    below = depth(GRAVITY, modulus, 0.1)
    model.joint("translation", child=body, q=[0, 0, 0.1 - below])
    law = {"radius": 0.1, "stiffness": modulus, **FRICTION}
    model.add("mechanics.sphere_contact", "floor", body1="ground", body2=body, **law)
    push(model, "block", [(0.1, 0.0, share * cone), (0.1, duration, (2.0 - share) * cone)])
    result = model.simulate(until=0.1 + duration + 0.2, accuracy=1e-8)
    grows = (1.0 - max(0.0, (1.0 - share) / (2.0 - share))) * duration
    speed = (0.5 * (max(share, 1.0) + 2.0) * cone - slides_with) * grows + (2.0 * cone - slides_with) * 0.2
    constant = 1.0 / math.sqrt(4.0 * 0.7 / 1.7 * modulus * math.sqrt(0.1 * below))
    assert result["block.vx"][-1] == pytest.approx(speed, abs=0.35 * cone * constant)


class Kick(cosim.Component):
    """Sets a speed at 0.1 s."""

    when = cosim.timer(start=0.1)
    speed = cosim.parameter(unit="m/s")

    @cosim.on(when, does="unrestricted")
    def kick(self, state: Any, next_state: Any) -> None:
        """The block moves on at once."""
        next_state["block_joint.u"] = [state["kick.speed"], 0.0, 0.0]


@pytest.mark.parametrize("dynamic", [0.5, 0.3])
@pytest.mark.parametrize("modulus", [1e6, 1e9])
@pytest.mark.parametrize("speed", [1.0, -3.0])
def test_a_handler_that_kicks_a_block_that_sticks_makes_it_slide(
    speed: float, modulus: float, dynamic: float
) -> None:
    model = Multibody("block")
    body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
    model.joint("translation", child=body, q=[0, 0, 0.1 - depth(GRAVITY, modulus, 0.1)])
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


def test_a_stack_whose_top_is_pulled_away() -> None:
    """The contacts below stay: each pair of bodies decides by itself."""
    model, below, top = Multibody("stack"), "ground", 0.0
    for i in range(3):
        load = GRAVITY * (3 - i) / 4
        top += 0.2 - depth(load, 1e7, 0.01)
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
        assert abs(result[f"box{i}.x"][-1]) < 1e-3  # what they give way
        assert [result[f"on{i}_{corner}.regime"][-1] for corner in (1, 3, 5, 7)] == [1, 1, 1, 1]


def test_saved_in_any_course_it_goes_on_to_the_same_bytes() -> None:
    """Also while the bristle starts, turns or pulls harder than static friction."""
    model = box_on_floor(1e7)
    push(model, "box", [(0.05, 0.0, 0.47 * GRAVITY), (0.1, 0.0, -0.9 * GRAVITY), (0.2, 0.05, 1.2 * GRAVITY)])
    system = model.build()
    whole = cosim.Simulator(system, accuracy=1e-6)
    times, saved, courses = [0.05, 0.0503, 0.051, 0.053, 0.06, 0.1, 0.1004, 0.15, 0.24, 0.3], [], set()
    for time in times:
        whole.advance_to(time)
        saved.append(whole.state.to_bytes())
        courses.add(whole.state["floor_1.load_course"])
    assert courses >= {0, 2, 3, 4}
    for i, state in enumerate(saved):
        again = cosim.Simulator(system, system.state_from_bytes(state), accuracy=1e-6)
        for time in times[i + 1 :]:
            again.advance_to(time)
        assert again.state.to_bytes() == whole.state.to_bytes()


@pytest.mark.parametrize(
    ("wall", "acceleration"), [(0.0, 3.0 - 0.3), (0.2, 3.0 - 0.3 * 1.2), (2.0, 5.0 / 7.0 * (3.0 - 0.3))]
)
def test_a_ball_in_a_corner_slides_on_the_floor_though_it_sticks_to_the_wall(
    wall: float, acceleration: float
) -> None:
    """Two planes decide by themselves: pressed to the wall by twice its weight, a ball rolls along it."""
    model, modulus = Multibody("corner", gravity=(-wall * GRAVITY, 0, -GRAVITY)), 1e8
    place = [depth(load * GRAVITY, modulus, 0.1) if load else 0.0 for load in (wall, 1.0)]
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


def sums_of(model: Multibody) -> int:
    """How many groups of contacts add up what they hold."""
    blocks = model.build().assembly.blocks
    return sum(block.label == "zeroing of grip" for block in blocks)


def test_only_contacts_that_share_a_plane_have_sums() -> None:
    """A contact alone in its plane decides by its own numbers, at no cost."""
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


def test_the_place_of_a_box_that_tumbles_follows_the_accuracy() -> None:
    """Corners touch in turn: their damping must not follow from the depth at which a touch was located."""
    path = Path(__file__).parents[2] / "examples" / "thrown_crate" / "thrown_crate.toml"
    places = []
    for accuracy in (1e-6, 1e-8):
        simulator = cosim.Simulator(cosim.Model.from_file(path).build(), accuracy=accuracy)
        simulator.advance_to(1.0)
        places.append(np.asarray(simulator.state.y)[4:7])
    assert np.abs(places[1] - places[0]).max() < 1e-5


@pytest.mark.by_turns
@pytest.mark.parametrize("modulus", ["2 MPa", "100 MPa"])
def test_a_box_that_tumbles_moves_alike_with_frictions_that_are_equal_or_nearly_so(
    modulus: str, tmp_path: Path
) -> None:
    """Some of its corners slide while others hold."""
    path = Path(__file__).parents[2] / "examples" / "thrown_crate" / "thrown_crate.toml"
    text = path.read_text(encoding="utf-8").replace("2 MPa", modulus)
    places = []
    for less in (0.0, 1e-9, 1e-4):
        frictions = f"static_friction = 0.5\ndynamic_friction = {0.5 * (1.0 - less)!r}"
        changed = text.replace("static_friction = 0.7\ndynamic_friction = 0.5", frictions)
        assert changed.count(frictions) == 4
        (tmp_path / "crate.toml").write_text(changed, encoding="utf-8")
        simulator = cosim.Simulator(cosim.Model.from_file(tmp_path / "crate.toml").build(), accuracy=1e-8)
        simulator.advance_to(1.0)
        places.append(np.asarray(simulator.state.y)[4:7])
    assert np.abs(places[1] - places[0]).max() < 1e-8
    assert 1e-8 < np.abs(places[2] - places[0]).max() < 1e-4


@pytest.mark.parametrize("course", ["jump", "ramp"])
@pytest.mark.parametrize("modulus", [1e5, 1e8])
def test_a_block_breaks_loose_alike_with_frictions_that_are_equal_or_nearly_so(
    modulus: float, course: str
) -> None:
    speeds = []
    for less in (0.0, 1e-9, 1e-4):
        model = Multibody("block")
        body = model.body("block", mass=1.0, inertia=(0.004,) * 3)
        model.joint("translation", child=body, q=[0, 0, 0.1 - depth(GRAVITY, modulus, 0.1)])
        model.add(
            "mechanics.sphere_contact", "floor", body1="ground", body2=body, radius=0.1, stiffness=modulus,
            static_friction=0.5, dynamic_friction=0.5 * (1.0 - less),
        )  # fmt: skip
        loads = {"jump": [(0.1, 0.0, 2.0), (0.3, 0.0, 4.0), (0.5, 0.2, -12.0)], "ramp": [(0.1, 0.5, 12.0)]}
        push(model, "block", loads[course])
        speeds.append(model.simulate(until=1.0, accuracy=1e-9)["block.vx"][-1])
    assert abs(speeds[1] - speeds[0]) < 1e-8
    assert 1e-5 < abs(speeds[2] - speeds[0]) < 1e-3
