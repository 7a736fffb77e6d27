"""Constraints that drive or lock single coordinates, and the work that they do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody


def floating(*constraints):
    """Return a free body with a head on a ball joint, a signal 0.3 sin(2 t), and constraints."""
    model = Multibody("floating", gravity=(0, 0, -9.81))
    for name, center in (("trunk", (0.1, 0.2, 0)), ("head", (0, 0.1, 0.3))):
        model.body(name, mass=2.0, center_of_mass=center, inertia=(0.3, 0.4, 0.5))
    model.joint("free", child="trunk", u=(0.3, -0.2, 0.5, 0, 0, 0))
    model.joint("ball", child="head", parent="trunk", frame_on_parent=(0, 0, 1), u=(0.0, 0.7, -0.4))
    model.measure("measures.sinusoid", "wave", amplitude=0.3, frequency=2.0)
    for i, (kind, values) in enumerate(constraints):
        model.constraint(kind, f"c{i}", **values)
    return model


def run(model, until=0.6):
    """Return the State at the end of a run."""
    system = model.build()
    simulator = cosim.Simulator(system, system.default_state(), accuracy=1e-8)
    simulator.advance_to(until)
    return simulator.state.realize(cosim.Stage.ACCELERATION)


def arm():
    """Return a double pendulum with a lock at its elbow, which is disabled."""
    model = Multibody("arm", gravity=(0, -9.81, 0))
    for name in ("upper", "lower"):
        model.body(name, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    model.joint("pin", child="upper", q=0.2)
    model.joint("pin", child="lower", parent="upper", frame_on_parent=(1, 0, 0), q=-0.4, u=1.0)
    model.constraint("lock", "latch", coordinate="lower_joint", enabled=False)
    return model


def test_single_speeds_of_a_ball_and_positions_of_a_free_joint_are_driven():
    state = run(
        floating(
            ("prescribed_speed", {"coordinate": "head_joint[2]", "source": "wave"}),
            ("constant_speed", {"coordinate": "head_joint[0]", "speed": 0.0}),
            ("prescribed_motion", {"coordinate": "trunk_joint[4]", "source": "wave"}),
            ("lock", {"coordinate": "trunk_joint[5]", "value": 0.25}),
        )
    )
    wave = 0.3 * math.sin(1.2)
    assert state["head_joint.u"][[2, 0]] == pytest.approx([wave, 0.0], abs=1e-10)
    assert state["head_joint.u"][1] != pytest.approx(0.7, abs=1e-3)  # this one is free
    assert state["trunk_joint.q"][5:] == pytest.approx([wave, 0.25], abs=1e-10)
    assert state["trunk_joint.u"][4:] == pytest.approx([0.6 * math.cos(1.2), 0.0], abs=1e-10)
    assert np.linalg.norm(state["trunk_joint.q"][:4]) == pytest.approx(1.0, abs=1e-12)


def test_a_prescribed_acceleration_adds_to_the_motion_at_the_start():
    state = run(floating(("prescribed_acceleration", {"coordinate": "trunk_joint[3]", "source": "wave"})))
    assert state["trunk_joint.u"][3] == pytest.approx(0.15 * (1 - math.cos(1.2)), abs=1e-8)
    assert state["trunk_joint.q"][4] == pytest.approx(0.15 * 0.6 - 0.075 * math.sin(1.2), abs=1e-8)


@pytest.mark.parametrize("kind", ["lock", "prescribed_motion"])
@pytest.mark.parametrize("coordinate", ["head_joint[1]", "trunk_joint[2]", "trunk_joint"])
def test_angular_velocities_without_a_coordinate_cannot_be_locked(kind, coordinate):
    values = {"coordinate": coordinate} | ({"source": "wave"} if kind == "prescribed_motion" else {})
    with pytest.raises(cosim.ModelError, match="c0.*no coordinate goes"):
        floating((kind, values)).build()
    with pytest.raises(
        cosim.ModelError, match=r"'trunk_joint\[6\]', there are trunk_joint\[0\] … trunk_joint\[5\]"
    ):
        floating((kind, values | {"coordinate": "trunk_joint[6]"})).build()


def test_a_lock_is_enabled_and_disabled_in_a_state():
    system = arm().build()
    latch = system.parts["latch"]
    free, locked = system.default_state(), system.default_state()
    latch.lock(locked)
    assert (latch.is_locked(free), latch.is_locked(locked)) == (False, True)
    assert locked["latch.value"] == -0.4
    simulator = cosim.Simulator(system, locked, accuracy=1e-8)
    simulator.advance_to(0.3)
    state = simulator.state
    assert state["lower_joint.q"][0] == pytest.approx(-0.4, abs=1e-10)
    assert state["lower_joint.u"][0] == pytest.approx(0.0, abs=1e-10)
    latch.unlock(state)
    simulator.advance_to(0.4)
    assert abs(simulator.state["lower_joint.q"][0] + 0.4) > 1e-3
    latch.lock_at(simulator.state, -0.1)
    simulator.advance_to(0.5)
    assert simulator.state["lower_joint.q"][0] == pytest.approx(-0.1, abs=1e-10)
    simulator = cosim.Simulator(system, free, accuracy=1e-8)
    simulator.advance_to(0.3)
    assert abs(simulator.state["lower_joint.q"][0] + 0.4) > 1e-2


def test_a_locked_arm_moves_like_a_welded_one():
    system = arm().build()
    state = system.default_state()
    state["lower_joint.u"] = 0.0
    system.parts["latch"].lock(state)
    simulator = cosim.Simulator(system, state, accuracy=1e-9)
    simulator.advance_to(0.8)
    welded = Multibody("welded", gravity=(0, -9.81, 0))
    for name in ("upper", "lower"):
        welded.body(name, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    welded.joint("pin", child="upper", q=0.2)
    elbow = {"position": [1, 0, 0], "angles": [0, 0, -0.4]}
    welded.joint("weld", child="lower", parent="upper", frame_on_parent=elbow)
    reference = cosim.Simulator(welded.build(), accuracy=1e-9)
    reference.advance_to(0.8)
    assert simulator.state["upper_joint.q"] == pytest.approx(reference.state["upper_joint.q"], abs=1e-7)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("constant_speed", {"speed": 3.0}),
        ("constant_acceleration", {"acceleration": -2.0}),
        ("prescribed_motion", {"source": "wave"}),
        ("prescribed_speed", {"source": "wave"}),
        ("prescribed_acceleration", {"source": "wave"}),
    ],
)
def test_the_supplied_energy_of_a_drive_is_the_change_of_energy(kind, values):
    model = arm()
    model.measure("measures.sinusoid", "wave", amplitude=1.5, frequency=3.0)
    model.constraint(kind, "drive", coordinate="upper_joint", **values)
    result = model.simulate(until=0.5, accuracy=1e-9)
    work = result["drive.supplied_energy"]
    assert abs(work).max() > 1.0
    assert work == pytest.approx(result["energy.total"] - result["energy.total"][0], abs=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-6


def test_the_work_of_a_winch_is_that_of_the_weight_it_lifts():
    model = Multibody("hoist", gravity=(-9.81, 0, 0))
    model.body("load", mass=2.0, inertia=(1, 1, 1))
    model.joint("slider", child="load", u=0.5)
    model.constraint("constant_speed", "winch", coordinate="load_joint", speed=0.5)
    result = model.simulate(until=2.0, accuracy=1e-9)
    assert result["winch.supplied_energy"][-1] == pytest.approx(2.0 * 9.81 * 0.5 * 2.0, rel=1e-9)
    # without its constraint it does no work
    system = model.build()
    state = system.default_state()
    state["winch.enabled"] = 0
    falling = cosim.simulate(system, state=state, until=0.5, accuracy=1e-9)
    assert falling["winch.supplied_energy"][-1] == 0.0
