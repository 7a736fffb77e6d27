"""Symbols stand for values while a system is built; kernel functions are written from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim import kit
from cosim_dynamics import SVal, cos, sin, sqrt
from cosim_dynamics.symbol import SymbolGraph
from cosim_dynamics.symbol_kernel import write_kernel

SIGNATURE = "fFFFIFFIii>v"


def run(results, values):
    """Evaluate results for one row of values that lie in p; return them and the kernel."""
    kernel = write_kernel("f", results, dict.fromkeys(values, "p"))
    names = list(values)
    p = np.array([values[n] for n in names])
    ints = np.array([*(names.index(name) for name, _ in kernel.inputs), 1], dtype=np.int64)
    empty, c = np.zeros(1), np.zeros(1 + len(results))
    kit.compile_function(kernel.function, SIGNATURE)(
        0.0, empty, p, empty, np.zeros(1, np.int64), empty, c, ints, 0, 1
    )
    return c[1:].tolist(), kernel


def test_a_kernel_computes_what_the_expression_says():
    graph = SymbolGraph()
    a, b = graph.slot("a"), graph.slot("b")
    results = [a * b + sin(a) / sqrt(b), -(a - 2.0), cos(3.0 - a) * a**3, 1.0 - a, -1.0 * b, 7.0]
    x, y = 0.4, 2.5
    expected = [x * y + math.sin(x) / math.sqrt(y), -(x - 2), math.cos(3 - x) * x**3, 1 - x, -y, 7.0]
    assert run(results, {"a": x, "b": y})[0] == pytest.approx(expected, rel=1e-15)


def test_shared_expressions_are_computed_once():
    graph = SymbolGraph()
    a, b = graph.slot("a"), graph.slot("b")
    kernel = run([(a + b) * (b + a), (b + a) * 2.0], {"a": 1.0, "b": 2.0})[1]
    assert kernel.source.count(" + v") == 1


def test_the_same_text_gives_the_same_function():
    kernels = [write_kernel("f", [SymbolGraph().slot("a") * 2.0], {"a": "p"}) for _ in range(2)]
    assert kernels[0].function is kernels[1].function


def test_operations_with_zero_and_one_leave_no_code():
    a = SymbolGraph().slot("a")
    assert a * 1.0 is a
    assert a + 0.0 is a
    assert a * 0.0 == 0.0
    assert a - a == 0.0
    assert -1.0 * (-a) is a


def test_arrays_of_symbols_work_like_arrays():
    graph = SymbolGraph()
    axis = np.array([graph.slot("a"), graph.slot("b")], dtype=object)
    assert (2.0 * axis)[1] is 2.0 * graph.slot("b")
    assert np.sin(axis)[0] is sin(graph.slot("a"))
    assert (np.float64(2.0) * graph.slot("a")) is 2.0 * graph.slot("a")


def test_s_vals_take_symbols_as_coefficients():
    r = SymbolGraph().slot("r")
    s = SVal.acceleration(1) - r * SVal.acceleration(0) + r * r
    assert s.coefficient(0) is -r
    assert s.bias is r * r


@pytest.mark.parametrize(
    ("misuse", "text"),
    [
        (lambda r: 1.0 if r > 0.0 else 2.0, "branching on a value"),
        (lambda r: 1.0 if r else 2.0, "branching on a value"),
        (lambda r: 1.0 if r == 0.0 else 2.0, "branching on a value"),
        (lambda r: math.sin(r), "use sin, cos and sqrt of cosim_dynamics"),
        (lambda r: r**0.5, "sqrt"),
        (lambda r: abs(r), "turning a value into a number"),
    ],
)
def test_the_value_of_a_symbol_is_refused_with_the_line(misuse, text):
    with pytest.raises(cosim.ContractError) as caught:
        misuse(SymbolGraph().slot("r"))
    message = str(caught.value)
    assert text in message
    assert "test_symbol.py:" in message
    assert "lambda r" in message


def test_symbols_of_two_components_cannot_be_combined():
    with pytest.raises(cosim.ContractError, match="two components"):
        SymbolGraph().slot("a") + SymbolGraph().slot("a")


def test_infinite_results_are_refused():
    with pytest.raises(cosim.ContractError, match="finite number"):
        write_kernel("f", [math.inf], {})
