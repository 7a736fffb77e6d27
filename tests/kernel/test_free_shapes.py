"""Shapes with names: states, discrete variables, sources and matrices as long as the values passed."""

from __future__ import annotations

import numpy as np
import pytest

import cosim


class Linear(cosim.Component):
    """Law: x' = A x + B u; `count` counts each element at its own speed, `total` is x plus an offset."""

    u = cosim.source(shape="inputs")
    A = cosim.parameter(shape=("order", "order"))
    B = cosim.parameter(shape=("order", "inputs"))
    offset = cosim.parameter(shape="order+1", default=None)
    x = cosim.auxiliary_state(shape="order", start=1.5)
    count = cosim.discrete(dtype=int, shape="order")
    total = cosim.output(shape="order+1")

    @cosim.kernel
    def derivatives(x, u, A, B, x_dot):
        n, m = len(x), len(u)
        for i in range(n):
            x_dot[i] = 0.0
            for j in range(n):
                x_dot[i] += A[i * n + j] * x[j]
            for j in range(m):
                x_dot[i] += B[i * m + j] * u[j]

    @cosim.kernel
    def outputs(x, offset, total):
        for i in range(len(x)):
            total[i] = x[i] + offset[i]
        total[len(x)] = offset[len(x)]

    @cosim.every(0.25, does="discrete")
    def tick(count, count_next):
        for i in range(len(count)):
            count_next[i] = count[i] + i + 1


VALUES = {"A": [[0.0, 1.0], [-4.0, 0.0]], "B": [[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]], "offset": [1.0, 2.0, 3.0]}


def system(**values: object) -> cosim.System:
    model = cosim.Model("linear")
    model.add("measures.constant", "input", value=[1.0, 0.5, 7.0])
    model.add(Linear, "plant", u="input", **{**VALUES, **values})
    return model.build()


def test_a_linear_system_of_any_size() -> None:
    simulator = cosim.Simulator(system(), integrator="integrators.dormand_prince", accuracy=1e-10)
    simulator.advance_to(1.0)
    state = simulator.state.realize(cosim.Stage.REPORT)
    x = 0.5 + 1.0 * np.cos(2.0) + 0.75 * np.sin(2.0)  # x'' = -4 x + 2, x(0) = x'(0) = 1.5
    assert state["plant.x"][0] == pytest.approx(x, abs=1e-8)
    assert state["plant.total"] == pytest.approx([*(state["plant.x"] + [1.0, 2.0]), 3.0])
    assert state["plant.count"].tolist() == [4.0, 8.0]
    assert simulator.system.variables["plant.A"].shape == (2, 2)


def test_a_start_value_is_that_of_all_elements_or_of_each() -> None:
    assert system(x=3.0).default_state()["plant.x"].tolist() == [3.0, 3.0]
    assert system(x=[3.0, 4.0]).default_state()["plant.x"].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"B": [[1.0], [2.0], [3.0]]}, r"B has the shape \(3, 1\), A has the shape \(2, 2\)"),
        ({"A": [[1.0, 2.0]]}, "A has the shape"),
        ({"A": [1.0, 2.0]}, r"A has shape \(2,\), needs a list of rows of numbers"),
        ({"offset": [1.0, 2.0]}, "offset has 2 elements, .*3 is needed"),
        ({"x": [1.0, 2.0, 3.0]}, "x has 3 elements, .*2 is needed"),
    ],
)
def test_values_with_inconsistent_shapes_are_refused(wrong: dict[str, object], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        system(**wrong)


def test_a_source_with_the_wrong_number_of_elements_is_refused() -> None:
    with pytest.raises(cosim.ModelError, match="'input'.*3 elements; u takes 1"):
        system(B=[[0.0], [1.0]])


class Polynomial(cosim.Measure):
    """A polynomial of each element of its source."""

    source = cosim.source()
    coefficients = cosim.parameter(shape="terms")

    @cosim.kernel
    def evaluate(source, coefficients, value):
        value[0] = 0.0
        for i in range(len(coefficients)):
            value[0] = value[0] * source + coefficients[i]


def test_all_elements_of_a_source_use_the_same_coefficients() -> None:
    model = cosim.Model("elements")
    model.add("measures.constant", "input", value=[1.0, 0.5, 7.0])
    model.add(Linear, "plant", u="input", **VALUES)
    model.add(Polynomial, "one", source="plant.total[2]", coefficients=[1.0, 2.0])
    model.add(Polynomial, "all", source="plant.total", coefficients=[1.0, 0.0, 0.0, 2.0])
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    assert state["one"] == 5.0
    assert state["all"] == pytest.approx(state["plant.total"] ** 3 + 2.0)


def test_an_empty_list_is_refused() -> None:
    with pytest.raises(cosim.ModelError, match="list of numbers"):
        Polynomial(coefficients=[])
