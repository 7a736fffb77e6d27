"""Stiff components that several tests of implicit methods integrate."""

from __future__ import annotations

import math

import cosim


class Follower(cosim.Component):
    """A stiff state that follows cos t until it falls to 0.5; from that event on it returns to 1."""

    y = cosim.auxiliary_state(start=1.0)
    turned = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(t, y, turned, y_dot):
        y_dot[0] = -1e5 * (y - math.cos(t)) if turned == 0 else -1e5 * (y - 1.0)

    @cosim.witness(direction="falling")
    def half(y):
        return y - 0.5

    @cosim.on(half, does="unrestricted")
    def turn(turned, turned_next):
        turned_next[0] = turned + 1


class Cell(cosim.Component):
    """A mass in a chain: a spring to the cell before it, and a sensor that nothing depends on."""

    position = cosim.position(unit="m", start=0.1)
    speed = cosim.speed(unit="m/s")
    distance = cosim.auxiliary_state(unit="m")
    before = cosim.input(unit="m")
    place = cosim.output(unit="m")

    @cosim.kernel
    def show(position, place):
        place[0] = position

    @cosim.kernel
    def derivatives(position, speed, before, position_dot, speed_dot, distance_dot):
        position_dot[0] = speed
        speed_dot[0] = -100.0 * (position - before) * (1.0 + position * position) - speed
        distance_dot[0] = abs(speed)


def chain(cells: int) -> cosim.System:
    """Return a chain of cells; the first one is connected to a fixed point."""
    model = cosim.Model("chain")
    for i in range(cells):
        model.add(Cell, f"cell{i}")
        if i:
            model.connect(f"cell{i - 1}.place", f"cell{i}.before")
    return model.build()
