"""MJCF files as models: a case of MuJoCo, joints, actuators, orientations, defaults, includes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mjcf_files import BOB, hinge, write_mjcf
from mujoco_cases import differences

import cosim
from cosim.cli import main
from cosim_mechanics import Multibody
from cosim_robots.mjcf import read_mjcf

DATA = Path(__file__).parent.parent / "data" / "robots"
CRANE = DATA / "crane.xml"
INPUTS = ("effort", "target", "target_rate")


def pose(model: Any, body: str = "b", **values: Any) -> Any:
    """Return the pose of a body in a State with these values; `__` in their names is a dot."""
    state = model.build().default_state()
    for key, value in values.items():
        state[key.replace("__", ".")] = value
    return np.ravel(state.realize(cosim.Stage.POSITION)[f"{body}.X_GB"])


def test_a_model_with_everything_agrees_with_mujoco() -> None:
    """It has includes, classes, frames, orientations, geoms, bounds of masses, all joints, and servos."""
    case = json.loads((DATA / "crane.json").read_text("utf-8"))
    assert max(differences(CRANE, case)) < 1e-12


def test_elements_that_are_not_supported_are_listed() -> None:
    remarks = "\n".join(Multibody.from_mjcf(CRANE).remarks)
    for remark in (
        "<sensor> is not taken over (line 78)",
        "<site> of bodies is not taken over (line 40)",
        "springs of ball and free joints are not taken over (line 42)",
        "inputs of motors are efforts of their joints: gear times control (line 73)",
        "targets of servos are those of their joints: control divided by gear (line 74)",
        "2 links between two joints of one body get 1e-30 kg: box_part1, boom_part1",
        "link 'tag' is fixed on 'hook'",
    ):
        assert remark in remarks, remark


def test_elements_of_joints() -> None:
    robot: Any = Multibody.from_mjcf(CRANE)
    assert (robot["luff_spring"].stiffness, robot["slew_spring"].stiffness) == (7.0, 3.0)
    assert robot["luff_spring"].neutral == math.radians(10)
    assert robot["telescope_spring"].neutral == 0.05
    assert (robot["slew_stop"].lower, robot["slew_stop"].upper) == (math.radians(-90), math.radians(120))
    assert (robot["telescope_stop"].lower, robot["telescope_stop"].upper) == (-0.1, 0.3)
    assert "swivel_stop" not in robot.parts  # limited="false"
    assert robot["slew_friction"].friction == 0.1
    assert [robot[f"gimbal_rotor{i}"].reflected_inertia for i in range(3)] == [0.02] * 3
    assert robot["slew"].q.tolist() == [math.radians(15)]


def test_actuators_of_the_file_are_inputs() -> None:
    robot: Any = Multibody.from_mjcf(CRANE)
    system = robot.build()
    motors = ("slew_motor.effort", *(f"{j}_motor.{x}" for j in ("luff", "telescope", "spin") for x in INPUTS))
    assert set(system.inputs) == set(motors)
    luff, telescope, spin = (robot[f"{j}_motor"] for j in ("luff", "telescope", "spin"))
    assert (luff.stiffness, luff.damping, luff.greatest_effort) == (160.0, 12.0, 120.0)
    assert (telescope.stiffness, telescope.damping) == (100.0, 8.0)
    assert (spin.stiffness, spin.damping) == (0.0, 0.2)
    assert Multibody.from_mjcf(CRANE, actuators=False).build().inputs == ()
    bounded: Any = Multibody.from_mjcf(CRANE, motors=True)["slew_motor"]
    assert bounded.greatest_effort == 120.0  # from the class of all actuators


@pytest.mark.parametrize(
    ("bounds", "effort"),
    [
        ("gear='5' ctrlrange='-2 2'", 10.0),
        ("gear='5' ctrlrange='-2 2' forcerange='-1.5 1.5'", 7.5),
        ("gear='-5' ctrlrange='-2 2' ctrllimited='false'", 1e9),
        ("gear='5' forcerange='-9 9'", 12.0),  # the range of the joint is smaller
    ],
)
def test_bounds_of_motors(tmp_path: Path, bounds: str, effort: float) -> None:
    joint = "actuatorfrcrange='-12 12'" if effort == 12.0 else ""
    path = write_mjcf(tmp_path, hinge(joint), tail=f"<actuator><motor joint='j' {bounds}/></actuator>")
    robot: Any = Multibody.from_mjcf(path, motors=True)
    assert robot["j_motor"].greatest_effort == effort


def test_a_linear_equality_of_two_joints_is_a_coupler() -> None:
    state = Multibody.from_mjcf(CRANE).build().default_state()
    assert state["counter_spin.q"] == [0.1]
    robot: Any = Multibody.from_mjcf(CRANE)
    assert (robot["counter_spin_mimic"].ratio, robot["counter_spin_mimic"].offset) == (0.5, 0.1)
    result = robot.simulate(until=0.2, signals=["spin.q", "counter_spin.q"])
    gap = result["counter_spin.q"] - 0.5 * result["spin.q"] - 0.1
    assert np.abs(gap).max() < 1e-8


@pytest.mark.parametrize(
    ("angle", "sequence", "expected"),
    [
        ("radian", "xyz", (0.1, 0.2, 0.3)),
        ("degree", "xyz", (0.1, 0.2, 0.3)),
        ("radian", "ZYX", (0.3, 0.2, 0.1)),  # about fixed axes, in the opposite order: the same rotation
    ],
)
def test_euler_angles(tmp_path: Path, angle: str, sequence: str, expected: Any) -> None:
    values = expected if angle == "radian" else [math.degrees(x) for x in expected]
    head = f"<compiler angle='{angle}' eulerseq='{sequence}'/>"
    text = " ".join(map(repr, values))
    X = pose(Multibody.from_mjcf(write_mjcf(tmp_path, hinge(body=f"euler='{text}'"), head)))
    a, b, c = (0.1, 0.2, 0.3)
    about_x = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    about_y = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    about_z = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    np.testing.assert_allclose(X[:9].reshape(3, 3), about_x @ about_y @ about_z, atol=1e-15)


def test_ref_shifts_the_coordinate_but_not_the_body(tmp_path: Path) -> None:
    model: Any = Multibody.from_mjcf(write_mjcf(tmp_path, hinge("ref='30'", "pos='1 2 3'")))
    assert model["j"].q.tolist() == [math.radians(30)]
    assert pose(model) == pytest.approx([1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3], abs=1e-15)
    turned = pose(model, j__q=[math.radians(120)])
    assert turned == pytest.approx([0, -1, 0, 1, 0, 0, 0, 0, 1, 1, 2, 3], abs=1e-15)


@pytest.mark.parametrize(
    ("limited", "automatic", "has_stop"),
    [("auto", "true", True), ("auto", "false", False), ("true", "false", True), ("false", "true", False)],
)
def test_limited_and_autolimits_decide_whether_a_range_is_a_stop(
    tmp_path: Path, limited: str, automatic: str, has_stop: bool
) -> None:
    head = f"<compiler autolimits='{automatic}'/>"
    model = Multibody.from_mjcf(write_mjcf(tmp_path, hinge(f"limited='{limited}' range='-10 20'"), head))
    assert ("j_stop" in model.parts) == has_stop


def test_classes_of_defaults(tmp_path: Path) -> None:
    """Values of the element come before those of its class, of the body's class and of outer classes."""
    head = """<default><joint damping='1' armature='2' frictionloss='3'/>
      <default class='a'><joint damping='4'/><default class='b'><joint armature='5'/></default></default>
      </default>"""
    body = "<body childclass='a'><joint name='{}' {}/>" + BOB + "</body>"
    world = (
        body.format("x", "") + body.format("y", "class='b'") + body.format("z", "class='main' damping='6'")
    )
    joints = {j.name: j for j in read_mjcf(write_mjcf(tmp_path, world, head)).joints}
    values = {name: (j.damping, j.armature, j.friction) for name, j in joints.items()}
    assert values == {"x": (4, 2, 3), "y": (4, 5, 3), "z": (6, 2, 3)}


def test_gravity_of_the_file(tmp_path: Path) -> None:
    head = "<option gravity='1 2 3'/>"
    path = write_mjcf(tmp_path, hinge(), head)
    assert Multibody.from_mjcf(path).gravity.tolist() == [1, 2, 3]
    assert cosim.Model.from_file(path)["gravity"].gravity.tolist() == [1, 2, 3]  # type: ignore[attr-defined]
    disabled = "<option gravity='1 2 3'><flag gravity='disable'/></option>"
    assert Multibody.from_mjcf(write_mjcf(tmp_path, hinge(), disabled)).gravity.tolist() == [0, 0, 0]
    assert Multibody.from_mjcf(write_mjcf(tmp_path, hinge())).gravity.tolist() == [0, 0, -9.81]


def test_a_body_without_mass_moves_with_an_armature(tmp_path: Path) -> None:
    dial = "<body name='c'><joint name='k' armature='0.5'/></body>"
    tail = "<actuator><motor joint='k'/></actuator>"
    model = Multibody.from_mjcf(
        write_mjcf(tmp_path, hinge(inside=BOB + dial, joint="axis='0 1 0'"), tail=tail)
    )
    state = model.build().default_state().realize(cosim.Stage.TIME)
    state["k_motor.effort"] = 3.0
    assert state.realize(cosim.Stage.ACCELERATION)["k.u_dot"] == pytest.approx([6.0], rel=1e-12)


def test_includes(tmp_path: Path) -> None:
    part = tmp_path / "parts" / "leg.xml"
    part.parent.mkdir()
    part.write_text(f"<mujoco><body name='leg'><joint name='k'/>{BOB}</body></mujoco>", "utf-8")
    include = "<include file='parts/leg.xml'/>"
    model = Multibody.from_mjcf(write_mjcf(tmp_path, hinge(inside=BOB + include)))
    assert model["k"].parent == "b"  # type: ignore[attr-defined]
    part.write_text("<mujoco>\n<body name='leg'><joint name='k' axis='0 0 0'/></body></mujoco>", "utf-8")
    with pytest.raises(cosim.ModelError, match=r"leg\.xml:2.*axis of joint 'k'.*0 0 0"):
        Multibody.from_mjcf(write_mjcf(tmp_path, hinge(inside=BOB + include)))


def test_an_imported_model_file_gives_the_same_model(tmp_path: Path) -> None:
    target = tmp_path / "crane.toml"
    assert main(["import", str(CRANE), "-o", str(target)]) == 0
    imported, direct = (cosim.Model.from_file(p).build().default_state() for p in (target, CRANE))
    for state in (imported, direct):
        state.realize(cosim.Stage.ACCELERATION)
    assert imported.y.tobytes() == direct.y.tobytes()
    assert imported.y_dot.tobytes() == direct.y_dot.tobytes()


def test_the_base_cannot_be_chosen() -> None:
    with pytest.raises(cosim.CosimError, match="omit base"):
        Multibody.from_mjcf(CRANE, base="free")
