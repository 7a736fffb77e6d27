"""A finding reports derivatives that are inexact because the steps were chosen for the states alone."""

import math
from typing import Any

import pytest

import cosim
from cosim_mechanics import Multibody


class Pushed(cosim.Component):
    """Law: x' = v, v' = -k exp(-c x); at k = 0 x is a straight line."""

    k = cosim.parameter(default=0.0)
    c = cosim.parameter(default=5.0)
    unused = cosim.parameter(default=1.0)
    x = cosim.position(start=0.0)
    v = cosim.speed(start=1.0)

    @cosim.kernel
    def derivatives(k, c, x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -k * math.exp(-c * x)


class Spring(cosim.Component):
    """Law: x'' = pull - k x."""

    k = cosim.parameter(default=9.0)
    pull = cosim.parameter(default=0.0)
    x = cosim.position(start=0.0)
    v = cosim.speed(start=0.0)

    @cosim.kernel
    def derivatives(k, pull, x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = pull - k * x


def build(part: cosim.Component) -> cosim.System:
    model = cosim.Model("m")
    model.add(part, "m")
    return model.build()


@pytest.fixture(scope="module")
def pushed() -> cosim.System:
    return build(Pushed())


@pytest.fixture(scope="module")
def spring() -> cosim.System:
    return build(Spring())


def reported_errors(result: cosim.Result) -> dict[str, float]:
    """The relative errors that findings report, by the variable of the derivative."""
    errors = {}
    for finding in result.findings:
        assert finding.kind == "inexact derivative"
        variable = finding.witness.partition("/d(")[2][:-1]
        errors[variable] = float(finding.message.partition("about ")[2].partition(" of")[0])
    return errors


METHODS = [
    "dormand_prince",
    "runge_kutta_merson",
    "bogacki_shampine",
    "dormand_prince_853",
    "radau5",
    "esdirk43",
]


@pytest.mark.parametrize("method", METHODS)
def test_a_straight_line_whose_derivative_is_curved(pushed: cosim.System, method: str) -> None:
    """dx/dk = -t/c + (1 - exp(-c t)) / c^2 at k = 0."""
    options = {"until": 3.0, "output_interval": 3.0, "integrator": f"integrators.{method}", "accuracy": 1e-7}
    expected = -3.0 / 5.0 + (1.0 - math.exp(-15.0)) / 25.0
    result = cosim.simulate(pushed, derivatives=["m.k", "m.c", "m.unused"], **options)
    error = abs(result.derivative("m.x", "m.k")[-1] / expected - 1.0)
    errors = reported_errors(result)
    assert list(errors) == ["m.k"]
    assert error > 1e-6
    assert 0.01 * error < errors["m.k"] <= 1.0
    (finding,) = result.findings
    assert 0.0 <= finding.time < 3.0 and finding.witness in ("d(m.x)/d(m.k)", "d(m.v)/d(m.k)")
    assert "maximum_step" in finding.message
    # with short steps, as the finding advises, there is nothing to report
    in_short_steps = cosim.simulate(
        pushed, derivatives=["m.k", "m.c", "m.unused"], maximum_step=0.005, **options
    )
    assert in_short_steps.derivative("m.x", "m.k")[-1] == pytest.approx(expected, rel=1e-6)
    assert reported_errors(in_short_steps) == {}


def test_derivatives_that_are_zero_constant_or_linear_have_no_error(pushed: cosim.System) -> None:
    """They are exact in one step as in many."""
    by = ["m.unused", "m.c", "m.x", "m.v"]
    for options in ({}, {"initial_step": 3.0}, {"accuracy": 1e-12}):
        result = cosim.simulate(pushed, until=3.0, output_interval=3.0, derivatives=by, **options)
        assert not result.findings
        end_slopes = [result.derivative("m.x", path)[-1] for path in by]
        assert end_slopes == pytest.approx([0.0, 0.0, 1.0, 3.0], abs=1e-14)
        assert end_slopes[:2] == [0.0, 0.0]


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_a_body_at_rest_whose_derivative_oscillates(spring: cosim.System, size: float) -> None:
    """The steps grow although the derivative of the position by its start is cos(w t)."""
    state = spring.default_state()
    state["m.k"] = 9.0 * size
    options = {"until": 20.0 / math.sqrt(size), "output_interval": 20.0 / math.sqrt(size)}
    result = cosim.simulate(spring, state=state.copy(), derivatives=["m.x", "m.k"], **options)
    assert not result["m.x"].any()
    assert list(reported_errors(result)) == ["m.x"]
    assert abs(result.derivative("m.x", "m.x")[-1] - math.cos(60.0)) > 1e-3
    assert not result.derivative("m.x", "m.k").any()
    short_options = {**options, "maximum_step": 0.01 / math.sqrt(size)}
    result = cosim.simulate(spring, state=state.copy(), derivatives=["m.x", "m.k"], **short_options)
    assert result.derivative("m.x", "m.x")[-1] == pytest.approx(math.cos(60.0), abs=1e-5)
    assert reported_errors(result) == {}


def test_a_straight_line_with_a_spring_of_zero_stiffness(spring: cosim.System) -> None:
    """dx/dk = -t^3 / 6 is exact with a method of third order, and inexact with one of second order."""
    state = spring.default_state()
    state["m.k"], state["m.v"] = 0.0, 1.0
    options = {"until": 2.0, "output_interval": 2.0, "derivatives": ["m.k"]}
    exact = cosim.simulate(spring, state=state.copy(), **options)
    assert exact.derivative("m.x", "m.k")[-1] == pytest.approx(-8.0 / 6.0, rel=1e-13)
    assert not exact.findings
    inexact = cosim.simulate(spring, state=state.copy(), integrator="integrators.heun", **options)
    error = abs(inexact.derivative("m.x", "m.k")[-1] * 6.0 / 8.0 + 1.0)
    assert error > 1e-3 and reported_errors(inexact)["m.k"] > 0.1 * error


@pytest.mark.parametrize("accuracy", [1e-4, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("method", ["dormand_prince", "runge_kutta_merson", "dormand_prince_853"])
def test_nothing_is_reported_if_states_and_derivatives_vary_alike(
    spring: cosim.System, method: str, accuracy: float
) -> None:
    """The state oscillates, and so does its derivative, with a growing amplitude."""
    state = spring.default_state()
    state["m.x"] = 1.0
    by = ["m.k", "m.pull", "m.x", "m.v"]
    options = {"until": 10.0, "output_interval": 10.0, "integrator": f"integrators.{method}"}
    result = cosim.simulate(spring, state=state, derivatives=by, accuracy=accuracy, **options)
    expected = -10.0 * math.sin(30.0) / 6.0
    assert result.derivative("m.x", "m.k")[-1] == pytest.approx(expected, rel=100.0 * accuracy)
    assert not result.findings


def test_a_fixed_step_has_no_estimate(spring: cosim.System) -> None:
    options = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.5, "output_interval": 20.0}
    result = cosim.simulate(spring, until=20.0, derivatives=["m.x"], **options)
    assert abs(result.derivative("m.x", "m.x")[-1] - math.cos(60.0)) > 0.1
    assert not result.findings


NOT_ESTIMATED = {
    "the steps are fixed": {"fixed_step": 0.01, "integrator": "integrators.dormand_prince"},
    "Bdf has no estimate for a step by itself": {"integrator": "integrators.bdf"},
}


@pytest.mark.parametrize("options", [{}, {"integrator": "integrators.radau5"}])
def test_statistics_state_that_errors_are_estimated(spring: cosim.System, options: dict[str, Any]) -> None:
    result = cosim.simulate(spring, until=0.1, derivatives=["m.k"], **options)
    assert result.statistics["derivative_errors"] == "estimated"
    assert "derivative_errors" not in cosim.simulate(spring, until=0.1, **options).statistics


@pytest.mark.parametrize("reason", NOT_ESTIMATED)
def test_statistics_state_why_errors_are_not_estimated(spring: cosim.System, reason: str) -> None:
    result = cosim.simulate(spring, until=0.1, derivatives=["m.k"], **NOT_ESTIMATED[reason])
    assert result.statistics["derivative_errors"] == f"not estimated: {reason}"


def test_corrections_of_constraints_are_not_estimated() -> None:
    model = Multibody("m", gravity=(0, -9.81, 0))
    bob = model.body("bob", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", name="j", child=bob, q=(1, 0, 0, 0, 0, -1, 0))
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    result = cosim.simulate(model.build(), until=0.01, derivatives=["bob.mass"])
    expected = "not estimated: constraints correct the states after each step"
    assert result.statistics["derivative_errors"] == expected
