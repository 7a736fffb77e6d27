"""Terminals of FMI 3.0: groups of variables that are force and motion of one place, a *flange* or a frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

import cosim
from cosim_export.interface.diagram import attached_to, part_of
from cosim_export.interface.exported_interface import ExportedInterface
from cosim_export.interface.model_description import as_text, plain_text
from cosim_export.native.fmu_array import FmuArray, variables_of

Shown = Mapping[str, Sequence[FmuArray]]
"""The shown arrays of each part."""
MOTION = {"X_GB": (9, "r_0"), "V_GB": (3, "v"), "A_GB": (3, "a")}
"""By slot of a body: the index of the first number of its origin, and its name in Modelica's frames."""
TURNING = {"V_GB": (0, "w"), "A_GB": (0, "z")}
"""The same for the numbers of its rotation."""
FORCES = {"N": "f", "N.m": "t"}
"""The names of forces and torques of a frame, by unit."""
PLACE = "terminalsAndIcons/terminalsAndIcons.xml"
ICON = "terminalsAndIcons/icon.png"
KINDS = {
    "_cosim_translational_flange": ({"N": "f"}, {"m": "s", "m/s": "v", "m/s2": "a"}),
    "_cosim_rotational_flange": ({"N.m": "tau"}, {"rad": "phi", "rad/s": "w", "rad/s2": "a"}),
}
"""By kind of flange: names of forces and of motions by unit; s, f, phi and tau as in Modelica."""
FRAME = "_cosim_frame"
Members = list[tuple[str, FmuArray]]
"""Names in the terminal, each with the variable of the FMU."""


class Station(NamedTuple):
    """A station of a body, and a direction in Ground; empty if there is none."""

    body: str
    station: tuple[float, ...]
    axis: tuple[float, ...]


def places_of(part: cosim.Component | None) -> Iterator[Station]:
    """The place on each body that a part was attached to."""
    if part is None:
        return
    station, axis = (
        tuple(part.values.numbers[name].tolist()) if name in part.values.numbers else ()
        for name in ("station", "axis")
    )
    for declaration in part.declarations.values():
        attached = part.values.given.get(declaration.name)
        if declaration.options.get("provides") == "body" and isinstance(attached, (str, cosim.Component)):
            yield Station(part_of(attached), station, axis)


def motion_along(system: cosim.System, part: cosim.Component | None, shown: Shown) -> Iterator[FmuArray]:
    """The variables that show the motion of the place at which a part acts, along its direction.

    These are measures at the same station along the same direction, and the coordinates of the body's origin
    if the part acts there along an axis of Ground.
    """
    for place in places_of(part):
        if len(place.axis) != 3:
            continue
        for name, other in system.parts.items():
            if other is not part and name != place.body and place in places_of(other):
                yield from (a for a in shown.get(name, ()) if not _is_effort(a))
        if not any(place.station) and sorted(place.axis) == [0.0, 0.0, 1.0]:
            for _, index, array in _of_body(system, place.body, shown, MOTION):
                if index == place.axis.index(1.0):
                    yield array


def frame_members(
    system: cosim.System, part: cosim.Component | None, shown: Shown
) -> tuple[Members, Members] | None:
    """Motion and forces of a frame: a part with a vector of forces or torques at the origin of a body.

    Names are those of Modelica's frames: r_0, v, a, w, z, f and t, or elements of them. None if the part acts
    elsewhere, or if neither the position nor the velocity of the body is shown completely.
    """
    places = list(places_of(part))
    if part is None or len(places) != 1 or any(places[0].station) or places[0].axis:
        return None
    efforts: Members = []
    for unit, letter in FORCES.items():
        arrays = [a for a in shown.get(part.name, ()) if a.elements[0].unit == unit]
        if sum(len(a.elements) for a in arrays) == 3:
            efforts += [
                (letter if len(arrays) == 1 else f"{letter}[{i}]", a) for i, a in enumerate(arrays, 1)
            ]
        elif arrays:
            return None  # not exactly three numbers: several vectors, or a part of one
    by_letter: dict[str, dict[int, FmuArray]] = {}
    for table in (MOTION, TURNING):
        for letter, index, array in _of_body(system, places[0].body, shown, table):
            by_letter.setdefault(letter, {}).setdefault(index, array)
    moving = [
        (f"{letter}[{i + 1}]", numbers[i])
        for letter, numbers in by_letter.items()
        if len(numbers) == 3
        for i in range(3)
    ]
    has_place = any(name in ("r_0[1]", "v[1]") for name, _ in moving)
    return (moving, efforts) if efforts and has_place else None


def _is_effort(array: FmuArray) -> bool:
    return array.elements[0].unit in FORCES


def _of_body(
    system: cosim.System, body: str, shown: Shown, table: Mapping[str, tuple[int, str]]
) -> Iterator[tuple[str, int, FmuArray]]:
    """The scalar variables of a body that are shown: letter of the quantity, index 0 to 2, variable."""
    slots = {name: system.variables.get(f"{body}.{name}") for name in table}
    for name, (first, letter) in table.items():
        variable = slots[name]
        for array in shown.get(body, ()) if variable is not None else ():
            element = array.elements[0]
            if variable is None or array.dimensions or element.array != variable.slot.array:
                continue
            index = element.offset - variable.slot.offset - first
            if 0 <= index < 3 and element.angle is None:
                yield letter, index, array


def terminals(system: cosim.System, interface: ExportedInterface) -> bytes:
    """The text of ``terminalsAndIcons.xml``: the place of the icon, and the flanges.

    A flange belongs to a part that has a force or torque among the inputs or outputs of the FMU. Its motion
    consists of the inputs and outputs that show the motion of the part itself, of the coordinate to which it
    is attached, or of the place on a body at which it acts. Either force or motion must be an input:
    otherwise nothing can be coupled there. There is no flange if two members would have the same name, as the
    forces of two axes. Three forces or torques at the origin of a body are a frame.

    References
    ----------
    Functional Mock-up Interface 3.0, section 2.4.10. Modelica Standard Library,
    ``Mechanics.Translational.Interfaces.Flange_a``, ``Mechanics.Rotational.Interfaces.Flange_a`` and
    ``Mechanics.MultiBody.Interfaces.Frame_a``.
    """
    shown: dict[str, list[FmuArray]] = {}
    for array in variables_of(interface):
        first = array.elements[0]
        if first.causality in ("input", "output") and first.type == "Real":
            shown.setdefault(first.path.partition(".")[0], []).append(array)
    listed = Element("Terminals")
    for name in shown:
        listed.extend(_flanges(system, name, shown))
    root = Element("fmiTerminalsAndIcons", {"fmiVersion": "3.0"})
    shapes = SubElement(root, "GraphicalRepresentation")
    corners = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}
    SubElement(shapes, "CoordinateSystem", {**corners, "suggestedScalingFactorTo_mm": "0.1"})
    SubElement(shapes, "Icon", corners)
    if len(listed):
        root.append(listed)
    return as_text(root)


def _flanges(system: cosim.System, name: str, shown: Shown) -> Iterator[Element]:
    """The terminals of a part: flanges, and a frame."""
    part = system.parts.get(name)
    near = [*_of_attached_parts(part, name, shown), *motion_along(system, part, shown)]
    for kind, (efforts, motions) in KINDS.items():
        forces = list(_members(shown[name], efforts))
        moving = list(_members([*shown[name], *near], motions))
        names = [member for member, _ in (*forces, *moving)]
        can_be_coupled = _has_input(forces) != _has_input(moving)
        if forces and moving and can_be_coupled and len(set(names)) == len(names):
            yield _terminal(name, kind, part, forces, moving)
    frame = frame_members(system, part, shown)
    if frame is not None and _has_input(frame[1]) != _has_input(frame[0]):
        yield _terminal(name, FRAME, part, frame[1], frame[0])


def _of_attached_parts(part: cosim.Component | None, name: str, shown: Shown) -> list[FmuArray]:
    """The shown variables of the parts to which a part is attached, such as a coordinate, except bodies."""
    bodies = {place.body for place in places_of(part)}
    used = [] if part is None else attached_to(part)
    return [array for other in used if other not in (name, *bodies) for array in shown.get(other, ())]


def _has_input(members: list[tuple[str, FmuArray]]) -> bool:
    """Whether one of the members is an input of the FMU."""
    return any(array.elements[0].causality == "input" for _, array in members)


def _terminal(
    name: str,
    kind: str,
    part: cosim.Component | None,
    forces: list[tuple[str, FmuArray]],
    moving: list[tuple[str, FmuArray]],
) -> Element:
    attributes = {"name": name, "matchingRule": "bus", "terminalKind": kind}
    about = (type(part).__doc__ or "").strip().partition("\n")[0]
    if about:
        attributes["description"] = plain_text(about)
    terminal = Element("Terminal", attributes)
    for members, variable_kind in ((moving, "signal"), (forces, "inflow")):
        for member, array in members:
            names = {"variableName": array.name, "memberName": member, "variableKind": variable_kind}
            SubElement(terminal, "TerminalMemberVariable", names)
    return terminal


def _members(arrays: Sequence[FmuArray], by_unit: Mapping[str, str]) -> Iterator[tuple[str, FmuArray]]:
    for array in arrays:
        member = by_unit.get(array.elements[0].unit)
        if member is not None:
            yield member, array
