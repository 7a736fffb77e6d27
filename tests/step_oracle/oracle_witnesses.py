"""Parts with witnesses of every direction: of time, of states, of signals; conditions; declared rates."""

from __future__ import annotations

import math

from oracle_clocks import NEVER, answer, mixed

import cosim

DIRECTIONS = ("rising", "falling", "both")


def cubic(t, roots):
    return (t - roots[0]) * (t - roots[1]) * (t - roots[2])


def cubic_rate(t, roots):
    a, b, c = t - roots[0], t - roots[1], t - roots[2]
    return a * b + b * c + a * c


def is_between(t, roots):
    return (t - roots[0]) * (t - roots[1]) > 0.0


def note_u(t, z, trace, idle, fail_at, z_next, trace_next):
    z_next[0] = 0.875 * z + 0.0625
    trace_next[0] = mixed(trace, 1)
    return answer(t, trace, idle, NEVER, fail_at)


def note_d(t, level, trace, idle, stop_at, level_next, trace_next):
    level_next[0] = -0.9375 * level
    trace_next[0] = mixed(trace, 2)
    return answer(t, trace, idle, stop_at, NEVER)


def note_p(trace):
    return 1


class Probe(cosim.Component):
    """The base of probes: parameters of their witness and their handlers, and a state."""

    roots = cosim.parameter(unit="s", shape=3, default=[0.3, 0.7, 1.1])
    idle = cosim.parameter(default=0.0)
    stop_at = cosim.parameter(unit="s", default=NEVER)
    fail_at = cosim.parameter(unit="s", default=NEVER)
    z = cosim.auxiliary_state(start=1.0)
    level = cosim.discrete(start=1.0)
    trace = cosim.discrete(dtype=int, start=7)

    @cosim.kernel
    def derivatives(z, level, z_dot):
        z_dot[0] = level - 0.5 * z


def probe_of(direction: str, rated: bool, condition: bool) -> type[cosim.Component]:
    """A probe whose witness is a cubic of time, or a condition."""
    name = f"{direction.capitalize()}{'Rated' if rated else ''}{'Condition' if condition else ''}Probe"
    look = cosim.witness(direction=direction)(is_between if condition else cubic)
    body = {"__doc__": "A witness of time.", "__module__": __name__, "look": look}
    if rated:
        body["look_rate"] = look.rate(cubic_rate)
    for function, does in ((note_u, "unrestricted"), (note_d, "discrete"), (note_p, "publish")):
        body[function.__name__] = cosim.on(look, does=does)(function)
    return type(name, (Probe,), body)


PROBES = {
    (direction, rated, condition): probe_of(direction, rated, condition)
    for direction in DIRECTIONS
    for rated, condition in ((False, False), (True, False), (False, True))
}


def above(watched, threshold):
    return watched - threshold


def is_above(watched, threshold):
    return watched > threshold


def climb_d(threshold, stride, trace, threshold_next, trace_next):
    threshold_next[0] = threshold + stride
    trace_next[0] = mixed(trace, 1)


def count_d(trace, trace_next):
    trace_next[0] = mixed(trace, 1)


def nudge_u(z, trace, z_next, trace_next):
    z_next[0] = 0.5 * z + 0.125
    trace_next[0] = mixed(trace, 2)


class Guard(cosim.Component):
    """The base of guards: a source that is watched, a threshold, and a state."""

    watched = cosim.source()
    threshold = cosim.discrete(start=0.25)
    stride = cosim.parameter(default=0.125)
    z = cosim.auxiliary_state(start=0.0)
    trace = cosim.discrete(dtype=int, start=8)

    @cosim.kernel
    def derivatives(watched, z, z_dot):
        z_dot[0] = watched - z


def guard_of(direction: str, condition: bool, climbs: bool) -> type[cosim.Component]:
    """A guard with an event where its source crosses the threshold; a climbing one then moves it."""
    name = f"{direction.capitalize()}{'Condition' if condition else ''}{'Climbing' if climbs else ''}Guard"
    look = cosim.witness(direction=direction)(is_above if condition else above)
    body = {"__doc__": "Watches a signal.", "__module__": __name__, "look": look}
    first = climb_d if climbs else count_d
    for function, does in ((first, "discrete"), (nudge_u, "unrestricted"), (note_p, "publish")):
        body[function.__name__] = cosim.on(look, does=does)(function)
    return type(name, (Guard,), body)


GUARDS = {
    (direction, condition, climbs): guard_of(direction, condition, climbs)
    for direction in DIRECTIONS
    for condition, climbs in ((False, False), (True, False), (False, True))
}


class Mover(cosim.Component):
    """Runs back and forth between -1 and 1 at constant speed."""

    x = cosim.position()
    speed = cosim.discrete(start=1.0)
    trace = cosim.discrete(dtype=int, start=9)

    @cosim.kernel
    def derivatives(speed, x_dot):
        x_dot[0] = speed

    @cosim.witness(direction="rising")
    def high(x):
        return x - 1.0

    @high.rate
    def high_rate(speed):
        return speed

    @cosim.witness(direction="falling")
    def low(x):
        return x + 1.0

    @cosim.on(high, does="discrete")
    def high_d(speed, speed_next):
        speed_next[0] = -speed

    @cosim.on(low, does="discrete")
    def low_d(speed, trace, speed_next, trace_next):
        speed_next[0] = -speed
        trace_next[0] = mixed(trace, 1)


class Thermostat(cosim.Component):
    """Heats below 0.8, stops above 1.2, and raises a signal at each switching."""

    x = cosim.auxiliary_state(start=1.0)
    heat = cosim.discrete(dtype=int, start=1)
    power = cosim.parameter(default=6.0)
    loss = cosim.parameter(default=2.0)
    trace = cosim.discrete(dtype=int, start=10)
    switched = cosim.signal()

    @cosim.kernel
    def derivatives(x, heat, power, loss, x_dot):
        x_dot[0] = power * heat - loss * x

    @cosim.witness(direction="rising")
    def hot(x):
        return x > 1.2

    @cosim.witness(direction="falling")
    def cold(x):
        return x - 0.8

    @cosim.on(hot, does="discrete")
    def off_d(heat_next, switched_next):
        heat_next[0] = 0
        switched_next[0] = 1

    @cosim.on(cold, does="unrestricted")
    def on_u(heat_next, switched_next):
        heat_next[0] = 1
        switched_next[0] = 1

    @cosim.on(switched, does="discrete")
    def count_d(trace, trace_next):
        trace_next[0] = mixed(trace, 1)

    @cosim.on(switched, does="publish")
    def tell_p(trace):
        return 1


class Driven(cosim.Component):
    """A mass on a spring with inputs; crossings of x, of an input and of its acceleration are events."""

    x = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    stiffness = cosim.parameter(unit="N/m", default=9.0)
    force = cosim.input(unit="N")
    gate = cosim.input(unit="m")
    power = cosim.output(unit="W")
    push = cosim.cache_slot(unit="m/s2")
    trace = cosim.discrete(dtype=int, start=11)

    @cosim.kernel
    def derivatives(x, v, stiffness, force, x_dot, v_dot, push):
        x_dot[0] = v
        v_dot[0] = force - stiffness * x
        push[0] = v_dot[0]

    @cosim.kernel
    def report(v, force, power):
        power[0] = v * force

    @cosim.witness
    def middle(x):
        return x

    @middle.rate
    def middle_rate(v):
        return v

    @cosim.witness(direction="rising")
    def opened(gate):
        return gate - 0.5

    @cosim.witness
    def pushed(push):
        return push - 2.0

    @cosim.on(middle, does="discrete")
    def passed_d(trace, trace_next):
        trace_next[0] = mixed(trace, 1)

    @cosim.on(opened, does="unrestricted")
    def opened_u(v, trace, v_next, trace_next):
        v_next[0] = v + 0.5
        trace_next[0] = mixed(trace, 2)

    @cosim.on(opened, does="publish")
    def opened_p(power):
        return 1

    @cosim.on(pushed, does="discrete")
    def pushed_d(trace, trace_next):
        trace_next[0] = mixed(trace, 3)


class Fading(cosim.Component):
    """A witness that is NaN half of the time."""

    x = cosim.auxiliary_state(start=0.5)
    rate = cosim.parameter(default=5.0)
    gone = cosim.discrete(dtype=int)
    trace = cosim.discrete(dtype=int, start=12)

    @cosim.kernel
    def derivatives(t, rate, x_dot):
        x_dot[0] = rate * math.cos(rate * t)

    @cosim.witness
    def zero(x, gone):
        return x if gone == 0 else math.nan

    @cosim.every(0.4, offset=0.4, does="discrete")
    def go_d(gone, gone_next):
        gone_next[0] = 1 - gone

    @cosim.on(zero, does="discrete")
    def crossed_d(trace, trace_next):
        trace_next[0] = mixed(trace, 1)
