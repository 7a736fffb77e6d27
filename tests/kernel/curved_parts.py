"""Bodies that rest on floors whose witnesses are nonlinear in the states: far from 0, and bumpy."""

from __future__ import annotations

import math

import cosim


class SquareFloor(cosim.Component):
    """A ball on a floor; its witness is a difference of squares."""

    h = cosim.position()
    v = cosim.speed()
    floor_height = cosim.parameter(default=3.3)

    @cosim.kernel
    def derivatives(v, h_dot, v_dot):
        h_dot[0] = v
        v_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(h, floor_height):
        return h * h - floor_height * floor_height

    @cosim.on(floor, does="unrestricted")
    def bounce(v, v_next):
        v_next[0] = -0.5 * v


class BumpyFloor(cosim.Component):
    """A body that oscillates as x'' = -x, and rests on a floor of the height 3.3 + 0.1 sin(3 x)."""

    h = cosim.position()
    x = cosim.position(start=0.3)
    v = cosim.speed()
    vx = cosim.speed()
    floor_height = cosim.parameter(default=3.3)

    @cosim.kernel
    def derivatives(x, v, vx, h_dot, x_dot, v_dot, vx_dot):
        h_dot[0] = v
        x_dot[0] = vx
        v_dot[0] = -9.81
        vx_dot[0] = -x

    @cosim.witness(direction="falling")
    def floor(h, x, floor_height):
        return h - floor_height - 0.1 * math.sin(3.0 * x)

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(v, x, vx, v_next):
        slope = 0.3 * math.cos(3.0 * x) * vx
        v_next[0] = slope - 0.5 * (v - slope)


def height_of(x: float) -> float:
    """How high the floor of `BumpyFloor` is."""
    return 3.3 + 0.1 * math.sin(3.0 * x)
