"""Components with a vector of states, whose derivatives depend on few of its elements."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

import cosim


def rod_of(n: int) -> type[cosim.Component]:
    """Heat conduction along a rod of n + 1 cells of equal length whose ends are at 0."""

    class Rod(cosim.Component):
        """A rod. Law: T' = rate (T_left - 2 T + T_right)."""

        rate = cosim.parameter(default=float((n + 1) ** 2))
        T = cosim.auxiliary_state(shape=n, start=[math.sin(math.pi * (i + 1) / (n + 1)) for i in range(n)])

        @cosim.kernel
        def derivatives(T, rate, T_dot):
            last = len(T) - 1
            for i in range(last + 1):
                left = T[i - 1] if i > 0 else 0.0
                right = T[i + 1] if i < last else 0.0
                T_dot[i] = rate * (left - 2.0 * T[i] + right)

    return Rod


def rod_end(n: int, t: float) -> np.ndarray:
    """The exact temperatures of the semi-discrete rod."""
    decay = 4.0 * (n + 1) ** 2 * math.sin(0.5 * math.pi / (n + 1)) ** 2
    return math.exp(-decay * t) * np.sin(np.pi * np.arange(1, n + 1) / (n + 1))


def ring_of(n: int) -> type[cosim.Component]:
    """Heat conduction round a ring of n cells: the first one and the last one are neighbours."""

    class Ring(cosim.Component):
        """A ring. Law: T' = T_left - 2 T + T_right."""

        T = cosim.auxiliary_state(shape=n, start=[math.sin(2.0 * math.pi * i / n) for i in range(n)])

        @cosim.kernel
        def derivatives(T, T_dot):
            n = len(T)
            for i in range(n):
                T_dot[i] = T[(i + n - 1) % n] - 2.0 * T[i] + T[(i + 1) % n]

    return Ring


def ring_end(n: int, t: float) -> np.ndarray:
    """The exact temperatures of the ring."""
    return math.exp(-4.0 * math.sin(math.pi / n) ** 2 * t) * np.sin(2.0 * np.pi * np.arange(n) / n)


def star_of(n: int) -> type[cosim.Component]:
    """A hub that exchanges heat with all others: an arrow, which has no narrow band."""

    class Star(cosim.Component):
        """A star. Law: T_i' = rate (T_0 - T_i), and the opposite at the hub."""

        rate = cosim.parameter(default=50.0)
        T = cosim.auxiliary_state(shape=n, start=[1.0] + [0.0] * (n - 1))

        @cosim.kernel
        def derivatives(T, rate, T_dot):
            T_dot[0] = 0.0
            for i in range(1, len(T)):
                flow = rate * (T[0] - T[i])
                T_dot[i] = flow
                T_dot[0] -= flow / len(T)

    return Star


def mixture_of(n: int) -> type[cosim.Component]:
    """All exchange with the mean: nothing is zero in the Jacobian."""

    class Mixture(cosim.Component):
        """A mixture. Law: T' = rate (mean - T)."""

        rate = cosim.parameter(default=100.0)
        T = cosim.auxiliary_state(shape=n, start=[float(i % 2) for i in range(n)])

        @cosim.kernel
        def derivatives(T, rate, T_dot):
            mean = 0.0
            for x in T:
                mean += x / len(T)
            for i in range(len(T)):
                T_dot[i] = rate * (mean - T[i])

    return Mixture


def system_of(cls: type[cosim.Component]) -> cosim.System:
    """A system of this one component."""
    model = cosim.Model("vector")
    model.add(cls, "x")
    return model.build()


def columns(system: cosim.System) -> list[list[int]]:
    """For each state the derivatives that may depend on it."""
    starts, rows = system.derivative_structure()
    return [rows[a:b].tolist() for a, b in pairwise(starts)]
