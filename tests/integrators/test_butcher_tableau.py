"""A `ButcherTableau` checks its coefficients against the order conditions.

There is one condition for each rooted tree up to the order, for the solution, the error estimate and the
dense output.
"""

import math

import numpy as np
import pytest

import cosim
from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.explicit_euler import ExplicitEuler
from cosim_integrators.kit import ButcherTableau
from cosim_integrators.kit.order_conditions import density, elementary_weights, rooted_trees, size_of
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson

CLASSIC = {
    "order": 4,
    "a": [[], [1 / 2], [0, 1 / 2], [0, 0, 1]],
    "b": [1 / 6, 1 / 3, 1 / 3, 1 / 6],
    "c": [0, 1 / 2, 1 / 2, 1],
}


def test_numbers_of_rooted_trees() -> None:
    # OEIS A000081
    assert [len(rooted_trees(n)) for n in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert all(size_of(tree) == 6 for tree in rooted_trees(6))


def test_densities_of_order_four() -> None:
    # Butcher's table: bushy tree 4, mixed 8, 12, tall 24
    assert sorted(density(tree) for tree in rooted_trees(4)) == [4, 8, 12, 24]


@pytest.mark.parametrize(
    ("method", "order", "error_order", "dense_order", "shared"),
    [(ExplicitEuler, 1, 0, 1, False), (RungeKuttaMerson, 4, 3, 4, False), (DormandPrince, 5, 4, 4, True)],
)
def test_orders_of_our_methods(method, order, error_order, dense_order, shared) -> None:
    tableau = method.tableau
    assert (tableau.order, tableau.error_order, tableau.dense_order) == (order, error_order, dense_order)
    assert tableau.first_same_as_last is shared


def test_an_order_six_condition_fails_for_order_five() -> None:
    tableau = DormandPrince.tableau
    residuals = [abs(tableau.b @ elementary_weights(tableau.a, t) - 1 / density(t)) for t in rooted_trees(6)]
    assert max(residuals) > 1e-5


@pytest.mark.parametrize("row", range(1, 7))
def test_every_mistyped_coefficient_is_found(row: int) -> None:
    good = DormandPrince.tableau
    for column in range(row):
        a = [list(good.a[i, :i]) for i in range(7)]
        a[row][column] += 1e-6
        with pytest.raises(cosim.ModelError, match=rf"row {row} of a sums to"):
            ButcherTableau(order=5, a=a, b=list(good.b), c=list(good.c))


def test_the_error_of_a_too_high_order_names_the_right_order() -> None:
    with pytest.raises(cosim.ModelError, match="4.*5: correct a coefficient.*order=4"):
        ButcherTableau(**{**CLASSIC, "order": 5})


def test_all_faults_of_shape_are_reported_at_once() -> None:
    with pytest.raises(cosim.ModelError) as caught:
        ButcherTableau(order=11, a=[[], [1, 2]], b=[0.5, 0.5], c=[0], error=[1])
    assert len(caught.value.problems) == 4


@pytest.mark.parametrize(
    ("wrong_coefficients", "text"),
    [
        ({"error": [0.1, 0, 0, 0]}, "sum to 0"),
        ({"error": [0, 0, 0, 0]}, "all zero"),
        ({"dense": [[0], [1 / 3], [1 / 3], [1 / 6]]}, "must sum to b"),
        ({"dense": [[1 / 6, 0], [1 / 3, 0], [1 / 3, 0], [0, 1 / 6]]}, "first column"),
        ({"b": [1 / 6, 1 / 3, 1 / 3, math.nan]}, "finite"),
    ],
)
def test_wrong_weights_are_refused(wrong_coefficients, text) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        ButcherTableau(**{**CLASSIC, **wrong_coefficients})


def test_flat_coefficients_hold_the_nonzero_ones() -> None:
    """Each row has an offset; there are the number of its entries and pairs of index and value."""
    tableau = RungeKuttaMerson.tableau
    flat = tableau.coefficients
    stages, rows = int(flat[0]), int(flat[6])
    for i, row in enumerate([*tableau.a, tableau.b, tableau.error]):
        offset = int(flat[rows + i])
        pairs = flat[offset + 1 : offset + 1 + 2 * int(flat[offset])].reshape(-1, 2)
        dense = np.zeros(stages)
        dense[pairs[:, 0].astype(int)] = pairs[:, 1]
        assert np.array_equal(dense, row)
        assert np.all(pairs[:, 1] != 0.0)
