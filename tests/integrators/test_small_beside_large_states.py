"""A small state beside large ones is as exact, in its own size, as one of their size."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from small_states import (
    ACCURACY,
    ALLOWED_ERROR,
    CONTROLLED,
    IMPLICIT,
    relative_error,
    rows_of,
    simulator_of,
    solved,
)

import cosim
from cosim_mechanics import Multibody


class Uncoupled(cosim.Component):
    """A small oscillator and a large one of another frequency, without coupling."""

    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")
    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))

    @cosim.kernel
    def law(q, u, large, q_dot, u_dot, large_dot):
        q_dot[0] = u
        u_dot[0] = -9.0 * q
        large_dot[0] = large[1]
        large_dot[1] = -large[0]


class Hardened(cosim.Component):
    """A small oscillator with a spring that gets stiffer, and a large oscillator, without coupling."""

    size = cosim.parameter(default=1.0)
    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")
    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))

    @cosim.kernel
    def law(q, u, large, size, q_dot, u_dot, large_dot):
        share = q / size
        q_dot[0] = u
        u_dot[0] = -size * (share + share * share * share)
        large_dot[0] = large[1]
        large_dot[1] = -large[0]


class Product(cosim.Component):
    """A small state that the product of two large ones drives."""

    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))
    small = cosim.auxiliary_state()

    @cosim.kernel
    def law(large, small, large_dot, small_dot):
        large_dot[0] = large[1]
        large_dot[1] = -large[0]
        small_dot[0] = 8e-9 * large[0] * large[1] - 2.0 * small


class Stiffened(cosim.Component):
    """A small oscillator whose stiffness a large state changes: Mathieu's equation."""

    large = cosim.auxiliary_state(shape=2, start=(1.0, 0.0))
    q = cosim.position(unit="m", start=1e-9)
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(large, q, u, large_dot, q_dot, u_dot):
        large_dot[0] = large[1]
        large_dot[1] = -large[0]
        q_dot[0] = u
        u_dot[0] = -(4.0 + 2.0 * large[0]) * q


def mathieu(t: np.ndarray) -> np.ndarray:
    """Return q and u of a `Stiffened` of amplitude 1."""
    return solved(t, lambda t, q: -(4.0 + 2.0 * math.cos(t)) * q)


def hardened(t: np.ndarray) -> np.ndarray:
    """Return q and u of a `Hardened` of amplitude 1."""
    return solved(t, lambda t, q: -q - q**3)


class FastHardened(cosim.Component):
    """The small oscillator of `Hardened`, twenty times as fast."""

    size = cosim.parameter(default=1.0)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, size, q_dot, u_dot):
        share = q / size
        q_dot[0] = u
        u_dot[0] = -400.0 * size * (share + share * share * share)


def beside_a_pendulum(amplitude: float) -> tuple[cosim.System, cosim.State]:
    """Return a bob that a rod keeps on a sphere and a small oscillator, without coupling."""
    model = Multibody("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[1.0, 0, 0])
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    model.add(FastHardened, "part", size=amplitude)
    system = model.build()
    state = system.default_state()
    state["part.q"] = amplitude
    return system, state


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_small_state_that_a_product_of_large_ones_drives_is_exact(integrator: str) -> None:
    """One iteration of Newton's method solves for the large states, but not for the state that they drive."""
    rows = rows_of(simulator_of(Product, integrator), 20.0, "small")
    t = rows[:, 0]
    exact = 1e-9 * (np.cos(2.0 * t) - np.sin(2.0 * t) - np.exp(-2.0 * t))
    assert relative_error(rows, [exact]) < ALLOWED_ERROR


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_small_oscillator_with_a_large_state_as_stiffness_is_exact(integrator: str) -> None:
    rows = rows_of(simulator_of(Stiffened, integrator), 20.0, "q", "u")
    exact = mathieu(rows[:, 0])
    assert relative_error(rows, list(1e-9 * exact)) < ALLOWED_ERROR


@pytest.mark.few(3)
@pytest.mark.parametrize("integrator", CONTROLLED)
@pytest.mark.parametrize(
    ("part", "exact"),
    [
        (Uncoupled, lambda t: np.array([np.cos(3.0 * t), -3.0 * np.sin(3.0 * t)])),
        (Hardened, hardened),
        (Stiffened, mathieu),
    ],
)
def test_beside_a_state_of_1_small_states_have_the_same_relative_error(
    integrator: str, part: type[cosim.Component], exact: Callable[[np.ndarray], np.ndarray]
) -> None:
    errors = []
    for amplitude in (2.0**-10, 2.0**-30, 2.0**-40):
        size = {"size": amplitude} if part is Hardened else {}
        rows = rows_of(simulator_of(part, integrator, q=amplitude, **size), 20.0, "q", "u")
        errors.append(relative_error(rows, list(amplitude * exact(rows[:, 0]))))
    assert max(errors[1:]) < max(1.1 * errors[0], ALLOWED_ERROR)


@pytest.mark.few(2)
@pytest.mark.parametrize("integrator", CONTROLLED)
def test_beside_constraints_small_states_have_the_same_relative_error(integrator: str) -> None:
    errors = []
    for amplitude in (2.0**-10, 2.0**-30, 2.0**-40):
        system, state = beside_a_pendulum(amplitude)
        simulator = cosim.Simulator(system, state, integrator=f"integrators.{integrator}", accuracy=ACCURACY)
        rows = rows_of(simulator, 1.0, "q", "u")
        exact = solved(rows[:, 0], lambda t, q: -400.0 * (q + q**3))
        errors.append(relative_error(rows, list(amplitude * exact)))
    assert max(errors[1:]) < max(1.2 * errors[0], ALLOWED_ERROR)
