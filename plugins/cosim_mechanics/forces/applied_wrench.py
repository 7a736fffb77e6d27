"""A force and a torque on a body that come from outside."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import add_force_at, add_torque, angular, dot, point_parameter, point_velocity
from cosim_mechanics.spatial import station as located


class AppliedWrench(contracts.Force):
    """Any force and any torque on a body, both inputs: the door for another simulator's contact or fluid.

    Law: the force f at the station, and besides the torque m.

    Frames and signs
    ----------------
    f and m are expressed in Ground. m is about the station: moving the station by r adds r x f.

    Limits
    ------
    Between two communication points the inputs are held, or follow their slopes, and so do the forces.

    Parameters
    ----------
    body : body
    station : array_like, shape (3,), m, default (0, 0, 0)
        Point of application, in the body's frame.
    f : input, shape (3,), N, start value 0
    torque : input, shape (3,), N.m, start value 0
        Connect something to them, or they become inputs of the system and of its FMU.

    Energy
    ------
    What they do, f . v + m . w, is counted as supplied, in `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Force::DiscreteForces``, where forces are set per State.

    Examples
    --------
    >>> AppliedWrench(body="hull", f=(0, 0, 10)).torque.tolist()
    [0.0, 0.0, 0.0]
    """

    body = contracts.body(description="the body that is acted on")
    station = point_parameter("point of application, in the body's frame")
    f = cosim.input(unit="N", shape=3, description="force, in Ground", elements="xyz")
    torque = cosim.input(
        unit="N.m", shape=3, description="torque about the station, in Ground", elements="xyz"
    )
    supplied_energy = contracts.supplied_energy()

    @cosim.kernel
    def force(X_GB, V_GB, station, f, torque, F_GB, supplied_energy_dot):
        p = located(X_GB, station)
        add_force_at(F_GB, X_GB, p, f)
        add_torque(F_GB, torque)
        supplied_energy_dot[0] = dot(f, point_velocity(V_GB, X_GB, p)) + dot(torque, angular(V_GB))
