"""Robots from URDF: Lagrange's equations of the same file, elements of joints, looks, motors, options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from urdf_files import EMPTY, bob, joint, write_urdf
from urdf_reference import GRAVITY, Reference

import cosim
from cosim.kit import OptionError
from cosim_mechanics import Multibody, RigidBody

DATA = Path(__file__).parent.parent / "data" / "robots"
ARM = DATA / "arm.urdf"
JOINTS = ("turn", "elbow", "extend", "roll", "pitch")


def state_of(model: cosim.Model, **values: Any) -> cosim.State:
    """Return a State with these values, realized to Acceleration; `__` in their names is a dot."""
    state = model.build().default_state()
    for name, value in values.items():
        state[name.replace("__", ".")] = value
    return state.realize(cosim.Stage.ACCELERATION)


def accelerations(model: cosim.Model, q: Any, u: Any, tau: Any) -> Any:
    """Return the accelerations of the arm's joints, and the State."""
    values = {}
    for name, position, speed, effort in zip(JOINTS, q, u, tau, strict=True):
        values |= {f"{name}__q": [position], f"{name}__u": [speed], f"{name}_motor__effort": effort}
    state = state_of(model, **values)
    return np.array([state[f"{name}.u_dot"] for name in JOINTS]).ravel(), state


@pytest.mark.parametrize("keep_fixed", [False, True])
def test_the_arm_moves_by_lagranges_equations(keep_fixed: bool) -> None:
    model = Multibody.from_urdf(ARM, keep_fixed=keep_fixed)
    for name in ("turn_damper.damping", "turn_friction.friction"):
        model.set_start(name, 0.0)
    reference = Reference(ARM)
    random = np.random.default_rng(7)
    for _ in range(3):
        q, u, tau = (random.uniform(-0.09, 0.09, 5) * scale for scale in (1, 20, 50))
        q[1] += 1.0
        M, forces = reference.equations(np.append(q, 0.0), np.append(u, 0.0))
        expected = np.linalg.solve(M[:5, :5], tau + forces[:5])
        u_dot, state = accelerations(model, q, u, tau)
        np.testing.assert_allclose(u_dot, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        poses = reference.poses(np.append(q, 0.0))
        for link, part in {"shoulder": "shoulder", "fore arm": "fore_arm", "tool": "tool"}.items():
            R, p, *_ = poses[link]
            X = np.array(state[f"{part}.X_GB"])
            np.testing.assert_allclose(X, np.append(R.real.ravel(), p.real), rtol=0, atol=1e-12)


def test_the_mass_matrix_is_that_of_lagrange() -> None:
    model = Multibody.from_urdf(ARM)
    q = np.array([0.3, 1.1, 0.05, -0.7, 0.4])
    rest = accelerations(model, q, np.zeros(5), np.zeros(5))[0]
    columns = [accelerations(model, q, np.zeros(5), row)[0] - rest for row in np.eye(5)]
    expected = np.linalg.inv(Reference(ARM).equations(np.append(q, 0.0), np.zeros(6))[0][:5, :5])
    np.testing.assert_allclose(np.array(columns).T, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_damping_and_friction_act_against_the_speed() -> None:
    model = Multibody.from_urdf(ARM)
    q, u, no_effort = np.array([0.1, 1.0, 0.0, 0.2, 0.3]), np.array([2.0, 0, 0, 0, 0]), np.zeros(5)
    M, forces = Reference(ARM).equations(np.append(q, 0.0), np.append(u, 0.0))
    tau = np.array([-0.7 * 2.0 - 0.4, 0, 0, 0, 0])  # tanh(2 / 0.01) is 1
    expected = np.linalg.solve(M[:5, :5], tau + forces[:5])
    np.testing.assert_allclose(accelerations(model, q, u, no_effort)[0], expected, rtol=1e-10)


@pytest.mark.parametrize("angle", [0.25, 2.5, 0.25 - 1e-3, 2.5 + 1e-3])
def test_limits_are_stops(angle: float) -> None:
    """A stop has no force at its limit; its stiffness is the greatest effort in 0.01 rad."""
    model = Multibody.from_urdf(ARM)
    state = state_of(model, elbow__q=[angle])
    beyond = max(0.0, 0.25 - angle, angle - 2.5)
    assert state["elbow_stop.indentation"] == pytest.approx(beyond, abs=1e-15)
    assert model["elbow_stop"].stiffness == 30 / 0.01  # type: ignore[attr-defined]


def test_a_start_outside_the_range_is_moved_and_listed() -> None:
    model = Multibody.from_urdf(ARM)
    assert state_of(model)["elbow.q"] == [0.25]
    assert any("'elbow' starts at 0.25" in remark for remark in model.remarks)


def test_elements_that_are_not_supported_are_listed_with_lines() -> None:
    remarks = "\n".join(Multibody.from_urdf(ARM).remarks)
    for remark in (
        "(<collision>) are not taken over (line 20)",
        "<safety_controller> of a joint is not taken over (line 41)",
        "<gazebo> is not taken over (line 79)",
        "joint 'knob' moves no mass: it is fixed at 0 (line 78)",
        "link 'wrist' has no mass",
        "link 'tip' is fixed on 'tool'",
        "greatest efforts and speeds of joints do not bound the inputs",
        "'base-plate' is fixed on the world",
        "'fore arm' is called fore_arm",
    ):
        assert remark in remarks, remark


def test_a_mimic_is_a_coupling() -> None:
    model = Multibody.from_urdf(DATA / "gripper.urdf")
    state = state_of(model, left_joint_motor__effort=0.6)
    assert state["right_joint.q"] == [0.2]
    u_dots = [state[f"{name}.u_dot"][0] for name in ("left_joint", "right_joint")]
    inertias = (1e-3 + 0.3 * 0.1**2, 1e-3 + 0.2 * 0.05**2)
    expected = 0.6 / (inertias[0] + 0.25 * inertias[1])  # gravity is along the axes
    np.testing.assert_allclose(u_dots, [expected, -0.5 * expected], rtol=1e-10)
    assert "right_joint_motor" not in model.parts


def test_shapes_of_links_are_looks(tmp_path: Path) -> None:
    arm = Multibody.from_urdf(ARM)
    look = arm["shoulder_look1"]
    assert (type(look).__name__, look.sizes(), look.body) == ("CylinderLook", [0.05, 0.3], "shoulder")
    assert look.color.tolist() == [0.5, 0.5, 0.5]
    box = "<visual><origin xyz='0 0 1'/><geometry><box size='1 2 3'/></geometry></visual>"
    mesh = "<visual><geometry><mesh filename='a.stl'/></geometry></visual>"
    point = "<visual><geometry><sphere radius='0'/></geometry></visual>"
    fixed = f"<link name='c'>{box}{mesh}{point}</link>"
    fixing = joint("fixed", "<origin xyz='0 0 2'/>", "k", "b", "c")
    model = Multibody.from_urdf(write_urdf(tmp_path, EMPTY, bob("b"), fixed, joint("continuous"), fixing))
    assert model["b_look1"].sizes() == [1, 2, 3]
    assert model["b_look1"].frame[9:].tolist() == [0, 0, 3]
    assert any("meshes whose file" in remark for remark in model.remarks)
    assert any("without size" in remark for remark in model.remarks)


@pytest.mark.parametrize("name", ["meshes/a.stl", "package://dog/meshes/a.stl", "file://{}/meshes/a.stl"])
def test_meshes_are_looks(tmp_path: Path, name: str) -> None:
    """Files are found from the folder of the URDF, by the ROS package above it, and by absolute paths."""
    folder = tmp_path / "dog"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "a.stl").write_text("")
    mesh = f"<mesh filename='{name.format(folder)}' scale='1 2 3'/>"
    body = bob("b").replace(
        "</link>", f"<visual><origin xyz='0 0 1'/><geometry>{mesh}</geometry></visual></link>"
    )
    model = Multibody.from_urdf(write_urdf(folder, EMPTY, body, joint("continuous")))
    look: Any = model["b_look1"]
    assert (Path(look.file), look.sizes()) == ((folder / "meshes" / "a.stl").resolve(), [1, 2, 3])
    assert look.frame[9:].tolist() == [0, 0, 1]


def test_a_mimic_of_no_joint_is_listed(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, EMPTY, bob("b"), joint("continuous", "<mimic joint='k'/>"))
    model = Multibody.from_urdf(path)
    assert any("mimic of joint 'j'" in remark for remark in model.remarks)
    assert "j_motor" in model.parts


def test_a_follower_of_a_fixed_joint_is_fixed(tmp_path: Path) -> None:
    follower = joint("continuous", "<axis xyz='0 0 1'/><mimic joint='j' offset='0.5'/>", "k", "b", "c")
    links = [EMPTY, bob("b"), bob("c"), bob("d")]
    path = write_urdf(tmp_path, *links, joint("fixed"), follower, joint("continuous", "", "l", "c", "d"))
    model = Multibody.from_urdf(path)
    X = np.array(state_of(model)["d.X_GB"])
    np.testing.assert_allclose(X[:2], [np.cos(0.5), -np.sin(0.5)], rtol=1e-14)


def test_a_free_base_falls(tmp_path: Path) -> None:
    path = write_urdf(tmp_path, EMPTY, bob("b"), joint("fixed", "<origin rpy='0.1 0.2 0.3'/>"))
    state = state_of(Multibody.from_urdf(path, base="free"))
    np.testing.assert_allclose(state["a.A_GB"], [0, 0, 0, *GRAVITY], atol=1e-12)


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_joints_with_several_coordinates(tmp_path: Path, kind: str) -> None:
    inside = "<origin xyz='1 2 3' rpy='0 1.5707963267948966 0'/><axis xyz='1 0 0'/>"
    path = write_urdf(tmp_path, EMPTY, bob("b"), joint(kind, inside))
    state = state_of(Multibody.from_urdf(path))
    np.testing.assert_allclose(np.array(state["b.X_GB"])[9:], [1, 2, 3], atol=1e-15)
    acceleration_z = np.array(state["b.A_GB"])[5]
    assert acceleration_z == pytest.approx(-9.81 if kind == "floating" else 0.0, abs=1e-12)


def test_defaults_of_urdf(tmp_path: Path) -> None:
    """The axis is x, and a joint may have no range; without actuators there are no inputs."""
    path = write_urdf(tmp_path, EMPTY, bob("b"), joint("continuous"))
    model = Multibody.from_urdf(path)
    assert np.array(model["j"].frame_on_child).reshape(4, 3)[:3, 2].tolist() == [1, 0, 0]  # type: ignore[attr-defined]
    assert "j_stop" not in model.parts
    assert Multibody.from_urdf(path, actuators=False).build().inputs == ()


@pytest.mark.parametrize(
    ("moments", "is_possible"),
    [
        ((1, 1, 2), True),  # a plate: the boundary
        ((1, 1, 2.001), False),
        ((0, 0, 0), True),
        ((-1, 0, 0), False),
    ],
)
def test_impossible_moments_are_kept_with_a_remark(tmp_path: Path, moments: Any, is_possible: bool) -> None:
    inertia = "<inertia ixx='{}' iyy='{}' izz='{}' ixy='0' ixz='0' iyz='0'/>".format(*moments)
    body = f"<link name='b'><inertial><mass value='1'/>{inertia}</inertial></link>"
    model = Multibody.from_urdf(write_urdf(tmp_path, EMPTY, body, joint("floating")))
    assert model["b"].inertia[:3].tolist() == [*moments]  # type: ignore[attr-defined]
    assert (type(model["b"]) is RigidBody) == is_possible
    assert any("no body has" in remark for remark in model.remarks) == (not is_possible)


def test_motors_have_the_limits_of_the_file() -> None:
    motor = Multibody.from_urdf(ARM, motors=True)["elbow_motor"]
    assert (motor.greatest_effort, motor.greatest_speed) == (30.0, 3.0)  # type: ignore[attr-defined]
    unlimited = Multibody.from_urdf(ARM, motors=True)["roll_motor"]
    assert unlimited.greatest_effort == 1e9  # type: ignore[attr-defined]


def test_a_robot_without_moving_joints_has_no_bodies(tmp_path: Path) -> None:
    model = Multibody.from_urdf(write_urdf(tmp_path, EMPTY, bob("b"), joint("fixed")))
    assert set(model.parts) == {"ground", "gravity", "energy"}


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no option 'bas'.*Nearest: base"):
        Multibody.from_urdf(ARM, bas="free")
    with pytest.raises(cosim.CosimError, match="'loose'.*fixed, free"):
        Multibody.from_urdf(ARM, base="loose")
