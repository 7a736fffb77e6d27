"""Differential equations with a closed form, for integrators."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

import cosim


class KnownSolution(cosim.Component):
    """An oscillator and an equation that is neither linear nor autonomous.

    Law: x' = v, v' = -x, z' = z z cos(t); x = cos(t), v = -sin(t), z = 1 / (2 - sin(t)). After
    `end_of_law` nothing can be computed any more.
    """

    x = cosim.position(start=1.0)
    v = cosim.speed(start=0.0)
    z = cosim.auxiliary_state(start=0.5)
    end_of_law = cosim.parameter(unit="s", default=1e9)

    @cosim.kernel
    def derivatives(t, x, v, z, end_of_law, x_dot, v_dot, z_dot):
        if t > end_of_law:
            raise ValueError("the law has ended")
        x_dot[0] = v
        v_dot[0] = -x
        z_dot[0] = z * z * math.cos(t)


def exact(t: float) -> NDArray[np.float64]:
    """The solution (x, v, z) at a time."""
    return np.array([math.cos(t), -math.sin(t), 1.0 / (2.0 - math.sin(t))])


def known_system(end_of_law: float = 1e9) -> cosim.System:
    """A system with this one part."""
    model = cosim.Model("known")
    model.add(KnownSolution, "known", end_of_law=end_of_law)
    return model.build()


AMPLITUDES = (1.0, -1.0, 1e-6, -1e-6, 1e3, -1e3)
"""Of the oscillators of `oscillators`; the first is what the others are compared with."""


class Turning(cosim.Component):
    """An oscillator. Law: x' = v, v' = -x; from rest x = x(0) cos(t)."""

    x = cosim.position(start=1.0)
    v = cosim.speed(start=0.0)

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x


def oscillators() -> cosim.System:
    """A system of oscillators that differ in their `AMPLITUDES` alone."""
    model = cosim.Model("oscillators")
    for i, amplitude in enumerate(AMPLITUDES):
        model.add(Turning, f"part{i}", x=amplitude)
    return model.build()


class Powers(cosim.Component):
    """Powers of time.

    Law: x' = v, v' = (degree - 1) t^(degree - 2), z' = degree t^(degree - 1), so that with rest at t = 0
    z = t^degree, v = t^(degree - 1) and x = t^degree / degree.
    """

    x = cosim.position(start=0.0)
    v = cosim.speed(start=0.0)
    z = cosim.auxiliary_state(start=0.0)
    degree = cosim.parameter(default=1.0, minimum=1.0)

    @cosim.kernel
    def derivatives(t, v, degree, x_dot, v_dot, z_dot):
        power = 1.0
        for _ in range(int(degree) - 2):
            power *= t
        x_dot[0] = v
        v_dot[0] = (degree - 1.0) * power
        z_dot[0] = degree * power * (t if degree > 1.5 else 1.0)


def powers(t: float, degree: int) -> NDArray[np.float64]:
    """The solution (x, v, z) of `Powers` at a time; v is 1 throughout where the degree is 1."""
    return np.array([t**degree / degree, t ** (degree - 1), t**degree])


def power_system(degree: int) -> cosim.System:
    """A system with this one part."""
    model = cosim.Model("powers")
    model.add(Powers, "powers", degree=degree, v=float(degree == 1))
    return model.build()


class Swing(cosim.Component):
    """A pendulum without damping.

    Law: angle' = speed, speed' = -sin(angle); speed^2 / 2 - cos(angle) is constant.
    """

    angle = cosim.position(start=1.0)
    speed = cosim.speed(start=0.0)

    @cosim.kernel
    def derivatives(angle, speed, angle_dot, speed_dot):
        angle_dot[0] = speed
        speed_dot[0] = -math.sin(angle)


PERIOD = 6.69998  # s, of the swing from 1 rad


def swing_energy(state: cosim.State) -> float:
    """Energy above the lowest point."""
    angle, speed = state.y
    return 0.5 * float(speed) ** 2 + 1.0 - math.cos(float(angle))


def swing_system() -> cosim.System:
    """A system with this one part."""
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    return model.build()
