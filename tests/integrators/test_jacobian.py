"""Structure, colours and values of the Jacobian, and the dense linear algebra."""

import math

import numpy as np
import pytest
from scipy.linalg import lu

import cosim
from cosim import kit
from cosim.kit import rows_of
from cosim_integrators.implicit.complex_lu import factor_complex, solve_complex
from cosim_integrators.implicit.implicit_method import PATTERN_HEADER, Pattern
from cosim_integrators.implicit.pattern import jacobian_pattern
from cosim_integrators.kit import lu_factor, lu_solve
from cosim_integrators.kit.dense_lu import lu_solve_two
from cosim_integrators.radau5 import Radau5
from cosim_mechanics import Multibody


class Cell(cosim.Component):
    """A link of a chain: a spring to the cell before, and a sensor that nothing depends on."""

    position = cosim.position(unit="m", start=0.1)
    speed = cosim.speed(unit="m/s")
    distance = cosim.auxiliary_state(unit="m")
    before = cosim.input(unit="m")
    place = cosim.output(unit="m")

    @cosim.kernel
    def show(position, place):
        place[0] = position

    @cosim.kernel
    def derivatives(position, speed, before, position_dot, speed_dot, distance_dot):
        position_dot[0] = speed
        speed_dot[0] = -100.0 * (position - before) * (1.0 + position * position) - speed
        distance_dot[0] = abs(speed)


def chain(cells: int) -> cosim.System:
    model = cosim.Model("chain")
    for i in range(cells):
        model.add(Cell, f"cell{i}")
        if i:
            model.connect(f"cell{i - 1}.place", f"cell{i}.before")
    return model.build()


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
    """Column by column, by central differences."""
    y, columns = state.y.copy(), []
    for j in range(system.ny):
        ends = []
        for sign in (1.0, -1.0):
            other = state.copy()
            moved = y.copy()
            moved[j] += sign * 1e-6
            other.set_y(moved)
            ends.append(other.realize(cosim.Stage.ACCELERATION).y_dot.copy())
        columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns).T


def moving_state(system: cosim.System) -> cosim.State:
    state = system.default_state()
    state.set_y(state.y + 0.1 * np.cos(np.arange(system.ny)))
    return state.realize(cosim.Stage.ACCELERATION)


@pytest.mark.parametrize("make", [lambda: chain(6), mechanism])
def test_structure_holds_everything_that_is_not_zero(make) -> None:
    system = make()
    state = moving_state(system)
    found = dense_differences(system, state)
    starts, rows = system.derivative_structure()
    known = np.zeros((system.ny, system.ny), dtype=bool)
    for j in range(system.ny):
        known[rows[starts[j] : starts[j + 1]], j] = True
    assert not found[~known].any()


@pytest.mark.parametrize("make", [lambda: chain(6), mechanism])
def test_compiled_differences_with_colours_are_the_dense_ones(make) -> None:
    system = make()
    state = moving_state(system)
    expected = dense_differences(system, state)
    integrator = Radau5(initial_step=1e-6)
    integrator.initialize(system, state)
    assert integrator.step(system, state, 1.0) is kit.StepCode.DONE
    starts, rows = system.derivative_structure()
    entries = state.integrator_memory[-rows.size :]
    found = np.zeros((system.ny, system.ny))
    for j in range(system.ny):
        found[rows[starts[j] : starts[j + 1]], j] = entries[starts[j] : starts[j + 1]]
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


def jacobian_of(system: cosim.System, state: cosim.State) -> tuple[np.ndarray, Radau5]:
    """The entries that a first step makes its matrices of, as a matrix."""
    state = state.copy().realize(cosim.Stage.ACCELERATION)
    integrator = Radau5(initial_step=1e-6)
    integrator.initialize(system, state)
    assert integrator.step(system, state, 1.0) is kit.StepCode.DONE
    starts, rows = system.derivative_structure()
    entries = state.integrator_memory[-rows.size :]
    found = np.zeros((system.ny, system.ny))
    for j in range(system.ny):
        found[rows[starts[j] : starts[j + 1]], j] = entries[starts[j] : starts[j + 1]]
    return found, integrator


def test_a_jacobian_is_exact() -> None:
    system = chain(3)
    state = moving_state(system)
    found, integrator = jacobian_of(system, state)
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
    assert found == pytest.approx(expected, rel=1e-14, abs=1e-13)


class Root(cosim.Component):
    """A leaking tank. Law: level' = 1 - sqrt(level)."""

    level = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(level, level_dot):
        level_dot[0] = 1.0 - math.sqrt(max(level, 0.0))


class InPython(cosim.Component):
    """A leaking tank in plain Python. Law: level' = 1 - 2 level."""

    level = cosim.auxiliary_state(start=0.5)

    @cosim.kernel
    def derivatives(self, level, level_dot):
        level_dot[0] = 1.0 - 2.0 * level


def test_differences_take_the_place_of_what_is_no_number_or_not_there() -> None:
    """The slope of a root at 0 is infinite: a secant serves there."""
    model = cosim.Model("m")
    model.add(Root, "tank")
    system = model.build()
    found, integrator = jacobian_of(system, system.default_state())
    assert integrator.differences == [] and -1e9 < found[0, 0] < -1.0
    model = cosim.Model("m")
    model.add(InPython, "tank")
    system = model.build()
    found, integrator = jacobian_of(system, system.default_state())
    assert found == pytest.approx(np.array([[-2.0]]), rel=1e-6)
    assert "plain Python" in integrator.differences[0]


def test_a_chain_needs_few_evaluations_for_its_jacobian() -> None:
    pattern = jacobian_pattern(chain(30))
    shape = rows_of(Pattern, pattern, 0, 1)[0]
    assert shape.size == 90
    assert shape.colours <= 4
    colours = pattern[PATTERN_HEADER : PATTERN_HEADER + 90]
    assert (colours[60:] == -1).all()  # nothing depends on what the sensors have summed up


def test_columns_of_one_colour_share_no_row() -> None:
    pattern = jacobian_pattern(mechanism())
    shape = rows_of(Pattern, pattern, 0, 1)[0]
    n = shape.size
    starts, rows = mechanism().derivative_structure()
    for colour in range(shape.colours):
        columns = np.flatnonzero(pattern[PATTERN_HEADER : PATTERN_HEADER + n] == colour)
        together = np.concatenate([rows[starts[j] : starts[j + 1]] for j in columns])
        assert together.size == np.unique(together).size > 0


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_dense_factors_solve(n) -> None:
    random = np.random.default_rng(n)
    a = random.normal(size=(n, n))
    a[0, 0] = 0.0 if n > 1 else 2.0  # needs an exchange of rows
    b = random.normal(size=n)
    flat, pivots, x = a.ravel().copy(), np.zeros(n), b.copy()
    assert lu_factor(flat, pivots, n) == 0
    upper = np.abs(np.triu(flat.reshape(n, n)))
    assert np.allclose(np.sort(np.diag(upper)), np.sort(np.abs(np.diag(lu(a)[2]))))
    lu_solve(flat, pivots, n, x)
    assert np.allclose(a @ x, b, atol=1e-10)
    beside, alone = b.copy(), random.normal(size=n)
    other = alone.copy()
    lu_solve(flat, pivots, n, alone)
    lu_solve_two(flat, pivots, n, beside, other)
    assert beside.tobytes() == x.tobytes() and other.tobytes() == alone.tobytes()


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_dense_complex_factors_solve(n) -> None:
    random = np.random.default_rng(n)
    a = random.normal(size=(n, n)) + 1j * random.normal(size=(n, n))
    a[0, 0] = 0.0 if n > 1 else 2.0j
    b = random.normal(size=n) + 1j * random.normal(size=n)
    flat = np.stack([a.real, a.imag], axis=-1).ravel().copy()
    pivots, re, im = np.zeros(n), b.real.copy(), b.imag.copy()
    assert factor_complex(flat, pivots, n) == 0
    solve_complex(flat, pivots, n, re, im)
    assert np.allclose(a @ (re + 1j * im), b, atol=1e-10)


@pytest.mark.parametrize("wrong", [0.0, np.nan, np.inf])
def test_singular_matrices_are_found(wrong) -> None:
    pivots = np.zeros(2)
    assert lu_factor(np.array([1.0, 1.0, 1.0, 1.0 + wrong]), pivots, 2) == 2
    assert factor_complex(np.array([1.0, 0, 1.0, 0, 1.0, 0, 1.0 + wrong, 0]), pivots, 2) == 2
