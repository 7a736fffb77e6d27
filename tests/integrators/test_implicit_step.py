"""An author writes an implicit method as one kernel function; such methods keep the contract."""

from __future__ import annotations

import math

import author_implicit
import author_third_order
import numpy as np
import pytest

import cosim
from cosim.testing import IntegratorContract
from cosim_integrators.kit import DiagonallyImplicitIntegrator, ImplicitStepIntegrator


class Forced(cosim.Component):
    """A stiff and driven state, and a slow one. Law: x' = -k (x - cos t) - sin t, v' = -v."""

    x = cosim.auxiliary_state(start=1.0)
    v = cosim.auxiliary_state(start=1.0)
    k = cosim.parameter(unit="1/s", default=1e4)

    @cosim.kernel
    def derivatives(x, v, k, t, x_dot, v_dot):
        x_dot[0] = -k * (x - math.cos(t)) - math.sin(t)
        v_dot[0] = -v


def do_nothing(system, method, t, t_end):  # type: ignore[no-untyped-def]
    return 0


def with_two_arguments(system, t):  # type: ignore[no-untyped-def]
    return 0


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
def test_a_method_of_order_3_is_exact_for_cubics_in_time() -> None:
    TestRos3p().test_polynomials_are_exact()


def test_restarts_of_a_method_with_history_are_not_cheap() -> None:
    assert not author_third_order.Am3.capabilities.restarts_cheaply
    assert author_implicit.Bdf2.capabilities.restarts_cheaply


@pytest.mark.thorough
def test_the_kit_finds_a_false_claim_of_cheap_restarts() -> None:
    TestAm3().test_dense_output_has_its_order()
    body = {"take": author_third_order.take_am3, "restarts_cheaply": True}
    lying = type("Lying", (IntegratorContract,), {"make": type("Lie", (author_third_order.Am3,), body)})
    with pytest.raises(AssertionError, match="error inside steps"):
        lying().test_dense_output_has_its_order()


@pytest.mark.parametrize("cls", [author_implicit.Ros2, author_implicit.Bdf2])
def test_stiffness_does_not_limit_the_step(cls: type[ImplicitStepIntegrator]) -> None:
    model = cosim.Model("m")
    model.add(Forced, "p")
    result = model.simulate(until=2.0, integrator=cls(accuracy=1e-5))
    assert abs(result["p.x"] - np.cos(result.time)).max() < 1e-4
    assert abs(result["p.v"] - np.exp(-result.time)).max() < 1e-4
    assert result.statistics["steps"] < 4000


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"order": 2, "take": 5}, "take is 5, needs a function: take(system, method, t, t_end)"),
        (
            {"order": 2, "take": with_two_arguments},
            "take(system, t): needs the arguments system, method, t, t_end",
        ),
        ({"take": do_nothing}, "order is 0, needs a whole number, 1 at least"),
        (
            {"order": 2, "take": do_nothing, "vectors": 1.5},
            "vectors is 1.5, needs a whole number, 0 at least",
        ),
        (
            {"order": 2, "take": do_nothing, "error_exponent": True},
            "error_exponent is True, needs a whole number",
        ),
        ({"order": 2, "take": do_nothing, "history": 1}, "history is kept by nothing: write keep("),
        (
            {"order": 2, "take": do_nothing, "capabilities": {}},
            "capabilities is {}, needs cosim.kit.Capabilities(",
        ),
    ],
)
def test_mistakes_are_reported_when_the_class_is_defined(body: dict[str, object], message: str) -> None:
    with pytest.raises(cosim.ContractError) as raised:
        type("Wrong", (ImplicitStepIntegrator,), body)
    assert message in str(raised.value)


def test_a_tableau_of_an_explicit_method_is_refused() -> None:
    explicit = cosim.registry().get("integrator", "integrators.heun").tableau
    with pytest.raises(cosim.ContractError, match="ButcherTableau, needs a Diagonal"):
        type("Wrong", (DiagonallyImplicitIntegrator,), {"tableau": explicit})


def test_a_method_without_an_error_estimate_needs_a_fixed_step() -> None:
    cls = type("Fixed", (ImplicitStepIntegrator,), {"order": 1, "take": do_nothing})
    with pytest.raises(cosim.ModelError, match="fixed_step.*missing: this method"):
        cls()


def test_statistics_of_a_wrong_type_are_an_error() -> None:
    class Counting(author_implicit.Ros2):
        """Its statistics are a dictionary."""

        statistics = property(lambda self: {"steps": 1})  # type: ignore[assignment]

    model = cosim.Model("m")
    model.add(Forced, "p")
    with pytest.raises(cosim.ContractError, match="Counting.statistics is {'steps': 1}, needs a cosim"):
        model.simulate(until=0.1, integrator=Counting())
