"""An acceleration that does not change."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class ConstantAcceleration(contracts.Constraint):
    """Keeps the acceleration of a speed of a joint at a value.

    Law: du/dt = acceleration.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    acceleration : float, SI: rad/s2 or m/s2

    References
    ----------
    Simbody 3.7, ``Constraint::ConstantAcceleration``.

    Examples
    --------
    >>> ConstantAcceleration(coordinate="crank", acceleration=0.5).level
    'acceleration'
    """

    level = "acceleration"

    coordinate = contracts.coordinate(description="what is moved")
    acceleration = cosim.parameter(default=0.0, description="rad/s2 or m/s2")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate) - self.acceleration]
