"""Matrices: arguments of two axes, arrays that a function makes, and functions with the names of NumPy."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from language_tools import compiled, is_same

import cosim
from cosim.functions import clip, dot, interp, matmul, norm, sign, solve, transpose, where, zeros
from cosim.kit import missed_kinks
from cosim_compiler.called import Called
from cosim_compiler.code import BY_C, BY_LLVM, Coder
from cosim_compiler.sources.kernel_rules import rule_faults
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.tables import as_table

CODERS = pytest.mark.parametrize("coder", [BY_LLVM, BY_C], ids=["llvm", "c"])
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, math.nan, math.inf, -math.inf, 1e300)
TABLES = (
    ((0.0, 1.0, 2.0), (3.0, -1.0, 5.0)),
    ((1.0,), (2.0,)),
    ((0.0, 1.0, 1.0, 2.0), (0.0, 1.0, 3.0, 4.0)),
    ((0.0, 0.0, 0.0), (1.0, 2.0, -0.0)),
    ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0), (1.0, 0.0, math.inf, 2.0, math.nan, -1.0, -math.inf)),
    ((-math.inf, 0.0, math.inf), (1.0, 2.0, 3.0)),
    ((0.0, 1.0), (-0.0, -0.0)),
)


def functions_of_numbers(x: Any, low: Any, high: Any, out: Any) -> None:
    out[0] = clip(x, low, high)
    out[1] = sign(x)
    out[2] = where(x < low, x, high)


def interpolated(x: Any, xp: Any, fp: Any) -> Any:
    return interp(x, xp, fp)


def numpy_of_one_number(x: Any, low: Any, high: Any) -> list[float]:
    return [float(np.clip(x, low, high)), float(np.sign(x)), float(np.where(x < low, x, high))]


@CODERS
def test_functions_of_numbers_return_what_those_of_numpy_return(coder: Coder) -> None:
    called, out, plain = compiled(functions_of_numbers, "fffF>v", coder), np.zeros(3), np.zeros(3)
    for given in itertools.product(map(np.float64, NUMBERS), repeat=3):
        called(*given, out)
        functions_of_numbers(*given, plain)
        expected = numpy_of_one_number(*given)
        assert all(map(is_same, out, expected)) and all(map(is_same, plain, expected)), given


@CODERS
def test_interp_returns_what_that_of_numpy_returns(coder: Coder) -> None:
    called = compiled(interpolated, "fFF>f", coder)
    for (xp, fp), x in itertools.product(TABLES, [*NUMBERS, 0.25, 1.5, 3.5, 6.0, 7.0]):
        with np.errstate(all="ignore"):
            given, expected = (np.float64(x), np.array(xp), np.array(fp)), np.interp(x, xp, fp)
            assert is_same(called(*given), expected) and is_same(interpolated(*given), expected), given
    for xp, fp in (([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError) as error_of_numpy:  # noqa: PT011
            np.interp(0.5, xp, fp)
        for function in (called, interpolated):
            with pytest.raises(ValueError, match=f"^{error_of_numpy.value}$"):
                function(np.float64(0.5), np.array(xp), np.array(fp))


def functions_of_tables(a: Any, b: Any, v: Any, out: Any) -> Any:
    A, B = as_table(a, 3, 3), as_table(b, 3, 3)
    product, turned, left, right = zeros((3, 3)), zeros((3, 3)), zeros(3), zeros(3)
    matmul(A, B, product)
    transpose(product, turned)
    matmul(turned, v, left)
    matmul(left, B, right)
    product[-1, 0] += dot(left, right)
    solve(A, right, out)
    solve(product, B, turned)
    return norm(out) + turned[2, -2] + norm(turned[0]) + len(turned) + dot(A[1], v)


def numpy_of_tables(a: Any, b: Any, v: Any) -> tuple[float, Any]:
    A, B = a.reshape(3, 3), b.reshape(3, 3)
    product = A @ B
    left = product.T @ v
    right = left @ B
    product[-1, 0] += left @ right
    out, turned = np.linalg.solve(A, right), np.linalg.solve(product, B)
    found = np.linalg.norm(out) + turned[2, -2] + np.linalg.norm(turned[0]) + 3 + A[1] @ v
    return float(found), out


@CODERS
def test_functions_of_tables_compute_what_those_of_numpy_compute(coder: Coder) -> None:
    called = compiled(functions_of_tables, "FFFF>f", coder)
    draw = np.random.default_rng(5)
    for _ in range(50):
        a, b, v = draw.normal(size=9), draw.normal(size=9), draw.normal(size=3)
        a[:1] *= draw.choice([0.0, 1.0])  # a first pivot of zero needs an exchange of rows
        out, plain = np.zeros(3), np.zeros(3)
        found = called(a, b, v, out)
        assert found == functions_of_tables(a, b, v, plain) and out.tolist() == plain.tolist()
        expected = numpy_of_tables(a, b, v)
        assert np.allclose(found, expected[0], rtol=1e-6) and np.allclose(out, expected[1], rtol=1e-6)


@CODERS
def test_a_singular_table_is_the_error_of_numpy(coder: Coder) -> None:
    called = compiled(functions_of_tables, "FFFF>f", coder)
    for singular in (np.zeros(9), np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 0.0, 0.0, 1.0])):
        for function in (called, functions_of_tables):
            with pytest.raises(np.linalg.LinAlgError, match="^Singular matrix$"):
                function(singular, np.eye(3).ravel(), np.ones(3), np.zeros(3))


def calls_once_for_each(n: Any, out: Any) -> None:
    for i in range(n):
        add_to_own_array(i, out)


def add_to_own_array(i: Any, out: Any) -> None:
    own = zeros((2, 3))
    own[i % 2, i % 3] += 1.0 + i
    for row in range(own.shape[0]):
        for column in range(own.shape[1]):
            out[row * 3 + column] += own[row, column]


@CODERS
def test_an_array_that_a_function_makes_is_zero_in_each_call(coder: Coder) -> None:
    out, plain = np.zeros(6), np.zeros(6)
    compiled(calls_once_for_each, "iF>v", coder)(8, out)
    calls_once_for_each(8, plain)
    assert out.tolist() == plain.tolist() == [8.0, 5.0, 3.0, 4.0, 10.0, 6.0]


def arrays_of_no_length(out: Any) -> Any:
    own, none = zeros(0), zeros((0, 2))
    matmul(none, out, own)
    return norm(own) + dot(own, own) + len(none)


@CODERS
def test_arrays_without_elements(coder: Coder) -> None:
    assert compiled(arrays_of_no_length, "F>f", coder)(np.ones(2)) == arrays_of_no_length(np.ones(2)) == 0.0


# components


class Turned(cosim.Component):
    """Law: x' = turn x; y and z read `turn` as a flat array and as a table."""

    turn = cosim.parameter(shape=(2, 2), default=[[1.0, 2.0], [3.0, 4.0]])
    x = cosim.auxiliary_state(shape=2, start=[1.0, -1.0])
    y = cosim.output(shape=2)
    z = cosim.output(shape=(2, 2))

    @cosim.kernel
    def flat(turn, x, y):
        for i in range(2):
            y[i] = turn[2 * i] * x[0] + turn[2 * i + 1] * x[1]

    @cosim.kernel
    def by_rows(turn, x, x_dot):
        matmul(turn, x, x_dot)

    @cosim.kernel
    def both(turn, x, z):
        row = turn[1]
        for i in range(2):
            for j in range(2):
                z[i, j] = turn[j, i] * x[i] + row[j]


class WithKinks(cosim.Component):
    """Law: x_i' = max(P_01 x_i, 0.2) + cos 3t - |(P' x)_i|, with two kinks."""

    P = cosim.parameter(shape=(2, 2), default=[[0.0, 1.0], [0.5, 0.0]])
    x = cosim.auxiliary_state(shape=2, start=[1.0, -0.5])

    @cosim.kernel
    def law(t, P, x, x_dot):
        row, turned, y = P[0], zeros((2, 2)), zeros(2)
        transpose(P, turned)
        matmul(turned, x, y)
        for i in range(2):
            x_dot[i] = max(row[1] * x[i], 0.2) + math.cos(3.0 * t)
            x_dot[i] -= abs(y[i])


def test_a_kink_of_an_argument_is_located_and_one_of_an_own_array_is_reported_as_missed() -> None:
    assert len(WithKinks.kink_functions) == 2
    (missed,) = missed_kinks(WithKinks.kernels, WithKinks.arguments, WithKinks.declarations)
    assert missed == f"law:{WithKinks.kernels['law'].function.__code__.co_firstlineno + 7}"
    model = cosim.Model("kinks")
    model.add(WithKinks, "part")
    ends = []
    for accuracy in (1e-6, 1e-9):
        simulator = cosim.Simulator(model.build(), accuracy=accuracy)
        simulator.initialize()
        simulator.advance_to(2.0)
        ends.append(np.asarray(simulator.state["part.x"]))
    assert np.allclose(*ends, rtol=0.0, atol=1e-5)


def turned_state() -> cosim.State:
    model = cosim.Model("turned")
    model.add(Turned, "part")
    state = model.build().default_state()
    state.realize()
    return state


def test_an_argument_of_two_axes_may_be_read_flat_or_as_a_table() -> None:
    state = turned_state()
    assert state["part.y"].tolist() == [-1.0, -1.0]
    assert state["part.z"].tolist() == [[4.0, 7.0], [1.0, 0.0]]
    assert state.system is not None
    assert Turned.arguments["flat"][0].is_table is False
    assert Turned.arguments["by_rows"][0].is_table is True


PRINTED = """
from test_tables import turned_state
state = turned_state()
print(state["part.y"].tolist(), state["part.z"].tolist())
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "environment", [{"COSIM_COMPILER": "plain"}, {"COSIM_DEBUG": "1"}, {"COSIM_COMPILER": "llvm"}]
)
def test_tables_give_the_same_numbers_with_other_compilers(environment: dict[str, str]) -> None:
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", PRINTED],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "[-1.0, -1.0] [[4.0, 7.0], [1.0, 0.0]]", run.stderr


def refusal_of(body: str, **declared: Any) -> str:
    """The error for a class with a kernel function of this text."""
    arguments = ", ".join(dict.fromkeys([*declared, "y"]))
    source = f"def law({arguments}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    names = {name: globals()[name] for name in ("matmul", "zeros", "clip")}
    law = run_source(source, names, label="law")["law"]
    members = {"y": cosim.output(shape=(2, 2)), **declared, "law": cosim.kernel(law), "__doc__": "Law: y."}
    with pytest.raises(cosim.ContractError) as refused:
        type("Part", (cosim.Component,), members)
    return str(refused.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y[2, 0] = 1.0", "y has 2 rows and 2 columns, [2, 0] is outside"),
        ("y[0, -1] = 1.0", "y has 2 rows and 2 columns, a negative index is outside"),
        ("for i in range(2):\n    y[i, 2] = 1.0", "y has 2 rows and 2 columns, […, 2] is outside"),
        ("y[0, 0] = p[3]\ny[0, 1] = p[1, 1]", "p has 2 rows, [3] is outside"),
        ("y[0, 0] = v[0, 1]", "v has one axis: write v[i]"),
        ("y[0, 0] = cube[0, 1]", "cube has 3 axes: write cube[i], row by row"),
        ("y[0, 0] = free[0, 1]", "free has a shape that each part brings: write free[i * columns + j]"),
        ("y[0, 0] = 1.0\ny[0, 1] = 2.0\ny[1, 1] = 1.0", "y[1, 0] may not have been written here"),
    ],
)
def test_a_wrong_use_of_a_table_is_refused_where_the_class_is_made(body: str, message: str) -> None:
    declared = {
        "p": cosim.parameter(shape=(2, 2), default=[[1.0, 2.0], [3.0, 4.0]]),
        "v": cosim.parameter(shape=2, default=[1.0, 2.0]),
        "cube": cosim.parameter(shape=(2, 2, 2), default=np.ones((2, 2, 2)).tolist()),
        "free": cosim.parameter(shape=("m", "n")),
    }
    assert message in refusal_of(body, **declared)


def makes_array_in_loop(y: Any) -> None:
    for i in range(3):
        own = zeros(2)
        y[i] = own[0]


def returns_own_array(y: Any) -> Any:
    own = zeros(2)
    y[0] = own[1]
    return own


def returns_part_of_own_array() -> Any:
    return zeros(4)[1:3]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (makes_array_in_loop, "`zeros(2)` in a loop: make the array before it"),
        (returns_own_array, "`return own`: an array that a function makes ends with it"),
        (returns_part_of_own_array, "an array that a function makes ends with it"),
    ],
)
def test_an_array_in_a_loop_or_as_a_result_breaks_a_rule(function: Any, message: str) -> None:
    assert any(message in fault for fault in rule_faults(function))


def of_a_length(n: Any) -> Any:
    return zeros(n)[0]


def too_large() -> Any:
    return zeros((100, 100))[0, 0]


@pytest.mark.parametrize(
    ("function", "signature", "message"),
    [
        (of_a_length, "i>f", "the lengths of an array are constants: write zeros(3)"),
        (too_large, ">f", "10000 numbers, at most 4096"),
        (makes_array_in_loop, "F>v", "an array is made once, before the loop"),
        (returns_own_array, "F>v", "it returns no view: write into an argument"),
    ],
)
def test_a_wrong_array_is_refused_by_the_compiler(function: Any, signature: str, message: str) -> None:
    with pytest.raises(cosim.ContractError) as refused:
        compiled(function, signature)
    assert message in str(refused.value) and f"{Path(__file__).name}:" in str(refused.value)


def test_a_compiled_function_takes_a_table_and_no_flat_array() -> None:
    called: Called = compiled(element, "M>f")
    assert called(np.array([[1.0, 2.0], [3.0, 4.0]])) == 3.0
    with pytest.raises(TypeError, match="shape"):
        called(np.zeros(4))


def element(m: Any) -> Any:
    return m[1, 0]
