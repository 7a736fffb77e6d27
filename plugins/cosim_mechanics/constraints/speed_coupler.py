"""Two speeds in a fixed ratio."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class SpeedCoupler(contracts.Constraint):
    """Keeps one speed at a linear function of another; positions may be anything.

    Law: u2 = ratio u1 + offset.

    Parameters
    ----------
    coordinate1, coordinate2 : joint, or one of its speeds as ``"joint[1]"``
    ratio : float, SI: unit of u2 / unit of u1
    offset : float, SI: unit of u2

    References
    ----------
    Simbody 3.7, ``Constraint::SpeedCoupler``.

    Examples
    --------
    >>> SpeedCoupler(coordinate1="left", coordinate2="right", ratio=1.0).level
    'velocity'
    """

    level = "velocity"
    drives = True  # with an offset

    coordinate1 = contracts.coordinate(description="leads")
    coordinate2 = contracts.coordinate(description="follows")
    ratio = cosim.parameter(description="u2 over u1")
    offset = cosim.parameter(default=0.0, description="u2 where u1 is 0")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate2) - self.ratio * s.acceleration(self.coordinate1)]

    @cosim.kernel
    def velocity_error(u1, u2, ratio, offset, velocity_error):
        velocity_error[0] = u2 - ratio * u1 - offset
