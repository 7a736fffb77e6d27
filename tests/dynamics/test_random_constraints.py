"""Random trees with random constraints of all kinds: against numpy, between solvers, in a moved scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_constraints import bodies_of, check, constrained, make
from random_trees import SOLVERS, random_tree, rotation

import cosim
import cosim_mechanics

FEW, MANY = range(12), range(12, 1012)
"""Seeds of the short run and of the thorough one."""


def moved(values: dict[str, Any], R: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """Return the values of a constraint in a moved scene: only what is fixed on Ground changes."""
    moved_values = dict(values)
    for i in (1, 2):
        if values.get(f"body{i}") != "ground":
            continue
        for name in {1: ("normal", "axis1"), 2: ("axis2",)}[i]:
            if name in values:
                moved_values[name] = R @ np.array(values[name])
        if f"point{i}" in values:
            moved_values[f"point{i}"] = p + R @ np.array(values[f"point{i}"])
        if f"frame{i}" in values:
            moved_values[f"frame{i}"] = moved_frame(values[f"frame{i}"], R, p)
        axis_body = 2 if "radius" in values else 1  # the axis of a disc is on body2, that of a line on body1
        if "axis" in values and axis_body == i:
            moved_values["axis"] = R @ np.array(values["axis"])
    return moved_values


def moved_frame(X: Any, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return a pose on Ground, moved by a rotation and a translation."""
    X = np.array(X, dtype=float)
    return np.r_[(R @ X[:9].reshape(3, 3)).ravel(), p + R @ X[9:]]


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", FEW)
def test_a_few_random_constraints(seed: int) -> None:
    check(seed, 8)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", MANY)
def test_many_random_constraints(seed: int) -> None:
    check(seed, 20)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", FEW[:6])
def test_all_solvers_agree(seed: int) -> None:
    answers = []
    for solver in SOLVERS:
        case = make(seed, 12, solver)
        if case is None:
            return
        state = case.state
        multipliers = [np.atleast_1d(state[f"c{i}.multipliers"]) for i in range(len(case.constraints))]
        accelerations = [state[f"{n}.A_GB"] for n in state.system.parts if n.startswith("b")]
        answers.append([state.y_dot.copy(), np.concatenate(multipliers), np.concatenate(accelerations)])
    for answer in answers[1:]:
        for expected, actual in zip(answers[0], answer, strict=True):
            assert np.abs(actual - expected).max() <= 1e-10 * (1.0 + np.abs(expected).max()), case.constraints


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", FEW[:6])
def test_a_rigid_motion_of_the_whole_scene_keeps_the_motion(seed: int) -> None:
    case = make(seed, 8)
    if case is None:
        return
    state = case.state
    rng = np.random.default_rng(seed + 1000)
    R, p = rotation(rng), rng.normal(size=3)
    moved_model = random_tree(np.random.default_rng(seed), "dynamics.sval", 8)
    gravity = moved_model.parts["gravity"].values.numbers["gravity"]
    gravity[:] = R @ gravity
    for part in moved_model.parts.values():
        if isinstance(part, cosim_mechanics.Joint) and part.values.attachments["parent"] == "ground":
            frame = part.values.numbers["frame_on_parent"]
            frame[:] = moved_frame(frame, R, p)
    system, _ = constrained(
        moved_model, state, [(kind, moved(values, R, p)) for kind, values in case.constraints]
    )
    moved_state = system.default_state()
    moved_state.set_y(state.y)
    moved_state.realize(cosim.Stage.ACCELERATION)
    scale = np.abs(state.y_dot).max()
    assert np.abs(moved_state.y_dot - state.y_dot).max() <= 1e-7 * scale
    for name in bodies_of(state):
        if name != "ground":
            assert np.allclose(
                moved_state[f"{name}.X_GB"], moved_frame(state[f"{name}.X_GB"], R, p), atol=1e-12
            )
