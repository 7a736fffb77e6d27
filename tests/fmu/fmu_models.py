"""Models with an FMU for Model Exchange as a part."""

from pathlib import Path
from typing import Any

import cosim

FMU = "fmu.model_exchange"


class Ball(cosim.Component):
    """The ball of the FMU, as a component."""

    h = cosim.position(unit="m", start=1.0)
    v = cosim.speed(unit="m/s")
    push = cosim.input(unit="m/s2")

    @cosim.kernel
    def derivatives(v, push, h_dot, v_dot):
        h_dot[0] = v
        v_dot[0] = -9.81 + push

    @cosim.witness(direction="falling")
    def floor(h):
        return h

    @cosim.on(floor, does="unrestricted")
    def bounce(v, v_next):
        v_next[0] = -0.7 * v


class Fan(cosim.Component):
    """A fan whose thrust follows 4 (1 - height) with a lag of 0.1 s."""

    height = cosim.input(unit="1")
    thrust = cosim.auxiliary_state(unit="m/s2")
    push = cosim.output(unit="m/s2")

    @cosim.kernel
    def derivatives(height, thrust, thrust_dot):
        thrust_dot[0] = (4.0 * (1.0 - height) - thrust) / 0.1

    @cosim.kernel
    def blow(thrust, push):
        push[0] = thrust


def above_a_fan(part: Any, **values: Any) -> cosim.Model:
    """A ball, an FMU or the component, that a fan pushes upward."""
    model = cosim.Model("fan")
    model.add(part, "ball", **values)
    model.add(Fan, "fan")
    model.connect("fan.push", "ball.push")
    model.connect("ball.h", "fan.height", factor="1 1/m" if part is Ball else 1.0)
    return model


def model_with_fmu(path: Path, **values: Any) -> cosim.Model:
    """A model of one part ``fmu``."""
    model = cosim.Model("one")
    model.add(FMU, "fmu", fmu=path, **values)
    return model
