"""Parts whose witnesses lie at exactly zero: tanks that are full, balls on floors, bodies that touch."""

from __future__ import annotations

from kernel_parts import system_of

import cosim


class Tank(cosim.Component):
    """It fills until its valve closes, and the level then stays where it is."""

    level = cosim.auxiliary_state()
    flow = cosim.discrete(start=1.0)
    limit = cosim.parameter(default=0.7)
    closed = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(flow, level_dot):
        level_dot[0] = flow

    @cosim.witness(direction="rising")
    def full(level, limit):
        return level - limit

    @cosim.on(full, does="unrestricted")
    def close(limit, closed, closed_next, flow_next, level_next):
        closed_next[0] = closed + 1
        flow_next[0] = 0.0
        level_next[0] = limit


class Mixture(cosim.Component):
    """Two species become each other, fast; their sum is a threshold, and what is poured in stops there."""

    a = cosim.auxiliary_state(start=0.2)
    b = cosim.auxiliary_state(start=0.1)
    flow = cosim.discrete(start=1.0)
    limit = cosim.parameter(default=0.7)
    speed = cosim.parameter(default=5.0)
    closed = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(a, b, flow, speed, a_dot, b_dot):
        a_dot[0] = flow - speed * (a - 0.3 * b)
        b_dot[0] = speed * (a - 0.3 * b)

    @cosim.witness(direction="rising")
    def full(a, b, limit):
        return a + b - limit

    @cosim.on(full, does="unrestricted")
    def close(b, limit, closed, closed_next, flow_next, a_next):
        closed_next[0] = closed + 1
        flow_next[0] = 0.0
        a_next[0] = limit - b


class FloorBall(cosim.Component):
    """A ball on a floor at some height; its handler puts it there exactly."""

    h = cosim.position()
    v = cosim.speed()
    floor_height = cosim.parameter(default=0.0)
    restitution = cosim.parameter(default=0.8)
    put_at = cosim.parameter(unit="s", default=1e9)
    bounces = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(v, h_dot, v_dot):
        h_dot[0] = v
        v_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(h, floor_height):
        return h - floor_height

    @cosim.on(floor, does="unrestricted")
    def bounce(v, restitution, floor_height, bounces, h_next, v_next, bounces_next):
        h_next[0] = floor_height
        v_next[0] = -restitution * v if v < 0.0 else v
        bounces_next[0] = bounces + 1

    @cosim.every(0.25, offset=0.25, does="unrestricted")
    def put(t, put_at, floor_height, h_next, v_next):
        if t == put_at:
            h_next[0] = floor_height
            v_next[0] = 0.0


class EitherWayBall(FloorBall):
    """The same; its witness triggers both ways, and its handler does not touch the height."""

    @cosim.witness
    def floor(h, floor_height):
        return h - floor_height

    @cosim.on(floor, does="unrestricted")
    def bounce(v, restitution, bounces, v_next, bounces_next):
        v_next[0] = -restitution * v if v < 0.0 else v
        bounces_next[0] = bounces + 1


class Cradle(cosim.Component):
    """Three equal balls on a line, of which two touch; a blow is passed on as a swap of speeds."""

    x1 = cosim.position(start=-1.0)
    x2 = cosim.position(start=0.1)
    x3 = cosim.position(start=0.3)
    v1 = cosim.speed(start=1.0)
    v2 = cosim.speed()
    v3 = cosim.speed()
    diameter = cosim.parameter(default=0.2)
    spring = cosim.parameter(default=0.0)
    blows = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x1, x2, x3, v1, v2, v3, spring, diameter, x1_dot, x2_dot, x3_dot, v1_dot, v2_dot, v3_dot):
        x1_dot[0] = v1
        x2_dot[0] = v2
        x3_dot[0] = v3
        v1_dot[0] = -spring * (x1 - 0.1 + diameter)
        v2_dot[0] = -spring * (x2 - 0.1)
        v3_dot[0] = -spring * (x3 - 0.1 - diameter)

    @cosim.witness(direction="falling")
    def left_gap(x1, x2, diameter):
        return x2 - x1 - diameter

    @cosim.witness(direction="falling")
    def right_gap(x2, x3, diameter):
        return x3 - x2 - diameter

    @cosim.on(left_gap, does="unrestricted")
    def left_blow(v1, v2, blows, v1_next, v2_next, blows_next):
        v1_next[0] = v2
        v2_next[0] = v1
        blows_next[0] = blows + 1

    @cosim.on(right_gap, does="unrestricted")
    def right_blow(v2, v3, blows, v2_next, v3_next, blows_next):
        v2_next[0] = v3
        v3_next[0] = v2
        blows_next[0] = blows + 1000


class Turned(cosim.Component):
    """A point is set to its limit and turned there when it has reached it; others watch the limit as well."""

    x = cosim.auxiliary_state()
    rate = cosim.discrete(start=1.0)
    limit = cosim.parameter(default=0.7)
    turns = cosim.discrete(dtype=int)
    rises = cosim.discrete(dtype=int)
    falls = cosim.discrete(dtype=int)
    passages = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(rate, x_dot):
        x_dot[0] = rate

    @cosim.witness(direction="rising")
    def reached(x, limit):
        return x - limit

    @cosim.on(reached, does="unrestricted")
    def turn(limit, turns, turns_next, x_next, rate_next):
        turns_next[0] = turns + 1
        x_next[0] = limit
        rate_next[0] = -1.0

    @cosim.witness(direction="rising")
    def rising(x, limit):
        return x - limit

    @cosim.on(rising, does="discrete")
    def count_rise(rises, rises_next):
        rises_next[0] = rises + 1

    @cosim.witness(direction="falling")
    def falling(x, limit):
        return x - limit

    @cosim.on(falling, does="discrete")
    def count_fall(falls, falls_next):
        falls_next[0] = falls + 1

    @cosim.witness(direction="both")
    def passing(x, limit):
        return x - limit

    @cosim.on(passing, does="discrete")
    def count_passage(passages, passages_next):
        passages_next[0] = passages + 1


class Relay(cosim.Component):
    """A mass that a relay pulls to the line x + v = 0; the relay changes its mode alone, and slides there."""

    x = cosim.position(start=1.0)
    v = cosim.speed(start=0.5)
    pull = cosim.discrete(start=1.0)

    @cosim.kernel
    def law(v, pull, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -2.0 * pull

    @cosim.witness
    def line(x, v):
        return x + v

    @cosim.on(line, does="discrete")
    def reverse(pull, pull_next):
        pull_next[0] = -pull


class FromLevel(cosim.Component):
    """Law: x' = pace (2 + y), from the level on; there y becomes y + kick, and passages are counted."""

    level = cosim.parameter(default=0.7)
    pace = cosim.parameter(default=1.0)
    kick = cosim.parameter(default=1.0)
    x = cosim.auxiliary_state()
    y = cosim.auxiliary_state()
    passages = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(pace, y, x_dot, y_dot):
        x_dot[0] = pace * (2.0 + y)
        y_dot[0] = 0.1 * y

    @cosim.witness(direction="both")
    def reaches(x, level):
        return x - level

    @cosim.on(reaches, does="unrestricted")
    @cosim.kernel
    def pass_by(kick, y, passages, y_next, passages_next):
        y_next[0] = y + kick
        passages_next[0] = passages + 1


class Upward(FromLevel):
    """The same, watched in one direction."""

    @cosim.witness(direction="rising")
    def reaches(x, level):
        return x - level


class Downward(FromLevel):
    """The same in the other direction."""

    @cosim.witness(direction="falling")
    def reaches(x, level):
        return x - level


class TurnedAndBack(cosim.Component):
    """Law: v' = 2, and behind its zero v' = 0.3 (t - 0.28): it turns, stays above zero and rises again."""

    v = cosim.auxiliary_state(start=-0.09)
    is_turned = cosim.discrete()

    @cosim.kernel
    def derivatives(t, is_turned, v_dot):
        v_dot[0] = 0.3 * (t - 0.28) if is_turned else 2.0

    @cosim.witness(direction="rising")
    def passes(v):
        return v

    @cosim.on(passes, does="discrete")
    def turn(is_turned_next):
        is_turned_next[0] = 1.0


class Bystander(cosim.Component):
    """At each twentieth of a second its state is multiplied by a factor."""

    x = cosim.auxiliary_state(start=1.0)
    factor = cosim.parameter(default=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.1 * x

    @cosim.every(0.05, does="unrestricted")
    def multiply(x, factor, x_next):
        x_next[0] = factor * x


class Ramp(cosim.Component):
    """Goes up at a constant rate through 0.7; its witness triggers upward."""

    x = cosim.auxiliary_state()
    rate = cosim.discrete(start=1.0)
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(rate, x_dot):
        x_dot[0] = rate

    @cosim.witness(direction="rising")
    def top(x):
        return x - 0.7

    @cosim.on(top, does="unrestricted")
    def count(events, events_next):
        events_next[0] = events + 1


class Passage(cosim.Component):
    """Goes up at a rate through a height."""

    x = cosim.auxiliary_state()
    rate = cosim.parameter(default=1.0)
    height = cosim.parameter(default=0.5)
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(rate, x_dot):
        x_dot[0] = rate

    @cosim.witness(direction="rising")
    def top(x, height):
        return x - height

    @cosim.on(top, does="discrete")
    def count(events, events_next):
        events_next[0] = events + 1


class Gate(cosim.Component):
    """A witness of an input, which jumps where it is written."""

    x = cosim.auxiliary_state()
    signal = cosim.input(unit="1")
    events = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0

    @cosim.witness(direction="rising")
    def opened(signal):
        return signal - 1.0

    @cosim.on(opened, does="discrete")
    def count(events, events_next):
        events_next[0] = events + 1


class Buffer(cosim.Component):
    """A point that is stopped at a wall, is put behind it, and comes back to it and no farther."""

    x = cosim.position(unit="m", start=0.35)
    v = cosim.speed(unit="m/s", start=-1.0)
    is_put = cosim.parameter(unit="1", default=1.0)
    stops = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = 0.0

    @cosim.witness(direction="falling")
    def wall(x):
        return x

    @cosim.on(wall, does="unrestricted")
    def stop(stops, v_next, stops_next):
        v_next[0] = 0.0
        stops_next[0] = stops + 1

    @cosim.every("0.1 s", does="unrestricted")
    def move(t, is_put, x_next, v_next):
        if is_put == 1.0 and 0.95 < t < 1.05:
            x_next[0] = -0.3
            v_next[0] = 1.0
        if 1.25 < t < 1.35:
            v_next[0] = -1.0


def simulator_of(part, method="integrators.dormand_prince", step=None, accuracy=1e-6, **starts):
    """A simulator of one part, ``part``; `starts` are states, `step` the length of fixed steps (s)."""
    system = system_of(part=part)
    state = system.default_state()
    for name, value in starts.items():
        state[f"part.{name}"] = value
    options = {"fixed_step": step} if step else {}
    return cosim.Simulator(system, state, integrator=method, accuracy=accuracy, **options)
