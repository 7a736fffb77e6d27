"""A bouncing ball and a clockwork with events of all kinds, which feed each other; a part that fails."""

import math
import sys
from pathlib import Path

import cosim

sys.path.append(str(Path(__file__).parents[1] / "lowering"))
from event_parts import Ball, Clockwork  # noqa: E402

__all__ = ["CROSSED_WIRES", "METHOD", "Ball", "Clockwork", "Fragile", "model_of"]
METHOD = "integrators.dormand_prince_853"
CROSSED_WIRES = [
    {"from": "clock.part.seen", "to": "ball.part.floor_height", "factor": 0.02},
    {"from": "ball.part.height", "to": "clock.part.drive", "factor": 0.3},
]


class Fragile(cosim.Component):
    """Its rate is NaN below a level of zero; its output fails above 0.2."""

    load = cosim.input(unit="N")
    level = cosim.auxiliary_state(start=0.1)
    rate = cosim.parameter(default=0.0)
    shown = cosim.output()

    @cosim.kernel
    def derivatives(level, load, rate, level_dot):
        level_dot[0] = rate / math.sqrt(level) + load

    @cosim.kernel
    def report(level, shown):
        if level > 0.2:
            raise ValueError("the scale ends at 0.2")
        shown[0] = level


def model_of(kind: type[cosim.Component], name: str = "part") -> cosim.Model:
    """A model of the component ``part``."""
    model = cosim.Model(name)
    model.add(kind, "part")
    return model
