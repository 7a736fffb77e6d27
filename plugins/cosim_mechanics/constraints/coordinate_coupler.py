"""Two coordinates in a fixed ratio."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class CoordinateCoupler(contracts.Constraint):
    """Keeps one coordinate at a linear function of another: a gear whose teeth do not slip.

    Law: q2 = ratio q1 + offset. Both coordinates are ones whose rate is their speed (pin, slider, …).

    Parameters
    ----------
    coordinate1, coordinate2 : joint, or one of its coordinates as ``"joint[1]"``
    ratio : float, SI: unit of q2 / unit of q1
    offset : float, SI: unit of q2

    References
    ----------
    Simbody 3.7, ``Constraint::CoordinateCoupler``.

    Examples
    --------
    >>> CoordinateCoupler(coordinate1="input", coordinate2="output", ratio=-0.5).ratio
    -0.5
    """

    coordinate1 = contracts.coordinate(description="leads")
    coordinate2 = contracts.coordinate(description="follows")
    ratio = cosim.parameter(description="q2 over q1")
    offset = cosim.parameter(default=0.0, description="q2 where q1 is 0")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate2) - self.ratio * s.acceleration(self.coordinate1)]

    @cosim.kernel
    def position_error(q1, q2, ratio, offset, position_error):
        position_error[0] = q2 - ratio * q1 - offset
