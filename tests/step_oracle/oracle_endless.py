"""Parts whose events may be endless: balls that come to rest, relays that chatter."""

from __future__ import annotations

import math

from oracle_clocks import mixed

import cosim
from cosim import EventCause


class Ball(cosim.Component):
    """A ball on a floor that is an input, with a wall and a condition on its way."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    way = cosim.position(unit="m")
    drift = cosim.speed(unit="m/s", start=1.0)
    restitution = cosim.parameter(default=0.8)
    floor_height = cosim.input(unit="m")
    bounces = cosim.discrete(dtype=int)
    trace = cosim.discrete(dtype=int, start=13)

    @cosim.kernel
    def derivatives(speed, drift, height_dot, speed_dot, way_dot, drift_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81
        way_dot[0] = drift
        drift_dot[0] = -0.1 * drift

    @cosim.witness(direction="falling")
    def floor(height, floor_height):
        return height - floor_height

    @floor.rate
    def floor_rate(speed):
        return speed

    @cosim.on(floor, does="unrestricted")
    def bounce_u(speed, restitution, bounces, speed_next, bounces_next):
        speed_next[0] = -restitution * speed
        bounces_next[0] = bounces + 1

    @cosim.on(floor, does="publish")
    def heard_p(bounces):
        return 1

    @cosim.witness
    def wall(way):
        return way - 0.5

    @cosim.witness(direction="rising")
    def beyond(way):
        return way > 0.25

    @cosim.on(wall, does="discrete")
    def passed_d(trace, trace_next):
        trace_next[0] = mixed(trace, 1)

    @cosim.on(beyond, does="unrestricted")
    def slow_u(drift, drift_next):
        drift_next[0] = 0.9 * drift


class Shaken(cosim.Component):
    """A ball on a table at swing sin 12 t; it is kicked upward at 1.1 s and 2 s."""

    height = cosim.position(start=0.5)
    speed = cosim.speed()
    swing = cosim.parameter(default=0.02)
    restitution = cosim.parameter(default=0.3)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def table(t, height, swing):
        return height - swing * math.sin(12.0 * t)

    @cosim.on(table, does="unrestricted")
    def bounce_u(t, speed, swing, restitution, hits, speed_next, hits_next):
        table_speed = 12.0 * swing * math.cos(12.0 * t)
        speed_next[0] = table_speed - restitution * (speed - table_speed)
        hits_next[0] = hits + 1

    @cosim.at([1.1, 2.0], does="unrestricted")
    def kick_u(speed, speed_next):
        speed_next[0] = speed + 3.0


class Stack(cosim.Component):
    """Two balls, one above the other."""

    low = cosim.position(start=0.3)
    high = cosim.position(start=0.7)
    low_speed = cosim.speed()
    high_speed = cosim.speed()
    restitution = cosim.parameter(default=0.4)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(low_speed, high_speed, low_dot, high_dot, low_speed_dot, high_speed_dot):
        low_dot[0] = low_speed
        high_dot[0] = high_speed
        low_speed_dot[0] = -9.81
        high_speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(low):
        return low

    @cosim.witness(direction="falling")
    def gap(low, high):
        return high - low

    @gap.rate
    def gap_rate(low_speed, high_speed):
        return high_speed - low_speed

    @cosim.on(floor, does="unrestricted")
    def land_u(low_speed, restitution, hits, low_speed_next, hits_next):
        low_speed_next[0] = -restitution * low_speed
        hits_next[0] = hits + 1

    @cosim.on(gap, does="unrestricted")
    def meet_u(low_speed, high_speed, restitution, hits, low_speed_next, high_speed_next, hits_next):
        middle = 0.5 * (low_speed + high_speed)
        half = 0.5 * restitution * (high_speed - low_speed)
        low_speed_next[0] = middle + half
        high_speed_next[0] = middle - half
        hits_next[0] = hits + 1000


class Relay(cosim.Component):
    """Law: x' = drive sin 2t - strength sign; an event at x = 0 sets the sign of x."""

    x = cosim.position(start=0.5)
    sign_integral = cosim.auxiliary_state()
    sign = cosim.discrete(dtype=int, start=1)
    strength = cosim.parameter(default=1.0)
    drive = cosim.parameter(default=1.5)

    @cosim.kernel
    def derivatives(t, sign, strength, drive, x_dot, sign_integral_dot):
        x_dot[0] = drive * math.sin(2.0 * t) - strength * sign
        sign_integral_dot[0] = sign

    @cosim.witness
    def zero(x):
        return x

    @cosim.on(zero, does="discrete")
    def flip_d(x, sign_next):
        sign_next[0] = 1 if x >= 0.0 else -1


class Friction(cosim.Component):
    """A block on a plane with dry friction: the sign of its speed is switched by two witnesses."""

    x = cosim.position()
    v = cosim.speed(start=0.8)
    grip = cosim.discrete(start=1.0)
    friction = cosim.parameter(default=2.0)
    drive = cosim.parameter(default=3.0)

    @cosim.kernel
    def derivatives(t, v, grip, friction, drive, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = drive * math.sin(4.0 * t) - friction * grip

    @cosim.witness(direction="falling")
    def stops(v):
        return v

    @cosim.witness(direction="rising")
    def returns(v):
        return v

    @cosim.on(stops, does="discrete")
    def back_d(grip_next):
        grip_next[0] = -1.0

    @cosim.on(returns, does="discrete")
    def forth_d(grip_next):
        grip_next[0] = 1.0


class Gears(cosim.Component):
    """Two handlers of one witness switch two variables; a third one counts steps."""

    x = cosim.position(start=0.3)
    gain = cosim.discrete(shape=2, start=[2.0, 0.5])
    way = cosim.discrete(start=1.0)
    steps = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(t, gain, way, x_dot):
        x_dot[0] = 4.0 * math.cos(5.0 * t) - (gain[0] + gain[1]) * way

    @cosim.witness
    def zero(x):
        return x

    @cosim.on(zero, does="unrestricted")
    def shift_u(gain, gain_next):
        gain_next[0] = 5.0 - gain[0]

    @cosim.on(zero, does="discrete")
    def turn_d(way, way_next):
        way_next[0] = -way

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def count_d(steps, steps_next):
        steps_next[0] = steps + 1


class Valve(cosim.Component):
    """A relay whose handler is an unrestricted update."""

    level = cosim.auxiliary_state(start=0.2)
    opening = cosim.discrete(start=1.0)
    inflow = cosim.parameter(default=0.7)

    @cosim.kernel
    def derivatives(t, opening, inflow, level_dot):
        level_dot[0] = inflow + 0.5 * math.sin(3.0 * t) - opening

    @cosim.witness
    def mark(level):
        return level

    @cosim.on(mark, does="unrestricted")
    def set_u(level, opening_next):
        opening_next[0] = 1.0 if level >= 0.0 else 0.0
