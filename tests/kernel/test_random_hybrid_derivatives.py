"""Derivatives of runs of random hybrid systems, against differences of sixth order."""

from __future__ import annotations

import numpy as np
import pytest
from how_many import many

import cosim


class Hybrid(cosim.Component):
    """Law: x' = v + a past, v' = -k x - c v + m wave; resets, switches and timers as drawn."""

    k = cosim.parameter(default=4.0)
    c = cosim.parameter(default=0.2)
    a = cosim.parameter(default=0.1)
    e = cosim.parameter(default=0.8)
    top = cosim.parameter(default=0.5)
    low = cosim.parameter(default=-0.7)
    kick = cosim.parameter(default=0.1)
    pause = cosim.parameter(unit="s", default=0.45)
    kink = cosim.parameter(default=0.3)
    x = cosim.position(start=0.2)
    v = cosim.speed(start=1.0)
    z = cosim.auxiliary_state()
    m = cosim.discrete(start=1.0)
    n = cosim.discrete(dtype=int)
    past = cosim.input()
    wave = cosim.input()
    alarm = cosim.timer()

    @cosim.kernel
    def derivatives(k, c, a, kink, past, wave, x, v, m, x_dot, v_dot, z_dot):
        x_dot[0] = v + a * past
        v_dot[0] = -k * x - c * v + m * wave
        z_dot[0] = x * x + max(v - kink, 0.0)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    @cosim.kernel
    def begin(pause, alarm_next):
        alarm_next[0] = pause

    @cosim.witness(direction="rising")
    def above(x, top):
        return x - top

    @cosim.on(above, does="unrestricted")
    @cosim.kernel
    def bounce(e, v, n, m, v_next, n_next, m_next):
        v_next[0] = -e * v
        n_next[0] = n + 1
        m_next[0] = m + 0.1 * v

    @cosim.witness(direction="falling")
    def below(v, low):
        return v - low

    @cosim.on(below, does="discrete")
    @cosim.kernel
    def turn(m, x, m_next):
        m_next[0] = 0.5 * m - x

    @cosim.every(0.37, offset=0.21, does="unrestricted")
    @cosim.kernel
    def push(kick, x, v, n, v_next):
        v_next[0] = v + kick * (1.0 - x) + 0.01 * n

    @cosim.on(alarm, does="discrete")
    @cosim.kernel
    def wake(t, pause, m, x, alarm_next, m_next):
        alarm_next[0] = t + pause * (1.0 + 0.1 * x)
        m_next[0] = m + 0.2 * x


BY = [
    "h.k", "h.c", "h.a", "h.e", "h.top", "h.low", "h.kick", "h.pause", "h.kink", "h.x", "h.v", "late.delay",
    "s.start_time", "s.height",
]  # fmt: skip
SIGNALS = ["h.x", "h.v", "h.z", "h.m"]
UNTIL = 1.7
"""The end of the runs, s."""
STEP = 2e-5
"""By how much differences move a variable: events keep their order for most draws."""


@pytest.fixture(scope="module")
def system() -> cosim.System:
    model = cosim.Model("hybrid")
    model.add(Hybrid(), "h")
    model.add("signals.step", "s", start_time=0.6, height=1.0)
    model.add("measures.delay", "late", source="h.x", delay=0.3)
    model.connect("late.value", "h.past")
    model.connect("s.value", "h.wave")
    return model.build()


def random_state(system: cosim.System, seed: int) -> cosim.State:
    """The default State with parameters and start values that follow from a seed."""
    draw = np.random.default_rng(seed)
    state = system.default_state()
    ranges = {
        "h.k": (1.0, 9.0), "h.c": (0.0, 0.5), "h.a": (-0.5, 0.5), "h.e": (0.5, 0.9), "h.top": (0.3, 0.6),
        "h.low": (-1.0, -0.3), "h.kick": (-0.3, 0.3), "h.pause": (0.3, 0.6), "h.kink": (-0.3, 0.5),
        "h.x": (-0.2, 0.2), "h.v": (0.3, 1.5), "late.delay": (0.1, 0.5), "s.start_time": (0.2, 1.2),
        "s.height": (-2.0, 2.0),
    }  # fmt: skip
    for path, (low, high) in ranges.items():
        state[path] = draw.uniform(low, high)
    return state


def run_with_derivatives(system: cosim.System, state: cosim.State, by: list[str]) -> cosim.Result:
    """A run that locates events to rounding, as runs with derivatives do."""
    options = {"until": UNTIL, "output_interval": UNTIL, "signals": SIGNALS, "accuracy": 1e-12}
    return cosim.simulate(system, state=state, derivatives=by, **options)


def differences(system: cosim.System, seed: int, path: str, order: list[str]) -> np.ndarray | None:
    """Derivatives of the last values, of sixth order; None if a run has other events or another order."""
    total = np.zeros(len(SIGNALS))
    for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        for sign in (1.0, -1.0):
            state = random_state(system, seed)
            state[path] = state[path] + sign * k * STEP
            result = run_with_derivatives(system, state, BY[:1])
            if [event.name for event in result.events] != order:
                return None
            total += sign * weight * np.array([result[signal][-1] for signal in SIGNALS])
    return total / (60.0 * STEP)


def largest_error(system: cosim.System, seed: int, paths: list[str]) -> tuple[int, float]:
    """How many variables were compared, and the largest error, relative to a derivative or to 1.

    NaN if an error is. The error of z counts a thousandth: steps meet its kink within 1e-5 of their length,
    and tangents see it there.
    """
    result = run_with_derivatives(system, random_state(system, seed), BY)
    if any(finding.kind == "no derivative" for finding in result.findings):
        return 0, 0.0
    order, worst, count = [event.name for event in result.events], 0.0, 0
    for path in paths:
        expected = differences(system, seed, path, order)
        if expected is not None:
            slopes = np.array([result.derivative(signal, path)[-1] for signal in SIGNALS])
            error = abs(slopes - expected) / np.maximum(1.0, abs(expected)) * [1.0, 1.0, 1e-3, 1.0]
            worst = float(np.maximum(worst, error.max()))  # NaN stays
            count += 1
    return count, worst


def test_a_random_system(system: cosim.System) -> None:
    count, worst = largest_error(system, 9, ["h.top", "h.pause", "late.delay"])
    assert count == 3 and worst < 1e-6


def check_gradient(system: cosim.System, seed: int, **options) -> bool:
    """Compare the gradient of a random sum of all recorded values with derivatives; False if it has none."""
    settings = {"until": UNTIL, "output_interval": 0.11, "signals": SIGNALS, "accuracy": 1e-8, **options}
    draw = np.random.default_rng(seed)
    forward = cosim.simulate(system, state=random_state(system, seed), derivatives=BY, **settings)
    back = cosim.simulate(system, state=random_state(system, seed), gradient=BY, **settings)
    weights = {path: draw.uniform(-1.0, 1.0, forward[path].shape) for path in SIGNALS}
    gradient = back.gradient(lambda _: (0.0, weights))
    inexact = [
        [finding.kind for finding in run.findings].count("inexact derivative") for run in (back, forward)
    ]
    assert len(back.findings) - inexact[0] >= len(forward.findings) - inexact[1]
    if any(finding.kind == "no derivative" for finding in back.findings):
        assert np.isnan(gradient.vector).all()
        return False
    for path in BY:
        terms = [np.ravel(w * forward.derivative(of, path)) for of, w in weights.items()]
        size = sum(abs(term).sum() for term in terms)
        expected = sum(term.sum() for term in terms)
        assert gradient[path].item() == pytest.approx(expected, abs=1e-9 * (size + 1e-2))
    return True


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["dormand_prince", "radau5"])
def test_gradients_of_random_systems(system: cosim.System, method: str) -> None:
    """A run without a gradient has a finding about it, and more than half of them have one."""
    options = {"integrator": f"integrators.{method}", "maximum_step": 0.1}
    have_gradients = [check_gradient(system, seed, **options) for seed in range(many(6))]
    assert sum(have_gradients) > 0.6 * len(have_gradients)


@pytest.mark.thorough
def test_gradients_of_a_thousand_random_systems(system: cosim.System) -> None:
    have_gradients = [check_gradient(system, seed, maximum_step=0.1) for seed in range(1000)]
    assert sum(have_gradients) > 600


@pytest.mark.thorough
def test_many_random_systems(system: cosim.System) -> None:
    outcomes = [largest_error(system, seed, BY) for seed in range(40)]
    assert sum(count for count, _ in outcomes) > 400
    assert np.max([worst for _, worst in outcomes]) < 1e-6  # which NaN is not
