"""Tolerances follow the size of each state: small amplitudes, starts at 0, growth, kinks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from small_states import (
    ACCURACY,
    ALLOWED_ERROR,
    CONTROLLED,
    Driven,
    Epidemic,
    Mount,
    Oscillator,
    relative_error,
    rows_of,
    simulator_of,
    steps,
    system_of,
)

import cosim
from cosim import registry


class DeclaredOscillator(cosim.Component):
    """An `Oscillator` whose author has declared sizes of 1."""

    q = cosim.position(unit="m", nominal=1.0)
    u = cosim.speed(unit="m/s", nominal=1.0)

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -q


class Rod(cosim.Component):
    """Twenty pieces of a cold rod that is heated at one end."""

    heat = cosim.parameter(unit="1", default=1.0)
    y = cosim.auxiliary_state(shape=20)

    @cosim.kernel
    def law(y, heat, y_dot):
        for i in range(20):
            left = y[i - 1] if i > 0 else heat
            right = y[i + 1] if i < 19 else y[i]
            y_dot[i] = 10.0 * (left - 2.0 * y[i] + right)


class Kinked(cosim.Component):
    """A mass on a spring that is stiff on one side and soft on the other."""

    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -q - 0.9 * abs(q)


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize("amplitude", [1e-9, 1e-15])
def test_the_error_of_a_small_amplitude_is_relative(integrator: str, amplitude: float) -> None:
    rows = rows_of(simulator_of(Oscillator, integrator, q=amplitude), 20.0, "q", "u")
    t = rows[:, 0]
    assert relative_error(rows, [amplitude * np.cos(t), -amplitude * np.sin(t)]) < ALLOWED_ERROR


@pytest.mark.parametrize("integrator", CONTROLLED)
def test_the_error_of_a_motion_from_a_small_speed_is_relative(integrator: str) -> None:
    rows = rows_of(simulator_of(Oscillator, integrator, u=1e-9), 20.0, "q", "u")
    t = rows[:, 0]
    assert relative_error(rows, [1e-9 * np.sin(t), 1e-9 * np.cos(t)]) < ALLOWED_ERROR


@pytest.mark.parametrize("integrator", CONTROLLED)
def test_the_error_of_a_motion_that_a_small_force_starts_is_relative(integrator: str) -> None:
    rows = rows_of(simulator_of(Driven, integrator), 20.0, "q", "u")
    t = rows[:, 0]
    q = (np.sin(t) - 0.5 * np.sin(2.0 * t)) / 3.0
    u = (np.cos(t) - np.cos(2.0 * t)) / 3.0
    assert relative_error(rows, [1e-9 * q, 1e-9 * u]) < ALLOWED_ERROR


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "esdirk43"])
def test_scaling_all_states_by_a_power_of_two_keeps_the_steps(integrator: str) -> None:
    small = steps(Oscillator, integrator, 20.0, q=2.0**-40)
    assert small == pytest.approx(steps(Oscillator, integrator, 20.0, q=1.0), rel=0.02)


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "radau3", "bdf"])
def test_states_that_grow_from_0_through_all_sizes_cost_few_steps(integrator: str) -> None:
    """The last piece of the rod grows like the twentieth power of time."""
    # steps with tolerances for states of size 1
    steps_of_size_1 = {"runge_kutta_merson": 191, "radau5": 119, "radau3": 974, "bdf": 314}[integrator]
    allowed = 1.1 * steps_of_size_1
    assert steps(Rod, integrator, 10.0) < allowed
    assert steps(Rod, integrator, 10.0, heat=1e-9) < allowed


@pytest.mark.parametrize("integrator", CONTROLLED)
def test_states_that_stay_0_do_not_limit_steps(integrator: str) -> None:
    assert steps(Oscillator, integrator, 1e4) < 40


def test_a_users_absolute_tolerance_replaces_the_size_of_states() -> None:
    options = {"absolute_tolerance": 1e-9}
    simulator = simulator_of(Oscillator, "runge_kutta_merson", options, q=1e-9)
    simulator.advance_to(20.0)
    assert simulator.statistics.integrator_steps < 40


def test_an_authors_nominal_replaces_the_size_of_states() -> None:
    assert steps(DeclaredOscillator, "runge_kutta_merson", 20.0, q=1e-9) < 40
    system, _ = system_of(DeclaredOscillator)
    integrator = registry().get("integrator", "integrators.runge_kutta_merson")(accuracy=1e-6)
    assert integrator.held_sizes(system).tolist() == [1.0, 1.0]


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "radau5", "bdf"])
@pytest.mark.parametrize(("part", "until"), [(Driven, 20.0), (Mount, 2.0), (Epidemic, 300.0)])
def test_a_resumed_run_ends_with_the_same_bytes(
    integrator: str, part: type[cosim.Component], until: float
) -> None:
    uninterrupted = simulator_of(part, integrator)
    for fraction in (0.1, 0.5, 1.0):
        uninterrupted.advance_to(fraction * until)
    resumed = simulator_of(part, integrator)
    for fraction in (0.1, 0.5, 1.0):
        data = resumed.state.to_bytes()
        resumed = cosim.Simulator(
            resumed.system,
            resumed.system.state_from_bytes(data),
            integrator=f"integrators.{integrator}",
            accuracy=ACCURACY,
        )
        resumed.advance_to(fraction * until)
    assert resumed.state.to_bytes() == uninterrupted.state.to_bytes()


@pytest.mark.parametrize("method", ["tsitouras", "dormand_prince", "radau5", "esdirk43", "radau3", "bdf"])
def test_steps_end_at_kinks_of_small_states(method: str) -> None:
    model = cosim.Model("kinked")
    model.add(Kinked, "a")
    result = model.simulate(until=30.0, integrator=f"integrators.{method}", accuracy=ACCURACY)
    stiff_rate, soft_rate = math.sqrt(1.9), math.sqrt(0.1)
    period = math.pi / stiff_rate + math.pi / soft_rate
    time_in_period = (np.asarray(result["time"]) + 0.5 * math.pi / stiff_rate) % period
    exact = np.where(
        time_in_period < math.pi / stiff_rate,
        np.sin(stiff_rate * time_in_period),
        -stiff_rate / soft_rate * np.sin(soft_rate * (time_in_period - math.pi / stiff_rate)),
    )
    assert (
        np.abs(np.asarray(result["a.q"]).ravel() * 1e9 - exact).max() < ALLOWED_ERROR * stiff_rate / soft_rate
    )
