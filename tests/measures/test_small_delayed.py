"""Delayed signals of any amplitude have the same relative error, and rounding costs no steps."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim.component.history import LARGE, ORDINARY, UNKNOWN, ZERO, exponent_of_floor, exponent_of_size

DELAY, UNTIL = 0.7, 6.0
METHODS = ["tsitouras", "dormand_prince", "dormand_prince_853", "radau5", "bdf"]
PROMISED = 10.0  # accuracies of the largest value


class Small(cosim.Component):
    """Small signals beside states of size 1: a wave, a square of a state, rounding alone, and zero."""

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


class Edges(cosim.Component):
    """Small signals: constant, growing from 0 like t^5, and one that fails if a state is negative."""

    clock = cosim.auxiliary_state()
    at_rest = cosim.auxiliary_state()
    other = cosim.auxiliary_state(start=1.0)
    size = cosim.parameter(default=1e-7)
    constant = cosim.output()
    growing = cosim.output()
    driven = cosim.output()
    guarded = cosim.output()

    @cosim.kernel
    def derivatives(other, clock_dot, at_rest_dot, other_dot):
        clock_dot[0] = 1.0
        at_rest_dot[0] = 0.0
        other_dot[0] = -3.0 * other

    @cosim.kernel
    def outputs(t, size, clock, at_rest, constant, growing, driven, guarded):
        constant[0] = size
        growing[0] = size * (t / 6.0) * (t / 6.0) * (t / 6.0) * (t / 6.0) * (t / 6.0)
        driven[0] = size * (clock / 6.0) * (clock / 6.0) * (clock / 6.0) * (clock / 6.0) * (clock / 6.0)
        if at_rest < 0.0:
            raise ValueError("at_rest is negative")
        guarded[0] = size * math.sin(6.0 * t) + at_rest


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
    """Return the delayed times of the rows, the delayed signal, and the number of steps."""
    model = cosim.Model("small")
    model.add(part, "part")
    model.add("measures.delay", "late", source=f"part.{source}", delay=DELAY)
    result = model.simulate(
        until=UNTIL, output_interval=UNTIL / 499, integrator=f"integrators.{integrator}", accuracy=accuracy
    )
    assert not result.findings
    return np.maximum(result.time - DELAY, 0.0), result["late"], result.statistics["steps"]


@pytest.mark.parametrize("amplitude", [1.0, ORDINARY, 1e-7, 1e-9])
@pytest.mark.parametrize("integrator", METHODS)
def test_errors_of_signals_are_relative_to_their_amplitude(integrator, amplitude):
    for source, exact in (("wave", lambda t: np.sin(6.0 * t)), ("square", lambda t: np.sin(3.0 * t) ** 2)):
        t, late, _ = delayed(Small(size=amplitude), source, integrator, 1e-6)
        assert np.abs(late - amplitude * exact(t)).max() <= 5e-6 * amplitude, source


@pytest.mark.parametrize("accuracy", [1e-4, 1e-9])
@pytest.mark.parametrize("integrator", METHODS)
def test_delayed_states_of_any_amplitude_take_the_same_steps(integrator, accuracy):
    steps_of_amplitudes = []
    for amplitude in (1e-5, 1e-7, 1e-9):
        t, late, steps = delayed(Scaled(v=amplitude), "x", integrator, accuracy)
        assert np.abs(late - amplitude * np.sin(3.0 * t)).max() <= PROMISED * accuracy * amplitude, amplitude
        steps_of_amplitudes.append(steps)
    assert max(steps_of_amplitudes) <= 1.05 * min(steps_of_amplitudes) + 1


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince_853", "radau5"])
def test_zero_and_rounding_cost_no_step(integrator):
    _, _, steps = delayed(Small(), "square", integrator, 1e-8)
    for source in ("nothing", "rounding"):
        _, late, with_delay = delayed(Small(), source, integrator, 1e-8)
        assert with_delay <= steps, source
        assert np.abs(late).max() <= (0.0 if source == "nothing" else 1e-14)


@pytest.mark.parametrize("integrator", METHODS)
def test_a_delayed_constant_is_exact_and_costs_no_step(integrator):
    _, late, steps = delayed(Edges(), "constant", integrator, 1e-6)
    _, _, without = delayed(Edges(size=0.0), "constant", integrator, 1e-6)
    assert (late == 1e-7).all()
    assert steps == without


@pytest.mark.parametrize("source", ["growing", "driven"])
@pytest.mark.parametrize("integrator", METHODS)
def test_a_signal_that_starts_at_zero_costs_few_steps(integrator, source):
    for accuracy in (1e-4, 1e-8):
        t, late, steps = delayed(Edges(), source, integrator, accuracy)
        _, _, without = delayed(Edges(size=0.0), source, integrator, accuracy)
        assert steps <= 1.1 * without + 3
        assert np.abs(late - 1e-7 * (t / 6.0) ** 5).max() <= PROMISED * accuracy * 1e-7


@pytest.mark.parametrize("integrator", METHODS)
def test_a_small_jump_arrives_exactly(integrator):
    model = cosim.Model("jump")
    model.add(Small(), "part")
    model.add("signals.step", "jump", height=1e-7, start_time=1.0)
    model.add("measures.delay", "late", source="jump", delay=DELAY)
    result = model.simulate(
        until=3.0, output_interval="100 ms", integrator=f"integrators.{integrator}", accuracy=1e-6
    )
    assert not result.findings
    expected = np.where(result.time > 1.0 + DELAY + 1e-9, 1e-7, 0.0)
    not_at_jump = np.abs(result.time - 1.0 - DELAY) > 1e-9
    assert (result["late"][not_at_jump] == expected[not_at_jump]).all()


def test_a_signal_that_fails_next_to_the_states():
    """Noise of a signal is measured with states moved by their tolerances; failures there are ignored."""
    t, late, _ = delayed(Edges(), "guarded", "tsitouras", 1e-6)
    assert np.abs(late - 1e-7 * np.sin(6.0 * t)).max() <= PROMISED * 1e-6 * 1e-7


def test_exponents_at_the_limits_of_their_range():
    assert exponent_of_size(0.0) == exponent_of_size(math.nan) == exponent_of_size(math.inf) == ZERO
    assert exponent_of_size(5e-324) == ZERO
    assert exponent_of_size(-ORDINARY) == exponent_of_size(2.0) == LARGE
    assert exponent_of_size(np.nextafter(ORDINARY, 0.0)) == -10
    assert exponent_of_size(2.0**-30) == -30
    assert exponent_of_floor(0.0) == ZERO
    assert exponent_of_floor(2.0**-30) == -29
    assert exponent_of_floor(1.0) == exponent_of_floor(math.nan) == UNKNOWN
