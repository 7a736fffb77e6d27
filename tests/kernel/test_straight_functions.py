"""Which witnesses and functions are straight: sums of states and the time with constant factors."""

from __future__ import annotations

import math

import pytest
from thrown_parts import Thrown, system_of

import cosim
from cosim.preparation.witness_entry import list_witnesses
from cosim_compiler.sources.straight import is_straight


class Curved(cosim.Component):
    """Witnesses that are not straight, or not surely so, and one that is."""

    x = cosim.auxiliary_state(start=1.0)
    y = cosim.auxiliary_state(start=1.0)
    given = cosim.input()
    share = cosim.parameter(default=1.0)

    @cosim.kernel
    def derivatives(x, y, given, x_dot, y_dot):
        x_dot[0] = -x
        y_dot[0] = given - y

    @cosim.witness
    def product(x, y):
        return x * y - 1.0

    @cosim.witness
    def inverse(x, share):
        return share / x

    @cosim.witness
    def of_input(x, given):
        return x - given

    @cosim.witness
    def branching(x):
        if x > 0.5:
            return x - 0.6
        return x

    @cosim.witness
    def condition(x):
        return x > 0.5

    @cosim.witness
    def sine(t):
        return math.sin(t)

    @cosim.witness
    def straight(t, x, y, share):
        return -(x - 2.0 * y) / share + t


def vector(x, k):
    return x[1] - k[0] * 2.0


def chosen(x, k):
    return x[k]


def without_result(x):
    x += 1.0


def flags_of(system: cosim.System) -> dict[str, bool]:
    """Whether each witness of a system is straight."""
    return {witness.path: witness.is_straight for witness in list_witnesses(system)}


def test_sums_of_states_and_time_are_straight() -> None:
    flags = flags_of(system_of(Thrown))
    assert flags == dict.fromkeys(["part.floor", "part.warm", "part.cold", "part.passes"], True)


def test_products_quotients_branches_and_inputs_are_not_straight() -> None:
    flags = flags_of(system_of(Curved, given=0.0))
    assert [path for path, flag in flags.items() if flag] == ["part.straight"]
    assert len(flags) == 7


@pytest.mark.parametrize(
    ("function", "moving", "expected"),
    [
        (vector, "x", True),
        (vector, "xk", True),
        (chosen, "x", True),
        (chosen, "xk", False),
        (without_result, "x", False),
    ],
)
def test_functions_that_are_straight(function, moving: str, expected: bool) -> None:
    assert is_straight(function, frozenset(moving)) is expected
