"""Jacobians of vectors of states: what depends on what, bands, and the matrices that follow."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from vector_problems import mixture_of, ring_end, ring_of, rod_end, rod_of, star_of, system_of

import cosim
from cosim_integrators.implicit.banded_lu import (
    band_width,
    factor_band,
    factor_complex_band,
    solve_band,
    solve_complex_band,
)
from cosim_integrators.implicit.bands import find_band
from cosim_integrators.implicit.complex_lu import factor_complex, solve_complex
from cosim_integrators.implicit.implicit_method import Pattern
from cosim_integrators.implicit.pattern import LARGEST_DENSE, is_sparse, jacobian_pattern
from cosim_integrators.kit import lu_factor, lu_solve

METHODS = ["bdf", "radau5", "esdirk43"]


def shape_of(system: cosim.System) -> Pattern:
    return Pattern.from_buffer_copy(jacobian_pattern(system))


def columns(system: cosim.System) -> list[list[int]]:
    starts, rows = system.derivative_structure()
    return [rows[a:b].tolist() for a, b in pairwise(starts)]


@pytest.mark.parametrize("n", [9, 40, LARGEST_DENSE, LARGEST_DENSE + 1])
def test_neighbours_in_a_vector_are_found(n: int) -> None:
    system = system_of(rod_of(n))
    assert columns(system) == [[i for i in (j - 1, j, j + 1) if 0 <= i < n] for j in range(n)]
    shape = shape_of(system)
    assert (shape.entries, shape.colours) == (3 * n - 2, 3)
    assert (shape.is_band, shape.lower, shape.upper, shape.is_reordered) == (1, 1, 1, 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_ring_has_a_band_in_another_order(method: str) -> None:
    n = 210
    system = system_of(ring_of(n))
    shape = shape_of(system)
    assert (shape.is_band, shape.lower, shape.upper, shape.is_reordered) == (1, 2, 2, 1)
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.initialize()
    simulator.advance_to(1000.0)
    assert np.abs(simulator.state.y - ring_end(n, 1000.0)).max() < 1e-5


def test_a_structure_is_found_once() -> None:
    system = system_of(rod_of(20))
    starts, rows = system.derivative_structure()
    starts[:], rows[:] = 0, 0  # the caller's own
    assert columns(system) == [[i for i in (j - 1, j, j + 1) if 0 <= i < 20] for j in range(20)]


@pytest.mark.parametrize("n", [1, 2, 8])
def test_short_vectors_count_as_one(n: int) -> None:
    assert columns(system_of(rod_of(n))) == [list(range(n))] * n


@pytest.mark.by_turns
@pytest.mark.parametrize("n", [30, 201, 300])
@pytest.mark.parametrize("method", METHODS)
def test_a_rod_cools_down_as_it_should(method: str, n: int) -> None:
    simulator = cosim.Simulator(system_of(rod_of(n)), integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.initialize()
    simulator.advance_to(0.1)
    assert np.abs(simulator.state.y - rod_end(n, 0.1)).max() < 1e-5
    assert simulator.statistics.evaluations < 1000  # a full Jacobian of 300 columns takes 300 each time


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("make", "n", "kind"),
    [(star_of, 200, "dense"), (star_of, 201, "sparse"), (mixture_of, 201, "dense"), (rod_of, 201, "band")],
)
@pytest.mark.parametrize("method", ["bdf", "radau5"])
def test_matrices_of_each_kind_give_the_same_solution(make, n: int, kind: str, method: str) -> None:
    system = system_of(make(n))
    shape = shape_of(system)
    assert (is_sparse(shape), bool(shape.is_band)) == (kind == "sparse", kind == "band")
    ends = []
    for name in (method, "dormand_prince"):
        simulator = cosim.Simulator(system, integrator=f"integrators.{name}", accuracy=1e-7)
        simulator.initialize()
        simulator.advance_to(0.01)
        ends.append(simulator.state.y.copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-5


def test_only_sparse_matrices_need_scipy() -> None:
    method = cosim.registry().get("integrator", "integrators.bdf")(accuracy=1e-4)
    told = [method.unlowered(system_of(make(201))) for make in (rod_of, mixture_of, star_of)]
    assert told[:2] == ["", ""]
    assert "neither bands nor" in told[2]


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_a_band_of_any_size_is_solved(scale: float) -> None:
    a, b = random_band(30, 2, 3, 7) + 10.0 * np.eye(30), np.random.default_rng(1).normal(size=30)
    band, pivots, y = in_band(scale * a, 2, 3).ravel(), np.zeros(30), scale * b
    assert factor_band(band, pivots, 30, 2, 3) == 0
    solve_band(band, pivots, 30, 2, 3, y)
    assert np.abs(y - np.linalg.solve(a, b)).max() < 1e-13


def random_band(n: int, lower: int, upper: int, seed: int) -> np.ndarray:
    a = np.random.default_rng(seed).normal(size=(n, n))
    i, j = np.indices((n, n))
    a[(i - j > lower) | (j - i > upper)] = 0.0
    return a


def in_band(a: np.ndarray, lower: int, upper: int) -> np.ndarray:
    n = len(a)
    band = np.zeros((n, band_width(lower, upper)), dtype=a.dtype)
    for i, j in zip(*np.nonzero(a), strict=True):
        band[i, j - i + lower] = a[i, j]
    return band


SHAPES = [(1, 0, 0), (2, 1, 0), (5, 0, 2), (9, 1, 1), (30, 2, 3), (40, 5, 1), (12, 11, 11)]


@pytest.mark.by_turns
@pytest.mark.parametrize("diagonal", [0.0, 100.0])  # rows are exchanged, or stay where they are
@pytest.mark.parametrize(("n", "lower", "upper"), SHAPES)
def test_a_band_has_the_factors_of_the_whole_matrix(n: int, lower: int, upper: int, diagonal: float) -> None:
    a, b = random_band(n, lower, upper, n), np.random.default_rng(1).normal(size=n)
    a += diagonal * np.eye(n)
    pivots, others = np.zeros(n), np.zeros(n)
    whole, band, x, y = a.ravel().copy(), in_band(a, lower, upper).ravel(), b.copy(), b.copy()
    assert lu_factor(whole, pivots, n) == 0
    assert factor_band(band, others, n, lower, upper) == 0
    lu_solve(whole, pivots, n, x)
    solve_band(band, others, n, lower, upper, y)
    assert pivots.tolist() == others.tolist()
    assert (pivots.tolist() == list(range(n))) == (diagonal > 0.0 or lower == 0)
    factors = whole.reshape(n, n)
    np.fill_diagonal(factors, 1.0 / np.diag(factors))
    row, column = np.indices((n, n))
    below = lower if diagonal > 0.0 else 0  # a band keeps the rows of L where they were before exchanges
    i, j = np.nonzero((row - column <= below) & (column - row <= lower + upper))
    assert band.reshape(n, -1)[i, j - i + lower].tobytes() == factors[i, j].tobytes()
    assert np.abs(x - y).max() <= 1e-14 * np.linalg.cond(a) * np.abs(x).max()


@pytest.mark.parametrize(("n", "lower", "upper"), SHAPES)
def test_a_complex_band_gives_the_bytes_of_the_whole_matrix(n: int, lower: int, upper: int) -> None:
    a = random_band(n, lower, upper, n) + 1j * random_band(n, lower, upper, n + 1)
    b = np.random.default_rng(1).normal(size=(2, n))
    pivots, others = np.zeros(n), np.zeros(n)
    whole = a.view(float).ravel().copy()
    band = in_band(a, lower, upper).view(float).ravel().copy()
    x, y = b.copy(), b.copy()
    assert factor_complex(whole, pivots, n) == 0
    assert factor_complex_band(band, others, n, lower, upper) == 0
    solve_complex(whole, pivots, n, x[0], x[1])
    solve_complex_band(band, others, n, lower, upper, y[0], y[1])
    assert x.tobytes() == y.tobytes()
    assert np.allclose(a @ (y[0] + 1j * y[1]), b[0] + 1j * b[1], atol=1e-6)


@pytest.mark.parametrize("wrong", [0.0, np.nan, np.inf])
def test_singular_bands_are_found(wrong: float) -> None:
    a = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0 + wrong, 0.0, 0.0]])
    assert factor_band(a.ravel().copy(), np.zeros(2), 2, 1, 1) == 2
    assert factor_complex_band(np.stack([a, np.zeros((2, 4))], axis=-1).ravel(), np.zeros(2), 2, 1, 1) == 2


@pytest.mark.parametrize("n", [33, 64, 100])
def test_elimination_by_blocks_is_that_of_columns(n: int) -> None:
    a, pivots = np.random.default_rng(n).normal(size=(n, n)), np.zeros(n)
    flat, expected = a.ravel().copy(), a.copy()
    assert lu_factor(flat, pivots, n) == 0
    for k in range(n):
        at = k + int(np.argmax(np.abs(expected[k:, k])))
        expected[[k, at]] = expected[[at, k]]
        expected[k + 1 :, k] /= expected[k, k]
        expected[k + 1 :, k + 1 :] -= np.multiply.outer(expected[k + 1 :, k], expected[k, k + 1 :])
    assert flat.tobytes() == expected.tobytes()


def test_states_are_put_in_an_order_with_a_narrow_band() -> None:
    n = 300
    order = np.random.default_rng(0).permutation(n)
    entries = sorted(
        (int(order[j]), int(order[i])) for j in range(n) for i in (j - 1, j, j + 1) if 0 <= i < n
    )
    starts = np.searchsorted([column for column, _ in entries], np.arange(n + 1))
    rows = np.array([row for _, row in entries])
    assert find_band(starts, rows, may_reorder=False) is None
    band = find_band(starts, rows, may_reorder=True)
    assert band is not None
    assert (band.lower, band.upper) == (1, 1)
    assert sorted(band.order) == list(range(n))


def test_parts_of_a_system_that_are_not_coupled_are_put_behind_each_other() -> None:
    n = 240
    starts, rows = np.arange(n + 1) * 2, np.array([[j, (j + n // 2) % n] for j in range(n)])
    band = find_band(starts, np.sort(rows, axis=1).ravel(), may_reorder=True)
    assert band is not None
    assert (band.lower, band.upper) == (1, 1)


def plain_rod_of(n: int, band: int | None) -> type[cosim.Component]:
    """As `rod_of`, by a method in plain Python; its bath is a vector of another length."""

    class PlainRod(cosim.Component):
        """A rod. Law: T' = rate (T_left - 2 T + T_right), bath' = -bath."""

        T = cosim.auxiliary_state(shape=n, start=[1.0] * n, band=band)
        bath = cosim.auxiliary_state(shape=2, band=0)

        def derivatives(self, T, bath, T_dot, bath_dot):
            around = np.concatenate([[bath[0]], T, [bath[1]]])
            T_dot[:] = (n + 1) ** 2 * (around[:-2] - 2.0 * T + around[2:])
            bath_dot[:] = -np.asarray(bath)

    return PlainRod


@pytest.mark.parametrize("n", [9, 30])
@pytest.mark.parametrize("band", [0, 1, 2])
def test_a_band_can_be_declared_for_plain_python(n: int, band: int) -> None:
    """The derivative of the bath counts as one of all temperatures: these are a vector of another length."""
    near = [[*(i for i in range(n) if abs(i - j) <= band), n, n + 1] for j in range(n)]
    found = columns(system_of(plain_rod_of(n, band)))
    assert found[:n] == near
    assert found[n:] == [[*range(n), n], [*range(n), n + 1]]


def test_without_a_declaration_plain_python_counts_as_full() -> None:
    assert columns(system_of(plain_rod_of(9, None)))[:9] == [list(range(11))] * 9


@pytest.mark.parametrize("band", [-1, 0.5, True, "wide"])
def test_a_band_is_a_number_of_elements(band: object) -> None:
    with pytest.raises(cosim.ContractError, match="needs.*number of elements"):
        cosim.auxiliary_state(shape=9, band=band)  # type: ignore[arg-type]
