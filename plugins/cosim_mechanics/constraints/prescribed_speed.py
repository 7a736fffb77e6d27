"""A speed that follows a signal."""

from __future__ import annotations

import cosim
from cosim_mechanics.constraints.drive import Drive


class PrescribedSpeed(Drive):
    """Moves a joint at a speed that a signal says: any measure that knows its first derivative.

    Law: u = source(t). Any speed can be prescribed, also one of a ball or a free joint (a component of the
    angular velocity in F), whose coordinates are a quaternion; positions follow from it.

    Limits
    ------
    The signal depends on time alone (or on what does not depend on this motion) and is differentiable.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    source : a measure
        Such as `measures.sinusoid`; rad/s or m/s.

    Energy
    ------
    Supplied: the integral of the force times the speed, `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Motion`` at the velocity level.

    Examples
    --------
    >>> PrescribedSpeed(coordinate="head[2]", source="rate").level
    'velocity'
    """

    level = "velocity"

    source = cosim.source(description="its speed, with one derivative")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate) - s.source(self.source, 1)]

    @cosim.kernel
    def velocity_error(u, source, velocity_error):
        velocity_error[0] = u - source
