"""A generalized force on a coordinate whose size comes from outside."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class Actuator(contracts.Force):
    """A motor or a cylinder: a generalized force on one coordinate of a joint, its size an input.

    Law: tau = effort, a torque in N.m on an angle, a force in N on a length, positive along the coordinate.

    Frames and signs
    ----------------
    Positive along the speed u of the coordinate: a torque on an angle, a force on a length.

    Limits
    ------
    Between two communication points the input is held, or follows its slope, and so does the effort.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
    effort : input, N.m or N, start value 0
        Connect something to it, or it becomes an input of the system and of its FMU.

    Energy
    ------
    What it does, effort * u, is counted as supplied, in `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Force::MobilityConstantForce`` and ``Force::MobilityDiscreteForce``.

    Examples
    --------
    >>> Actuator(coordinate="hinge", effort=3.0).effort
    3.0
    """

    known_as = ("motor",)
    coordinate = contracts.coordinate(description="the coordinate that it acts on")
    effort = cosim.input(unit="{tau}", description="torque, N.m, on an angle, or force, N, on a length")

    supplied_energy = contracts.supplied_energy()

    @cosim.kernel
    def act(effort, u, tau, supplied_energy_dot):
        tau[0] += effort
        supplied_energy_dot[0] = effort * u
