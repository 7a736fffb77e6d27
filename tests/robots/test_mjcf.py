"""MJCF files as models: a recorded case of MuJoCo, closed forms, faults."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mujoco_cases import differences

import cosim
from cosim.cli import main
from cosim_mechanics import Multibody
from cosim_robots.mjcf import read_mjcf

DATA = Path(__file__).parent.parent / "data" / "robots"
CRANE = DATA / "crane.xml"
BOB = "<geom size='0.1' mass='2'/>"


def written(folder: Path, world: str, head: str = "", tail: str = "") -> Path:
    path = folder / "robot.xml"
    path.write_text(f"<mujoco model='r'>{head}<worldbody>{world}</worldbody>{tail}</mujoco>", "utf-8")
    return path


def hinge(joint: str = "", body: str = "", tail: str = "", inside: str = BOB) -> str:
    return f"<body name='b' {body}><joint name='j' {joint}/>{inside}</body>{tail}"


def pose(model: Any, body: str = "b", **values: Any) -> Any:
    state = model.build().default_state()
    for key, value in values.items():
        state[key.replace("__", ".")] = value
    return np.ravel(state.realize(cosim.Stage.POSITION)[f"{body}.X_GB"])


def test_a_model_with_everything_agrees_with_mujoco() -> None:
    """Includes, classes, frames, orientations, geoms, bounds of masses, joints of all kinds, servos."""
    wrong, off, apart = differences(CRANE, json.loads((DATA / "crane.json").read_text("utf-8")))
    assert wrong < 1e-12
    assert off < 1e-12
    assert apart < 1e-12


def test_what_is_not_taken_over_is_listed() -> None:
    remarks = "\n".join(Multibody.from_mjcf(CRANE).remarks)
    for sentence in (
        "<sensor> is not taken over (line 78)",
        "<site> of bodies is not taken over (line 40)",
        "springs of ball and free joints are not taken over (line 42)",
        "inputs of motors are efforts of their joints: gear times control (line 73)",
        "targets of servos are those of their joints: control divided by gear (line 74)",
        "2 links between two joints of one body get 1e-30 kg: box_part1, boom_part1",
        "link 'tag' is fixed on 'hook'",
    ):
        assert sentence in remarks, sentence


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


def test_actuators_are_inputs_where_the_file_has_them() -> None:
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
    assert bounded.greatest_effort == 120.0  # MuJoCo: kinds of actuators share gear and range in a class


@pytest.mark.parametrize(
    ("bounds", "effort"),
    [
        ("gear='5' ctrlrange='-2 2'", 10.0),
        ("gear='5' ctrlrange='-2 2' forcerange='-1.5 1.5'", 7.5),
        ("gear='-5' ctrlrange='-2 2' ctrllimited='false'", 1e9),
        ("gear='5' forcerange='-9 9'", 12.0),  # the joint's own is less
    ],
)
def test_bounds_of_motors(tmp_path: Path, bounds: str, effort: float) -> None:
    own = "actuatorfrcrange='-12 12'" if effort == 12.0 else ""
    path = written(tmp_path, hinge(own), tail=f"<actuator><motor joint='j' {bounds}/></actuator>")
    robot: Any = Multibody.from_mjcf(path, motors=True)
    assert robot["j_motor"].greatest_effort == effort


INPUTS = ("effort", "target", "target_rate")


def test_a_line_between_two_joints_is_a_coupling() -> None:
    state = Multibody.from_mjcf(CRANE).build().default_state()
    assert state["counter_spin.q"] == [0.1]
    robot: Any = Multibody.from_mjcf(CRANE)
    assert (robot["counter_spin_mimic"].ratio, robot["counter_spin_mimic"].offset) == (0.5, 0.1)
    result = robot.simulate(until=0.2, signals=["spin.q", "counter_spin.q"])
    gap = result["counter_spin.q"] - 0.5 * result["spin.q"] - 0.1
    assert np.abs(gap).max() < 1e-8


@pytest.mark.parametrize(
    ("shape", "mass", "moments"),
    [
        ("type='sphere' size='0.3'", 4 / 3 * math.pi * 0.027e3, (0.4 * 0.09,) * 3),
        ("type='box' size='0.1 0.2 0.3'", 48.0, (0.13 / 3, 0.1 / 3, 0.05 / 3)),
        ("type='ellipsoid' size='0.1 0.2 0.3' mass='5'", 5.0, (0.13 / 5, 0.1 / 5, 0.05 / 5)),
        ("type='cylinder' size='0.2 0.3' density='10'", 0.24 * math.pi, (0.01 + 0.03,) * 2 + (0.02,)),
    ],
)
def test_masses_of_shapes(tmp_path: Path, shape: str, mass: float, moments: Any) -> None:
    """Closed forms of even densities, per mass."""
    link = read_mjcf(written(tmp_path, hinge(inside=f"<geom {shape}/>"))).links["b"]
    assert link.mass == pytest.approx(mass, rel=1e-14)
    assert [x / link.mass for x in link.inertia[:3]] == pytest.approx(moments, rel=1e-14)
    assert link.inertia[3:] == (0.0, 0.0, 0.0)


def test_a_capsule_is_a_cylinder_and_a_sphere_cut_in_two(tmp_path: Path) -> None:
    """By integrating slices: radius 0.2, half length 0.3."""
    from scipy.integrate import quad

    link = read_mjcf(written(tmp_path, hinge(inside="<geom type='capsule' size='0.2 0.3'/>"))).links["b"]

    def square(z: float) -> float:
        return 0.04 - max(0.0, abs(z) - 0.3) ** 2

    def whole(f: Any) -> float:
        return 2.0 * (quad(f, 0, 0.3, epsabs=1e-13)[0] + quad(f, 0.3, 0.5, epsabs=1e-13)[0])

    assert link.mass == pytest.approx(whole(lambda z: 1e3 * math.pi * square(z)), rel=1e-12)
    along = whole(lambda z: 1e3 * math.pi / 2 * square(z) ** 2)
    across = whole(lambda z: 1e3 * math.pi * (square(z) ** 2 / 4 + square(z) * z * z))
    assert link.inertia[:3] == pytest.approx((across, across, along), rel=1e-12)


@pytest.mark.parametrize("wanted", ["true", "auto", "false"])
def test_where_masses_come_from(tmp_path: Path, wanted: str) -> None:
    inertial = "<inertial mass='3' pos='1 0 0' diaginertia='1 1 1'/>"
    head = f"<compiler inertiafromgeom='{wanted}'/>"
    link = read_mjcf(written(tmp_path, hinge(inside=inertial + BOB), head)).links["b"]
    assert link.mass == (2.0 if wanted == "true" else 3.0)
    bare = written(tmp_path, "<body name='b'>" + BOB + "</body><body name='c'>" + BOB + "</body>", head)
    assert read_mjcf(bare).links["b"].mass == (0.0 if wanted == "false" else 2.0)


BOX = [(x, y, z) for x in (-0.5, 0.5) for y in (-1.0, 1.0) for z in (-1.5, 1.5)]
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))


def surface(path: Path, *shifts: float) -> None:
    """Boxes of 1 by 2 by 3 beside each other, their faces outward, as OBJ."""
    lines = []
    for number, shift in enumerate(shifts):
        lines += [f"v {x + shift} {y} {z}" for x, y, z in BOX]
        lines += [f"f {' '.join(str(i + 1 + 8 * number) for i in face)}" for face in FACES]
    path.write_text("\n".join(lines) + "\n", "ascii")


@pytest.mark.parametrize("how", ["exact", "legacy"])
def test_masses_of_surfaces(tmp_path: Path, how: str) -> None:
    """A box from a file weighs as a box; two apart from each other only where pyramids have signs."""
    pytest.importorskip("trimesh")
    head = (
        f"<asset><mesh name='m' file='m.obj' inertia='{how}' scale='0.1 0.1 -0.1' refpos='0 0 0.2'/></asset>"
    )
    place = "pos='1 2 3' euler='10 20 30'"
    surface(tmp_path / "m.obj", 0.0)
    mesh = f"<geom type='mesh' mesh='m' density='700' {place}/>"
    link = read_mjcf(written(tmp_path, hinge(inside=mesh), head)).links["b"]
    box = f"<frame {place}><geom type='box' size='0.05 0.1 0.15' density='700' pos='0 0 -0.2'/></frame>"
    expected = read_mjcf(written(tmp_path, hinge(inside=box))).links["b"]
    assert link.mass == pytest.approx(expected.mass, rel=1e-12)
    assert link.center_of_mass == pytest.approx(expected.center_of_mass, rel=1e-12)
    assert link.inertia == pytest.approx(expected.inertia, rel=1e-10, abs=1e-12)
    surface(tmp_path / "m.obj", -2.0, 2.0)
    two = read_mjcf(written(tmp_path, hinge(inside="<geom type='mesh' mesh='m'/>"), head)).links["b"]
    if how == "exact":
        assert two.mass == pytest.approx(12.0, rel=1e-12)
        along_z = 2 * 6.0 * ((0.01 + 0.04) / 12 + 0.04)
        assert two.inertia[2] == pytest.approx(along_z, rel=1e-12)
    else:
        assert two.mass > 12.5


def test_a_surface_without_volume(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "ascii")
    head = "<asset><mesh name='m' file='m.obj'/></asset>"
    with pytest.raises(cosim.ModelError, match="has no volume"):
        read_mjcf(written(tmp_path, hinge(inside="<geom type='mesh' mesh='m'/>"), head))


def test_groups_without_mass(tmp_path: Path) -> None:
    two = "<geom size='0.1' mass='2' group='0'/><geom size='0.1' mass='5' group='4'/>"
    for ends, mass in (("0 3", 2.0), ("0 4", 7.0), ("4 4", 5.0)):
        head = f"<compiler inertiagrouprange='{ends}'/>"
        assert read_mjcf(written(tmp_path, hinge(inside=two), head)).links["b"].mass == mass


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
    X = pose(Multibody.from_mjcf(written(tmp_path, hinge(body=f"euler='{text}'"), head)))
    a, b, c = (0.1, 0.2, 0.3)
    about_x = np.array([[1, 0, 0], [0, math.cos(a), -math.sin(a)], [0, math.sin(a), math.cos(a)]])
    about_y = np.array([[math.cos(b), 0, math.sin(b)], [0, 1, 0], [-math.sin(b), 0, math.cos(b)]])
    about_z = np.array([[math.cos(c), -math.sin(c), 0], [math.sin(c), math.cos(c), 0], [0, 0, 1]])
    np.testing.assert_allclose(X[:9].reshape(3, 3), about_x @ about_y @ about_z, atol=1e-15)


def test_a_reference_shifts_the_coordinate_and_not_the_body(tmp_path: Path) -> None:
    model: Any = Multibody.from_mjcf(written(tmp_path, hinge("ref='30'", "pos='1 2 3'")))
    assert model["j"].q.tolist() == [math.radians(30)]
    assert pose(model) == pytest.approx([1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3], abs=1e-15)
    turned = pose(model, j__q=[math.radians(120)])
    assert turned == pytest.approx([0, -1, 0, 1, 0, 0, 0, 0, 1, 1, 2, 3], abs=1e-15)


@pytest.mark.parametrize(
    ("limited", "automatic", "has_stop"),
    [("auto", "true", True), ("auto", "false", False), ("true", "false", True), ("false", "true", False)],
)
def test_when_a_range_limits(tmp_path: Path, limited: str, automatic: str, has_stop: bool) -> None:
    head = f"<compiler autolimits='{automatic}'/>"
    model = Multibody.from_mjcf(written(tmp_path, hinge(f"limited='{limited}' range='-10 20'"), head))
    assert ("j_stop" in model.parts) == has_stop


def test_classes_of_defaults(tmp_path: Path) -> None:
    """The nearest word counts: the element's, its class, the body's, the outer class."""
    head = """<default><joint damping='1' armature='2' frictionloss='3'/>
      <default class='a'><joint damping='4'/><default class='b'><joint armature='5'/></default></default>
      </default>"""
    body = "<body childclass='a'><joint name='{}' {}/>" + BOB + "</body>"
    world = (
        body.format("x", "") + body.format("y", "class='b'") + body.format("z", "class='main' damping='6'")
    )
    joints = {j.name: j for j in read_mjcf(written(tmp_path, world, head)).joints}
    got = {name: (j.damping, j.armature, j.friction) for name, j in joints.items()}
    assert got == {"x": (4, 2, 3), "y": (4, 5, 3), "z": (6, 2, 3)}


def test_gravity_of_the_file(tmp_path: Path) -> None:
    head = "<option gravity='1 2 3'/>"
    path = written(tmp_path, hinge(), head)
    assert Multibody.from_mjcf(path).gravity.tolist() == [1, 2, 3]
    assert cosim.Model.from_file(path)["gravity"].gravity.tolist() == [1, 2, 3]  # type: ignore[attr-defined]
    off = "<option gravity='1 2 3'><flag gravity='disable'/></option>"
    assert Multibody.from_mjcf(written(tmp_path, hinge(), off)).gravity.tolist() == [0, 0, 0]
    assert Multibody.from_mjcf(written(tmp_path, hinge())).gravity.tolist() == [0, 0, -9.81]


def test_a_massless_tip_with_armature_moves(tmp_path: Path) -> None:
    dial = "<body name='c'><joint name='k' armature='0.5'/></body>"
    tail = "<actuator><motor joint='k'/></actuator>"
    model = Multibody.from_mjcf(written(tmp_path, hinge(inside=BOB + dial, joint="axis='0 1 0'"), tail=tail))
    state = model.build().default_state().realize(cosim.Stage.TIME)
    state["k_motor.effort"] = 3.0
    assert state.realize(cosim.Stage.ACCELERATION)["k.u_dot"] == pytest.approx([6.0], rel=1e-12)


def test_shapes_are_looks(tmp_path: Path) -> None:
    material = "<asset><material name='m' rgba='0.1 0.2 0.3 1'/></asset>"
    shapes = (
        "<geom type='box' size='1 2 3' mass='1' material='m'/><geom type='capsule' size='0.1 0.2' group='3'/>"
        "<geom type='capsule' size='0.1 0.2' rgba='1 0 0 1'/><geom size='1' rgba='0 0 0 0'/>"
    )
    model: Any = Multibody.from_mjcf(written(tmp_path, hinge(inside=shapes), material))
    assert model["b_look1"].sizes() == [2, 4, 6]
    assert model["b_look1"].color.tolist() == [0.1, 0.2, 0.3]
    assert model["b_look2"].sizes() == [0.1, 0.4]
    assert "b_look3" not in model.parts


def test_meshes_are_looks(tmp_path: Path) -> None:
    """The file's own place on the geom is that of refpos and refquat, taken back."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.stl").write_text("")
    head = (
        "<compiler meshdir='parts'/><asset><mesh file='a.stl' scale='1 2 3' refpos='0 0 1' "
        "refquat='0.7071067811865476 0 0 0.7071067811865476'/><mesh name='m' file='none.stl'/></asset>"
    )
    inertial = "<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/>"
    geoms = "<geom type='mesh' mesh='a' pos='1 0 0'/><geom type='mesh' mesh='m'/>"
    model: Any = Multibody.from_mjcf(written(tmp_path, hinge(inside=inertial + geoms), head))
    look = model["b_look1"]
    assert (Path(look.file), look.sizes()) == ((tmp_path / "parts" / "a.stl").resolve(), [1, 2, 3])
    np.testing.assert_allclose(look.frame, [0, 1, 0, -1, 0, 0, 0, 0, 1, 1, 0, -1], atol=1e-15)
    assert "b_look2" not in model.parts
    assert any("shapes of type" in remark for remark in model.remarks)


def test_includes(tmp_path: Path) -> None:
    part = tmp_path / "parts" / "leg.xml"
    part.parent.mkdir()
    part.write_text(f"<mujoco><body name='leg'><joint name='k'/>{BOB}</body></mujoco>", "utf-8")
    include = "<include file='parts/leg.xml'/>"
    model = Multibody.from_mjcf(written(tmp_path, hinge(inside=BOB + include)))
    assert model["k"].parent == "b"  # type: ignore[attr-defined]
    part.write_text("<mujoco>\n<body name='leg'><joint name='k' axis='0 0 0'/></body></mujoco>", "utf-8")
    with pytest.raises(cosim.ModelError, match=r"leg\.xml:2.*axis of joint 'k'.*0 0 0"):
        Multibody.from_mjcf(written(tmp_path, hinge(inside=BOB + include)))


def test_a_model_file_makes_the_same_model(tmp_path: Path) -> None:
    target = tmp_path / "crane.toml"
    assert main(["import", str(CRANE), "-o", str(target)]) == 0
    read, direct = (cosim.Model.from_file(p).build().default_state() for p in (target, CRANE))
    for state in (read, direct):
        state.realize(cosim.Stage.ACCELERATION)
    assert read.y.tobytes() == direct.y.tobytes()
    assert read.y_dot.tobytes() == direct.y_dot.tobytes()


FAULTS = {
    "another file": ("<robot/>", "is <robot>, needs <mujoco>"),
    "no bodies": ("<mujoco/>", "has no links"),
    "kind": (f"<mujoco><worldbody>{hinge('type=`x`')}</worldbody></mujoco>", "type 'x', needs one of hinge"),
    "class": (f"<mujoco><worldbody>{hinge('class=`x`')}</worldbody></mujoco>", "no class of defaults 'x'"),
    "axis": (f"<mujoco><worldbody>{hinge('axis=`0 0 0`')}</worldbody></mujoco>", "it has no direction"),
    "quaternion": (f"<mujoco><worldbody>{hinge(body='quat=`0 0 0 0`')}</worldbody></mujoco>", "no direction"),
    "two ways": (
        f"<mujoco><worldbody>{hinge(body='quat=`1 0 0 0` euler=`0 0 0`')}</worldbody></mujoco>",
        "has quat and euler: needs one orientation",
    ),
    "range": (f"<mujoco><worldbody>{hinge('range=`1 0`')}</worldbody></mujoco>", "the lower end"),
    "size": (
        f"<mujoco><worldbody>{hinge(inside='<geom type=`box` size=`1 2`/>')}</worldbody></mujoco>",
        "a box needs 3 sizes above 0",
    ),
    "mesh": (
        f"<mujoco><worldbody>{hinge(inside='<geom type=`mesh` mesh=`m`/>')}</worldbody></mujoco>",
        "give the body an <inertial>",
    ),
    "replicate": (
        f"<mujoco><worldbody>{hinge(tail='<replicate count=`2`/>')}</worldbody></mujoco>",
        "<replicate> makes bodies that are not read",
    ),
    "two bodies": (f"<mujoco><worldbody>{hinge()}{hinge()}</worldbody></mujoco>", "a second body 'b'"),
    "two joints": (
        f"<mujoco><worldbody>{hinge()}{hinge().replace('b', 'c', 1)}</worldbody></mujoco>",
        "robot.xml",
    ),
    "include itself": ("<mujoco><include file='robot.xml'/></mujoco>", "includes itself"),
    "include absolute": ("<mujoco><include file='/etc/a.xml'/></mujoco>", "needs a relative path"),
    "include text": ("<mujoco><include file='../passwd'/></mujoco>", "that ends in .xml"),
    "include nothing": ("<mujoco><include file='none.xml'/></mujoco>", "robot.xml:1: "),
    "sequence": (
        f"<mujoco><compiler eulerseq='xyw'/><worldbody>{hinge(body='euler=`1 2 3`')}</worldbody></mujoco>",
        "needs three of xyzXYZ",
    ),
    "negative": (f"<mujoco><worldbody>{hinge('damping=`-1`')}</worldbody></mujoco>", "are 0 or more"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_say_where_and_what(tmp_path: Path, fault: str) -> None:
    text, expected = FAULTS[fault]
    path = tmp_path / "robot.xml"
    path.write_text(text.replace("`", "'") if '"' not in text else text, "utf-8")
    with pytest.raises(cosim.ModelError) as caught:
        cosim.Model.from_file(path)
    assert expected in str(caught.value)
    assert "robot.xml" in str(caught.value)


def test_the_base_is_that_of_the_file() -> None:
    with pytest.raises(cosim.CosimError, match="omit base"):
        Multibody.from_mjcf(CRANE, base="free")
