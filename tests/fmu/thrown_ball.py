"""A ball with every kind of event: it bounces, is kicked at 0.7 s, and its speed is felt late."""

from __future__ import annotations

import math

from falling_ball import FallingBall

import cosim

G = 9.81
FALL = math.sqrt(2.0 / G)
"""When it first touches the floor, s."""
RISE = G * FALL
"""With which speed it leaves it, m/s."""
LATE, KICK_AT, KICK = 0.1, 0.7, 2.0


class ThrownBall(FallingBall):
    """Falls from 1 m, bounces without loss, is kicked once."""

    kick = cosim.parameter(unit="m/s", default=KICK)

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, speed_next):
        speed_next[0] = -speed

    @cosim.at([KICK_AT], does="unrestricted")
    def hit(speed, kick, speed_next):
        speed_next[0] = speed + kick


def thrown_ball() -> cosim.Model:
    model = cosim.Model("thrown")
    model.add(ThrownBall, "ball")
    model.add("measures.delay", "late", source="ball.speed", delay=LATE)
    return model


def speed(t: float) -> float:
    """Its speed until it touches the floor again: on the right at the jumps."""
    found = -G * t if t < FALL else RISE - G * (t - FALL)
    return found + KICK if t >= KICK_AT else found


EVENTS = [
    (FALL, -RISE, -G * (FALL - LATE), RISE, -G * (FALL - LATE)),
    (FALL + LATE, RISE - G * LATE, -RISE, RISE - G * LATE, RISE),
    (KICK_AT, speed(KICK_AT) - KICK, speed(KICK_AT - LATE), speed(KICK_AT), speed(KICK_AT - LATE)),
    (KICK_AT + LATE, speed(KICK_AT + LATE), speed(KICK_AT) - KICK, speed(KICK_AT + LATE), speed(KICK_AT)),
]
"""Time, then speed and late speed before and after: the bounce, its echo, the kick, its echo."""
