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
