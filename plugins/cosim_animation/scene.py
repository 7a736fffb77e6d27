"""The content of an animation's page as JSON data: bodies, shapes, motion, elements, signals and events.

The script of ``templates/animation.html`` reads it. Columns of numbers are packed as base64 text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_animation.default_shapes import default_shapes, shape
from cosim_animation.mechanism import Mechanism, name_of
from cosim_animation.meshes import Mesh, read_mesh
from cosim_animation.motion import (
    at_times,
    body_poses,
    frame_rows,
    quaternions,
)
from cosim_animation.packed_numbers import packed, packed_integers

MOST_SIGNALS = 12
"""Signals that are plotted if none are chosen."""
MOST_POINTS = 2000
"""Points of a plotted signal, about: a result with more rows is thinned."""
MOST_EVENTS = 400
"""Events that are marked, about: of more, every second, third … one is."""
ROTATION, POSITION = slice(0, 9), slice(9, 12)
"""The parts of a pose: a rotation matrix by rows, and a position."""
MOMENT, FORCE = slice(0, 3), slice(3, 6)
"""The parts of a wrench, such as `F_GM`."""


def scene_of(
    model: cosim.Model,
    result: cosim.Result,
    signals: Sequence[str] = (),
    compared: cosim.Result | None = None,
) -> dict[str, Any]:
    """The page's data of a run of a model.

    Parameters
    ----------
    model : Model
    result : Result
        Of a run of that model, with the coordinates of its joints or the poses of its bodies.
    signals : sequence of str
        Names and patterns of the signals to plot; unless given, the first ones that change.
    compared : Result, optional
        The result of another run, which is drawn pale in the same picture.

    Raises
    ------
    CosimError
        A model without bodies; a result without rows, or that does not say where the bodies are.
    """
    mechanism = Mechanism.of(model)
    if not result.time.size:
        raise cosim.CosimError("the result has no rows: there is nothing to animate; run the model first")
    rows = frame_rows(result.time)
    poses = body_poses(mechanism, result, rows)
    body_numbers = {name: number for number, name in enumerate(mechanism.bodies)}
    shapes, meshes = shapes_of(mechanism)
    panels = _panels(mechanism, result, signals)
    scene: dict[str, Any] = {
        "title": model.name,
        "up": [float(x) for x in mechanism.up],
        "time": packed(result.time[rows] - result.time[0]),
        "start": float(result.time[0]),
        "bodies": [{"name": name, "shapes": shapes.get(name, [])} for name in mechanism.bodies],
        "positions": packed(poses[:, :, POSITION]),
        "turns": packed(quaternions(poses[:, :, ROTATION])),
        "meshes": [_mesh(mesh) for mesh in meshes],
        "joints": [_joint(mechanism, name, body_numbers) for name in mechanism.joints],
        "links": [_link(mechanism, name, body_numbers, result, rows) for name in mechanism.links],
        "contacts": [_contact(name, result, rows) for name in mechanism.contacts],
        "panels": panels,
        "events": _events(result),
    }
    if compared is not None:
        scene |= _second_run(mechanism, result, compared, rows)
        _add_lines(panels, result, compared)
    return scene


def shapes_of(mechanism: Mechanism) -> tuple[dict[str, list[dict[str, Any]]], list[Mesh]]:
    """The shapes of each body, and the surfaces from files, which shapes name by their number here.

    Raises
    ------
    CosimError
        The file of a look cannot be read.
    """
    shapes = default_shapes(mechanism)
    numbers: dict[Path, int] = {}
    meshes: list[Mesh] = []
    for look in mechanism.looks:
        drawn = shape(look.shape, look.sizes(), look.frame, look.color)
        if look.shape == "mesh":
            path = Path(str(look.file))  # type: ignore[attr-defined]
            if path not in numbers:
                numbers[path] = len(meshes)
                meshes.append(read_mesh(path, look.name))
            drawn["mesh"] = numbers[path]
        shapes.setdefault(name_of(look.body), []).append(drawn)
    return shapes, meshes


def _mesh(mesh: Mesh) -> dict[str, str]:
    """The coordinates of a surface's points, and for each triangle the numbers of three points."""
    return {"points": packed(mesh.points), "triangles": packed_integers(mesh.triangles)}


def _second_run(
    mechanism: Mechanism, result: cosim.Result, compared: cosim.Result, rows: NDArray[np.int64]
) -> dict[str, Any]:
    """The motion of bodies in the `compared` run, interpolated at the times that are shown of the first one.

    Raises
    ------
    CosimError
        The compared result has no rows, or does not say where the bodies are.
    """
    if not compared.time.size:
        raise cosim.CosimError("the result to compare with has no rows: run its model first")
    compared_rows = frame_rows(compared.time)
    poses = body_poses(mechanism, compared, compared_rows)
    compared_time, shown_time = compared.time[compared_rows], result.time[rows]
    positions = at_times(shown_time, compared_time, poses[:, :, POSITION])
    turns = at_times(shown_time, compared_time, quaternions(poses[:, :, ROTATION]))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)  # between two unit quaternions they are shorter
    return {"positions2": packed(positions), "turns2": packed(turns)}


def _add_lines(panels: list[dict[str, Any]], result: cosim.Result, compared: cosim.Result) -> None:
    """Add to each plotted signal its values in the `compared` run, at the same times."""
    plotted = _plotted_rows(result)
    numbers = compared.numbers()
    for panel in panels:
        for line in panel["lines"]:
            if line["name"] in numbers:
                values = np.asarray(numbers[line["name"]], dtype=float)
                line["second"] = packed(np.interp(result.time[plotted], compared.time, values))


def _contact(name: str, result: cosim.Result, rows: NDArray[np.int64]) -> dict[str, Any]:
    """A contact with its points and forces, if the result has them; while nothing touches the force is 0."""
    contact: dict[str, Any] = {"name": name}
    needed = [f"{name}.{signal}" for signal in ("point", "normal", "normal_force")]
    if all(path in result for path in needed):
        points, normals, sizes = (np.asarray(result[path], dtype=float)[rows] for path in needed)
        forces = sizes[:, None] * normals
        if f"{name}.friction" in result:
            forces = forces + np.asarray(result[f"{name}.friction"], dtype=float)[rows]
        contact["points"] = packed(points)
        contact["force"] = packed(np.where(sizes[:, None] > 0.0, forces, 0.0))
    return contact


def _joint(mechanism: Mechanism, name: str, body_numbers: Mapping[str, int]) -> dict[str, Any]:
    """A joint: its child, its pose on that, and the axes about which it turns."""
    joint: Any = mechanism.model[name]
    return {
        "name": name,
        "body": body_numbers[name_of(joint.child)],
        "pose": [float(x) for x in joint.frame_on_child],
        "turns": [int(axis) for axis in getattr(type(joint), "axes", None) or ()],
    }


def _link(
    mechanism: Mechanism,
    name: str,
    body_numbers: Mapping[str, int],
    result: cosim.Result,
    rows: NDArray[np.int64],
) -> dict[str, Any]:
    """An element between two points, with its tension or its wrench if the result has them."""
    ends = mechanism.ends(name)
    link: dict[str, Any] = {
        "name": name,
        "kind": _link_kind(mechanism.model[name]),
        "bodies": [body_numbers[body] for body, _ in ends],
        "points": [[float(x) for x in pose[POSITION]] for _, pose in ends],
    }
    if f"{name}.tension" in result:
        link["tension"] = packed(np.asarray(result[f"{name}.tension"], dtype=float)[rows])
    if f"{name}.F_GM" in result:
        wrenches = np.asarray(result[f"{name}.F_GM"], dtype=float)[rows]
        link["force"], link["moment"] = packed(wrenches[:, FORCE]), packed(wrenches[:, MOMENT])
    return link


def _link_kind(part: cosim.Component) -> str:
    """How an element is drawn, as its parameters show: "bushing", "spring", "damper" or "line"."""
    names = type(part).declarations.keys()
    if "frame_on_body1" in names:
        return "bushing"
    if not names & {"stiffness", "damping", "forces"}:
        return "line"
    return "spring" if "stiffness" in names else "damper"


def _panels(mechanism: Mechanism, result: cosim.Result, signals: Sequence[str]) -> list[dict[str, Any]]:
    """One panel for each unit, with the plotted signals of that unit."""
    plotted = _plotted_rows(result)
    chosen = _finite_columns(result, signals) if signals else _signals_that_change(mechanism, result)
    lines_by_unit: dict[str, list[dict[str, Any]]] = {}
    for name, values in chosen.items():
        line = {"name": name, "values": packed(values[plotted])}
        lines_by_unit.setdefault(result.unit(name), []).append(line)
    times = packed(result.time[plotted] - result.time[0])
    return [{"unit": unit, "time": times, "lines": lines} for unit, lines in lines_by_unit.items()]


def _plotted_rows(result: cosim.Result) -> slice:
    """The rows of a result at which signals are plotted."""
    return slice(None, None, max(1, result.time.size // MOST_POINTS))


def _finite_columns(result: cosim.Result, signals: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """The columns of signals, by names and patterns; without those that are not finite throughout."""
    columns = result.select(signals).numbers()
    return {name: values for name, values in columns.items() if np.isfinite(values).all()}


def _signals_that_change(mechanism: Mechanism, result: cosim.Result) -> dict[str, NDArray[np.float64]]:
    """The first columns that change, each once: arrows and the motion of bodies show forces and poses."""
    hidden = {*mechanism.forces(), *(f"{name}.X_GB" for name in mechanism.bodies)}
    columns = _finite_columns(result, [name for name in result.names if name not in hidden])
    first_names: dict[tuple[str, bytes], str] = {}  # a signal may be recorded under several names
    for name, values in columns.items():
        if np.ptp(values) > 0.0:
            first_names.setdefault((result.unit(name), values.tobytes()), name)
    return {name: columns[name] for name in list(first_names.values())[:MOST_SIGNALS]}


def _events(result: cosim.Result) -> list[dict[str, Any]]:
    """The events that are marked on the time line."""
    events = []
    for event in result.events:  # a result from a file may have events of another form
        time, name = getattr(event, "time", None), getattr(event, "handler", "")
        if isinstance(time, (int, float)):
            events.append({"time": float(time) - float(result.time[0]), "name": str(name)})
    return events[:: max(1, len(events) // MOST_EVENTS)]
