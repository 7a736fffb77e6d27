"""A ball that falls onto a floor; tests derive classes from it with handlers of the impact."""

from __future__ import annotations

import cosim


class FallingBall(cosim.Component):
    """Law: height' = speed, speed' = -9.81 m/s2; its witness is the floor at height 0."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height
