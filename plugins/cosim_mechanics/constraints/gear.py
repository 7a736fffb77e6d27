"""A pair of gears."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class Gear(contracts.Constraint):
    """Keeps two accelerations proportional, and so, once they are, two speeds and two angles.

    Law: du2/dt = ratio du1/dt, u2 = ratio u1. The angles keep whatever offset they start with; where it
    matters, `mechanics.coordinate_coupler` holds them too.

    Parameters
    ----------
    coordinate1, coordinate2 : joint, or one of its coordinates as ``"joint[1]"``
    ratio : float
        Negative for external teeth, positive for a belt.

    References
    ----------
    The constraint that s-vals are introduced with in Darwin2K.

    Examples
    --------
    >>> Gear(coordinate1="pinion", coordinate2="wheel", ratio=-0.25).ratio
    -0.25
    """

    level = "velocity"

    coordinate1 = contracts.coordinate(description="leads")
    coordinate2 = contracts.coordinate(description="follows")
    ratio = cosim.parameter(description="u2 over u1")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate2) - self.ratio * s.acceleration(self.coordinate1)]
