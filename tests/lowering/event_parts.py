"""Components with event handlers of every cause and kind, all of which are kernel functions."""

import math

import cosim
from cosim import EventCause


class Clockwork(cosim.Component):
    """Handlers of every cause and kind; the order in which they run shows in `count` and `level`."""

    period = cosim.parameter(unit="s", default=0.13)
    z = cosim.auxiliary_state(start=1.0)
    level = cosim.discrete(start=1.0)
    count = cosim.discrete(dtype=int)
    gain = cosim.parameter(default=0.5)
    wake = cosim.timer(start=0.2)
    alarm = cosim.signal()
    echo = cosim.signal()
    stop_at = cosim.parameter(default=1e9)
    drive = cosim.input()
    seen = cosim.output()

    @cosim.kernel
    def derivatives(t, z, level, gain, drive, z_dot):
        z_dot[0] = gain * level * math.cos(3.0 * t) - 0.3 * z + drive

    @cosim.kernel
    def report(z, level, seen):
        seen[0] = z * level

    @cosim.on(EventCause.INITIALIZATION, does="unrestricted")
    def begin(z, z_next, count_next):
        z_next[0] = z + 0.25
        count_next[0] = 100

    @cosim.every("period", does="unrestricted")
    def tick(z, level, count, z_next, level_next, count_next):
        z_next[0] = z + 0.01 * level
        count_next[0] = 3 * count % 1009 + 1
        level_next[0] = level + 0.125

    @cosim.every(0.26, offset=0.13, does="discrete")
    def tock(level, count, level_next, count_next, alarm_next):
        level_next[0] = 0.75 * level
        count_next[0] = count + 7
        if count % 2 == 0:
            alarm_next[0] = 1

    @cosim.at([0.05, 0.39, 0.4], does="discrete")
    def listed(level, level_next):
        level_next[0] = level - 0.0625

    @cosim.on(wake, does="unrestricted")
    def rung(t, z, z_next, wake_next):
        z_next[0] = z - 0.015625
        wake_next[0] = t + 0.11  # the other handler of this time runs all the same

    @cosim.on(wake, does="discrete")
    def woken(t, wake, wake_next, gain):
        wake_next[0] = t + gain * 0.3

    @cosim.on(alarm, does="discrete")
    def alarmed(count, count_next, echo_next):
        count_next[0] = count + 1000
        echo_next[0] = 1

    @cosim.on(echo, does="unrestricted")
    def echoed(level, level_next, z, z_next):
        level_next[0] = level + 0.03125
        z_next[0] = z * 0.96875

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def passed(z, count, count_next):
        if z < 0.5:
            return 0
        count_next[0] = count + 1
        return 1

    @cosim.on(EventCause.TIME_ADVANCED, does="publish")
    def look(t, stop_at):
        if t >= stop_at:
            return 2
        return 1

    @cosim.on(EventCause.TERMINATION, does="discrete")
    def end(count, count_next):
        count_next[0] = -count


class Ball(cosim.Component):
    """A ball on a floor that is an input; one witness declares its rate, one is a condition."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    way = cosim.position(unit="m")
    drift = cosim.speed(unit="m/s", start=1.0)
    restitution = cosim.parameter(default=0.8)
    floor_height = cosim.input(unit="m")
    bounces = cosim.discrete(dtype=int)
    turns = cosim.discrete(dtype=int)

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
    def bounce(speed, restitution, bounces, speed_next, bounces_next):
        speed_next[0] = -restitution * speed
        bounces_next[0] = bounces + 1

    @cosim.witness
    def wall(way):
        return way - 0.5

    @cosim.witness(direction="rising")
    def beyond(way):
        return way > 0.25

    @cosim.on(wall, does="discrete")
    def passed(turns, turns_next):
        turns_next[0] = turns + 10

    @cosim.on(beyond, does="unrestricted")
    def slow(drift, drift_next):
        drift_next[0] = 0.9 * drift
