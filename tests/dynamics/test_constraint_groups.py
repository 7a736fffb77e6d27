"""Equations of constraints fall into groups; large groups are eliminated along the tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from large_mechanisms import TIP, hang, ladder, pairs
from mechanism_tables import mechanism_of
from random_constraints import check

import cosim
from cosim_dynamics import constraint_groups
from cosim_dynamics.constraint_arrays import constraint_arrays
from cosim_dynamics.group_records import fronts_of, members_of
from cosim_mechanics import Multibody

MERSON = "integrators.runge_kutta_merson"


@pytest.fixture
def along_tree(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Eliminate all groups along the tree that allow it, small ones too."""
    monkeypatch.setattr(constraint_groups, "DENSE_MAY_TAKE", 0.0)
    yield


def groups_of(system: cosim.System) -> list[tuple[int, list[int]]]:
    """Return the number of equations and the degrees of freedom of each group."""
    mechanism = mechanism_of(system)
    return [(g.equations, [member.number for member in members_of(mechanism, g)]) for g in mechanism.groups]


def are_along_tree(state: cosim.State) -> list[bool]:
    """Return for each group whether the last evaluation eliminated it along the tree."""
    mechanism, c = mechanism_of(state.system), state.arrays["c"]
    return [bool(constraint_arrays(c, mechanism, g).state.is_along_tree) for g in mechanism.groups]


def evaluated(model: Multibody, seed: int | None = None) -> cosim.State:
    """Return the State of a model, with random speeds if there is a seed, realized to Acceleration."""
    system = model.build()
    state = system.default_state()
    if seed is not None:
        state.set_u(np.random.default_rng(seed).normal(scale=0.1, size=system.nu))
    return state.realize(cosim.Stage.ACCELERATION)


def multipliers(state: cosim.State) -> np.ndarray:
    """Return the multipliers of all constraints."""
    names = [name for name in state.system.parts if f"{name}.multipliers" in state.system.variables]
    return np.concatenate([np.atleast_1d(state[f"{name}.multipliers"]) for name in names])


def test_a_model_without_constraints_has_no_group() -> None:
    model = Multibody("pendulum")
    hang(model, "link", "ground", 0.0, 0.0)
    assert groups_of(model.build()) == []


@pytest.mark.parametrize("count", [1, 2, 5])
def test_loops_without_a_common_moving_body_are_separate_groups(count: int) -> None:
    system = pairs(count).build()
    assert groups_of(system) == [(1, [2 * i, 2 * i + 1]) for i in range(count)]
    assert (" groups" in str(system.dynamics)) == (count > 1)


def test_loops_on_a_common_moving_body_are_one_group() -> None:
    groups = []
    for joint in ("pin", "weld"):
        model = Multibody("trunk")
        model.body("trunk", mass=1.0, inertia=(1.0, 1.0, 1.0))
        model.joint(joint, name="base", child="trunk")
        for i in range(4):
            hang(model, f"link{i}", "trunk", float(i), 0.0)
        for i in (0, 2):
            ends = {"body1": f"link{i}", "body2": f"link{i + 1}", "point1": TIP, "point2": TIP}
            model.constraint("rod", f"rod{i}", length=1.0, **ends)
        groups.append(groups_of(model.build()))
    assert groups == [[(2, [0, 1, 2, 3, 4])], [(1, [0, 1]), (1, [2, 3])]]


def test_a_constraint_between_fixed_bodies_is_a_redundant_group() -> None:
    model = pairs(1)
    model.body("block", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("weld", name="foot", child="block")
    model.constraint("rod", "strut", body1="ground", body2="block", point1=(0, 1, 0), length=1.0)
    state = evaluated(model)
    assert groups_of(state.system) == [(1, [0, 1]), (1, [])]
    assert (bool(state["rod0.redundant"]), bool(state["strut.redundant"])) == (False, True)


def test_a_group_is_solved_as_if_it_were_alone() -> None:
    """The bytes are equal, although the other group has a redundant equation and errors of positions."""
    alone = evaluated(pairs(1), seed=1)
    model = pairs(2)
    ends = {"body1": "left1", "body2": "right1", "point1": TIP, "point2": TIP}
    model.constraint("rod", "copy", length=1.0, **ends)
    system = model.build()
    state = system.default_state()
    state.set_u([*alone.u, 0.3, -0.2])
    state.set_q([*alone.q, 0.31, 0.3])
    state.realize(cosim.Stage.ACCELERATION)
    assert state["copy.redundant"]
    assert state.y_dot[system.nq :][:2].tobytes() == alone.y_dot[alone.system.nq :][:2].tobytes()
    assert state["rod0.multipliers"].tobytes() == alone["rod0.multipliers"].tobytes()


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", range(9))
def test_random_constraints_along_the_tree(along_tree: None, seed: int) -> None:
    check(seed, 12)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(9, 400))
def test_many_random_constraints_along_the_tree(along_tree: None, seed: int) -> None:
    check(seed, 20)


@pytest.mark.parametrize("rod_height", [-0.5, -1.0])
def test_elimination_along_the_tree_gives_the_motion_of_dense_matrices(
    monkeypatch: pytest.MonkeyPatch, rod_height: float
) -> None:
    states = []
    for may_take in (np.inf, 0.0):
        monkeypatch.setattr(constraint_groups, "DENSE_MAY_TAKE", may_take)
        states.append(evaluated(ladder(12, rod_height=rod_height), seed=3))
    dense, along_tree = states
    assert (are_along_tree(dense), are_along_tree(along_tree)) == ([False], [True])
    assert np.abs(along_tree.y_dot - dense.y_dot).max() < 1e-11 * np.abs(dense.y_dot).max()
    assert (
        np.abs(multipliers(along_tree) - multipliers(dense)).max() < 1e-11 * np.abs(multipliers(dense)).max()
    )


@pytest.mark.thorough
def test_the_work_along_the_tree_grows_linearly_with_a_ladder() -> None:
    """Fronts are the matrices that are eliminated one after the other; their size stays the same."""
    largest, summed = [], []
    for rods in (36, 144):
        system = ladder(rods).build()
        assert "along the tree" in str(system.dynamics)
        mechanism = mechanism_of(system)
        sizes = [front.size for front in fronts_of(mechanism, mechanism.groups[0])]
        largest.append(max(sizes))
        summed.append(sum(n * n for n in sizes))
    assert largest[0] == largest[1] <= 14
    assert summed[1] < 4.1 * summed[0]


def test_small_groups_are_dense() -> None:
    assert "along" not in str(ladder(8).build().dynamics)


def test_rods_that_end_on_the_axes_of_pins_are_eliminated_further_up(along_tree: None) -> None:
    """The links below such a pin do not feel the rod."""
    model = ladder(6, rod_height=0.0, first_rod=1)
    state = evaluated(model)
    assert are_along_tree(state) == [True]


@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_second_rod_beside_another_is_redundant_if_it_is_enabled(
    along_tree: None, is_enabled: bool
) -> None:
    plain = evaluated(ladder(6), seed=4)
    model = ladder(6)
    ends = {"body1": "left3", "body2": "right3", "point1": (0.0, -0.5, 0.0), "point2": (0.0, -0.5, 0.0)}
    model.constraint("rod", "copy", length=1.0, enabled=is_enabled, **ends)
    state = evaluated(model, seed=4)
    assert are_along_tree(state) == [not is_enabled]
    assert (bool(state["rod3.redundant"]) or bool(state["copy.redundant"])) == is_enabled
    assert np.abs(state.y_dot - plain.y_dot).max() < 1e-10 * np.abs(plain.y_dot).max()
    total = state["rod3.multipliers"] + state["copy.multipliers"]
    assert total == pytest.approx(plain["rod3.multipliers"], rel=1e-9)


def test_a_singular_position_of_a_large_group_is_reported(along_tree: None) -> None:
    """A flat ladder: all links of each loop in one line."""
    flags = []
    for q in (0.0, np.pi / 2):
        state = evaluated(ladder(4, q=q, rod_height=-1.0))
        flags.append([bool(state[f"rod{i}.singular"] or state[f"rod{i}.redundant"]) for i in range(4)])
    assert not any(flags[0])
    assert any(flags[1])


def test_steps_along_the_tree_meet_equations_of_all_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    """One equation holds only accelerations, and one is not corrected after steps."""
    ends = []
    for may_take in (np.inf, 0.0):
        monkeypatch.setattr(constraint_groups, "DENSE_MAY_TAKE", may_take)
        model = ladder(5)
        model.constraint("constant_acceleration", "push", coordinate="pin_left4", acceleration=0.5)
        model.parts["rod2"].values.options["projected"] = False
        simulator = cosim.Simulator(model.build(), integrator=MERSON, accuracy=1e-8)
        simulator.initialize()
        simulator.advance_to(0.4)
        state = simulator.state
        state.realize(cosim.Stage.ACCELERATION)
        assert are_along_tree(state) == [may_take == 0.0]
        errors = [
            np.abs(state[f"rod{i}.{level}_error"]) for i in (0, 4) for level in ("position", "velocity")
        ]
        assert np.max(errors) < 1e-9
        ends.append(state.y.copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_a_resumed_run_of_a_ladder_has_the_same_bytes() -> None:
    system = ladder(40, q=0.2).build()
    simulator = cosim.Simulator(system, integrator=MERSON, accuracy=1e-6)
    simulator.initialize()
    simulator.advance_to(0.01)
    saved = simulator.state.to_bytes()
    simulator.advance_to(0.02)
    assert are_along_tree(simulator.state.realize(cosim.Stage.ACCELERATION)) == [True]
    resumed = cosim.Simulator(system, system.state_from_bytes(saved), integrator=MERSON, accuracy=1e-6)
    resumed.advance_to(0.02)
    assert resumed.state.to_bytes() == simulator.state.to_bytes()
