"""Parts with scheduled events, signals and handlers of every step; the file of outcomes names them."""

from __future__ import annotations

import math

import cosim
from cosim import EventCause

MODULUS = 1_000_003
NEVER = 1e9


def mixed(trace, key):
    """The next trace, which depends on the order in which handlers with different keys run."""
    return (3 * trace + key) % MODULUS


def answer(t, trace, idle, stop_at, fail_at):
    """The status of a handler: each `idle`-th trace did nothing, from a time on termination or failure."""
    if t >= fail_at:
        return 3
    if t >= stop_at:
        return 2
    if idle > 0.5 and trace % int(idle) == 0:
        return 0
    return 1


class Clock(cosim.Component):
    """Handlers with a period and an offset that are parameters."""

    period = cosim.parameter(unit="s", default=0.25)
    offset = cosim.parameter(unit="s", default=0.0)
    idle = cosim.parameter(default=0.0)
    stop_at = cosim.parameter(unit="s", default=NEVER)
    fail_at = cosim.parameter(unit="s", default=NEVER)
    growth = cosim.parameter(default=0.01)
    z = cosim.auxiliary_state(start=1.0)
    level = cosim.discrete(start=1.0)
    trace = cosim.discrete(dtype=int, start=1)

    @cosim.kernel
    def derivatives(t, z, level, z_dot):
        z_dot[0] = 0.5 * level * math.cos(3.0 * t) - 0.3 * z

    @cosim.every("period", offset="offset", does="unrestricted")
    def tick_u(t, z, level, trace, idle, growth, stop_at, fail_at, z_next, trace_next):
        z_next[0] = z + growth * level
        trace_next[0] = mixed(trace, 1)
        return answer(t, trace, idle, NEVER, fail_at)

    @cosim.every("period", offset="offset", does="discrete")
    def tick_d(t, z, level, trace, idle, stop_at, level_next, trace_next):
        level_next[0] = 0.75 * level + 0.125 * z
        trace_next[0] = mixed(trace, 2)
        return answer(t, trace, idle, stop_at, NEVER)

    @cosim.every("period", offset="offset", does="publish")
    def tick_p(t, trace, idle, stop_at):
        return answer(t, trace, idle, stop_at, NEVER)


class Beat(cosim.Component):
    """Two handlers with one period and two offsets, and one with another period; of second order."""

    period = cosim.parameter(unit="s", default=0.11)
    offset = cosim.parameter(unit="s", default=0.02)
    trace = cosim.discrete(dtype=int, start=6)
    x = cosim.position(start=0.5)
    v = cosim.speed(start=1.0)

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -9.0 * x

    @cosim.every("period", offset="offset", does="discrete")
    def beat_d(trace, trace_next):
        trace_next[0] = mixed(trace, 1)

    @cosim.every("period", does="unrestricted")
    def beat_u(v, trace, v_next):
        v_next[0] = v if trace % 3 == 0 else 0.984375 * v

    @cosim.every(0.19, offset="offset", does="discrete")
    def other_d(trace, trace_next):
        trace_next[0] = mixed(trace, 4)


class FixedClock(cosim.Component):
    """Periods that coincide, and lists of times; one handler is private."""

    z = cosim.auxiliary_state(start=0.5)
    level = cosim.discrete(start=[1.0, -1.0], shape=2)
    trace = cosim.discrete(dtype=int, start=2)
    book = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(t, z, level, z_dot):
        z_dot[0] = level[0] * t - level[1] * z

    @cosim.every(0.13, does="unrestricted")
    def one_u(z, trace, z_next, trace_next):
        z_next[0] = 0.96875 * z
        trace_next[0] = mixed(trace, 1)

    @cosim.every(0.26, offset=0.13, does="discrete")
    def two_d(level, trace, level_next, trace_next):
        level_next[0] = 0.5 * level[1]
        level_next[1] = 0.5 * level[0] + 0.25
        trace_next[0] = mixed(trace, 2)

    @cosim.at([0.05, 0.39, 0.4, 0.4, 1.3], does="discrete")
    def list_d(level, trace, level_next, trace_next):
        level_next[1] = level[1] - 0.0625
        trace_next[0] = mixed(trace, 3)

    @cosim.at([0.39, 0.75], does="unrestricted")
    def list_u(z, trace, z_next, trace_next):
        z_next[0] = z - 0.25
        trace_next[0] = mixed(trace, 4)

    @cosim.at([0.0, 0.39], does="publish")
    def list_p(t):
        return 1

    @cosim.every(0.13, does="discrete")
    def _keep_book(trace, book, book_next):
        book_next[0] = book + trace % 7


class Alarm(cosim.Component):
    """Two timers; handlers of the first one set both, and a periodic handler shifts the first one."""

    pause = cosim.parameter(unit="s", default=0.17)
    shift = cosim.parameter(unit="s", default=0.05)
    start = cosim.parameter(unit="s", default=0.1)
    wake = cosim.timer(start=0.2)
    rest = cosim.timer()
    z = cosim.auxiliary_state(start=1.0)
    trace = cosim.discrete(dtype=int, start=3)

    @cosim.kernel
    def derivatives(z, z_dot):
        z_dot[0] = 0.25 - z * z

    @cosim.on(wake, does="unrestricted")
    def rung_u(t, z, trace, pause, z_next, wake_next, rest_next, trace_next):
        z_next[0] = z - 0.015625
        wake_next[0] = t + pause
        rest_next[0] = t + 0.5 * pause
        trace_next[0] = mixed(trace, 1)

    @cosim.on(wake, does="discrete")
    def woken_d(t, wake, trace, pause, wake_next, trace_next):
        if trace % 3 == 0:
            wake_next[0] = wake + 0.3 * pause
        trace_next[0] = mixed(trace, 2)

    @cosim.on(wake, does="publish")
    def seen_p(trace):
        return 1

    @cosim.on(rest, does="discrete")
    def rested_d(t, trace, rest_next, trace_next):
        if trace % 2 == 0:
            rest_next[0] = math.inf
        trace_next[0] = mixed(trace, 3)

    @cosim.every(0.21, offset="start", does="discrete")
    def set_d(t, wake, shift, trace, wake_next, trace_next):
        wake_next[0] = max(t, min(wake, t + shift))
        trace_next[0] = mixed(trace, 4)


def raise_later(mask, s1_next, s2_next, s3_next):
    """Raise the signals whose bits are set in a mask."""
    if mask & 2 != 0:
        s1_next[0] = 1
    if mask & 4 != 0:
        s2_next[0] = 1
    if mask & 8 != 0:
        s3_next[0] = 1


class Cascade(cosim.Component):
    """Four signals; if bit i of `raises[2 j + kind]` is set, the handler of that kind of j raises i."""

    raises = cosim.parameter(shape=9, default=[2, 4, 4, 8, 8, 0, 0, 0, 1])
    period = cosim.parameter(unit="s", default=0.3)
    z = cosim.auxiliary_state(start=0.25)
    level = cosim.discrete(start=0.5)
    trace = cosim.discrete(dtype=int, start=4)
    s0 = cosim.signal()
    s1 = cosim.signal()
    s2 = cosim.signal()
    s3 = cosim.signal()

    @cosim.kernel
    def derivatives(z, level, z_dot):
        z_dot[0] = level - z

    @cosim.on(s0, does="unrestricted")
    def on0_u(z, trace, raises, z_next, s1_next, s2_next, s3_next, trace_next):
        raise_later(int(raises[0]), s1_next, s2_next, s3_next)
        z_next[0] = 0.96875 * z + 0.03125
        trace_next[0] = mixed(trace, 1)

    @cosim.on(s0, does="discrete")
    def on0_d(trace, raises, s1_next, s2_next, s3_next, trace_next):
        raise_later(int(raises[1]), s1_next, s2_next, s3_next)
        trace_next[0] = mixed(trace, 2)

    @cosim.on(s0, does="publish")
    def on0_p(trace):
        return 1

    @cosim.on(s1, does="unrestricted")
    def on1_u(level, trace, raises, s1_next, s2_next, s3_next, level_next, trace_next):
        raise_later(int(raises[2]), s1_next, s2_next, s3_next)
        level_next[0] = 0.5 * level + 0.25
        trace_next[0] = mixed(trace, 3)

    @cosim.on(s1, does="discrete")
    def on1_d(trace, raises, s1_next, s2_next, s3_next, trace_next):
        raise_later(int(raises[3]), s1_next, s2_next, s3_next)
        trace_next[0] = mixed(trace, 4)

    @cosim.on(s2, does="unrestricted")
    def on2_u(z, trace, raises, s3_next, z_next, trace_next):
        if int(raises[4]) & 8 != 0:
            s3_next[0] = 1
        z_next[0] = z - 0.0625
        trace_next[0] = mixed(trace, 5)

    @cosim.on(s2, does="publish")
    def on2_p(trace):
        return 0 if trace % 2 == 0 else 1

    @cosim.on(s3, does="discrete")
    def on3_d(level, trace, level_next, trace_next):
        level_next[0] = level + 0.03125
        trace_next[0] = mixed(trace, 6)

    @cosim.every("period", does="discrete")
    def call_d(trace, raises, s0_next, s1_next, s2_next, s3_next, trace_next):
        if int(raises[8]) & 1 != 0:
            s0_next[0] = 1
        raise_later(int(raises[8]), s1_next, s2_next, s3_next)
        trace_next[0] = mixed(trace, 7)

    @cosim.on(EventCause.INITIALIZATION, does="discrete")
    def begin_d(trace, raises, s0_next, trace_next):
        if int(raises[6]) & 1 != 0:
            s0_next[0] = 1
        trace_next[0] = mixed(trace, 8)

    @cosim.on(EventCause.TERMINATION, does="discrete")
    def end_d(trace, raises, s2_next, trace_next):
        if int(raises[7]) & 4 != 0:
            s2_next[0] = 1
        trace_next[0] = mixed(trace, 9)


class EveryStep(cosim.Component):
    """Handlers of the start, of every step and of the end."""

    idle = cosim.parameter(default=4.0)
    stop_at = cosim.parameter(unit="s", default=NEVER)
    fail_at = cosim.parameter(unit="s", default=NEVER)
    z = cosim.auxiliary_state(start=0.75)
    level = cosim.discrete(start=0.5)
    steps = cosim.discrete(dtype=int)
    trace = cosim.discrete(dtype=int, start=5)

    @cosim.kernel
    def derivatives(t, z, level, z_dot):
        z_dot[0] = level * math.sin(2.0 * t) - 0.125 * z

    @cosim.on(EventCause.INITIALIZATION, does="unrestricted")
    def begin_u(z, trace, z_next, trace_next):
        z_next[0] = z + 0.25
        trace_next[0] = mixed(trace, 1)

    @cosim.on(EventCause.INITIALIZATION, does="discrete")
    def begin_d(trace, level_next, trace_next):
        level_next[0] = 0.625
        trace_next[0] = mixed(trace, 2)

    @cosim.on(EventCause.INITIALIZATION, does="publish")
    def begin_p(trace):
        return 1

    @cosim.on(EventCause.TIME_ADVANCED, does="unrestricted")
    def step_u(t, z, trace, steps, idle, fail_at, z_next, steps_next):
        steps_next[0] = steps + 1
        if idle > 0.5 and steps % int(idle) == int(idle) - 1:
            z_next[0] = z + 0.0078125
        return 3 if t >= fail_at else 1

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def step_d(z, trace, trace_next):
        if z < 0.5:
            return 0
        trace_next[0] = mixed(trace, 3)
        return 1

    @cosim.on(EventCause.TIME_ADVANCED, does="publish")
    def step_p(t, stop_at):
        return 2 if t >= stop_at else 1

    @cosim.on(EventCause.TERMINATION, does="unrestricted")
    def end_u(z, trace, z_next, trace_next):
        z_next[0] = 0.5 * z
        trace_next[0] = mixed(trace, 4)

    @cosim.on(EventCause.TERMINATION, does="discrete")
    def end_d(trace, level, level_next, trace_next):
        level_next[0] = level - 1.0
        trace_next[0] = mixed(trace, 5)

    @cosim.on(EventCause.TERMINATION, does="publish")
    def end_p(trace):
        return 1


class Signs(cosim.Component):
    """Discrete variables that become zeros of both signs, NaN and infinity."""

    turns = cosim.parameter(default=0.0)
    zero = cosim.discrete(start=0.0)
    odd = cosim.discrete(start=0.5)
    large = cosim.discrete(dtype=int, start=1)
    x = cosim.position()
    v = cosim.speed(start=1.0)

    @cosim.kernel
    def derivatives(v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -0.5

    @cosim.every(0.3, does="discrete")
    def turn_d(zero, turns, zero_next):
        zero_next[0] = -zero if turns > 0.5 else zero

    @cosim.every(0.15, offset=0.1, does="discrete")
    def odd_d(t, odd, large, odd_next, large_next):
        if t < 0.5:
            odd_next[0] = math.nan
        else:
            odd_next[0] = math.inf
        large_next[0] = (large * 5) % 9_007_199_254_740_881 + 1


class Lagging(cosim.Component):
    """Law: y' = drive - rate felt, where `felt` is the delayed y."""

    felt = cosim.source()
    y = cosim.auxiliary_state(start=1.0)
    rate = cosim.parameter(default=2.0)
    drive = cosim.discrete(start=0.0)

    @cosim.kernel
    def derivatives(felt, rate, drive, y_dot):
        y_dot[0] = drive - rate * felt

    @cosim.every(0.37, offset=0.2, does="discrete")
    def push_d(drive, drive_next):
        drive_next[0] = 0.5 - 0.75 * drive


class Lag(cosim.Measure):
    """Law: value = mean + 0.1 sin(rate t), a varying delay."""

    mean = cosim.parameter(unit="s", default=0.2)
    rate = cosim.parameter(unit="rad/s", default=1.0)
    value = cosim.cache_slot(unit="s")
    value_dot = cosim.cache_slot()

    @cosim.kernel
    def swing(t, mean, rate, value, value_dot):
        value[0] = mean + 0.1 * math.sin(rate * t)
        value_dot[0] = 0.1 * rate * math.cos(rate * t)
