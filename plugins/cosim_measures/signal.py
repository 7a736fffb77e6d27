"""Any quantity of any part, as a measure."""

from __future__ import annotations

import cosim


class Signal(cosim.Measure):
    """A quantity of a part: a position, a velocity, an acceleration, a force, an energy.

    Law: value = source, with as many derivatives as the source has. Numbers and vectors.

    Parameters
    ----------
    source : path of a signal
        ``part.name``, ``part.name[i]`` or a named element: ``"engine.z"``, ``"engine.A_GB"``,
        ``"mount.F_GM[5]"``, ``"energy.potential"``; `cosim info` lists them.

    Examples
    --------
    >>> Signal(source="mount.potential_energy").source
    'mount.potential_energy'
    """

    unit_from = "source"

    source = cosim.source(description="path of the quantity")

    @cosim.kernel
    def value(source, value):
        value[0] = source

    @cosim.kernel
    def derivative(source_dot, value_dot):
        value_dot[0] = source_dot

    @cosim.kernel
    def second_derivative(source_dot2, value_dot2):
        value_dot2[0] = source_dot2

    @cosim.kernel
    def third_derivative(source_dot3, value_dot3):
        value_dot3[0] = source_dot3
