"""Impossible bodies, joints and positions are refused or reported with their name, also in files."""

from __future__ import annotations

import json
import math
import re

import pytest

import cosim
from cosim.cli import main
from cosim_mechanics import Multibody

SOLID = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
NAN = math.nan
BODIES = {
    "no mass": ({"mass": 0.0}, "mass is 0 kg, needs more than 0"),
    "negative mass": ({"mass": -2.0}, "mass is -2 kg, needs more than 0"),
    "mass is not a number": ({"mass": NAN}, "mass is nan kg, needs more than 0"),
    "mass is a switch": ({"mass": True}, r"mass is True, needs a number \[kg\]"),
    "mass is a list": ({"mass": []}, r"mass is \[\], needs a number \[kg\]"),
    "mass is in a unit of its own": ({"mass": "1 stone"}, "unknown part 'stone'"),
    "moment is a switch": ({"inertia": (1, 1, True)}, r"inertia is \(1, 1, True\), needs three"),
    "triangle": ({"inertia": (1, 1, 5)}, "no body has them, since 5 is more than 1 "),
    "triangle in other axes": (
        {"inertia": (2, 2, 2, 1.9, 1.9, 1.9)},
        "no body has them, since 5.8 is more than 0.1 ",
    ),
    "negative moment": ({"inertia": (-1, 1, 1)}, "-1 is negative"),
    "moment is not a number": ({"inertia": (1, 1, NAN)}, "inertia is not finite"),
    "centre is not a number": ({"center_of_mass": (0, NAN, 0)}, r"center_of_mass\[1\] is nan"),
}
JOINTS = {
    "frame is not a number": ({"frame_on_parent": [0, NAN, 0]}, "frame_on_parent: the position has nan"),
    "frame is not a rotation": (
        {"frame_on_child": [2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]},
        "is not orthonormal",
    ),
    "frame is a mirror": ({"frame_on_child": [1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 0]}, "left-handed"),
    "coordinate is not a number": ({"q": [NAN]}, r"q\[0\] is nan, needs a finite number"),
}


def toml(value):
    """Return a value as TOML."""
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, (tuple, list)) else str(value)


@pytest.mark.parametrize(("values", "message"), BODIES.values(), ids=BODIES)
def test_impossible_bodies_are_refused(values, message):
    model = Multibody("bad")
    with pytest.raises(cosim.ModelError, match=rf"rotor\..*{message}"):
        model.body("rotor", **(SOLID | values))


@pytest.mark.parametrize(("values", "message"), JOINTS.values(), ids=JOINTS)
def test_impossible_joints_are_refused(values, message):
    model = Multibody("bad")
    model.body("rotor", **SOLID)
    with pytest.raises(cosim.ModelError, match=rf"hinge\..*{message}"):
        model.joint("pin", child="rotor", name="hinge", **values)


@pytest.mark.parametrize("child", ["rotor.mass", "rotor[0]", "roter"])
def test_the_child_of_a_joint_must_be_a_part(child):
    model = Multibody("bad")
    model.body("rotor", **SOLID)
    model.joint("pin", child=child, name="hinge")
    with pytest.raises(cosim.ModelError, match=rf"hinge.*'{re.escape(child)}'(.|\n)*rotor"):
        model.build()


@pytest.mark.parametrize(("values", "message"), [*BODIES.values(), *JOINTS.values()], ids=[*BODIES, *JOINTS])
def test_faults_in_a_file_are_reported_with_their_line(values, message, tmp_path, capsys):
    body = SOLID | {k: v for k, v in values.items() if k in ("mass", "inertia", "center_of_mass")}
    joint = {k: v for k, v in values.items() if k not in body}
    lines = [f"{key} = {toml(value)}" for key, value in body.items()]
    hinge = ['type = "pin"', 'child = "rotor"', *(f"{key} = {toml(value)}" for key, value in joint.items())]
    path = tmp_path / "bad.toml"
    path.write_text(
        "\n".join(["[model]", 'name = "bad"', "[bodies.rotor]", *lines, "[joints.hinge]", *hinge])
    )
    assert main(["info", str(path)]) != 0
    output = capsys.readouterr()
    text = " ".join((output.out + output.err).split())
    assert "Traceback" not in text
    assert "rotor" in text if joint == {} else "hinge" in text
    assert "bad.toml:" in text


def test_a_loop_of_joints_in_a_file_is_named(tmp_path, capsys):
    path = tmp_path / "loop.toml"
    solid = "mass = 1.0\ninertia = [1, 1, 1]\n"
    path.write_text(
        f'[model]\nname = "loop"\n[bodies.crank]\n{solid}joint = "pin"\n[bodies.rod]\n{solid}'
        'joint = {type = "pin", parent = "crank"}\n[joints.closing]\ntype = "pin"\nchild = "rod"\n'
    )
    assert main(["info", str(path)]) != 0
    output = capsys.readouterr()
    text = " ".join((output.out + output.err).split())
    assert "joints.closing" in text
    assert "ground → crank → rod →" in text
    assert "Traceback" not in text


@pytest.mark.parametrize("solver", ["dynamics.composite_rigid_body", "dynamics.articulated_body"])
def test_a_singular_mass_matrix_names_the_joints(solver):
    model = Multibody("redundant", dynamics=solver)
    model.body("wheel", mass=3.0, inertia=(0.1, 0.1, 0.2))
    model.body("ring", mass=1e-3, inertia=(0.0, 0.0, 0.0))
    model.body("tip", mass=1.0, center_of_mass=(0, 1, 0), inertia=(0.1, 0.1, 0.2))
    model.joint("pin", child="ring", name="first")
    model.joint("pin", child="wheel", parent="ring", name="second")
    model.joint("slider", child="tip", name="sound")
    state = model.build().default_state()
    expected = (
        r"singular.*here nothing resists u\[0\] of 'first' \(body 'ring'\) together with "
        r"u\[0\] of 'second' \(body 'wheel'\)$"
    )
    with pytest.raises(cosim.SimulationError, match=expected):
        state.realize(cosim.Stage.ACCELERATION)


def test_gimbal_lock_near_the_motion_is_reported():
    model = Multibody("gyro")
    model.body("rotor", mass=1.0, inertia=(1.0, 2.0, 3.0))
    model.joint("gimbal", child="rotor", name="suspension", u=(0.02, 1.0, 0.01))
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.advance_to(2.0)
    assert any("suspension" in str(f) and "gimbal lock" in str(f) for f in simulator.findings)


def test_a_singular_pose_at_the_start_is_named():
    model = Multibody("gyro")
    model.body("rotor", mass=1.0, inertia=(1.0, 2.0, 3.0))
    model.joint("gimbal", child="rotor", name="suspension", q=(0.0, math.pi / 2, 0.0))
    with pytest.raises(cosim.ModelError, match=r"suspension.*nothing resists u\[0\], u\[2\]"):
        model.build()
