"""Implicit methods that an author brings: one kernel function, and the contract is kept."""

from __future__ import annotations

import math

import author_implicit
import author_third_order
import numpy as np
import pytest

import cosim
from cosim.testing import IntegratorContract
from cosim_integrators.kit import DiagonallyImplicitIntegrator, ImplicitStepIntegrator


class TestRos2(IntegratorContract):
    make = author_implicit.Ros2


class TestBdf2(IntegratorContract):
    make = author_implicit.Bdf2


@pytest.mark.thorough
class TestRos3p(IntegratorContract):
    make = author_third_order.Ros3p


@pytest.mark.thorough
class TestAm3(IntegratorContract):
    make = author_third_order.Am3


@pytest.mark.thorough
def test_what_changes_with_time_is_exact_to_the_second_power() -> None:
    """Of a method of order 3 solutions that are cubics in time are exact."""
    TestRos3p().test_polynomials_are_exact()


def test_a_method_that_begins_lower_says_so() -> None:
    assert not author_third_order.Am3.capabilities.restarts_cheaply
    assert author_implicit.Bdf2.capabilities.restarts_cheaply


@pytest.mark.thorough
def test_one_that_lies_about_it_fails_the_kit() -> None:
    TestAm3().test_dense_output_has_its_order()
    lying = type("Lying", (IntegratorContract,), {"make": type("Lie", (author_third_order.Am3,), LIE)})
    with pytest.raises(AssertionError, match="error inside steps"):
        lying().test_dense_output_has_its_order()


LIE = {"take": author_third_order.take_am3, "restarts_cheaply": True}


class Forced(cosim.Component):
    """A stiff part beside a slow one, driven over time. Law: x' = -k (x - cos t) - sin t, v' = -v."""

    x = cosim.auxiliary_state(start=1.0)
    v = cosim.auxiliary_state(start=1.0)
    k = cosim.parameter(unit="1/s", default=1e4)

    @cosim.kernel
    def derivatives(x, v, k, t, x_dot, v_dot):
        x_dot[0] = -k * (x - math.cos(t)) - math.sin(t)
        v_dot[0] = -v


@pytest.mark.parametrize("cls", [author_implicit.Ros2, author_implicit.Bdf2])
def test_stiff_parts_cost_no_steps(cls: type[ImplicitStepIntegrator]) -> None:
    model = cosim.Model("m")
    model.add(Forced, "p")
    result = model.simulate(until=2.0, integrator=cls(accuracy=1e-5))
    assert abs(result["p.x"] - np.cos(result.time)).max() < 1e-4
    assert abs(result["p.v"] - np.exp(-result.time)).max() < 1e-4
    assert result.statistics["steps"] < 4000


def step(system, method, t, t_end):  # type: ignore[no-untyped-def]
    return 0


def wrong(system, t):  # type: ignore[no-untyped-def]
    return 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"order": 2, "take": 5}, "take is 5, needs a function: take(system, method, t, t_end)"),
        ({"order": 2, "take": wrong}, "take(system, t): needs the arguments system, method, t, t_end"),
        ({"take": step}, "order is 0, needs a whole number, 1 at least"),
        ({"order": 2, "take": step, "vectors": 1.5}, "vectors is 1.5, needs a whole number, 0 at least"),
        ({"order": 2, "take": step, "error_exponent": True}, "error_exponent is True, needs a whole number"),
        ({"order": 2, "take": step, "history": 1}, "history is kept by nothing: write keep("),
        ({"order": 2, "take": step, "capabilities": {}}, "capabilities is {}, needs cosim.kit.Capabilities("),
    ],
)
def test_mistakes_are_named_where_the_class_is_made(body: dict[str, object], said: str) -> None:
    with pytest.raises(cosim.ContractError) as raised:
        type("Wrong", (ImplicitStepIntegrator,), body)
    assert said in str(raised.value)


def test_a_tableau_of_another_kind_is_named() -> None:
    explicit = cosim.registry().get("integrator", "integrators.heun").tableau
    with pytest.raises(cosim.ContractError, match="ButcherTableau, needs a Diagonal"):
        type("Wrong", (DiagonallyImplicitIntegrator,), {"tableau": explicit})


def test_without_an_estimate_steps_are_fixed() -> None:
    cls = type("Fixed", (ImplicitStepIntegrator,), {"order": 1, "take": step})
    with pytest.raises(cosim.ModelError, match="fixed_step.*missing: this method"):
        cls()


def test_statistics_that_are_none_are_named() -> None:
    class Counting(author_implicit.Ros2):
        """Answers its statistics as a dictionary."""

        statistics = property(lambda self: {"steps": 1})  # type: ignore[assignment]

    model = cosim.Model("m")
    model.add(Forced, "p")
    with pytest.raises(cosim.ContractError, match="Counting.statistics is {'steps': 1}, needs a cosim"):
        model.simulate(until=0.1, integrator=Counting())
