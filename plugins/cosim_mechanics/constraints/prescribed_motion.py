"""A coordinate that follows a signal."""

from __future__ import annotations

import cosim
from cosim_mechanics.constraints.drive import Drive


class PrescribedMotion(Drive):
    """Moves a coordinate as a signal says: any measure that knows its first two derivatives.

    Law: q = source(t); its multiplier is the negative generalized force that this takes. A coordinate
    whose rate is its speed (pin, slider, …; the position of a free joint). `mechanics.prescribed_speed` and
    `mechanics.prescribed_acceleration` prescribe those.

    Limits
    ------
    The signal depends on time alone (or on what does not depend on this motion) and is twice
    differentiable.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
    source : a measure
        Such as `measures.sinusoid`.

    Energy
    ------
    Supplied: the integral of the force times the speed, `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Constraint::PrescribedMotion``.

    Examples
    --------
    >>> PrescribedMotion(coordinate="crank", source="angle").equations
    1
    """

    source = cosim.source(description="its value, with two derivatives")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate) - s.source(self.source, 2)]

    @cosim.kernel
    def position_error(q, source, position_error):
        position_error[0] = q - source

    @cosim.kernel
    def velocity_error(u, source_dot, velocity_error):
        velocity_error[0] = u - source_dot
