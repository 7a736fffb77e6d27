"""Components with endless events, whose witnesses are held at zero or cannot be held."""

import math

import cosim
from cosim import EventCause


class Relay(cosim.Component):
    """Law: x' = drive sin 2t - strength sign; an event sets the sign of x, so that x slides at 0."""

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
    def flip(x, sign_next):
        sign_next[0] = 1 if x >= 0.0 else -1  # that of x, not the opposite of the present one


class Fading(Relay):
    """A relay whose witness is NaN from 0.9 s on."""

    gone = cosim.discrete(dtype=int)

    @cosim.witness
    def zero(x, gone):
        return x if gone == 0 else math.nan

    @cosim.at([0.9], does="discrete")
    def go(gone_next):
        gone_next[0] = 1

    @cosim.on(zero, does="discrete")
    def flip(sign, sign_next):
        sign_next[0] = -sign


class Shaken(cosim.Component):
    """A ball on a table at swing sin 12 t; at 2 s it is kicked upward by 3 m/s."""

    height = cosim.position(start=1.0)
    speed = cosim.speed()
    swing = cosim.parameter(default=0.02)
    hits = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def table(t, height, swing):
        return height - swing * math.sin(12.0 * t)

    @cosim.on(table, does="unrestricted")
    def bounce(t, speed, swing, hits, speed_next, hits_next):
        table_speed = 12.0 * swing * math.cos(12.0 * t)
        speed_next[0] = table_speed - 0.3 * (speed - table_speed)
        hits_next[0] = hits + 1

    @cosim.at([2.0], does="unrestricted")
    def kick(speed, speed_next):
        speed_next[0] = speed + 3.0


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
    def shift(gain, gain_next):
        gain_next[0] = 5.0 - gain[0]

    @cosim.on(zero, does="discrete")
    def turn(way, way_next):
        way_next[0] = -way

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def count(steps, steps_next):
        steps_next[0] = steps + 1


class Stuck(cosim.Component):
    """Its handler changes an internal variable alone, by which the witness cannot be held."""

    x = cosim.position(start=0.3)
    way = cosim.discrete(start=-1.0, internal=True)

    @cosim.kernel
    def derivatives(way, x_dot):
        x_dot[0] = way

    @cosim.witness
    def zero(x):
        return x

    @cosim.on(zero, does="discrete")
    def turn(way, way_next):
        way_next[0] = -way
