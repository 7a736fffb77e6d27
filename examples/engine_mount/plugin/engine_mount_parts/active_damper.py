"""An actuator between two bodies."""

from __future__ import annotations

import cosim
import cosim_mechanics
from cosim_mechanics.spatial import add_force_at, dot, minus, point_velocity, rotate, scaled, station


class ActiveDamper(cosim_mechanics.ForceElement):
    """Actuator that pushes two bodies apart along the z axis of body 1 with a commanded force.

    Law: body 2 gets f e at its station, body 1 gets -f e at the same point, with e the z axis of body 1.

    Frames and signs
    ----------------
    f > 0 pushes body 2 toward +z of body 1. Both forces act along one line, so they have no moment together.

    Limits
    ------
    Ideal: no lag, no mass, no limit. What limits the force is the matter of whoever commands it.

    Parameters
    ----------
    body1, body2 : body
        Either may be Ground.
    station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        Where the actuator holds body 2, in its frame.
    force : input, N, default 0
        The force f.
    supplied_energy : float, J, default 0
        Start value of the work done.

    Returns
    -------
    ``supplied_energy`` (J) is a state and readable at any time.

    Stage
    -----
    Forces at DYNAMICS; parameters belong to INSTANCE.

    Energy
    ------
    Nothing is stored. The work done on both bodies together is integrated in the auxiliary state
    `supplied_energy`; it is negative where the actuator damps.

    Examples
    --------
    >>> ActiveDamper(body1="chassis", body2="engine", station_on_body2=(0, 0, "-50 mm")).force
    0.0
    """

    station_on_body2 = cosim.parameter(
        unit="m",
        shape=3,
        default=(0.0, 0.0, 0.0),
        description="where it holds body 2, in its frame",
        elements="xyz",
    )
    force = cosim.input(unit="N", description="what pushes body 2 toward +z of body 1")
    supplied_energy = cosim.auxiliary_state(unit="J", description="work done on both bodies since the start")

    @cosim.kernel
    def push(X_GB1, V_GB1, X_GB2, V_GB2, station_on_body2, force, F_GB1, F_GB2, supplied_energy_dot):
        p = station(X_GB2, station_on_body2)
        f = scaled(force, rotate(X_GB1, (0.0, 0.0, 1.0)))
        add_force_at(F_GB2, X_GB2, p, f)
        add_force_at(F_GB1, X_GB1, p, scaled(-1.0, f))
        supplied_energy_dot[0] = dot(
            f, minus(point_velocity(V_GB2, X_GB2, p), point_velocity(V_GB1, X_GB1, p))
        )
