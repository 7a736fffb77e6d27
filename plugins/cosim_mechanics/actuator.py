"""A generalized force on a coordinate whose size comes from outside."""

from __future__ import annotations

import cosim


class Actuator(cosim.Component):
    """A motor or a cylinder: a generalized force on one coordinate of a joint, its size an input.

    Law: tau = effort, a torque in N.m on an angle, a force in N on a length, positive along the coordinate.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
    effort : input, N.m or N, start value 0
        Connect something to it, or it becomes an input of the system and of its FMU.

    Energy
    ------
    The work that it does is not part of the energy balance.

    References
    ----------
    Simbody 3.7, ``Force::MobilityConstantForce``.

    Examples
    --------
    >>> Actuator(coordinate="hinge", effort=3.0).effort
    3.0
    """

    coordinate = cosim.coordinate(description="the coordinate that it acts on")
    effort = cosim.input(description="torque, N.m, or force, N")

    @cosim.kernel
    def act(effort, tau):
        tau[0] += effort
