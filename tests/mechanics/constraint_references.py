"""Models of tests/data/constraint.json, built from the framework's own joints and constraints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from cosim_mechanics import Multibody

DATA = Path(__file__).parents[1] / "data"
REFERENCES = {m["name"]: m for m in json.loads((DATA / "constraint.json").read_text())["models"]}


def pose(X):
    """Return a pose of the file as twelve numbers."""
    return [*np.ravel(X["R"]), *X["p"]]


def body_name(index):
    """Return the name of a body by its number; Ground has -1."""
    return "ground" if index < 0 else f"b{index}"


def model_of(reference, **settings):
    """Return the model of a reference, with the constraints named c0 …"""
    model = Multibody(reference["name"], gravity=reference["gravity"], **settings)
    for entry in reference["bodies"]:
        body, I = entry["body"], np.array(entry["body"]["inertia_com"])
        inertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        model.body(f"b{entry['index']}", mass=body["mass"], center_of_mass=body["com"], inertia=inertia)
    for entry in reference["bodies"]:
        model.joint(
            entry["joint"],
            child=f"b{entry['index']}",
            parent=body_name(entry["parent"]),
            frame_on_parent=pose(entry["X_PF"]),
            frame_on_child=pose(entry["X_BM"]),
        )
    for i, entry in enumerate(reference["constraints"]):
        values = dict(entry)
        kind = values.pop("type")
        if kind == "point_on_line":
            model.add(
                "mechanics.point_on_line",
                f"c{i}",
                body1=body_name(entry["line_body"]),
                body2=body_name(entry["follower_body"]),
                axis=entry["direction"],
                point1=entry["point_on_line"],
                point2=entry["follower_point"],
            )
        else:
            bodies = {b: body_name(values.pop(b)) for b in ("body1", "body2")}
            model.add(f"mechanics.{kind}_constraint", f"c{i}", **bodies, **values)
    return model


def put(reference, case, system, state):
    """Write q and u of a reference (in the order of its bodies) into a State."""
    for entry in reference["bodies"]:
        name = f"b{entry['index']}_joint"
        q, u = entry["q_start"], entry["u_start"]
        if entry["nu"]:
            state[f"{name}.q"] = case["q"][q : q + entry["nq"]]
            state[f"{name}.u"] = case["u"][u : u + entry["nu"]]
