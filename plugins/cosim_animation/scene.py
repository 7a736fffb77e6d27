"""The content of the page, as data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim_animation.default_shapes import default_shapes, shape
from cosim_animation.mechanism import Mechanism, name_of
from cosim_animation.meshes import Mesh, read_mesh
from cosim_animation.motion import (
    at_times,
    body_poses,
    frame_rows,
    packed,
    packed_integers,
    quaternions,
)

MOST_SIGNALS = 12
MOST_POINTS = 2000
MOST_EVENTS = 400


def scene_of(
    model: cosim.Model,
    result: cosim.Result,
    signals: Sequence[str] = (),
    compared: cosim.Result | None = None,
) -> dict[str, Any]:
    """Bodies, their shapes and motion, elements, signals and events of a run.

    Parameters
    ----------
    model : Model
    result : Result
        Of a run of that model, with the coordinates of its joints or the poses of its bodies.
    signals : sequence of str
        Names and patterns of what is plotted beside; the first ones unless given.
    compared : Result, optional
        Of another run, which is drawn pale in the same picture.

    Raises
    ------
    CosimError
        A model without bodies; a result that does not say where they are.
    """
    mechanism = Mechanism.of(model)
    if not result.time.size:
        raise cosim.CosimError("the result has no rows: there is nothing to animate")
    rows = frame_rows(result.time)
    poses = body_poses(mechanism, result, rows)
    places = {name: number for number, name in enumerate(mechanism.bodies)}
    shapes, meshes = shapes_of(mechanism)
    panels = _panels(mechanism, result, signals)
    scene: dict[str, Any] = {
        "title": model.name,
        "up": [float(x) for x in mechanism.up],
        "time": packed(result.time[rows] - result.time[0]),
        "start": float(result.time[0]),
        "bodies": [{"name": name, "shapes": shapes.get(name, [])} for name in mechanism.bodies],
        "positions": packed(poses[:, :, 9:]),
        "turns": packed(quaternions(poses[:, :, :9])),
        "meshes": [_mesh(mesh) for mesh in meshes],
        "joints": [_joint(mechanism, name, places) for name in mechanism.joints],
        "links": [_link(mechanism, name, places, result, rows) for name in mechanism.links],
        "contacts": [_contact(mechanism, name, result, rows) for name in mechanism.contacts],
        "panels": panels,
        "events": _events(result),
    }
    if compared is not None:
        scene |= _second_run(mechanism, result, compared, rows)
        _add_lines(panels, result, compared)
    return scene


def shapes_of(mechanism: Mechanism) -> tuple[dict[str, list[dict[str, Any]]], list[Mesh]]:
    """Shapes by body, and the surfaces from files that they name by number.

    Raises
    ------
    CosimError
        A file of a look that cannot be read.
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
    """Corners of triangles, three numbers each, and numbers of corners."""
    return {"points": packed(mesh.points), "triangles": packed_integers(mesh.triangles)}


def _second_run(
    mechanism: Mechanism, result: cosim.Result, compared: cosim.Result, rows: Any
) -> dict[str, Any]:
    """Where bodies are in another run at the times that are shown of the first one: lines between its rows.

    Raises
    ------
    CosimError
        A run without rows, or that does not say where bodies are.
    """
    if not compared.time.size:
        raise cosim.CosimError("the run to compare with has no rows")
    own = frame_rows(compared.time)
    poses = body_poses(mechanism, compared, own)
    shown = result.time[rows]
    positions = at_times(shown, compared.time[own], poses[:, :, 9:])
    turns = at_times(shown, compared.time[own], quaternions(poses[:, :, :9]))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return {"positions2": packed(positions), "turns2": packed(turns)}


def _add_lines(panels: list[dict[str, Any]], result: cosim.Result, compared: cosim.Result) -> None:
    """Put the other run's course of each plotted signal beside it, at the same times."""
    step = max(1, result.time.size // MOST_POINTS)
    numbers = compared.numbers()
    for panel in panels:
        for line in panel["lines"]:
            if line["name"] in numbers:
                values = np.asarray(numbers[line["name"]], dtype=float)
                line["second"] = packed(np.interp(result.time[::step], compared.time, values))


def _contact(mechanism: Mechanism, name: str, result: cosim.Result, rows: Any) -> dict[str, Any]:
    """Where a contact touches and how it pushes, where the result says it; of a time without, no force."""
    contact: dict[str, Any] = {"name": name}
    point, normal, push = (f"{name}.{x}" for x in ("point", "normal", "normal_force"))
    if all(path in result for path in (point, normal, push)):
        sizes = np.asarray(result[push], dtype=float)[rows]
        force = sizes[:, None] * np.asarray(result[normal], dtype=float)[rows]
        if f"{name}.friction" in result:
            force = force + np.asarray(result[f"{name}.friction"], dtype=float)[rows]
        contact["points"] = packed(np.asarray(result[point], dtype=float)[rows])
        contact["force"] = packed(np.where(sizes[:, None] > 0.0, force, 0.0))
    return contact


def _joint(mechanism: Mechanism, name: str, places: dict[str, int]) -> dict[str, Any]:
    joint: Any = mechanism.model[name]
    return {
        "name": name,
        "body": places[name_of(joint.child)],
        "pose": [float(x) for x in joint.frame_on_child],
        "turns": [int(axis) for axis in getattr(type(joint), "axes", None) or ()],
    }


def _link(
    mechanism: Mechanism, name: str, places: dict[str, int], result: cosim.Result, rows: Any
) -> dict[str, Any]:
    part, ends = mechanism.model[name], mechanism.ends(name)
    words = type(part).declarations
    kind = "bushing" if "frame_on_body1" in words else "damper" if "stiffness" not in words else "spring"
    if not {"stiffness", "damping", "forces"} & words.keys() and kind != "bushing":
        kind = "line"
    link: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "bodies": [places[body] for body, _ in ends],
        "points": [[float(x) for x in pose[9:]] for _, pose in ends],
    }
    if f"{name}.tension" in result:
        link["tension"] = packed(np.asarray(result[f"{name}.tension"], dtype=float)[rows])
    if f"{name}.F_GM" in result:
        wrench = np.asarray(result[f"{name}.F_GM"], dtype=float)[rows]
        link["force"], link["moment"] = packed(wrench[:, 3:]), packed(wrench[:, :3])
    return link


def _panels(mechanism: Mechanism, result: cosim.Result, signals: Sequence[str]) -> list[dict[str, Any]]:
    """Signals by their unit, one panel each."""
    if signals:
        chosen = result.select(signals)
    else:
        hidden = {*mechanism.forces(), *(f"{name}.X_GB" for name in mechanism.bodies)}
        chosen = result.select([name for name in result.names if name not in hidden])
    panels: dict[str, list[dict[str, Any]]] = {}
    step = max(1, result.time.size // MOST_POINTS)
    columns = {name: values for name, values in chosen.numbers().items() if np.isfinite(values).all()}
    if not signals:
        first = {(result.unit(name), values.tobytes()): name for name, values in reversed(columns.items())}
        columns = {name: columns[name] for name in columns if name in first.values()}  # one of two names
        columns = {name: values for name, values in columns.items() if np.ptp(values) > 0.0}
        columns = dict([*columns.items()][:MOST_SIGNALS])
    times = packed(result.time[::step] - result.time[0])
    for name, values in columns.items():
        unit = result.unit(name)
        panels.setdefault(unit, []).append({"name": name, "values": packed(values[::step])})
    return [{"unit": unit, "time": times, "lines": lines} for unit, lines in panels.items()]


def _events(result: cosim.Result) -> list[dict[str, Any]]:
    events = []
    for event in result.events:
        time, name = getattr(event, "time", None), getattr(event, "handler", "")
        if isinstance(time, (int, float)):
            events.append({"time": float(time) - float(result.time[0]), "name": str(name)})
    return events[:: max(1, len(events) // MOST_EVENTS)]
