"""Parts whose held witness is released inside a step, with their solutions in closed form."""

from __future__ import annotations

import math

import cosim

G = 9.81


class FallingFloor(cosim.Component):
    """A ball on a floor at -a t^3, which in the end falls faster than the ball."""

    height = cosim.position(unit="m")
    speed = cosim.speed(unit="m/s")
    a = cosim.parameter(unit="m/s3", default=1.0)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -G

    @cosim.witness(direction="falling")
    def floor(t, height, a):
        return height + a * t * t * t

    @cosim.on(floor, does="unrestricted")
    def bounce(t, speed, a, speed_next):
        floor_speed = -3.0 * a * t * t
        speed_next[0] = floor_speed - 0.3 * (speed - floor_speed)


def end_of_contact(a: float) -> float:
    """The time at which the floor falls away from the ball, s: there its acceleration is g."""
    return G / (6.0 * a)


def height_on_falling_floor(a: float, t: float) -> float:
    """The height of the ball, m."""
    time_in_air = max(t - end_of_contact(a), 0.0)
    time_on_floor = min(t, end_of_contact(a))
    return -a * time_on_floor**3 - 3.0 * a * time_on_floor**2 * time_in_air - 0.5 * G * time_in_air**2


class Relay(cosim.Component):
    """Law: x' = c sin(w t) - s, where s has the sign of x: x slides at 0 while c |sin(w t)| is below 1."""

    x = cosim.auxiliary_state(start=0.5)
    s = cosim.discrete(start=1.0)
    c = cosim.parameter(default=1.7)
    w = cosim.parameter(unit="rad/s", default=1.0)

    @cosim.kernel
    def derivatives(t, s, c, w, x_dot):
        x_dot[0] = c * math.sin(w * t) - s

    @cosim.witness
    def surface(x):
        return x

    @cosim.on(surface, does="unrestricted")
    def flip(s, s_next):
        s_next[0] = -s


class Clamp(cosim.Component):
    """Law: x' = cos(w t), with x at most 1/2: it lies there until w t = pi / 2."""

    x = cosim.auxiliary_state()
    w = cosim.parameter(unit="rad/s", default=1.0)

    @cosim.kernel
    def derivatives(t, w, x_dot):
        x_dot[0] = math.cos(w * t)

    @cosim.witness(direction="falling")
    def limit(x):
        return 0.5 - x

    @cosim.on(limit, does="unrestricted")
    def stop(x_next):
        x_next[0] = 0.5
