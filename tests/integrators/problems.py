"""Problems without stiffness and their solutions: small classical ones, Pleiades, Arenstorf, Brusselator.

The small ones are those of the test set DETEST; letters and numbers in docstrings are its names of problems.

References
----------
T. E. Hull, W. H. Enright, B. M. Fellen, A. E. Sedgwick, "Comparing Numerical Methods for Ordinary
Differential Equations", SIAM Journal on Numerical Analysis 9 (1972).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import cosim


class Modulated(cosim.Component):
    """DETEST A3: y' = y cos t."""

    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(t, y, y_dot):
        y_dot[0] = y * math.cos(t)


class Logistic(cosim.Component):
    """DETEST A4: y' = y / 4 (1 - y / 20)."""

    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = 0.25 * y * (1.0 - 0.05 * y)


class Populations(cosim.Component):
    """DETEST B1: Lotka and Volterra's prey and predators."""

    y = cosim.auxiliary_state(shape=2, start=[1.0, 3.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = 2.0 * (y[0] - y[0] * y[1])
        y_dot[1] = -(y[1] - y[0] * y[1])


class RigidBody(cosim.Component):
    """DETEST B5: Euler's equations of a rigid body without torques."""

    y = cosim.auxiliary_state(shape=3, start=[0.0, 1.0, 1.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = y[1] * y[2]
        y_dot[1] = -y[0] * y[2]
        y_dot[2] = -0.51 * y[0] * y[1]


class Diffusion(cosim.Component):
    """DETEST C3: heat conduction between ten points of a rod with cold ends."""

    y = cosim.auxiliary_state(shape=10, start=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    @cosim.kernel
    def law(y, y_dot):
        for i in range(10):
            left = y[i - 1] if i > 0 else 0.0
            right = y[i + 1] if i < 9 else 0.0
            y_dot[i] = left - 2.0 * y[i] + right


class Orbit(cosim.Component):
    """DETEST D: Kepler's problem in the plane."""

    q = cosim.position(shape=2, start=[1.0, 0.0])
    u = cosim.speed(shape=2, start=[0.0, 1.0])

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        r = math.sqrt(q[0] * q[0] + q[1] * q[1])
        for i in range(2):
            q_dot[i] = u[i]
            u_dot[i] = -q[i] / (r * r * r)


class Bessel(cosim.Component):
    """DETEST E1: Bessel's equation of order one half, from x = 1 on."""

    y = cosim.auxiliary_state(shape=2)

    @cosim.kernel
    def law(t, y, y_dot):
        s = t + 1.0
        y_dot[0] = y[1]
        y_dot[1] = -(y[1] / s + (1.0 - 0.25 / (s * s)) * y[0])


class VanDerPol(cosim.Component):
    """DETEST E2: van der Pol's oscillator with little damping."""

    y = cosim.auxiliary_state(shape=2, start=[2.0, 0.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = y[1]
        y_dot[1] = (1.0 - y[0] * y[0]) * y[1] - y[0]


class Duffing(cosim.Component):
    """DETEST E3: Duffing's oscillator, a cubic spring with a force."""

    y = cosim.auxiliary_state(shape=2, start=[0.0, 0.0])

    @cosim.kernel
    def law(t, y, y_dot):
        y_dot[0] = y[1]
        y_dot[1] = y[0] * y[0] * y[0] / 6.0 - y[0] + 2.0 * math.sin(2.78535 * t)


class Pleiades(cosim.Component):
    """Seven stars in the plane, of masses 1 … 7; first all x, then all y."""

    q = cosim.position(shape=14, start=[3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4])
    u = cosim.speed(shape=14, start=[0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0])

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        for i in range(14):
            q_dot[i] = u[i]
            u_dot[i] = 0.0
        for i in range(7):
            for j in range(i):
                x = q[j] - q[i]
                y = q[7 + j] - q[7 + i]
                r = x * x + y * y
                r = 1.0 / (r * math.sqrt(r))
                u_dot[i] += (j + 1) * x * r
                u_dot[7 + i] += (j + 1) * y * r
                u_dot[j] -= (i + 1) * x * r
                u_dot[7 + j] -= (i + 1) * y * r


class Arenstorf(cosim.Component):
    """A satellite between earth and moon, in the frame that turns with them."""

    y = cosim.auxiliary_state(shape=4, start=[0.994, 0.0, 0.0, -2.00158510637908252240537862224])

    @cosim.kernel
    def law(y, y_dot):
        moon = 0.012277471
        earth = 1.0 - moon
        a = (y[0] + moon) * (y[0] + moon) + y[1] * y[1]
        b = (y[0] - earth) * (y[0] - earth) + y[1] * y[1]
        a = earth / (a * math.sqrt(a))
        b = moon / (b * math.sqrt(b))
        y_dot[0] = y[2]
        y_dot[1] = y[3]
        y_dot[2] = y[0] + 2.0 * y[3] - a * (y[0] + moon) - b * (y[0] - earth)
        y_dot[3] = y[1] - 2.0 * y[2] - a * y[1] - b * y[1]


class Brusselator(cosim.Component):
    """A chemical clock, without diffusion."""

    y = cosim.auxiliary_state(shape=2, start=[1.5, 3.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = 1.0 + y[0] * y[0] * y[1] - 4.0 * y[0]
        y_dot[1] = 3.0 * y[0] - y[0] * y[0] * y[1]


@dataclass(frozen=True)
class Problem:
    """A component that is integrated from 0 to `until`, s, and its first states at the end.

    Parameters
    ----------
    growth : float
        How many times larger than the accuracy the error at the end may be. It covers the sum of the errors
        of all steps and their growth in the problem.
    starts : sequence of float, optional
        The states at the start; the component's own without it.
    """

    name: str
    part: type[cosim.Component]
    until: float
    solution: Sequence[float]
    growth: float
    starts: Sequence[float] | None = None

    def simulator(self, **options: object) -> cosim.Simulator:
        """Return a simulator at the start."""
        model = cosim.Model(self.name.replace(" ", "_"))
        model.add(self.part, "part")
        system = model.build()
        state = system.default_state()
        if self.starts is not None:
            state.set_y(self.starts)
            state.jumped = False
        return cosim.Simulator(system, state, **options)  # type: ignore[arg-type]

    def error(self, state: cosim.State) -> float:
        """Return the largest error, relative to the largest state."""
        count = len(self.solution)
        scale = np.abs(self.solution).max()
        return float(np.abs(state.y[:count] - np.array(self.solution)).max() / scale)


def orbit(eccentricity: float) -> list[float]:
    """The start at the nearest point, for a half axis of 1."""
    e = eccentricity
    return [1.0 - e, 0.0, 0.0, math.sqrt((1.0 + e) / (1.0 - e))]


def orbit_at(t: float, e: float) -> list[float]:
    """Position and velocity on the orbit by Kepler's equation E - e sin E = t."""
    angle = t
    for _ in range(200):
        angle -= (angle - e * math.sin(angle) - t) / (1.0 - e * math.cos(angle))
    s, c, b = math.sin(angle), math.cos(angle), math.sqrt(1.0 - e * e)
    rate = 1.0 / (1.0 - e * c)
    return [c - e, b * s, -s * rate, b * c * rate]


def bessel(x: float) -> list[float]:
    """J_1/2 and its derivative."""
    factor = math.sqrt(2.0 / (math.pi * x))
    return [factor * math.sin(x), factor * (math.cos(x) - 0.5 * math.sin(x) / x)]


def temperatures(t: float) -> list[float]:
    """The solution of `Diffusion`, by the eigenvectors of its matrix, which are sines."""
    k = np.arange(1, 11)
    modes = math.sqrt(2.0 / 11.0) * np.sin(np.outer(k, k) * math.pi / 11.0)
    rates = -4.0 * np.sin(k * math.pi / 22.0) ** 2
    values: list[float] = (modes @ (np.exp(rates * t) * modes[0])).tolist()
    return values


def body_rates(t: float) -> list[float]:
    """The solution of `RigidBody`: Jacobi's elliptic functions."""
    from scipy.special import ellipj

    return [float(value) for value in ellipj(t, 0.51)[:3]]


# Positions at t = 3 as Drake's pleiades_system.h quotes them from the Test Set for IVP Solvers (Bari).
PLEIADES = [
    *(0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310, 0.3425581707156584),
    *(1.562172101400631, -0.7003092922212495),
    *(-3.943437585517392, -3.271380973972550, 5.225081843456543, -2.590612434977470, 1.198213693392275),
    *(-0.2429682344935824, 1.091449240428980),
]
# Start and period of the closed orbit as ProbNum's problem `threebody` and russell_ode's samples give them.
ARENSTORF = [0.994, 0.0, 0.0, -2.00158510637908252240537862224]
PERIOD = 17.0652165601579625588917206249
# At t = 20, in extended precision: `test_references_in_extended_precision` computes them again.
POPULATIONS = [0.6761876008576606, 0.18608160996400297]
VAN_DER_POL = [2.0081497621749484, -0.04250887527320215]
DUFFING = [-0.10041788586472407, 0.24114001320959555]
BRUSSELATOR = [0.49863707126834783, 4.596780349452011]

PROBLEMS = [
    Problem("modulated", Modulated, 20.0, [math.exp(math.sin(20.0))], 100.0),
    Problem("logistic", Logistic, 20.0, [20.0 / (1.0 + 19.0 * math.exp(-5.0))], 10.0),
    Problem("populations", Populations, 20.0, POPULATIONS, 500.0),
    Problem("rigid body", RigidBody, 20.0, body_rates(20.0), 50.0),
    Problem("diffusion", Diffusion, 5.0, temperatures(5.0), 10.0),
    Problem("orbit 0.1", Orbit, 20.0, orbit_at(20.0, 0.1), 500.0, orbit(0.1)),
    Problem("orbit 0.5", Orbit, 20.0, orbit_at(20.0, 0.5), 5000.0, orbit(0.5)),
    Problem("orbit 0.9", Orbit, 20.0, orbit_at(20.0, 0.9), 5000.0, orbit(0.9)),
    Problem("Bessel", Bessel, 20.0, bessel(21.0), 100.0, bessel(1.0)),
    Problem("van der Pol", VanDerPol, 20.0, VAN_DER_POL, 50.0),
    Problem("Duffing", Duffing, 20.0, DUFFING, 100.0),
    Problem("Brusselator", Brusselator, 20.0, BRUSSELATOR, 10.0),
    Problem("Pleiades", Pleiades, 3.0, PLEIADES, 200.0),
    Problem("Arenstorf", Arenstorf, PERIOD, ARENSTORF, 3e4),
]
