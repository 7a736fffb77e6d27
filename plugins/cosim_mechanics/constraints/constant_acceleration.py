"""An acceleration that does not change."""

from __future__ import annotations

import cosim
from cosim_mechanics.constraints.drive import Drive


class ConstantAcceleration(Drive):
    """Keeps the acceleration of a speed of a joint at a value.

    Law: du/dt = acceleration.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    acceleration : float, SI: rad/s2 or m/s2

    Energy
    ------
    Supplied: the integral of the force times the speed, `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Constraint::ConstantAcceleration``.

    Examples
    --------
    >>> ConstantAcceleration(coordinate="crank", acceleration=0.5).level
    'acceleration'
    """

    level = "acceleration"

    acceleration = cosim.parameter(unit="{u}/s", default=0.0, description="rad/s2 or m/s2")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate) - self.acceleration]
