"""Holds that end inside a step, with their solutions in closed form."""

from __future__ import annotations

import math

import cosim

G = 9.81


class FallingFloor(cosim.Component):
    """A ball that rests on a floor at -a t^3, which falls away from it at last."""

    height = cosim.position(unit="m")
    speed = cosim.speed(unit="m/s")
    a = cosim.parameter(unit="m/s3", default=1.0)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(t, height, a):
        return height + a * t * t * t

    @cosim.on(floor, does="unrestricted")
    def bounce(t, speed, a, speed_next):
        of_floor = -3.0 * a * t * t
        speed_next[0] = of_floor - 0.3 * (speed - of_floor)


def end_of_contact(a: float) -> float:
    """When the floor falls away from the ball, s."""
    return G / (6.0 * a)


def height_on_falling_floor(a: float, t: float) -> float:
    """The height of the ball, m."""
    flown = max(t - end_of_contact(a), 0.0)
    on_floor = min(t, end_of_contact(a))
    return -a * on_floor**3 - 3.0 * a * on_floor**2 * flown - 0.5 * G * flown**2


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
