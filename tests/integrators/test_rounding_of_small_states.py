"""Rounding of small states costs few steps, and does not hide their errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from small_states import (
    ACCURACY,
    ALLOWED_ERROR,
    CONTROLLED,
    EXPLICIT,
    Mount,
    relative_error,
    rows_of,
    simulator_of,
    steps,
)

import cosim


class Anchored(cosim.Component):
    """A mass on a spring; the force is computed from a distance to a point far away, so it is rounded."""

    place = cosim.parameter(unit="m", default=0.0)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")
    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))

    @cosim.kernel
    def law(q, u, large, place, q_dot, u_dot, large_dot):
        q_dot[0] = u
        u_dot[0] = -100.0 * ((place + q) - place) - u
        large_dot[0] = large[1]
        large_dot[1] = -large[0]


class Shifted(cosim.Component):
    """A mass of 1 kg on a spring; its length is the difference of two places, so it is rounded."""

    place = cosim.parameter(unit="m", default=0.0)
    stiffness = cosim.parameter(unit="N/m", default=1.0)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, place, stiffness, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -stiffness * ((place + q) - place)


def mount_steps(
    integrator: str, until: float, accuracy: float = ACCURACY, *, for_size_1: bool = False, **values: Any
) -> int:
    """Return the number of steps of a `Mount`, also with the absolute tolerance of states of size 1."""
    options = {"accuracy": accuracy}
    if for_size_1:
        step_accuracy = simulator_of(Mount, integrator, options).integrator.step_accuracy
        options["absolute_tolerance"] = 1e-3 * float(step_accuracy)
    simulator = simulator_of(Mount, integrator, options, **values)
    simulator.advance_to(until)
    return int(simulator.statistics.integrator_steps)


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "tsitouras", "radau5", "bdf"])
@pytest.mark.parametrize("aside", [0.0, 1e-18])
def test_rounding_beside_a_large_motion_costs_few_steps(integrator: str, aside: float) -> None:
    start = [aside, 0.0, 0.1]
    size_1_steps = mount_steps(integrator, 5.0, for_size_1=True, q=start)
    assert mount_steps(integrator, 5.0, q=start) < size_1_steps + 70


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6])
def test_rounding_costs_few_steps_if_all_states_start_at_0(integrator: str, accuracy: float) -> None:
    size_1_steps = mount_steps(integrator, 5.0, accuracy, for_size_1=True)
    assert mount_steps(integrator, 5.0, accuracy) < 1.1 * size_1_steps + 30


@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize("accuracy", [1e-4, 1e-6])
@pytest.mark.parametrize("aside", [0.0, 1e-18])
def test_rounding_hardly_shortens_the_first_steps(integrator: str, accuracy: float, aside: float) -> None:
    start = [aside, 0.0, 0.1]
    size_1_steps = mount_steps(integrator, 1.0, accuracy, for_size_1=True, q=start)
    assert mount_steps(integrator, 1.0, accuracy, q=start) < 1.1 * size_1_steps + 25


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize("place", [0.1, 10.0])
def test_rounded_forces_cost_few_steps(integrator: str, place: float) -> None:
    """The sum is rounded to 1.4e-17 or 1.8e-15, so at most six digits of q are left."""
    free = steps(Anchored, integrator, 20.0, q=1e-11)
    assert steps(Anchored, integrator, 20.0, q=1e-11, place=place) < 1.1 * free


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", EXPLICIT)
@pytest.mark.parametrize(("amplitude", "place"), [(1e-9, 0.1), (1e-11, 0.1), (1e-9, 10.0), (3e-7, 3e3)])
@pytest.mark.parametrize("stiffness", [1.0, 900.0])
def test_the_error_of_rounded_small_states_is_relative(
    integrator: str, amplitude: float, place: float, stiffness: float
) -> None:
    """The error is at most ten accuracies, or fifty roundings of the sum.

    `dormand_prince_853` has two error estimates. If noise in one of them were taken for noise in both, errors
    would be 2.8e-3 instead of 1.2e-5.
    """
    rate = math.sqrt(stiffness)
    simulator = simulator_of(Shifted, integrator, q=amplitude, place=place, stiffness=stiffness)
    rows = rows_of(simulator, 20.0 / rate, "q", "u")
    t = rows[:, 0] * rate
    error = relative_error(rows, [amplitude * np.cos(t), -amplitude * rate * np.sin(t)])
    assert error < max(ALLOWED_ERROR, 50.0 * math.ulp(place) / amplitude)
