"""The problems on which the true error of integrators is measured: those of `problems` and fourteen others.

None of them is stiff. Solutions come from SciPy's DOP853 at a relative tolerance of 1e-13.

References
----------
T. E. Hull, W. H. Enright, B. M. Fellen, A. E. Sedgwick, "Comparing Numerical Methods for Ordinary
Differential Equations", SIAM Journal on Numerical Analysis 9 (1972): the test set DETEST. Letters and numbers
in docstrings are its names of problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from problems import PROBLEMS
from scipy.integrate import solve_ivp

import cosim
from cosim.kit import WALK_SIGNATURE, compile_function, walk

Reals = NDArray[np.float64]


class Oscillator(cosim.Component):
    """x'' = -9 x, with x and x' as one vector."""

    y = cosim.auxiliary_state(shape=2, start=[0.0, 3.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = y[1]
        y_dot[1] = -9.0 * y[0]


class Decay(cosim.Component):
    """DETEST A1: y' = -y."""

    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = -y


class Cubic(cosim.Component):
    """DETEST A2: y' = -y^3 / 2."""

    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = -0.5 * y * y * y


class Reaction(cosim.Component):
    """DETEST B2: a linear reaction of three substances."""

    y = cosim.auxiliary_state(shape=3, start=[2.0, 0.0, 1.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = -y[0] + y[1]
        y_dot[1] = y[0] - 2.0 * y[1] + y[2]
        y_dot[2] = y[1] - y[2]


class Torus(cosim.Component):
    """DETEST B4: a curve that winds round a torus."""

    y = cosim.auxiliary_state(shape=3, start=[3.0, 0.0, 0.0])

    @cosim.kernel
    def law(y, y_dot):
        r = math.sqrt(y[0] * y[0] + y[1] * y[1])
        y_dot[0] = -y[1] - y[0] * y[2] / r
        y_dot[1] = y[0] - y[1] * y[2] / r
        y_dot[2] = y[0] / r


class Cascade(cosim.Component):
    """DETEST C1: a decay chain of ten substances; the last one is stable."""

    y = cosim.auxiliary_state(shape=10, start=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = -y[0]
        for i in range(1, 9):
            y_dot[i] = y[i - 1] - y[i]
        y_dot[9] = y[8]


class Masses(cosim.Component):
    """A chain of five masses between two walls, on springs with a little damping; a force at the last one."""

    q = cosim.position(shape=5)
    u = cosim.speed(shape=5)

    @cosim.kernel
    def law(t, q, u, q_dot, u_dot):
        for i in range(5):
            q_dot[i] = u[i]
            left = q[i - 1] if i > 0 else 0.0
            right = q[i + 1] if i < 4 else 0.0
            u_dot[i] = 20.0 * (left - 2.0 * q[i] + right) - 0.2 * u[i]
        u_dot[4] += math.sin(1.7 * t)


class Pendulum(cosim.Component):
    """A pendulum that swings to 115 degrees."""

    q = cosim.position(start=2.0)
    u = cosim.speed()

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -9.81 * math.sin(q)


class Car(cosim.Component):
    """A quarter-car model on a sinusoidal road: heights of body and wheel."""

    q = cosim.position(shape=2)
    u = cosim.speed(shape=2)

    @cosim.kernel
    def law(t, q, u, q_dot, u_dot):
        q_dot[0] = u[0]
        q_dot[1] = u[1]
        force = 2e4 * (q[1] - q[0]) + 1.5e3 * (u[1] - u[0])
        u_dot[0] = force / 400.0
        u_dot[1] = (2e5 * (0.02 * math.sin(6.0 * t) - q[1]) - force) / 40.0


class Motor(cosim.Component):
    """A DC motor under PI control of its speed: current, speed, integral of the control error."""

    y = cosim.auxiliary_state(shape=3)

    @cosim.kernel
    def law(t, y, y_dot):
        control_error = 10.0 * math.sin(0.7 * t) - y[1]
        y_dot[0] = (2.0 * control_error + 5.0 * y[2] - y[0] - 0.1 * y[1]) / 0.1
        y_dot[1] = (0.5 * y[0] - 0.05 * y[1]) / 0.2
        y_dot[2] = control_error


class Nerve(cosim.Component):
    """The FitzHugh-Nagumo model of a nerve: voltage and recovery."""

    y = cosim.auxiliary_state(shape=2, start=[-1.0, 1.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = 3.0 * (y[0] - y[0] * y[0] * y[0] / 3.0 + y[1])
        y_dot[1] = -(y[0] - 0.2 + 0.2 * y[1]) / 3.0


class Epidemic(cosim.Component):
    """The SIR model of an epidemic: shares of susceptible, infected and recovered people."""

    y = cosim.auxiliary_state(shape=3, start=[0.999, 0.001, 0.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = -1.5 * y[0] * y[1]
        y_dot[1] = 1.5 * y[0] * y[1] - 0.5 * y[1]
        y_dot[2] = 0.5 * y[1]


class FallingBall(cosim.Component):
    """DETEST E4: a ball that falls through air; height and speed."""

    y = cosim.auxiliary_state(shape=2, start=[30.0, 0.0])

    @cosim.kernel
    def law(y, y_dot):
        y_dot[0] = y[1]
        y_dot[1] = 0.032 - 0.4 * y[1] * y[1]


class SpringPendulum(cosim.Component):
    """A mass that swings on a spring: length of the spring and angle."""

    q = cosim.position(shape=2, start=[1.1, 0.1])
    u = cosim.speed(shape=2)

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        r = q[0]
        q_dot[0] = u[0]
        q_dot[1] = u[1]
        u_dot[0] = r * u[1] * u[1] - 40.0 * (r - 1.0) + 9.81 * math.cos(q[1])
        u_dot[1] = (-9.81 * math.sin(q[1]) - 2.0 * u[0] * u[1]) / r


@dataclass(frozen=True)
class ErrorProblem:
    """A component that is integrated from 0 to `until`, s.

    Parameters
    ----------
    growth : float
        The condition number of the problem: the largest factor by which the integration amplifies small
        changes of the start. Each state is measured in its largest value, and the factors of all states at
        the start add up. `test_growth_of_small_errors` computes these numbers again.
    starts : sequence of float, optional
        The states at the start; the component's own without it.
    """

    name: str
    part: type[cosim.Component]
    until: float
    growth: float
    starts: Sequence[float] | None = None

    def system(self) -> tuple[cosim.System, cosim.State]:
        """Return the system and its State at the start."""
        model = cosim.Model("m")
        model.add(self.part, "part")
        system = model.build()
        state = system.default_state()
        if self.starts is not None:
            state.set_y(self.starts)
            state.jumped = False
        return system, state

    def solver(self) -> tuple[Callable[..., Callable[[Reals], Reals]], Reals]:
        """Return a function from a start to the solution over time, by SciPy's DOP853, and the start."""
        system, state = self.system()
        arrays, start = system.arrays(state), state.y.copy()
        states, cache = arrays[0], arrays[5]
        walk_system = compile_function(walk, WALK_SIGNATURE)

        def law(t: float, y: Reals) -> Reals:
            states[:] = y
            walk_system(system.table, system.ints, *system.derivative_range, float(t), *arrays)
            return cache[: y.size].copy()

        def solve(start: Reals, rtol: float = 1e-13) -> Callable[[Reals], Reals]:
            options = {"method": "DOP853", "rtol": rtol, "atol": 1e-3 * rtol, "dense_output": True}
            return solve_ivp(law, (0.0, self.until), start, **options).sol

        return solve, start


GROWTH_OF_PROBLEMS = {
    "modulated": 2.7,
    "logistic": 5.3,
    "populations": 16.0,
    "rigid body": 37.0,
    "diffusion": 4.3,
    "orbit 0.1": 180.0,
    "orbit 0.5": 1.7e3,
    "orbit 0.9": 1.0e5,
    "Bessel": 1.3,
    "van der Pol": 7.2,
    "Duffing": 7.8,
    "Brusselator": 4.9,
    "Pleiades": 5.9e4,
    "Arenstorf": 5.8e4,
}
ERROR_PROBLEMS = [
    ErrorProblem(p.name, p.part, p.until, GROWTH_OF_PROBLEMS[p.name], p.starts) for p in PROBLEMS
]
ERROR_PROBLEMS += [
    ErrorProblem("oscillator", Oscillator, 2.0 * math.pi, 1.4),
    ErrorProblem("decay", Decay, 20.0, 1.0),
    ErrorProblem("cubic", Cubic, 20.0, 1.0),
    ErrorProblem("reaction", Reaction, 20.0, 1.3),
    ErrorProblem("torus", Torus, 20.0, 16.0),
    ErrorProblem("cascade", Cascade, 20.0, 3.7),
    ErrorProblem("masses", Masses, 20.0, 9.6),
    ErrorProblem("pendulum", Pendulum, 10.0, 19.0),
    ErrorProblem("car", Car, 5.0, 9.2),
    ErrorProblem("motor", Motor, 10.0, 4.9),
    ErrorProblem("nerve", Nerve, 20.0, 6.4),
    ErrorProblem("epidemic", Epidemic, 40.0, 105.0),
    ErrorProblem("falling ball", FallingBall, 20.0, 1.1),
    ErrorProblem("spring pendulum", SpringPendulum, 5.0, 11.0),
]
