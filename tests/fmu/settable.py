"""A component with each kind of variable that a host can set: an exported FMU carries this file."""

import cosim


class Settable(cosim.Component):
    """Follows an input at a rate that parameters of each type scale."""

    rate = cosim.parameter(unit="1/s", default=2.0, minimum=0.0)
    is_on = cosim.parameter(default=True, dtype=bool)
    times = cosim.parameter(default=3, dtype=int, minimum=1)
    law = cosim.parameter(choices=("plain", "doubled"), default="plain")
    target = cosim.input(start=1.0)
    x = cosim.auxiliary_state(start=0.25)
    ticks = cosim.discrete(dtype=int)
    out = cosim.output()

    @cosim.kernel
    def follow(target, rate, is_on, times, law, x, x_dot, out):
        x_dot[0] = is_on * times * law * rate * (target - x)
        out[0] = 2.0 * x

    @cosim.every(0.25, does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1
