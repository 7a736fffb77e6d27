"""Structures of Jacobians: the entries that may differ from 0, and the kind of matrix chosen for them."""

from __future__ import annotations

import numpy as np
import pytest
from vector_problems import columns, mixture_of, ring_end, ring_of, rod_end, rod_of, star_of, system_of

import cosim
from cosim_integrators.implicit.bands import find_band
from cosim_integrators.implicit.implicit_method import Pattern
from cosim_integrators.implicit.pattern import LARGEST_DENSE, is_sparse, jacobian_pattern

METHODS = ["bdf", "radau5", "esdirk43"]


def pattern_of(system: cosim.System) -> Pattern:
    return Pattern.from_buffer_copy(jacobian_pattern(system))


@pytest.mark.parametrize("n", [9, 40, LARGEST_DENSE, LARGEST_DENSE + 1])
def test_a_derivative_depends_on_its_neighbours(n: int) -> None:
    system = system_of(rod_of(n))
    assert columns(system) == [[i for i in (j - 1, j, j + 1) if 0 <= i < n] for j in range(n)]
    pattern = pattern_of(system)
    assert (pattern.entries, pattern.colours) == (3 * n - 2, 3)
    assert (pattern.is_band, pattern.lower, pattern.upper, pattern.is_reordered) == (1, 1, 1, 0)


@pytest.mark.parametrize("method", METHODS)
def test_a_ring_has_a_band_in_another_order(method: str) -> None:
    n = 210
    system = system_of(ring_of(n))
    pattern = pattern_of(system)
    assert (pattern.is_band, pattern.lower, pattern.upper, pattern.is_reordered) == (1, 2, 2, 1)
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6)
    simulator.initialize()
    simulator.advance_to(1000.0)
    assert np.abs(simulator.state.y - ring_end(n, 1000.0)).max() < 1e-5


def test_callers_get_copies_of_the_structure() -> None:
    system = system_of(rod_of(20))
    starts, rows = system.derivative_structure()
    starts[:], rows[:] = 0, 0
    assert columns(system) == [[i for i in (j - 1, j, j + 1) if 0 <= i < 20] for j in range(20)]


@pytest.mark.parametrize("n", [1, 2, 8])
def test_a_short_vector_has_a_full_block(n: int) -> None:
    assert columns(system_of(rod_of(n))) == [list(range(n))] * n


@pytest.mark.by_turns
@pytest.mark.parametrize("n", [30, 201, 300])
@pytest.mark.parametrize("method", METHODS)
def test_a_rod_cools_down_in_few_evaluations(method: str, n: int) -> None:
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
    pattern = pattern_of(system)
    assert (is_sparse(pattern), bool(pattern.is_band)) == (kind == "sparse", kind == "band")
    ends = []
    for name in (method, "dormand_prince"):
        simulator = cosim.Simulator(system, integrator=f"integrators.{name}", accuracy=1e-7)
        simulator.initialize()
        simulator.advance_to(0.01)
        ends.append(simulator.state.y.copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-5


def test_only_sparse_matrices_need_scipy() -> None:
    method = cosim.registry().get("integrator", "integrators.bdf")(accuracy=1e-4)
    rod, mixture, star = (method.unlowered(system_of(make(201))) for make in (rod_of, mixture_of, star_of))
    assert (rod, mixture) == ("", "")
    assert "neither bands nor" in star


def test_reordering_narrows_a_band() -> None:
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


def test_reordering_puts_uncoupled_states_one_after_the_other() -> None:
    n = 240
    starts, rows = np.arange(n + 1) * 2, np.array([[j, (j + n // 2) % n] for j in range(n)])
    band = find_band(starts, np.sort(rows, axis=1).ravel(), may_reorder=True)
    assert band is not None
    assert (band.lower, band.upper) == (1, 1)
