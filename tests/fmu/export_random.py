"""Random systems for exported FMUs: states, events, discrete variables, delays, feedback; no units."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import cosim


class Lag(cosim.Component):
    """Follows its input with a time constant; a second output has direct feedthrough."""

    time_constant = cosim.parameter(unit="s", default=0.05, minimum=1e-3)
    share = cosim.parameter(default=0.5)
    entry = cosim.input()
    x = cosim.auxiliary_state(start=0.3)
    y = cosim.output()
    z = cosim.output()

    @cosim.kernel
    def derivatives(entry, x, time_constant, x_dot):
        x_dot[0] = (entry - x) / time_constant

    @cosim.kernel
    def follow(x, y):
        y[0] = x

    @cosim.kernel
    def through(x, entry, share, z):
        z[0] = x + share * entry


class Swing(cosim.Component):
    """A nonlinear oscillator that is pushed by its input and kicked back when it passes a limit."""

    limit = cosim.parameter(default=0.8, minimum=0.1)
    push = cosim.input()
    angle = cosim.position(unit="rad", start=0.5)
    rate = cosim.speed(unit="rad/s")
    kicks = cosim.discrete(dtype=int)
    y = cosim.output()

    @cosim.kernel
    def derivatives(angle, rate, push, angle_dot, rate_dot):
        angle_dot[0] = rate
        rate_dot[0] = push - 40.0 * angle - 3.0 * angle * angle * angle

    @cosim.kernel
    def show(angle, y):
        y[0] = angle

    @cosim.witness(direction="rising")
    def passing(angle, limit):
        return angle - limit

    @cosim.on(passing, does="unrestricted")
    def kick(rate, kicks, rate_next, kicks_next):
        rate_next[0] = -0.5 * rate
        kicks_next[0] = kicks + 1


class Sampler(cosim.Component):
    """Holds its input of the last sampling instant, and the sum over all instants."""

    period = cosim.parameter(unit="s", default=0.02, minimum=1e-3)
    entry = cosim.input()
    held = cosim.discrete()
    total = cosim.discrete()
    y = cosim.output()

    @cosim.every("period", does="discrete")
    def sample(entry, total, held_next, total_next):
        held_next[0] = entry
        total_next[0] = total + entry

    @cosim.kernel
    def show(held, y):
        y[0] = held


class Bookkeeper(cosim.Component):
    """Plain Python: counts the steps in which its input was positive."""

    entry = cosim.input()
    positive = cosim.discrete()
    y = cosim.output()

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")
    def count(self, state, next_state):
        if state[f"{self.name}.entry"] > 0.0:
            next_state[f"{self.name}.positive"] = state[f"{self.name}.positive"] + 1.0

    @cosim.kernel
    def show(positive, y):
        y[0] = 1e-3 * positive


PORT = {Lag: "entry", Swing: "push", Sampler: "entry", Bookkeeper: "entry"}
INTEGRATORS = ("integrators.runge_kutta_merson", "integrators.dormand_prince", "integrators.explicit_euler")


@st.composite
def models(draw: st.DrawFn) -> tuple[cosim.Model, dict[str, Any], list[str]]:
    """A model, settings for its export, and the inputs that are left free."""
    model = cosim.Model("random")
    kinds = draw(st.lists(st.sampled_from(list(PORT)), min_size=1, max_size=4))
    stateful_signals: list[str] = []  # those without direct feedthrough, so that no algebraic loop arises
    for i, kind in enumerate(kinds):
        values: dict[str, float] = {}
        if kind is Lag:
            values = {"time_constant": draw(st.floats(0.02, 0.5)), "share": draw(st.floats(-1.0, 1.0))}
        elif kind is Sampler:
            values = {"period": draw(st.sampled_from([0.01, 0.0137, 0.02, 0.05]))}
        elif kind is Swing:
            values = {"limit": draw(st.floats(0.2, 0.7))}
        model.add(kind, f"p{i}", **values)
        stateful_signals.append(f"p{i}.y")
    for i in range(draw(st.integers(0, 2))):
        source = draw(st.sampled_from(stateful_signals))
        measure = draw(st.sampled_from(["delay", "integrate", "scale"]))
        options: dict[str, Any] = {}
        if measure == "delay":
            options = {"delay": draw(st.floats(0.004, 0.06))}
        elif measure == "scale":
            options = {"factor": draw(st.floats(-2.0, 2.0))}
        model.measure(f"measures.{measure}", f"m{i}", source=source, **options)
        if measure != "integrate":
            stateful_signals.append(f"m{i}")
    free = []
    for i, kind in enumerate(kinds):
        target = f"p{i}.{PORT[kind]}"
        sources = [*stateful_signals, *(f"p{j}.z" for j in range(i) if kinds[j] is Lag)]
        source = draw(st.none() | st.sampled_from(sources))
        if source is None:
            free.append(target)
        else:
            model.connect(source, target)
    integrator = draw(st.sampled_from(INTEGRATORS))
    settings: dict[str, Any] = {"integrator": integrator, "accuracy": draw(st.sampled_from([1e-3, 1e-6]))}
    if integrator.endswith("euler"):
        settings["fixed_step"] = 1e-3
    return model, settings, free
