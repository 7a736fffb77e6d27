"""A force that keeps its size and its direction in Ground."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import add_force_at, dot, point_parameter
from cosim_mechanics.spatial import station as located


class ConstantForce(contracts.Force):
    """A constant force at a station of a body.

    Law: f at the station, whatever the motion.

    Frames and signs
    ----------------
    f is expressed in Ground and does not turn with the body; the station is fixed in the body.

    Limits
    ------
    None.

    Parameters
    ----------
    body : body
    station : array_like, shape (3,), m, default (0, 0, 0)
        Point of application, in the body's frame.
    f : array_like, shape (3,), N
        In Ground.

    Returns
    -------
    ``potential_energy`` (J) at POSITION.

    Energy
    ------
    Stored: -f . p, with p from Ground's origin to the station.

    References
    ----------
    Simbody 3.7, ``Force::ConstantForce``.

    Examples
    --------
    >>> ConstantForce(body="engine", f=(0, 0, "1 kN")).f.tolist()
    [0.0, 0.0, 1000.0]
    """

    laws = contracts.Law.PASSIVE

    body = contracts.body(description="the body that the force acts on")
    station = point_parameter("point of application, in the body's frame")
    f = cosim.parameter(unit="N", shape=3, description="the force, in Ground", elements="xyz")
    potential_energy = cosim.cache_slot(unit="J", description="work that the force can still do")

    @cosim.kernel
    def energy(X_GB, station, f, potential_energy):
        potential_energy[0] = -dot(f, located(X_GB, station))

    @cosim.kernel
    def force(X_GB, station, f, F_GB):
        add_force_at(F_GB, X_GB, located(X_GB, station), f)
