"""A force on a body whose size comes from outside."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import add_force_at, dot, point_parameter, point_velocity, scaled
from cosim_mechanics.spatial import station as located


class AppliedForce(contracts.Force):
    """A force at a station of a body along a fixed direction, its size an input.

    Law: f = force e at the station. The way in for a controller, another part of the model or another
    simulator: connect something to ``force``, or it becomes an input of the system and of its FMU.

    Frames and signs
    ----------------
    e is fixed in Ground, the station in the body; a positive input pushes along e.

    Limits
    ------
    Between two communication points the input is held, or follows its slope, and so does the force.

    Parameters
    ----------
    body : body
    axis : "x", "y", "z" (with "-" for the opposite) or array_like, shape (3,), default "x"
        The direction e, in Ground; its length does not matter.
    station : array_like, shape (3,), m, default (0, 0, 0)
        Point of application, in the body's frame.
    force : input, N, start value 0

    Energy
    ------
    What it does, f . v of the station, is counted as supplied, in `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Force::DiscreteForces``, where forces are set per State.

    Examples
    --------
    >>> AppliedForce(body="engine", axis="z").axis.tolist()
    [0.0, 0.0, 1.0]
    """

    known_as = ("force",)
    body = contracts.body(description="the body that the force acts on")
    axis = direction_parameter("direction in Ground: x, y, z or three numbers", "x")
    station = point_parameter("point of application, in the body's frame")
    force = cosim.input(unit="N", description="size of the force")
    supplied_energy = contracts.supplied_energy()

    @cosim.kernel
    def act(X_GB, V_GB, axis, station, force, F_GB, supplied_energy_dot):
        p = located(X_GB, station)
        add_force_at(F_GB, X_GB, p, scaled(force, axis))
        supplied_energy_dot[0] = force * dot(axis, point_velocity(V_GB, X_GB, p))
