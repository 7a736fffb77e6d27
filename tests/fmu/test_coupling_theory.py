"""Master algorithms have the orders of theory, on two cuts of two masses, and on a quarter car."""

import sys
from pathlib import Path
from typing import Any

import pytest
from cut_errors import largest_error

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import orders
from cuts import QUARTER_CAR, Cut

CUTS = orders.CUTS
FINER = pytest.mark.parametrize("finer", [0, pytest.param(1, marks=pytest.mark.thorough)])
# algorithm, whether participants follow slopes of inputs, first step that counts, order
ORDERS = [
    ("jacobi", False, 0, 1),
    ("jacobi, linear", False, 0, 2),
    ("jacobi, linear", True, 0, 2),
    ("jacobi, quadratic", False, 4, 2),  # the mean of the parabola is held: second order
    ("jacobi, quadratic", True, 4, 3),
    ("gauss_seidel", False, 0, 1),
    ("gauss_seidel, linear", True, 0, 2),
    # a participant whose source has stepped follows a line from t to t + h, which is of second order
    ("gauss_seidel, quadratic", True, 4, 2),
    ("waveform_iteration", False, 0, 2),
    ("waveform_iteration", True, 0, 2),
    ("interface_newton", True, 0, 2),
]
LONG = [("waveform_iteration", False, 0, 2), ("jacobi, quadratic", False, 4, 2)]
"""These take long; `jacobi, linear` shows the same for participants that do not follow slopes."""
ON_CUTS = [
    pytest.param(
        *row,
        cut,
        marks=pytest.mark.thorough if (i + j) % 2 or row in LONG else [],
        id=f"{row[0]}-{row[1]}-{title}",
    )
    for i, row in enumerate(ORDERS)
    for j, (title, cut) in enumerate(CUTS.items())
]
"""Each algorithm on each cut; a short run has one of both by turns."""


@pytest.mark.few(2)
@FINER
@pytest.mark.parametrize(("name", "follows", "since", "order", "cut"), ON_CUTS)
def test_algorithms_converge_with_their_order(
    name: str, follows: bool, since: int, order: float, cut: Cut, finer: int
) -> None:
    algorithm, options = orders.FIXED[name]
    steps = [0.02 * 0.5 ** (i + 2 * ("quadratic" in name) + finer) for i in range(3)]
    points = [orders.run(cut, follows, algorithm, step, options, since) for step in steps]
    assert orders.order(points) == pytest.approx(order, abs=0.15)


def test_the_first_steps_of_extrapolation_lower_the_order_to_2() -> None:
    cut, (algorithm, options) = CUTS["motion and motion"], orders.FIXED["jacobi, quadratic"]
    steps = (0.01, 0.005, 0.0025)
    whole = [orders.run(cut, True, algorithm, step, options) for step in steps]
    started = [orders.run(cut, True, algorithm, step, options, since=4) for step in steps]
    assert orders.order(whole) == pytest.approx(2.0, abs=0.15)
    assert whole[-1][1] > 10.0 * started[-1][1]


# stability


# well-known cuts


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("algorithm", "options", "step", "limit"),
    [
        ("jacobi", {}, 1e-3, 5e-2),
        ("gauss_seidel", {}, 1e-3, 2e-2),
        ("jacobi", {"extrapolation": 1}, 1e-3, 3e-3),
        pytest.param("waveform_iteration", {}, 1e-3, 2e-4, marks=pytest.mark.thorough),
        ("waveform_iteration", {}, 5e-3, 5e-3),
        pytest.param("adaptive", {"tolerance": 1e-4}, 1e-2, 1e-3, marks=pytest.mark.thorough),
    ],
)
def test_errors_of_a_quarter_car_are_below_known_limits(
    algorithm: str, options: dict[str, Any], step: float, limit: float
) -> None:
    assert largest_error(QUARTER_CAR.force_and_motion(), algorithm, step, 1.0, **options) < limit
