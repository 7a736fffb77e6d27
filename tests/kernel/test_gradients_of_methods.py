"""Gradients back along the steps of every integration method, against the tangents of the same steps."""

from __future__ import annotations

from typing import Any

import pytest
from derivative_parts import Ball, Counted, Held, Kinked, Oscillator, Relay
from gradient_checks import Rod, check_against_tangents, model_of

import cosim

FIXED, CONTROLLED = {"fixed_step": 0.05}, {"accuracy": 1e-7}
WITHOUT_CONTROL = ("explicit_euler", "semi_implicit_euler", "heun", "velocity_verlet", "runge_kutta_3")
WITHOUT_CONTROL += ("runge_kutta_4", "yoshida_4")
EXPLICIT = ("runge_kutta_merson", "bogacki_shampine", "tsitouras", "dormand_prince", "dormand_prince_853")
IMPLICIT = ("radau5", "bdf", "trapezoid", "esdirk43", "generalized_alpha")
METHODS = [
    *((name, FIXED) for name in (*WITHOUT_CONTROL, *IMPLICIT, "implicit_euler", "radau3")),
    *((name, CONTROLLED) for name in (*EXPLICIT, *IMPLICIT, "implicit_euler", "radau3")),
]


def methods(*quick: str) -> list[Any]:
    """All methods with their steps; a short run has those that are named."""
    return [
        pytest.param(name, steps, marks=() if name in quick else pytest.mark.thorough)
        for name, steps in METHODS
    ]


@pytest.mark.parametrize(("method", "steps"), methods("dormand_prince", "radau5"))
def test_an_oscillator_with_every_method(method: str, steps: dict[str, float]) -> None:
    options = {"until": 1.0, "output_interval": 0.013, "integrator": f"integrators.{method}", **steps}
    check_against_tangents(model_of(Oscillator()), ["x.k", "x.x", "x.v"], **options)


def implicit_methods(*quick: str) -> list[Any]:
    """Implicit methods with error control; a short run has those that are named."""
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.thorough, id=name) for name in IMPLICIT
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("method", implicit_methods("radau5"))
@pytest.mark.parametrize(
    ("part", "by", "until"),
    [
        (Ball, ["x.h0", "x.e", "x.g", "x.height"], 2.0),
        (Relay, ["x.a", "x.b", "x.c", "x.j", "x.y"], 1.5),
        (Counted, ["x.a", "x.s"], 1.5),
        (Held, ["x.a", "x.m"], 1.0),
        (Kinked, ["x.c", "x.y"], 2.0),
    ],
    ids=["ball", "relay", "counted", "held", "kinked"],
)
def test_events_with_implicit_methods(
    part: type[cosim.Component], by: list[str], until: float, method: str
) -> None:
    options = {"integrator": f"integrators.{method}", **CONTROLLED}
    close = 1e-8 if method == "generalized_alpha" else 1e-11  # divides by short steps
    check_against_tangents(model_of(part()), by, close, until=until, output_interval=until / 23, **options)


@pytest.mark.parametrize("method", implicit_methods("radau5"))
def test_sources_that_jump_and_bend_with_implicit_methods(method: str) -> None:
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add("signals.ramp", "r", start_time=0.3, duration=0.4, height=2.0)
    model.add("measures.integrate", "z", source="s")
    model.add("measures.integrate", "w", source="r")
    by = ["s.start_time", "s.height", "r.start_time", "r.duration"]
    options = {"until": 1.0, "output_interval": 0.07, "integrator": f"integrators.{method}", **CONTROLLED}
    close = 1e-9 if method == "radau5" else 1e-3  # at its kinks the others begin with first order
    assert model.gradient("z", by, **options).vector == pytest.approx([-2.0, 0.6, 0.0, 0.0], abs=close)
    assert model.gradient("w", by, **options).vector == pytest.approx([0.0, 0.0, -2.0, -1.0], abs=close)
    check_against_tangents(model, by, 1e-10, **options)


class Reaction(cosim.Component):
    """Law: Robertson's reaction; constants from 0.04 to 3e7."""

    k = cosim.parameter(shape=3, default=[0.04, 3e7, 1e4])
    y = cosim.auxiliary_state(shape=3, start=[1.0, 0.0, 0.0])

    @cosim.kernel
    def derivatives(k, y, y_dot):
        first = k[0] * y[0]
        second = k[1] * y[1] * y[1]
        third = k[2] * y[1] * y[2]
        y_dot[0] = third - first
        y_dot[1] = first - second - third
        y_dot[2] = second


@pytest.mark.few(1)
@pytest.mark.parametrize("accuracy", [1e-6, 1e-8])
@pytest.mark.parametrize("method", implicit_methods("radau5"))
def test_a_stiff_reaction(method: str, accuracy: float) -> None:
    """The derivative by k[0] is -4.247558767 at 40 s, computed by radau5 at an accuracy of 1e-11.

    An older Jacobian is good enough for Newton's method on values, but not for tangents.
    """
    options = {"until": 40.0, "output_interval": 4.0, "integrator": f"integrators.{method}"}
    model, by = model_of(Reaction()), ["x.k[0]", "x.k[1]", "x.k[2]", "x.y[0]"]
    result = model.simulate(derivatives=by, accuracy=accuracy, **options)
    tolerance = {"trapezoid": 3e-4, "generalized_alpha": 3e-4}.get(method, 1e-6)
    assert result.derivative("x.y", "x.k[0]")[-1][0] == pytest.approx(-4.247558767, rel=tolerance)
    check_against_tangents(model, by, close=1e-10, accuracy=accuracy, **options)


@pytest.mark.parametrize("method", implicit_methods())
def test_a_jacobian_that_is_a_band_with_implicit_methods(method: str) -> None:
    options = {"until": 0.1, "output_interval": 0.01, "integrator": f"integrators.{method}", "accuracy": 1e-6}
    check_against_tangents(model_of(Rod()), ["x.d[3]", "x.d[30]", "x.u[7]"], close=1e-10, **options)
