"""Derivatives along the steps of each integration method, at ends of steps and at rows inside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from derivative_parts import (
    EXACT,
    Ball,
    Held,
    Kinked,
    Oscillator,
    Relay,
    differentiated,
    ends,
    slopes_of_ball,
)

import cosim


@dataclass(frozen=True)
class Trial:
    """How a method runs, and how far its derivatives may be off the exact ones: by its own error."""

    fixed_step: float | None
    tolerance: float


FIRST_ORDER = Trial(2e-3, 1e-2)
SECOND_ORDER = Trial(2e-3, 1e-5)
FOURTH_ORDER = Trial(1e-2, 1e-8)
ERROR_CONTROL = Trial(None, 1e-7)
METHODS = {
    **dict.fromkeys(("explicit_euler", "semi_implicit_euler", "implicit_euler"), FIRST_ORDER),
    **dict.fromkeys(("heun", "velocity_verlet", "trapezoid", "generalized_alpha"), SECOND_ORDER),
    **dict.fromkeys(("runge_kutta_4", "yoshida_4"), FOURTH_ORDER),
    **dict.fromkeys(("runge_kutta_merson", "bogacki_shampine", "dormand_prince"), ERROR_CONTROL),
    **dict.fromkeys(("dormand_prince_853", "esdirk43", "radau3", "radau5", "bdf"), ERROR_CONTROL),
}
COVERED_ELSEWHERE = (
    "semi_implicit_euler",
    "heun",
    "yoshida_4",
    "bogacki_shampine",
    "dormand_prince_853",
    "esdirk43",
)
"""Methods of one family with another one here, or in a test below."""
SLOW = ("implicit_euler", "trapezoid", "radau3", "bdf", "generalized_alpha")
THOROUGH = (*COVERED_ELSEWHERE, *SLOW)


@pytest.mark.parametrize(
    "method", [pytest.param(name, marks=[pytest.mark.thorough] * (name in THOROUGH)) for name in METHODS]
)
def test_along_the_steps_of_every_method(method: str) -> None:
    """dx/dk = -t sin(t) / 2 and dx/dx0 = cos t, at ends of steps and inside; x is linear in x0.

    So dx/dx0 is x, to rounding: the derivative is that of what the method has computed.
    """
    step, tolerance = METHODS[method].fixed_step, METHODS[method].tolerance
    options = {"accuracy": 1e-9} if step is None else {"fixed_step": step}
    model = cosim.Model("m")
    model.add(Oscillator(), "x")
    by = ["x.k", "x.x", "x.v"]
    result = model.simulate(
        until=3.0, derivatives=by, output_interval=0.37, integrator=f"integrators.{method}", **options
    )
    t = result.time
    assert result.derivative("x.x", "x.k") == pytest.approx(-0.5 * t * np.sin(t), abs=tolerance)
    assert result.derivative("x.z", "x.v") == pytest.approx(1.0 - np.cos(t), abs=tolerance)
    is_exact = method != "generalized_alpha"  # its first acceleration counts as fixed
    assert result.derivative("x.x", "x.x") == pytest.approx(
        result["x.x"], abs=1e-12 if is_exact else tolerance
    )
    assert not result.findings


@pytest.mark.parametrize(
    "method",
    ["dormand_prince", "radau5", *(pytest.param(n, marks=pytest.mark.thorough) for n in ("esdirk43", "bdf"))],
)
def test_a_bouncing_ball_with_implicit_methods_and_another_explicit_one(method: str) -> None:
    by = ["x.e", "x.g"]
    result = differentiated(Ball(), 2.0, by, integrator=f"integrators.{method}", accuracy=1e-10)
    assert ends(result, "x.height", by) == pytest.approx(slopes_of_ball(3, 2.0)[1:], rel=1e-8)


def test_a_variable_that_is_updated_at_every_step() -> None:
    """y is linear in a: dy/da = y / a."""
    result = differentiated(Held(), 1.0, ["x.a"], integrator="integrators.runge_kutta_4", fixed_step=0.125)
    assert result["x.y"][-1] == pytest.approx(2.0 * (1.0 - 0.875**8), rel=1e-12)
    assert result.derivative("x.y", "x.a") == pytest.approx(0.5 * result["x.y"], rel=EXACT)
    assert result.derivative("x.m", "x.a")[-1] == pytest.approx(0.5 * result["x.m"][-1], rel=EXACT)


def test_a_row_inside_a_step_has_the_derivative_of_the_value_that_was_held_there() -> None:
    result = differentiated(Held(), 1.0, ["x.a"])
    assert len(np.unique(result["x.m"])) > 2
    assert result.derivative("x.m", "x.a") == pytest.approx(0.5 * result["x.m"], rel=EXACT)


def test_a_row_inside_a_step_has_the_derivatives_of_delayed_values() -> None:
    """All signals are linear in a, also those that are remembered within the step in which a row lies."""
    model = cosim.Model("m")
    model.add(Held(), "x")
    model.add("measures.delay", "late", source="x.m", delay=0.08)
    model.add("measures.delay", "later", source="x.y", delay=0.05)
    settings = {"integrator": "integrators.runge_kutta_4", "fixed_step": 0.04}
    result = model.simulate(until=1.0, derivatives=["x.a"], output_interval=0.01, **settings)
    assert result.statistics["steps"] < 60  # so rows lie inside steps
    for of in ("x.m", "x.y", "late", "later"):
        assert len(np.unique(result[of])) > 2
        assert result.derivative(of, "x.a") == pytest.approx(0.5 * result[of], rel=EXACT, abs=EXACT)


def test_a_run_with_derivatives_is_the_run_without() -> None:
    """But for the times of events, which without derivatives are those of the isolation window."""
    plain, carried = (differentiated(Relay(), 1.5, by) for by in ([], ["x.a"]))
    assert [e.name for e in plain.events] == [e.name for e in carried.events]
    assert carried["x.y"] == pytest.approx(plain["x.y"], abs=1e-7)
    plain, carried = (differentiated(Kinked(), 0.6, by) for by in ([], ["x.c"]))  # it has no events
    assert np.array_equal(plain["x.y"], carried["x.y"])
    assert np.array_equal(plain.time, carried.time)


@pytest.mark.parametrize("option", ["derivatives", "gradient"])
def test_a_run_with_derivatives_has_the_counts_of_one_without_and_changes_none(option: str) -> None:
    model = cosim.Model("m")
    model.add(Oscillator(), "x")
    counts = []
    for options in ({}, {option: ["x.k"]}, {}):
        statistics = model.simulate(until=3.0, output_interval=0.5, **options).statistics
        counts.append([statistics["integrator_steps"], statistics["evaluations"]])
    assert counts[0] == counts[1] == counts[2]
    assert min(counts[0]) > 0
