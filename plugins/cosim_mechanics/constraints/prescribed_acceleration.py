"""An acceleration that follows a signal."""

from __future__ import annotations

import cosim
from cosim_mechanics.constraints.drive import Drive


class PrescribedAcceleration(Drive):
    """Accelerates a joint as a signal says.

    Law: du/dt = source(t). Speeds and positions follow from it and from where they begin.

    Limits
    ------
    The signal does not depend on accelerations.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    source : a measure
        rad/s2 or m/s2.

    Energy
    ------
    Supplied: the integral of the force times the speed, `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Motion`` at the acceleration level.

    Examples
    --------
    >>> PrescribedAcceleration(coordinate="crank", source="jolt").level
    'acceleration'
    """

    level = "acceleration"

    source = cosim.source(description="its acceleration")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate) - s.source(self.source)]
