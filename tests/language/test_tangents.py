"""Tangents of kernel functions: closed forms at edges, random programs, jumps, tangents of authors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from how_many import many
from language_tools import compiled, compiled_together
from tangents_run import differences, slope_differences, value_differences

from cosim_compiler.calls import indirect_call
from cosim_compiler.code import BY_C, BY_LLVM
from cosim_compiler.derivatives.library_tangents import digamma
from cosim_compiler.derivatives.own_tangents import tangent_of
from cosim_compiler.derivatives.tangents import NoTangentError, derivative_notes, tangent_function
from cosim_compiler.language.types import REAL, View
from cosim_compiler.sources.run_source import run_source

INF, NAN = math.inf, math.nan


def tangent_of_text(text: str) -> Any:
    """The tangent of an expression of two numbers."""
    source = f"import math\nfrom cosim_compiler.functions import *\ndef f(x, y):\n    return 1.0 * ({text})\n"
    return tangent_function(run_source(source)["f"], "ff>f")[0]


@pytest.fixture(scope="module")
def machine_code() -> dict[str, tuple[Any, Any]]:
    """The tangents of all expressions of this file, in plain Python and compiled together."""
    texts = list(dict.fromkeys([case[0] for case in EDGES] + [f"math.{name}(x)" for name, _ in OF_MATH]))
    tangents = [tangent_of_text(text) for text in texts]
    return dict(zip(texts, zip(tangents, compiled_together(tangents, "ffffF>f"), strict=True), strict=True))


def rate_of(tangents: tuple[Any, Any], x: float, y: float, x_dot: float, y_dot: float) -> float:
    """The tangent of an expression, the same to the last bit compiled and in plain Python."""
    rates = np.zeros(1), np.zeros(1)
    values = [np.float64(v) for v in (x, y, x_dot, y_dot)]
    with np.errstate(all="ignore"):
        tangents[0](*values, rates[0])
    tangents[1](*values, rates[1])
    assert rates[0].tobytes() == rates[1].tobytes() or np.isnan(rates).all()
    return float(rates[0][0])


EDGES = [  # expression, x, y, their tangents, the tangent of the expression
    ("abs(x)", 0.0, 0.0, 1.0, 0.0, 0.0),
    ("abs(x)", -0.0, 0.0, 1.0, 0.0, 0.0),
    ("abs(x)", -2.0, 0.0, 3.0, 0.0, -3.0),
    ("abs(x) * x", 0.0, 0.0, 1.0, 0.0, 0.0),
    ("math.copysign(x, y)", -2.0, -1.0, 3.0, 5.0, 3.0),
    ("math.copysign(x, y)", 2.0, -0.0, 3.0, 5.0, -3.0),
    ("math.sqrt(x)", 0.0, 0.0, 0.0, 0.0, 0.0),
    ("math.sqrt(x)", 0.0, 0.0, 1.0, 0.0, INF),
    ("math.sqrt(x * x + y * y)", 0.0, 0.0, 1.0, 1.0, 0.0),
    ("math.sqrt(x)", 4.0, 0.0, 1.0, 0.0, 0.25),
    ("math.hypot(x, y)", 0.0, 0.0, 1.0, 0.0, 0.0),
    ("math.hypot(x, y)", 3.0, 4.0, 1.0, 0.0, 0.6),
    ("min(x, y)", 1.0, 1.0, 2.0, 4.0, 3.0),
    ("max(x, y)", 1.0, 1.0, 2.0, 4.0, 3.0),
    ("min(x, x)", 1.0, 0.0, 2.0, 0.0, 2.0),
    ("max(x, y)", 1.0, 2.0, 2.0, 4.0, 4.0),
    ("min(x, y)", NAN, 2.0, 2.0, 4.0, 2.0),
    ("max(x, y)", 1.0, INF, 2.0, 0.0, 0.0),
    ("math.pow(x, 0.0)", 0.0, 0.0, 1.0, 0.0, 0.0),
    ("math.pow(x, 0.0)", -3.0, 0.0, 1.0, 0.0, 0.0),
    ("math.pow(x, 1.0)", 0.0, 0.0, 7.0, 0.0, 7.0),
    ("math.pow(x, 2.0)", 0.0, 0.0, 7.0, 0.0, 0.0),
    ("math.pow(x, 3.0)", -2.0, 0.0, 1.0, 0.0, 12.0),
    ("math.pow(x, 0.5)", 0.0, 0.0, 1.0, 0.0, INF),
    ("math.pow(x, 0.5)", 0.0, 0.0, 0.0, 0.0, 0.0),
    ("math.pow(x, y)", -2.0, 2.0, 1.0, 0.0, -4.0),
    ("math.pow(x, y)", -2.0, 2.0, 0.0, 1.0, NAN),
    ("math.pow(x, y)", 0.0, 2.0, 0.0, 1.0, 0.0),
    ("math.pow(x, y)", 0.0, 0.0, 0.0, 1.0, NAN),
    ("math.pow(2.0, y)", 0.0, 3.0, 0.0, 1.0, 8.0 * math.log(2.0)),
    ("math.atan2(y, x)", 0.0, 0.0, 0.0, 0.0, 0.0),
    ("math.atan2(y, x)", 0.0, 0.0, 1.0, 0.0, NAN),
    ("math.atan2(y, x)", -1.0, 0.0, 0.0, 1.0, -1.0),
    ("math.asin(x)", 1.0, 0.0, 0.0, 0.0, 0.0),
    ("math.asin(x)", 1.0, 0.0, 1.0, 0.0, INF),
    ("math.acos(x)", 1.0, 0.0, 1.0, 0.0, -INF),
    ("math.acosh(x)", 1.0, 0.0, 0.0, 0.0, 0.0),
    ("x / y", 0.0, 2.0, 3.0, 5.0, 1.5),
    ("x / y", 1.0, 0.0, 0.0, 0.0, 0.0),
    ("x % y", 5.5, 2.0, 1.0, 1.0, -1.0),
    ("x % y", -0.5, 2.0, 1.0, 1.0, 2.0),
    ("x % y", 0.5, INF, 1.0, 0.0, 1.0),
    ("math.fmod(x, y)", -5.5, 2.0, 1.0, 1.0, 3.0),
    ("x // y", 5.5, 2.0, 1.0, 1.0, 0.0),
    ("math.floor(x) + y", 2.0, 0.0, 1.0, 3.0, 3.0),
    ("int(x) * y", 2.5, 0.0, 1.0, 3.0, 6.0),
    ("x if x > y else -x", 1.0, 1.0, 1.0, 0.0, -1.0),
    ("where(x >= y, x, -x)", 1.0, 1.0, 1.0, 0.0, 1.0),
    ("sign(x) * y", 0.0, 2.0, 1.0, 1.0, 0.0),
    ("clip(x, 0.0, 1.0)", 0.0, 2.0, 1.0, 1.0, 0.5),
    ("clip(x, 0.0, 1.0)", 2.0, 2.0, 1.0, 1.0, 0.0),
    ("interp(x, (0.0, 1.0, 2.0), (0.0, 1.0, 3.0))", 1.0, 0.0, 1.0, 0.0, 2.0),
    ("interp(x, (0.0, 1.0, 2.0), (0.0, 1.0, 3.0))", 2.0, 0.0, 1.0, 0.0, 2.0),
    ("interp(x, (0.0, 1.0, 2.0), (0.0, 1.0, 3.0))", 2.5, 0.0, 1.0, 0.0, 0.0),
    ("interp(x, (0.0, 1.0, 2.0), (0.0, y, 3.0))", 1.0, 1.0, 0.0, 1.0, 1.0),
    ("math.gamma(x)", 1.0, 0.0, 1.0, 0.0, -0.5772156649015329),
    ("math.gamma(x)", 5.0, 0.0, 1.0, 0.0, 36.14682404236321),
    ("math.lgamma(x)", 2.0, 0.0, 1.0, 0.0, 0.42278433509846713),
    ("math.gamma(x)", -1.5, 0.0, 1.0, 0.0, 1.661750260668597),
    ("math.ldexp(x, 3)", 1.0, 0.0, 1.0, 0.0, 8.0),
    ("math.frexp(x)[0]", 10.0, 0.0, 16.0, 0.0, 1.0),
    ("math.modf(x)[0]", -2.5, 0.0, 1.0, 0.0, 1.0),
    ("math.degrees(x)", 0.0, 0.0, 1.0, 0.0, 180.0 / math.pi),
    ("7.0", 0.0, 0.0, 1.0, 1.0, 0.0),
    ("3.0 * x if x != 0.0 else 0.0", 0.0, 0.0, 1.0, 0.0, 3.0),
    ("3.0 * x if x != 0.0 else 0.0", 0.0, 0.0, 0.0, 1.0, 0.0),
    ("0.0 if x == y else x * x - y * y", 2.0, 2.0, 1.0, 0.0, 4.0),
    ("0.0 if x == y else x * x - y * y", 2.0, 2.0, 1.0, 1.0, 0.0),
    ("0.0 if not (x != 0.0 or y != 0.0) else x + 2.0 * y", 0.0, 0.0, 0.0, 1.0, 2.0),
    ("1.0 if x == 0.0 else math.sin(x) / x", 0.0, 0.0, 1.0, 0.0, NAN),
    ("1.0 if x == 0.0 else math.sin(x) / x", 0.0, 0.0, 0.0, 1.0, 0.0),
]
OF_MATH = [  # functions of math, and their arguments
        *((name, x) for name in ("sin", "cos", "tan", "atan", "exp", "expm1", "sinh", "cosh", "tanh", "asinh")
          for x in (-2.2, -1e-3, 0.0, 0.7, 3.0)),
        *((name, x) for name in ("log", "log10", "log2", "sqrt", "gamma", "lgamma")
          for x in (1e-3, 0.7, 3.5, 40.0)),
        *((name, x) for name in ("asin", "acos", "atanh", "erf", "erfc", "log1p")
          for x in (-0.99, -0.3, 0.0, 0.999)),
        *(("acosh", x) for x in (1.0001, 2.0, 30.0)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "x", "y", "x_dot", "y_dot", "expected"), EDGES)
def test_the_tangent_of_an_expression_at_an_edge(
    machine_code, text: str, x: float, y: float, x_dot: float, y_dot: float, expected: float
) -> None:
    assert rate_of(machine_code[text], x, y, x_dot, y_dot) == pytest.approx(
        expected, rel=1e-14, abs=1e-15, nan_ok=True
    )


@pytest.mark.few(30)
@pytest.mark.parametrize(("name", "x"), OF_MATH)
def test_functions_against_mpmath(machine_code, name: str, x: float) -> None:
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 40
    named = {"lgamma": lambda v: mpmath.log(mpmath.gamma(v)), "log2": lambda v: mpmath.log(v, 2)}
    function = named.get(name) or getattr(mpmath, name)
    expected = float(mpmath.diff(function, mpmath.mpf(x)))
    assert rate_of(machine_code[f"math.{name}(x)"], x, 0.0, 1.0, 0.0) == pytest.approx(expected, rel=1e-13)


def test_digamma_is_nan_at_its_poles() -> None:
    assert all(math.isnan(digamma(x)) for x in (0.0, -1.0, -7.0, -INF, NAN))
    assert digamma(INF) == INF


@pytest.mark.parametrize("directions", [pytest.param(1, marks=pytest.mark.thorough), 3])
def test_random_programs_compiled_by_llvm_give_what_plain_python_gives(directions: int) -> None:
    count = many(10)
    outcomes = [d for first in range(0, count, 10) for d in differences(range(first, first + 10), directions)]
    assert len(outcomes) > 1.5 * count
    assert not list(map(str, filter(None, outcomes)))


def test_random_programs_compiled_by_c_give_what_plain_python_gives() -> None:
    count = many(6)
    outcomes = list(differences(range(60, 60 + count), 1, BY_C))
    assert len(outcomes) > 1.5 * count
    assert not list(map(str, filter(None, outcomes)))


def test_the_values_of_a_tangent_are_those_of_its_function() -> None:
    count = many(100)
    outcomes = list(value_differences(range(count)))
    assert len(outcomes) > 1.5 * count
    assert not list(map(str, filter(None, outcomes)))


def test_random_programs_against_differences_of_sixth_order() -> None:
    count = many(25)
    outcomes = list(slope_differences(range(count)))
    assert len(outcomes) > 6 * count
    assert not list(map(str, filter(None, outcomes)))


def test_a_tangent_of_three_directions_has_the_bytes_of_three_tangents() -> None:
    body = "    for i in range(3):\n        out[i] = math.sin(a[i] * x) / a[~i]\n"
    source = f"import math\ndef f(x, a, out):\n{body}"
    function = run_source(source)["f"]
    single, single_letters = tangent_function(function, "fFF>v")
    block, block_letters = tangent_function(function, "fFF>v", 3)
    assert (single_letters, block_letters) == ("fFFfFF>v", "fFFFFF>v")
    a, x_dot, a_dot = np.array([0.3, 1.0, 2.0]), np.array([1.0, 0.0, -2.0]), np.arange(9.0).reshape(3, 3)
    out_dot = np.zeros(9)
    compiled(block, block_letters)(0.7, a, np.zeros(3), x_dot, a_dot.ravel(), out_dot)
    for k in range(3):
        one = np.zeros(3)
        compiled(single, single_letters)(0.7, a, np.zeros(3), x_dot[k], a_dot[k].copy(), one)
        assert one.tobytes() == out_dot[3 * k : 3 * k + 3].tobytes()


def stiffening(x):
    return x * x * x


def softening(x):
    return x * x * x


@tangent_of(softening)
def softening_tangent(x, x_dot):
    return -3.0 * x * x * x_dot  # with the wrong sign, so that a call of it is noticed


def test_a_tangent_of_an_author_replaces_the_derived_one() -> None:
    source = (
        "def f(x):\n    return 2.0 * stiffening(x), 2.0 * softening(x)\n"
        "def g(x):\n    a, b = f(x)\n    return a + 10.0 * b\n"
    )
    space: dict[str, Any] = {"stiffening": stiffening, "softening": softening}
    tangent, letters = tangent_function(run_source(source, space)["g"], "f>f")
    rate = np.zeros(1)
    assert compiled(tangent, letters)(2.0, 1.0, rate) == 176.0
    assert rate[0] == 24.0 - 240.0


def test_a_function_without_a_tangent_is_refused_with_the_line() -> None:
    space: dict[str, Any] = {"call": indirect_call("f>f")}
    function = run_source(
        "def f(address, x):\n    y = 2.0 * x\n    return call(address, (y,))\n", space, "law"
    )["f"]
    with pytest.raises(NoTangentError, match=r"<law \d+>:3.*differentiated"):
        tangent_function(function, "if>f")


def test_jumps_kinks_and_decisions_are_listed_with_their_lines() -> None:
    source = (
        "import math\n"
        "def f(x, out):\n"
        "    n = math.floor(x)\n"
        "    if x > 1.0:\n"
        "        out[0] = abs(x) + n\n"
        "    else:\n"
        "        out[0] = x // 2.0\n"
        "    for i in range(3):\n"
        "        if i > 1:\n"
        "            out[0] += i\n"
    )
    notes = derivative_notes(run_source(source, label="law")["f"], (REAL, View(REAL)))
    assert [(note.line, note.text.split(":")[0]) for note in notes] == [
        (3, "a whole number is made of what varies"),
        (4, "`>` decides by what varies"),
        (5, "abs() has a kink"),
        (7, "`//` jumps"),
    ]


def jumps_in_many_ways(x: float, out: Any) -> float:
    n = 0
    while n < x:
        n += 1
        if n > 5:
            break
    else:
        n += 10
    out[0] = math.floor(x) + (2.0 if x > 1.5 else 3.0) + x // 0.75
    return 1.0 * n


@pytest.mark.parametrize("coder", [None, BY_LLVM, BY_C], ids=["plain", "llvm", "c"])
def test_a_tangent_that_refuses_jumps(coder: Any) -> None:
    """It raises if x varies and is whole, 1.5 or a multiple of 0.75; elsewhere it computes as any other."""
    tangents = []
    for refuses_jumps in (False, True):
        tangent, signature = tangent_function(jumps_in_many_ways, "fF>f", refuses_jumps=refuses_jumps)
        assert signature == "fFfFF>f"
        tangents.append(tangent if coder is None else compiled(tangent, signature, coder))
    for x in (0.1, 0.75, 1.0, 1.2, 1.5, 2.0, 2.0 - 2e-16, 2.5, 3.0):
        jumps = x in (0.75, 1.5) or abs(x - round(x)) < 1e-12
        for rate in (0.0, 1.0):
            outcomes = []
            for tangent in tangents:
                out, dots = np.zeros(1), np.full(2, 7.0)
                if tangent is tangents[1] and jumps and rate != 0.0:
                    with pytest.raises(ValueError, match="vary|varies|move apart"):
                        tangent(x, out, rate, dots[:1], dots[1:])
                    continue
                value = tangent(x, out, rate, dots[:1], dots[1:])
                outcomes.append((value, out[0], *dots))
            assert len(set(outcomes)) == 1


def truncated(x: float) -> float:
    return 2.0 * math.trunc(x)


@pytest.mark.parametrize("x", [0.0, -0.0, 0.5, -0.5, 1.5, 1.0, -1.0, 2.0])
def test_rounding_towards_zero_does_not_jump_at_zero(x: float) -> None:
    tangent, signature = tangent_function(truncated, "f>f", refuses_jumps=True)
    assert signature == "ffF>f"
    dot = np.full(1, 7.0)
    if abs(x) in (1.0, 2.0):
        with pytest.raises(ValueError, match="varies"):
            tangent(x, 1.0, dot)
    else:
        assert (tangent(x, 1.0, dot), dot[0]) == (2.0 * math.trunc(x), 0.0)
    assert (tangent(x, 0.0, dot), dot[0]) == (2.0 * math.trunc(x), 0.0)
