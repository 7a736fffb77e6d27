"""A speed that does not change."""

from __future__ import annotations

import cosim
from cosim_mechanics.constraints.drive import Drive


class ConstantSpeed(Drive):
    """Keeps a speed of a joint at a value: a motor that nothing slows down.

    Law: u = speed. At 0 it locks a component of the angular velocity of a ball or free joint, whose
    coordinates are a quaternion.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    speed : float, SI: rad/s or m/s

    Energy
    ------
    Supplied: the integral of the force times the speed, `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Constraint::ConstantSpeed``.

    Examples
    --------
    >>> ConstantSpeed(coordinate="crank", speed=3.0).speed
    3.0
    """

    level = "velocity"

    speed = cosim.parameter(unit="{u}", description="rad/s or m/s")

    def create_constraint_equations(self, s):
        return [s.acceleration(self.coordinate)]

    @cosim.kernel
    def velocity_error(u, speed, velocity_error):
        velocity_error[0] = u - speed
