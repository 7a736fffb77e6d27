"""Terminals of native FMUs for FMI 3.0: force and motion of one coordinate or point form a flange."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import fmpy
import pytest
from lxml import etree

import cosim
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.select_variables import select_variables
from cosim_export.native.fmu_array import arrays_of
from cosim_export.native.terminals import terminals
from cosim_mechanics import Multibody

SCHEMA = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"


def swing(joint: str = "pin", **simulation: Any) -> cosim.Model:
    """A body on a joint that is driven from outside."""
    model = Multibody("swing", gravity=(0, 0, -9.81))
    body = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
    hinge = model.joint(joint, child=body, name="hinge")
    model.add("mechanics.actuator", "drive", coordinate=hinge if joint == "pin" else "hinge")
    model.simulation.update(simulation)
    return model


def hull(
    outputs: list[str],
    axis: object = "z",
    station: tuple[float, ...] = (0.1, 0, 0),
    sea: tuple[float, ...] = (0, 0, 0),
) -> cosim.Model:
    """A body with a force at a station, where its motion is measured, and a wrench at its origin."""
    model = Multibody("hull", gravity=(0, 0, -9.81))
    body = model.body("hull", mass=10.0, inertia=(1, 2, 3))
    model.joint("free", child=body)
    model.add("mechanics.applied_force", "lift", body="hull", axis=axis, station=station)
    model.add("mechanics.applied_wrench", "sea", body=body, station=sea)
    model.measure("mechanics.position", "height", of=body, axis="z", station=(0.1, 0, 0))
    model.measure("mechanics.velocity", "rise", of=body, axis="z", station=(0.1, 0, 0))
    model.measure("mechanics.velocity", "sway", of=body, axis="y", station=(0.1, 0, 0))
    model.simulation["signals"] = ["height", "rise", "sway", *outputs]
    return model


class Spring(cosim.Component):
    """A spring whose length is an input, and its force an output."""

    length = cosim.input(unit="m")
    stiffness = cosim.parameter(unit="N/m", default=100.0)
    force = cosim.output(unit="N")

    @cosim.kernel
    def pull(length, stiffness, force):
        force[0] = -stiffness * length


class TwoForces(cosim.Component):
    """Pushed along two axes: neither force belongs to the motion in particular."""

    place = cosim.output(unit="m")
    push_x = cosim.input(unit="N")
    push_y = cosim.input(unit="N")

    @cosim.kernel
    def give(push_x, push_y, place):
        place[0] = 1e-3 * (push_x + push_y)


class Terminal(NamedTuple):
    """A terminal; `members` are names and kinds of variables."""

    name: str
    kind: str
    members: dict[str, tuple[str, str]]


def terminals_of(model: cosim.Model) -> list[Terminal]:
    """The terminals in the file of a model, which is valid."""
    system = model.build()
    interface = ExportedInterface("x", "x", {}, select_variables(system), "x", {}, 1e-6)
    text = terminals(system, interface)
    if text is None:
        return []
    etree.XMLSchema(etree.parse(SCHEMA)).assertValid(etree.fromstring(text))
    names = {array.name for array in arrays_of(interface.variables)}
    listed_terminals = []
    for terminal in ElementTree.fromstring(text).iter("Terminal"):
        members = {
            m.attrib["memberName"]: (m.attrib["variableName"], m.attrib["variableKind"]) for m in terminal
        }
        assert {name for name, _ in members.values()} <= names
        listed_terminals.append(Terminal(terminal.attrib["name"], terminal.attrib["terminalKind"], members))
    return listed_terminals


@pytest.mark.parametrize(
    ("joint", "kind", "names", "members"),
    [
        ("pin", "_cosim_rotational_flange", ("angle", "rate"), ("phi", "w", "tau")),
        ("slider", "_cosim_translational_flange", ("position", "speed"), ("s", "v", "f")),
    ],
)
def test_a_driven_coordinate_is_a_flange(
    joint: str, kind: str, names: tuple[str, str], members: tuple[str, str, str]
) -> None:
    (terminal,) = terminals_of(swing(joint, signals=["hinge.q", "hinge.u"]))
    assert (terminal.name, terminal.kind) == ("drive", kind)
    assert terminal.members == {
        members[0]: (f"hinge.{names[0]}", "signal"),
        members[1]: (f"hinge.{names[1]}", "signal"),
        members[2]: ("drive.effort", "inflow"),
    }


def test_a_component_with_a_force_and_a_length_is_a_flange() -> None:
    model = cosim.Model("spring")
    model.add(Spring, "spring")
    members = {"s": ("spring.length", "signal"), "f": ("spring.force", "inflow")}
    assert terminals_of(model) == [("spring", "_cosim_translational_flange", members)]


def test_without_motion_or_with_two_forces_there_is_no_flange() -> None:
    assert terminals_of(swing()) == []  # nothing of the motion is an output
    model = cosim.Model("two")
    model.add(TwoForces, "two")
    assert terminals_of(model) == []


def test_two_actuators_of_one_coordinate_are_two_flanges() -> None:
    model = swing(signals=["hinge.q"])
    model.add("mechanics.actuator", "second", coordinate="hinge")
    assert [(name, members["phi"][0]) for name, _, members in terminals_of(model)] == [
        ("drive", "hinge.angle"),
        ("second", "hinge.angle"),
    ]


def test_a_force_and_the_measured_motion_of_its_point_are_a_flange() -> None:
    ((name, kind, members),) = terminals_of(hull([]))
    assert (name, kind) == ("lift", "_cosim_translational_flange")
    assert members == {
        "s": ("height", "signal"),
        "v": ("rise", "signal"),
        "f": ("lift.force", "inflow"),
    }
    # no motion is measured at that point, or along that axis
    for axis, station in (("y", (0.1, 0, 0.1)), ("x", (0.1, 0, 0)), ("-z", (0.1, 0, 0))):
        assert terminals_of(hull([], axis, station)) == []
    assert [set(members) for *_, members in terminals_of(hull([], "y"))] == [{"v", "f"}]


def test_the_coordinates_of_a_body_are_the_motion_of_its_origin() -> None:
    outputs = ["hull.x", "hull.z", "hull.vz"]
    ((name, _, members),) = terminals_of(hull(outputs, "z", (0, 0, 0)))
    assert name == "lift"
    assert members == {
        "s": ("hull.z", "signal"),
        "v": ("hull.vz", "signal"),
        "f": ("lift.force", "inflow"),
    }
    assert [set(members) for *_, members in terminals_of(hull(outputs, "x", (0, 0, 0)))] == [{"s", "f"}]
    assert terminals_of(hull(outputs, "-z", (0, 0, 0))) == []
    assert terminals_of(hull(outputs, (0, 1, 1), (0, 0, 0))) == []


def test_forces_and_torques_at_the_origin_of_a_body_are_a_frame() -> None:
    outputs = ["hull.x", "hull.y", "hull.z", "hull.wx", "hull.wy", "hull.wz", "hull.vx"]
    frame = next(members for name, kind, members in terminals_of(hull(outputs)) if kind == "_cosim_frame")
    assert frame == {
        **{f"r_0[{i}]": (f"hull.{axis}", "signal") for i, axis in enumerate("xyz", 1)},
        **{f"w[{i}]": (f"hull.w{axis}", "signal") for i, axis in enumerate("xyz", 1)},
        **{"f": ("sea.f", "inflow"), "t": ("sea.torque", "inflow")},
    }
    assert [name for name, kind, _ in terminals_of(hull(outputs[1:])) if kind == "_cosim_frame"] == []
    with_wrench_elsewhere = hull(outputs, sea=(0.5, 0, 0))
    assert [name for name, kind, _ in terminals_of(with_wrench_elsewhere) if kind == "_cosim_frame"] == []
