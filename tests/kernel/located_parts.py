"""Parts with one witness whose crossings a test lists: of time, and of an oscillation."""

from __future__ import annotations

from kernel_parts import Clock

import cosim


def witness_part(witness, direction="both", does="publish", rate=None):
    """A `Clock` with a witness and a handler that appends the time of each event to `times`."""

    class WitnessPart(Clock):
        """Lists the times of its events."""

        def __init__(self, **values):
            super().__init__(**values)
            self.times = []

        crossing = cosim.witness(direction=direction)(witness)
        if rate is not None:
            rate_of_crossing = crossing.rate(rate)

        if does == "publish":

            @cosim.on(crossing, does="publish")
            def append_time(self, state):
                self.times.append(state.time)

        else:

            @cosim.on(crossing, does=does)
            def append_time(self, state, next_state):
                self.times.append(state.time)

    return WitnessPart()


class Swing(cosim.Component):
    """Law: x'' = -x, with x = cos t; its witness is the distance from `level`."""

    x = cosim.position(start=1.0)
    v = cosim.speed()
    level = cosim.parameter(default=0.5)

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -x

    @cosim.witness
    def passes(x, level):
        return x - level

    @cosim.on(passes, does="publish")
    def show(self, state):
        pass
