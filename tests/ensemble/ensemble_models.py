"""Models of ensembles, with the values of their runs, and single runs to compare with."""

import numpy as np
from ensemble_parts import Ball, Sampler

import cosim
from cosim_mechanics import Multibody


def ball_model():
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    return model


def delayed_model():
    model = ball_model()
    model.add("measures.delay", "late", source="ball.height", delay=0.13)
    model.add(Sampler, "sampler", source="late")
    return model


def four_bar_model():
    model = Multibody("loop", gravity=(0, 0, -9.81))
    rod = model.body("rod", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    model.joint("pin", child=rod)
    arm = model.body("arm", mass=2.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2))
    model.joint("pin", child=arm, frame_on_parent=(0.0, 1.0, 0.0))
    ends = {"point1": (1, 0, 0), "point2": (1, 0, 0), "length": 1.0}
    model.constraint("rod", "link", body1="rod", body2="arm", **ends)
    return model


def simulate_run(system, values, run, until, **settings):
    """Simulate one run of an ensemble with these values."""
    state = system.default_state()
    for path, values_of_runs in values.items():
        state[path] = values_of_runs[run]
    return cosim.simulate(system, until, state=state, **settings)


def rows_on_grid(result, name, times):
    """Return the last value of a signal at each of the times, after the events of the instant."""
    interval = times[1] - times[0]
    rows = [np.flatnonzero(np.abs(result.time - t) < 1e-9 * interval)[-1] for t in times]
    return result[name][rows]


RESTITUTIONS = {"ball.restitution": np.linspace(0.3, 0.8, 5)}
DELAYS = {"late.delay": np.linspace(0.05, 0.12, 5)}
MASSES = {"rod.mass": np.linspace(0.5, 3.0, 5)}
CASES = {
    "events": (ball_model, RESTITUTIONS, "integrators.runge_kutta_merson"),
    "delay and sampler": (delayed_model, DELAYS, "integrators.dormand_prince"),
    "constraint": (four_bar_model, MASSES, "integrators.runge_kutta_merson"),
    "implicit": (four_bar_model, MASSES, "integrators.radau5"),
}
