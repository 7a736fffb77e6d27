"""A mass that is thrown onto a floor, with straight witnesses of four kinds."""

from __future__ import annotations

import cosim

OFFSET = 0.25


class Thrown(cosim.Component):
    """A mass that a moving floor turns round, and a relay. Law: height'' = pull + jerk t - k height."""

    height = cosim.position(start=1.0)
    speed = cosim.speed(start=0.5)
    level = cosim.auxiliary_state()
    on = cosim.discrete(start=1.0)
    pull = cosim.parameter(default=-9.81)
    jerk = cosim.parameter(default=0.0)
    stiffness = cosim.parameter(default=0.0)
    floor_rate = cosim.parameter(default=0.0)
    high = cosim.parameter(default=0.75)

    @cosim.kernel
    def derivatives(t, height, speed, level, on, pull, jerk, stiffness, height_dot, speed_dot, level_dot):
        height_dot[0] = speed
        speed_dot[0] = pull + jerk * t - stiffness * height
        level_dot[0] = 3.0 * (on - level)

    @cosim.witness(direction="falling")
    def floor(t, height, floor_rate):
        gap = height - floor_rate * t
        return gap + OFFSET

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, floor_rate, speed_next):
        speed_next[0] = floor_rate - 0.8 * (speed - floor_rate)

    @cosim.witness(direction="rising")
    def warm(level, high):
        return level - high

    @cosim.witness(direction="falling")
    def cold(level):
        return 2.0 * (level - OFFSET) / 3.0

    @cosim.on(warm, does="discrete")
    def stop(on_next):
        on_next[0] = 0.0

    @cosim.on(cold, does="discrete")
    def start(on_next):
        on_next[0] = 1.0

    @cosim.witness
    def passes(height, level):
        return height - level

    @cosim.on(passes, does="publish")
    def pass_by(height):
        pass


def system_of(cls: type[cosim.Component], **values: float) -> cosim.System:
    """A system of one part, ``part``."""
    model = cosim.Model("one")
    model.add(cls, "part", **values)
    return model.build()
