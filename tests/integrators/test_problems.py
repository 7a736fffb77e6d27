"""Adaptive explicit methods on known problems: the error at the end follows the accuracy."""

from decimal import Decimal

import pytest
from extended import solve
from problems import BRUSSELATOR, DUFFING, POPULATIONS, PROBLEMS, VAN_DER_POL

METHODS = ["bogacki_shampine", "runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853"]


@pytest.mark.few(5)
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_errors_follow_the_accuracy(problem) -> None:
    for method in METHODS:
        for accuracy in (1e-4, 1e-6) if method == "bogacki_shampine" else (1e-4, 1e-6, 1e-9):
            simulator = problem.simulator(integrator=f"integrators.{method}", accuracy=accuracy)
            simulator.advance_to(problem.until)
            error = problem.error(simulator.state)
            assert error <= problem.growth * accuracy, f"{method}: error {error} at accuracy {accuracy}"


def populations(y):
    return [2 * (y[0] - y[0] * y[1]), -(y[1] - y[0] * y[1])]


def van_der_pol(y):
    return [y[1], (1 - y[0] * y[0]) * y[1] - y[0]]


def duffing(y):
    # the force as two more states: 2 sin and 2 cos
    rate = Decimal("2.78535")
    return [y[1], y[0] * y[0] * y[0] / 6 - y[0] + y[2], rate * y[3], -rate * y[2]]


def brusselator(y):
    return [1 + y[0] * y[0] * y[1] - 4 * y[0], 3 * y[0] - y[0] * y[0] * y[1]]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("law", "start", "steps", "reference"),
    [
        (populations, ["1", "3"], 200, POPULATIONS),
        (van_der_pol, ["2", "0"], 200, VAN_DER_POL),
        (duffing, ["0", "0", "0", "2"], 200, DUFFING),
        (brusselator, ["1.5", "3"], 400, BRUSSELATOR),
    ],
)
def test_references_in_extended_precision(law, start, steps, reference) -> None:
    assert solve(law, start, "20", steps)[:2] == reference
    assert solve(law, start, "20", 2 * steps)[:2] == reference
