"""Parts that move at constant speed, so that the times of their events are known, and their simulator."""

from __future__ import annotations

from typing import Any

from kernel_parts import system_of

import cosim

ACCURACY = 1e-6
WINDOW = 0.01 * ACCURACY
"""The longest time by which an event is late, s: a hundredth of the accuracy."""


class Mover(cosim.Component):
    """Law: x' = 1."""

    x = cosim.auxiliary_state(start=0.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0


class Crosser(Mover):
    """Counts in `hits` how often x rises through a level."""

    level = cosim.parameter(default=1.0)
    hits = cosim.discrete(dtype=int)

    @cosim.witness(direction="rising")
    def above(x, level):
        return x - level

    @cosim.on(above, does="unrestricted")
    def hit(hits, hits_next):
        hits_next[0] = hits + 1


class Sawtooth(Mover):
    """Sets x back to 0 whenever it reaches 1, and counts in `resets` how often."""

    resets = cosim.discrete(dtype=int)

    @cosim.witness(direction="rising")
    def above(x):
        return x - 1.0

    @cosim.on(above, does="unrestricted")
    def reset(resets, x_next, resets_next):
        x_next[0] = 0.0
        resets_next[0] = resets + 1


def simulator_of(part: Any, start_time: float = 0.0, **options: Any) -> cosim.Simulator:
    """A simulator of one part, ``part``: a class or a component."""
    system = system_of(part=part)
    state = system.default_state()
    state.set_time(start_time)
    return cosim.Simulator(system, state, accuracy=ACCURACY, **options)
