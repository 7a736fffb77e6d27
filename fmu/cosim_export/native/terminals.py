"""Flanges: which variables of an FMU are force and motion of one place, as terminals of FMI 3.0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement

import cosim
from cosim_export.interface.diagram import attached_to
from cosim_export.interface.fmu_interface import FmuInterface
from cosim_export.interface.model_description import as_text, plain_text
from cosim_export.native.body_flanges import frame_members, motion_along, places_of
from cosim_export.native.fmu_array import FmuArray, variables_of

PLACE = "terminalsAndIcons/terminalsAndIcons.xml"
ICON = "terminalsAndIcons/icon.png"
KINDS = {
    "_cosim_translational_flange": ({"N": "f"}, {"m": "s", "m/s": "v", "m/s2": "a"}),
    "_cosim_rotational_flange": ({"N.m": "tau"}, {"rad": "phi", "rad/s": "w", "rad/s2": "a"}),
}
"""By kind of flange: names of its efforts and of its motion, by unit; s, f, phi and tau are Modelica's."""
FRAME = "_cosim_frame"


def terminals(system: cosim.System, interface: FmuInterface) -> bytes:
    """The text of ``terminalsAndIcons.xml``: where the icon lies, and the flanges.

    A flange belongs to a part that has a force or torque among the inputs or outputs of the FMU. Its motion
    is what the FMU shows, as an input or output, of the part itself, of the coordinate to which it is
    attached, or of the very place on a body at which it pushes. One of force and motion is an input: else
    nothing can be coupled there. Where two members would have one name, as the forces of two axes, there is
    no flange. Three forces or torques at the origin of a body are a frame.

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
    root = Element("fmiTerminalsAndIcons", {"fmiVersion": "3.0"})
    listed = Element("Terminals")
    for name, arrays in shown.items():
        part = system.parts.get(name)
        bodies = {place.body for place in places_of(part)}
        used = [] if part is None else attached_to(part)
        others = [other for other in used if other not in (name, *bodies)]
        near = [array for other in others for array in shown.get(other, [])]
        near += motion_along(system, part, shown)
        for kind, (efforts, motions) in KINDS.items():
            forces, moving = list(_members(arrays, efforts)), list(_members([*arrays, *near], motions))
            names = [member for member, _ in (*forces, *moving)]
            is_port = _is_fed(forces) != _is_fed(moving)
            if forces and moving and is_port and len(set(names)) == len(names):
                listed.append(_terminal(name, kind, part, forces, moving))
        frame = frame_members(system, part, shown)
        if frame is not None and _is_fed(frame[1]) != _is_fed(frame[0]):
            listed.append(_terminal(name, FRAME, part, frame[1], frame[0]))
    shapes = SubElement(root, "GraphicalRepresentation")
    corners = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}
    SubElement(shapes, "CoordinateSystem", {**corners, "suggestedScalingFactorTo_mm": "0.1"})
    SubElement(shapes, "Icon", corners)
    if len(listed):
        root.append(listed)
    return as_text(root)


def _is_fed(members: list[tuple[str, FmuArray]]) -> bool:
    """Whether one of them is set from outside."""
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


def _members(arrays: list[FmuArray], by_unit: Mapping[str, str]) -> Iterator[tuple[str, FmuArray]]:
    for array in arrays:
        member = by_unit.get(array.elements[0].unit)
        if member is not None:
            yield member, array
