"""Delayed signals of any amplitude: each is as exact as one of size 1, and rounding costs nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim.component.history import LARGE, ORDINARY, UNKNOWN, ZERO, exponent_of_rounding, exponent_of_size

DELAY, UNTIL = 0.7, 6.0


class Small(cosim.Component):
    """Signals of one size beside states of size 1, and one that is nothing but rounding."""

    x = cosim.auxiliary_state()
    v = cosim.auxiliary_state(start=1.0)
    fading = cosim.auxiliary_state(start=1.0)
    size = cosim.parameter(default=1.0)
    wave = cosim.output()
    square = cosim.output()
    rounding = cosim.output()
    nothing = cosim.output()

    @cosim.kernel
    def derivatives(x, v, fading, x_dot, v_dot, fading_dot):
        x_dot[0] = 3.0 * v
        v_dot[0] = -3.0 * x
        fading_dot[0] = -0.01 * fading

    @cosim.kernel
    def outputs(t, size, x, fading, wave, square, rounding, nothing):
        wave[0] = size * math.sin(6.0 * t)
        square[0] = size * x * x
        rounding[0] = (fading + 1.0) - 1.0 - fading
        nothing[0] = 0.0 * size


class Scaled(cosim.Component):
    """An oscillator of any amplitude beside one of size 1."""

    x = cosim.auxiliary_state()
    v = cosim.auxiliary_state(start=1.0)
    other = cosim.auxiliary_state(start=1.0)
    other_v = cosim.auxiliary_state()

    @cosim.kernel
    def derivatives(x, v, other, other_v, x_dot, v_dot, other_dot, other_v_dot):
        x_dot[0] = 3.0 * v
        v_dot[0] = -3.0 * x
        other_dot[0] = -2.0 * other_v
        other_v_dot[0] = 2.0 * other


def delayed(part, source, integrator, accuracy):
    """The times a delay before the rows, the delayed signal, and how many steps the run took."""
    model = cosim.Model("small")
    model.add(part, "part")
    model.add("measures.delay", "late", source=f"part.{source}", delay=DELAY)
    result = model.simulate(
        until=UNTIL, output_interval=UNTIL / 499, integrator=f"integrators.{integrator}", accuracy=accuracy
    )
    assert not result.findings
    return np.maximum(result.time - DELAY, 0.0), result["late"], result.statistics["steps"]


@pytest.mark.parametrize("amplitude", [1.0, ORDINARY, 1e-7, 1e-9])
@pytest.mark.parametrize("integrator", ["tsitouras", "dormand_prince_853", "bdf"])
def test_signals_of_any_amplitude_are_as_exact_as_one_of_size_1(integrator, amplitude):
    for source, exact in (("wave", lambda t: np.sin(6.0 * t)), ("square", lambda t: np.sin(3.0 * t) ** 2)):
        t, late, _ = delayed(Small(size=amplitude), source, integrator, 1e-6)
        assert np.abs(late - amplitude * exact(t)).max() <= 5e-6 * amplitude, source


@pytest.mark.parametrize("amplitude", [1.0, 1e-5, 1e-9])
def test_states_of_any_amplitude_are_as_exact_as_one_of_size_1(amplitude):
    for integrator in ("tsitouras", "dormand_prince_853"):
        t, late, _ = delayed(Scaled(v=amplitude), "x", integrator, 1e-6)
        assert np.abs(late - amplitude * np.sin(3.0 * t)).max() <= 1e-5 * amplitude, integrator


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince_853", "radau5"])
def test_what_stays_zero_or_rounding_costs_no_step(integrator):
    _, _, steps = delayed(Small(), "square", integrator, 1e-8)
    for source in ("nothing", "rounding"):
        _, late, with_delay = delayed(Small(), source, integrator, 1e-8)
        assert with_delay <= steps, source
        assert np.abs(late).max() <= (0.0 if source == "nothing" else 1e-15)


def test_exponents_at_the_edges():
    assert exponent_of_size(0.0) == exponent_of_size(math.nan) == exponent_of_size(math.inf) == ZERO
    assert exponent_of_size(5e-324) == ZERO
    assert exponent_of_size(-ORDINARY) == exponent_of_size(2.0) == LARGE
    assert exponent_of_size(np.nextafter(ORDINARY, 0.0)) == -10
    assert exponent_of_size(2.0**-30) == -30
    assert exponent_of_rounding(0.0) == ZERO
    assert exponent_of_rounding(2.0**-30) == -29
    assert exponent_of_rounding(1.0) == exponent_of_rounding(math.nan) == UNKNOWN
