"""Parts with inputs and outputs in N: gains, a ramp and a follower; and models that connect parts."""

import cosim


class Gain(cosim.Component):
    """Twice its input."""

    entry = cosim.input(unit="N")
    out = cosim.output(unit="N")
    factor = cosim.parameter(default=2.0)

    @cosim.kernel
    def go(entry, factor, out):
        out[0] = factor * entry


class PlainGain(cosim.Component):
    """The same in plain Python."""

    entry = cosim.input(unit="N")
    out = cosim.output(unit="N")

    def derivatives(self, entry, out):
        out[0] = 2.0 * entry


class Ramp(cosim.Component):
    """Its output is the time, in N."""

    out = cosim.output(unit="N")

    @cosim.kernel
    def go(t, out):
        out[0] = t


class Follower(cosim.Component):
    """Follows its input."""

    entry = cosim.input(unit="N")
    level = cosim.auxiliary_state(unit="N")

    @cosim.kernel
    def follow(entry, level, level_dot):
        level_dot[0] = entry - level


def connected(kinds, connections):
    """A model of parts by name, with connections from outputs to inputs."""
    model = cosim.Model("connected")
    for name, kind in kinds.items():
        model.add(kind, name)
    for source, target in connections:
        model.connect(source, target)
    return model
