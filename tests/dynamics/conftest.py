"""Fixtures: systems of the reference files, and chains of hinges."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_joints import AUTHOR_JOINTS

import cosim
import cosim_mechanics
from cosim_dynamics import sval_solver
from cosim_mechanics import Multibody

DATA = Path(__file__).parents[1] / "data"


class Load(cosim.Component):
    """A constant force and moment on a body, about its origin, in Ground."""

    body = cosim_mechanics.body()
    wrench = cosim.parameter(shape=6, default=(0.0,) * 6)

    @cosim.kernel
    def push(wrench, F_GB):
        for i in range(6):
            F_GB[i] += wrench[i]


class Motor(cosim.Component):
    """A constant generalized force on a speed."""

    coordinate = cosim_mechanics.coordinate()
    effort = cosim.parameter(default=0.0)

    @cosim.kernel
    def drive(effort, tau):
        tau[0] += effort


def pose(data: dict[str, Any]) -> list[float]:
    """Return a pose of the files as twelve numbers."""
    return [*(x for row in data["R"] for x in row), *data["p"]]


def model_of(reference: dict[str, Any], joints: dict[str, type[cosim_mechanics.Joint]]) -> Multibody:
    """Return a model of the reference file: body ``b0`` on joint ``j0``, and so on.

    `joints` replace the framework's classes, by the names of the file.
    """
    model = Multibody(reference["name"], gravity=reference["gravity"])
    for entry in reference["bodies"]:
        i, body = entry["index"], entry["body"]
        model.body(f"b{i}", mass=body["mass"], center_of_mass=body["com"], inertia=body["inertia_com"])
        values: dict[str, Any] = {
            "parent": "ground" if entry["parent"] < 0 else f"b{entry['parent']}",
            "child": f"b{i}",
            "frame_on_parent": pose(entry["X_PF"]),
            "frame_on_child": pose(entry["X_BM"]),
        }
        if "pitch" in entry:
            values["pitch"] = entry["pitch"]
        model.add(joints.get(entry["joint"], f"mechanics.{entry['joint']}"), f"j{i}", **values)
        model.add(Load, f"load{i}", body=f"b{i}")
        for k in range(entry["nu"]):
            model.add(Motor, f"motor{i}_{k}", coordinate=f"j{i}[{k}]")
    return model


def put_state(reference: dict[str, Any], values: dict[str, Any], state: cosim.State) -> None:
    """Write the q, u and applied forces of a case into a State."""
    for entry in reference["bodies"]:
        i = entry["index"]
        if "applied_tau" in values:
            state[f"load{i}.wrench"] = values["applied_body_wrench"][i]
            for k in range(entry["nu"]):
                state[f"motor{i}_{k}.effort"] = values["applied_tau"][entry["u_start"] + k]
        for name, length in (("q", entry["nq"]), ("u", entry["nu"])):
            if length:
                start = entry[f"{name}_start"]
                state[f"j{i}.{name}"] = values[name][start : start + length]


@pytest.fixture(scope="session")
def reference_models() -> dict[str, dict[str, Any]]:
    """Return the models of chain.json by name."""
    return {m["name"]: m for m in json.loads((DATA / "chain.json").read_text())["models"]}


@pytest.fixture(scope="session", params=["matrix", "recursion"])
def build_reference(
    request: pytest.FixtureRequest, reference_models: dict[str, dict[str, Any]]
) -> Callable[[str], tuple[dict[str, Any], cosim.System]]:
    """Return a function from a name to the reference model and its system, built once.

    With "matrix" the joints are those of an author outside and the mass matrix is factorized, with
    "recursion" they are those of the framework and the recursion over articulated bodies is used.
    """
    systems: dict[str, cosim.System] = {}

    def build(name: str) -> tuple[dict[str, Any], cosim.System]:
        if name not in systems:
            model = model_of(reference_models[name], AUTHOR_JOINTS if request.param == "matrix" else {})
            if request.param == "recursion":
                model.settings["dynamics"] = "dynamics.articulated_body"
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sval_solver, "DEEP", 1000)  # no chain is so long that the solver is changed
                systems[name] = model.build()
        return reference_models[name], systems[name]

    return build


@pytest.fixture
def put_case() -> Callable[[dict[str, Any], dict[str, Any], cosim.State], None]:
    """Return the function that writes a case of a reference model into a State."""
    return put_state


@pytest.fixture
def pin_chain() -> Callable[[int], cosim.System]:
    """Return a function from a number of links to the chain of chain_drake.json.

    Its links are identical and hang on hinges about y, straight down at q = 0.
    """

    def build(links: int) -> cosim.System:
        model = Multibody("chain")
        about_y = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
        for i in range(links):
            inertia = (1.0025 / 12, 1.0025 / 12, 0.005 / 12)
            model.body(f"b{i}", mass=1.0, center_of_mass=(0.0, 0.0, -0.5), inertia=inertia)
            frame = [*about_y.ravel(), 0.0, 0.0, 0.0 if i == 0 else -1.0]
            model.joint(
                "pin",
                name=f"j{i}",
                child=f"b{i}",
                parent="ground" if i == 0 else f"b{i - 1}",
                frame_on_parent=frame,
                frame_on_child=[*about_y.ravel(), 0.0, 0.0, 0.0],
            )
        return model.build()

    return build
