"""Systems that several tests lower."""

from __future__ import annotations

from typing import Any

import cosim


class Spring(cosim.Component):
    """A mass on a spring, with an input and an output."""

    x = cosim.position(start=1.0)
    v = cosim.speed(start=0.0)
    stiffness = cosim.parameter(unit="N/m", default=4.0)
    force = cosim.input(unit="N")
    power = cosim.output(unit="W")

    @cosim.kernel
    def derivatives(x, v, stiffness, force, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = force - stiffness * x

    @cosim.kernel
    def report(v, force, power):
        power[0] = v * force


def oscillator() -> cosim.System:
    """A system of one spring, ``spring``."""
    model = cosim.Model("oscillator")
    model.add(Spring, "spring")
    return model.build()


def system_of(*parts: type[cosim.Component], **values: Any) -> cosim.System:
    """A system of parts that are named after their classes; the values are those of the first one."""
    model = cosim.Model("lowered")
    for part in parts:
        model.add(part, part.__name__.lower(), **(values if part is parts[0] else {}))
    return model.build()
