"""Components with small states, and runs of them whose errors are compared with the size of each state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import cosim

EXPLICIT = ("runge_kutta_merson", "tsitouras", "dormand_prince", "dormand_prince_853", "bogacki_shampine")
IMPLICIT = ("radau5", "esdirk43", "bdf", "radau3")
CONTROLLED = (*EXPLICIT, *IMPLICIT)
ACCURACY = 1e-6
ALLOWED_ERROR = 10.0 * ACCURACY
"""The documentation promises ten accuracies."""


class Oscillator(cosim.Component):
    """A mass on a spring of 1 N/m."""

    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = -q


class Driven(cosim.Component):
    """A mass on a spring, at rest until a small force moves it."""

    force = cosim.parameter(unit="N", default=1e-9)
    q = cosim.position(unit="m")
    u = cosim.speed(unit="m/s")

    @cosim.kernel
    def law(t, q, u, force, q_dot, u_dot):
        q_dot[0] = u
        u_dot[0] = force * math.sin(t) - 4.0 * q


class Mount(cosim.Component):
    """A mass on three symmetric springs; only rounding moves it sideways."""

    q = cosim.position(unit="m", shape=3)
    u = cosim.speed(unit="m/s", shape=3)

    @cosim.kernel
    def law(q, u, q_dot, u_dot):
        x = 0.0
        y = 0.0
        z = 0.0
        for i in range(3):
            angle = 0.3 + 2.0943951023931953 * i  # a third of a turn apart
            a = q[0] - math.cos(angle)
            b = q[1] - math.sin(angle)
            length = math.sqrt(a * a + b * b + q[2] * q[2])
            pull = -100.0 * (length - 0.8) / length
            x += pull * a
            y += pull * b
            z += pull * q[2]
        for i in range(3):
            q_dot[i] = u[i]
        u_dot[0] = x - 0.1 * u[0]
        u_dot[1] = y - 0.1 * u[1]
        u_dot[2] = z - 9.81 - 0.1 * u[2]


class Epidemic(cosim.Component):
    """An infection that dies down to far less than one person and returns."""

    susceptible = cosim.auxiliary_state(start=0.9)
    infected = cosim.auxiliary_state(start=1e-3)

    @cosim.kernel
    def law(susceptible, infected, susceptible_dot, infected_dot):
        meeting = 2.0 * susceptible * infected
        susceptible_dot[0] = 0.001 * (1.0 - susceptible) - meeting
        infected_dot[0] = meeting - 0.4 * infected


def system_of(part: type[cosim.Component], **values: Any) -> tuple[cosim.System, cosim.State]:
    """Return a system of one part, and its State with these start values."""
    model = cosim.Model("small")
    model.add(part, "part")
    system = model.build()
    state = system.default_state()
    for name, value in values.items():
        state[f"part.{name}"] = value
    return system, state


def simulator_of(part: type[cosim.Component], integrator: str, options: Any = None, **values: Any) -> Any:
    """Return a simulator of one part; `options` are settings beside the accuracy, `values` start values."""
    system, state = system_of(part, **values)
    settings = {"integrator": f"integrators.{integrator}", "accuracy": ACCURACY, **(options or {})}
    return cosim.Simulator(system, state, **settings)


def rows_of(simulator: Any, until: float, *names: str) -> np.ndarray:
    """Run, and return 201 rows: the time and the variables of these names."""
    simulator.record([f"part.{name}" for name in names], "grid", interval=until / 200, until=until)
    simulator.advance_to(until)
    return np.asarray(simulator.take_rows())


def relative_error(rows: np.ndarray, exact: list[np.ndarray]) -> float:
    """Return the largest error of a variable, as a part of its largest value."""
    return max(float(np.abs(rows[:, i + 1] - y).max() / np.abs(y).max()) for i, y in enumerate(exact))


def steps(part: type[cosim.Component], integrator: str, until: float, **values: Any) -> int:
    """Return the number of steps of a run."""
    simulator = simulator_of(part, integrator, **values)
    simulator.advance_to(until)
    return int(simulator.statistics.integrator_steps)


def solved(t: np.ndarray, force: Callable[[float, float], float]) -> np.ndarray:
    """Return q and u of a mass of 1 kg that starts at rest at q = 1 m, by SciPy's DOP853."""

    def law(t: float, y: np.ndarray) -> list[float]:
        return [y[1], force(t, y[0])]

    return solve_ivp(law, (0.0, t[-1]), [1.0, 0.0], "DOP853", t_eval=t, rtol=1e-12, atol=1e-14).y
