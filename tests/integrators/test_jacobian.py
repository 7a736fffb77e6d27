"""Jacobians of implicit methods: structure, colours of columns, exact values, differences."""

import math

import numpy as np
import pytest
from stiff_models import chain

import cosim
from cosim import kit
from cosim.kit import rows_of
from cosim_integrators.implicit.implicit_method import PATTERN_HEADER, Pattern
from cosim_integrators.implicit.pattern import jacobian_pattern
from cosim_integrators.radau5 import Radau5
from cosim_mechanics import Multibody


def jacobian_of(system: cosim.System, state: cosim.State) -> tuple[np.ndarray, Radau5]:
    """Return the Jacobian that `radau5` computes in its first step, and the integrator."""
    state = state.copy().realize(cosim.Stage.ACCELERATION)
    integrator = Radau5(initial_step=1e-6)
    integrator.initialize(system, state)
    assert integrator.step(system, state, 1.0) is kit.StepCode.DONE
    starts, rows = system.derivative_structure()
    entries = state.integrator_memory[-rows.size :]
    jacobian = np.zeros((system.ny, system.ny))
    for j in range(system.ny):
        jacobian[rows[starts[j] : starts[j + 1]], j] = entries[starts[j] : starts[j + 1]]
    return jacobian, integrator


class Tank(cosim.Component):
    """A leaking tank. Law: level' = 1 - sqrt(level)."""

    level = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(level, level_dot):
        level_dot[0] = 1.0 - math.sqrt(max(level, 0.0))


def mechanism() -> cosim.System:
    model = Multibody("mechanism")
    arm = model.body("arm", mass=1.0, center_of_mass=(0, 0, -0.5), inertia=(0.1, 0.1, 0.02))
    model.joint("pin", child=arm)
    block = model.body("block", mass=2.0, inertia=(0.1, 0.2, 0.3))
    model.joint("free", child=block)
    values = {"stiffness": [10.0] * 3 + [100.0] * 3, "damping": [1.0] * 6}
    model.add("mechanics.linear_bushing", "mount", body1=arm, body2=block, **values)
    return model.build()


def dense_differences(system: cosim.System, state: cosim.State) -> np.ndarray:
    """Return the Jacobian by central differences, column by column."""
    y, columns = state.y.copy(), []
    for j in range(system.ny):
        ends = []
        for sign in (1.0, -1.0):
            moved_state = state.copy()
            moved_y = y.copy()
            moved_y[j] += sign * 1e-6
            moved_state.set_y(moved_y)
            ends.append(moved_state.realize(cosim.Stage.ACCELERATION).y_dot.copy())
        columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns).T


def moving_state(system: cosim.System) -> cosim.State:
    """Return a State away from the default one, in motion."""
    state = system.default_state()
    state.set_y(state.y + 0.1 * np.cos(np.arange(system.ny)))
    return state.realize(cosim.Stage.ACCELERATION)


class PlainTank(cosim.Component):
    """A leaking tank in plain Python. Law: level' = 1 - 2 level."""

    level = cosim.auxiliary_state(start=0.5)

    @cosim.kernel
    def derivatives(self, level, level_dot):
        level_dot[0] = 1.0 - 2.0 * level


@pytest.mark.parametrize("make", [lambda: chain(6), mechanism])
def test_the_structure_contains_all_entries_that_are_not_zero(make) -> None:
    system = make()
    state = moving_state(system)
    differences = dense_differences(system, state)
    starts, rows = system.derivative_structure()
    is_in_structure = np.zeros((system.ny, system.ny), dtype=bool)
    for j in range(system.ny):
        is_in_structure[rows[starts[j] : starts[j + 1]], j] = True
    assert not differences[~is_in_structure].any()


@pytest.mark.parametrize("make", [lambda: chain(6), mechanism])
def test_a_jacobian_is_close_to_central_differences(make) -> None:
    system = make()
    state = moving_state(system)
    expected = dense_differences(system, state)
    jacobian, _ = jacobian_of(system, state)
    assert np.abs(jacobian - expected).max() < 1e-5 * np.abs(expected).max()


def test_a_jacobian_has_the_values_of_its_formulas() -> None:
    system = chain(3)
    state = moving_state(system)
    jacobian, integrator = jacobian_of(system, state)
    assert integrator.differences == []
    y = np.array(state.y)
    expected = np.zeros((9, 9))
    for i in range(3):
        x, before = y[i], y[i - 1] if i else 0.0
        expected[i, 3 + i] = 1.0
        expected[3 + i, i] = -100.0 * (1.0 + x * x) - 200.0 * x * (x - before)
        if i:
            expected[3 + i, i - 1] = 100.0 * (1.0 + x * x)
        expected[3 + i, 3 + i] = -1.0
        expected[6 + i, 3 + i] = np.sign(y[3 + i])
    assert jacobian == pytest.approx(expected, rel=1e-14, abs=1e-13)


def test_a_difference_replaces_an_infinite_derivative() -> None:
    """The slope of a square root at 0 is infinite."""
    model = cosim.Model("m")
    model.add(Tank, "tank")
    system = model.build()
    jacobian, integrator = jacobian_of(system, system.default_state())
    assert integrator.differences == [] and -1e9 < jacobian[0, 0] < -1.0


def test_laws_in_plain_python_are_differentiated_by_differences() -> None:
    model = cosim.Model("m")
    model.add(PlainTank, "tank")
    system = model.build()
    jacobian, integrator = jacobian_of(system, system.default_state())
    assert jacobian == pytest.approx(np.array([[-2.0]]), rel=1e-6)
    assert "plain Python" in integrator.differences[0]


def test_a_chain_needs_few_evaluations_for_its_jacobian() -> None:
    pattern = jacobian_pattern(chain(30))
    shape = rows_of(Pattern, pattern, 0, 1)[0]
    assert shape.size == 90
    assert shape.colours <= 4
    colours = pattern[PATTERN_HEADER : PATTERN_HEADER + 90]
    assert (colours[60:] == -1).all()  # nothing depends on the states of the sensors


def test_columns_of_one_colour_share_no_row() -> None:
    pattern = jacobian_pattern(mechanism())
    shape = rows_of(Pattern, pattern, 0, 1)[0]
    n = shape.size
    starts, rows = mechanism().derivative_structure()
    for colour in range(shape.colours):
        columns = np.flatnonzero(pattern[PATTERN_HEADER : PATTERN_HEADER + n] == colour)
        together = np.concatenate([rows[starts[j] : starts[j + 1]] for j in columns])
        assert together.size == np.unique(together).size > 0
