"""Systems whose laws have kinks, written in different ways, and reference solutions of them.

The references come from SciPy's DOP853 with steps so short that its error estimate sees every kink.
"""

import functools
import hashlib
import itertools
import math
from pathlib import Path

import numpy as np
import scipy
from scipy.integrate import solve_ivp

import cosim
from cosim import kit

POINTS = np.linspace(0.0, 6.0, 31)
UNTIL = 6.0


def clamp(value, lower, upper):
    """Return the value limited to a range; kernel functions call it as a helper."""
    return min(max(value, lower), upper)


class Chua(cosim.Component):
    """Chua's circuit, whose diode has two kinks; a double scroll."""

    x = cosim.auxiliary_state(start=0.7)
    y = cosim.auxiliary_state()
    z = cosim.auxiliary_state()

    @cosim.kernel
    def law(x, y, z, x_dot, y_dot, z_dot):
        current = -0.714 * x + 0.5 * (-1.143 + 0.714) * (abs(x + 1.0) - abs(x - 1.0))
        x_dot[0] = 15.6 * (y - x - current)
        y_dot[0] = x - y + z
        z_dot[0] = -28.0 * y


class OneSidedSpring(cosim.Component):
    """A spring that only pushes."""

    q = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        q_dot[0] = v
        v_dot[0] = -q - 20.0 * max(q, 0.0) - 0.1 * v + math.cos(2.0 * t)


class BranchedSpring(cosim.Component):
    """The law of `OneSidedSpring`, written as a branch."""

    q = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        q_dot[0] = v
        v_dot[0] = -q - (20.0 * q if q > 0.0 else 0.0) - 0.1 * v + math.cos(2.0 * t)


class Saturation(cosim.Component):
    """Friction that saturates."""

    q = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        friction = min(max(5.0 * v, -1.0), 1.0)
        q_dot[0] = v
        v_dot[0] = -q - friction + 2.0 * math.sin(1.7 * t)


class LimitedSpring(cosim.Component):
    """A spring with a largest force, limited by a helper."""

    q = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        q_dot[0] = v
        v_dot[0] = -clamp(10.0 * q, -2.0, 2.0) - 0.1 * v + math.sin(1.3 * t)


class DeadZone(cosim.Component):
    """A spring with play."""

    q = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        gap = max(q - 0.3, 0.0) + min(q + 0.3, 0.0)
        q_dot[0] = v
        v_dot[0] = -30.0 * gap - 0.05 * v + math.sin(1.5 * t)


class RectifiedDrive(cosim.Component):
    """Drag that grows with the square of the speed, and a drive with kinks in time."""

    q = cosim.position(start=1.0)
    v = cosim.speed()

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        q_dot[0] = v
        v_dot[0] = -q - 0.3 * abs(v) * v + abs(math.sin(2.0 * t))


class Chain(cosim.Component):
    """Three masses with stops, and threads between them: kinks in loops."""

    q = cosim.position(shape=3, start=(1.0, 0.0, -0.5))
    v = cosim.speed(shape=3)

    @cosim.kernel
    def law(t, q, v, q_dot, v_dot):
        for i in range(3):
            q_dot[i] = v[i]
            stop = max(abs(q[i]) - 0.4, 0.0)
            v_dot[i] = -q[i] - 0.1 * v[i] - 8.0 * stop * q[i] + math.cos(1.9 * t) * (1.0 - i)
        for i in range(2):
            pull = 5.0 * max(q[i + 1] - q[i], 0.0)
            v_dot[i] += pull
            v_dot[i + 1] -= pull


CLASSES = (
    Chua,
    OneSidedSpring,
    BranchedSpring,
    Saturation,
    LimitedSpring,
    DeadZone,
    RectifiedDrive,
    Chain,
)


@functools.cache
def system_of(cls):
    """A system with one such part."""
    model = cosim.Model("kinks")
    model.add(cls, "part")
    return model.build()


def solution(cls, start, relative=1e-11, longest=0.02):
    """Return the states at `POINTS`.

    Steps end there, since the dense output of a step with a kink inside is less exact.
    """
    system = system_of(cls)
    state = system.default_state()

    def derivative(t, y):
        state.set_time(t)
        state.set_y(y)
        state.realize(cosim.Stage.ACCELERATION)
        return state.y_dot.copy()

    options = {"rtol": relative, "atol": 0.01 * relative, "max_step": longest}
    states = [start]
    for begin, end in itertools.pairwise(POINTS):
        states.append(solve_ivp(derivative, (begin, end), states[-1], "DOP853", **options).y[:, -1])
    return np.transpose(states)


@functools.cache
def reference(cls):
    """Return the solution, the largest value of each state, and the growth of a small error at the start."""
    inputs = f"kinks {Path(__file__).read_text('utf-8')} {cls.__name__} {scipy.__version__}"
    stored = kit.read_cached(digest := hashlib.sha256(inputs.encode()).hexdigest())
    if stored is None:
        exact, growth = computed_reference(cls)
        kit.write_cached(digest, np.array([growth, *exact.ravel()]).tobytes())
    else:
        growth, *values = np.frombuffer(stored).tolist()
        exact = np.reshape(values, (-1, POINTS.size))
    return exact, np.abs(exact).max(axis=1), growth


def computed_reference(cls):
    """Return the solution and the growth of errors; `reference` stores both, since this takes seconds."""
    start = system_of(cls).default_state().y.copy()
    exact = solution(cls, start)
    size = np.abs(exact).max(axis=1)
    growth = np.zeros(start.size)
    for m in range(start.size):
        moved_start = start.copy()
        moved_start[m] += 1e-6 * size[m]
        # the growth needs three digits, so this solution may be less exact
        growth += np.abs(solution(cls, moved_start, 1e-9, 0.2) - exact).max(axis=1) / size / 1e-6
    return exact, float(growth.max())
