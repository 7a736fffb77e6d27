"""Adjoints of kernel functions: closed forms, random programs, too short tapes, functions without one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from adjoints_run import adjoint_differences, road_differences
from how_many import many
from language_tools import compiled

from cosim_compiler.calls import indirect_call
from cosim_compiler.code import BY_C
from cosim_compiler.derivatives.adjoints import adjoint_function
from cosim_compiler.derivatives.own_tangents import tangent_of
from cosim_compiler.derivatives.tangents import NoTangentError
from cosim_compiler.errors import FullTapeError
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.tables import zeros

PRELUDE = "import math\nfrom cosim_compiler.functions import *\n"


def gradient_of(text: str, x: float, y: float, direction: tuple[float, float] = (1.0, 1.0)) -> list[float]:
    """The derivatives of an expression of two numbers by both, from its adjoint."""
    function = run_source(f"{PRELUDE}def f(x, y):\n    return 1.0 * ({text})\n", globals())["f"]
    adjoint = adjoint_function(function, "ff>f")
    tape, bars = np.zeros(100), np.zeros(2)
    tape[0] = 2.0
    with np.errstate(all="ignore"):
        adjoint.record(np.float64(x), np.float64(y), *map(np.float64, direction), tape, np.zeros(1))
        adjoint.reverse(np.float64(1.0), tape, bars)
    assert tape[0] == 2.0
    return bars.tolist()


def softening(x):
    return x * x * x


@tangent_of(softening)
def softening_tangent(x, x_dot):
    return -3.0 * x * x * x_dot  # with the wrong sign, so that a call of it is noticed


def is_below(x, y):
    return x <= y


@tangent_of(is_below, with_values=True)
def is_below_with_tangents(x, y, x_dot, y_dot):
    return is_below(x, y) and is_below(x_dot, y_dot)


@pytest.mark.parametrize(
    ("y", "direction", "expected"),
    [(2.0, (1.0, 1.0), [2.0, 1.0]), (2.0, (2.0, 1.0), [1.0, 0.0]), (0.5, (1.0, 1.0), [1.0, 0.0])],
)
def test_a_tangent_of_an_author_may_decide_a_branch_by_the_direction(
    y: float, direction: tuple[float, float], expected: list[float]
) -> None:
    assert gradient_of("x * y if is_below(x, y) else x", 1.0, y, direction) == expected


@pytest.mark.parametrize(
    ("text", "x", "y", "expected"),
    [
        ("7.0", 0.0, 0.0, [0.0, 0.0]),
        ("x * x", 0.0, 0.0, [0.0, 0.0]),
        ("x * x * y", 3.0, 2.0, [12.0, 9.0]),
        ("x / y", 3.0, 2.0, [0.5, -0.75]),
        ("x - y", 3.0, 2.0, [1.0, -1.0]),
        ("-x + x", 3.0, 2.0, [0.0, 0.0]),
        ("x % y", 5.5, 2.0, [1.0, -2.0]),
        ("abs(x) + abs(y)", 0.0, -2.0, [0.0, -1.0]),
        ("min(x, y)", 1.0, 1.0, [0.5, 0.5]),
        ("max(x, y)", 1.0, 2.0, [0.0, 1.0]),
        ("math.hypot(x, y)", 3.0, 4.0, [0.6, 0.8]),
        ("math.hypot(x, y)", 0.0, 0.0, [0.0, 0.0]),
        ("math.sqrt(x * x + y * y)", 0.0, 0.0, [0.0, 0.0]),
        ("math.sqrt(x)", 0.0, 0.0, [math.inf, 0.0]),
        ("0.0 * math.sqrt(x)", 0.0, 0.0, [0.0, 0.0]),
        ("math.pow(x, y)", 2.0, 3.0, [12.0, 8.0 * math.log(2.0)]),
        ("math.atan2(y, x)", -1.0, 0.0, [0.0, -1.0]),
        ("math.copysign(x, y)", 2.0, -0.0, [-1.0, 0.0]),
        ("math.modf(x)[0] * y", 2.5, 3.0, [3.0, 0.5]),
        ("math.frexp(x)[0]", 10.0, 0.0, [0.0625, 0.0]),
        ("math.gamma(x)", 5.0, 0.0, [36.14682404236321, 0.0]),
        ("math.floor(x) + y", 2.0, 0.0, [0.0, 1.0]),
        ("x if x > y else -x", 1.0, 1.0, [-1.0, 0.0]),
        ("interp(x, (0.0, 1.0, 2.0), (0.0, y, 3.0))", 0.5, 1.0, [1.0, 0.5]),
        ("softening(x) * y", 2.0, 3.0, [-36.0, 8.0]),
        ("(x, y, x * y)[int(y)]", 5.0, 2.0, [2.0, 5.0]),
        ("3.0 * x if x != 0.0 else 0.0", 0.0, 0.0, [3.0, 0.0]),
    ],
)
def test_an_expression_against_its_closed_form(text: str, x: float, y: float, expected: list[float]) -> None:
    assert gradient_of(text, x, y) == pytest.approx(expected, rel=1e-14, abs=0.0)


def test_a_comparison_of_equal_numbers_is_decided_by_the_direction() -> None:
    assert gradient_of("0.0 if x == y else x * x - y * y", 2.0, 2.0, (1.0, 0.5)) == [4.0, -4.0]
    assert gradient_of("0.0 if x == y else x * x - y * y", 2.0, 2.0, (1.0, 1.0)) == [0.0, 0.0]


def test_random_programs_against_their_tangents() -> None:
    count = many(8)
    outcomes = list(adjoint_differences(range(count)))
    assert len(outcomes) > 2 * count
    assert not list(map(str, filter(None, outcomes)))


def test_random_programs_compiled_by_llvm_give_what_plain_python_gives() -> None:
    count = many(2)
    outcomes = list(road_differences(range(count)))
    assert len(outcomes) > 1.5 * count
    assert not list(map(str, filter(None, outcomes)))


@pytest.mark.thorough
def test_random_programs_compiled_by_c_give_what_plain_python_gives() -> None:
    count = many(10)
    outcomes = list(road_differences(range(60, 60 + count), BY_C))
    assert len(outcomes) > 1.5 * count
    assert not list(map(str, filter(None, outcomes)))


SUMS = """
def sum_of_squares(x, a, out):
    partial = zeros(3)
    for i in range(len(a)):
        if a[i] < 0.0:
            continue
        partial[i % 3] += a[i] * a[i] * x
        if i == 4:
            break
    out[-1] = partial[0] + 2.0 * partial[1] + 3.0 * partial[2]
    a[0] = 0.0
"""


def test_a_function_with_loops_and_an_array() -> None:
    """Its adjoint also reverses an overwritten number, an index from the end and a computed index."""
    adjoint = adjoint_function(run_source(SUMS, {"zeros": zeros})["sum_of_squares"], "fFF>v")
    assert (adjoint.record_signature, adjoint.reverse_signature) == ("fFFfFFiiF>v", "FFFF>v")
    record = compiled(adjoint.record, adjoint.record_signature)
    reverse = compiled(adjoint.reverse, adjoint.reverse_signature)
    a = np.array([2.0, 3.0, -1.0, 5.0, 7.0, 11.0])
    tape, a_bar, out_bar, x_bar = np.zeros(1000), np.full(6, 100.0), np.array([0.0, 1.0]), np.zeros(1)
    tape[0] = 2.0
    record(10.0, a.copy(), np.zeros(2), 1.0, np.ones(6), np.zeros(2), 0, 0, tape)
    reverse(a_bar, out_bar, tape, x_bar)
    assert a_bar.tolist() == [40.0, 220.0, 100.0, 200.0, 380.0, 100.0]
    assert out_bar.tolist() == [0.0, 0.0]
    assert x_bar.tolist() == [4.0 + 18.0 + 25.0 + 98.0]


@pytest.mark.parametrize("tape_size", [2, 3, 10])
def test_a_tape_that_is_too_short_is_an_error(tape_size: int) -> None:
    function = run_source("def f(x, out):\n    for i in range(50):\n        out[0] += x * x\n")["f"]
    adjoint = adjoint_function(function, "fF>v")
    for record in (adjoint.record, compiled(adjoint.record, adjoint.record_signature)):
        tape = np.zeros(tape_size)
        tape[0] = 2.0
        with pytest.raises(FullTapeError):
            record(1.0, np.zeros(1), 1.0, np.zeros(1), 0, tape)
        assert tape[1] == 1.0


def test_a_function_without_an_adjoint_is_refused_with_the_line() -> None:
    space: dict[str, Any] = {"call": indirect_call("f>f")}
    source = "def f(address, x):\n    y = 2.0 * x\n    return call(address, (y,))\n"
    with pytest.raises(NoTangentError, match=r"<law \d+>:3.*differentiated"):
        adjoint_function(run_source(source, space, "law")["f"], "if>f")
