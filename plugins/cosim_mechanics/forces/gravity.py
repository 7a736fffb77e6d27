"""Uniform gravity on every body."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import add_torque, cross, dot, rotate, scaled, station


class Gravity(contracts.Force):
    """Uniform gravity acting on every body of the model that has a mass.

    Law: each body gets the force m g at its centre of mass; the potential energy is -sum m g . p, with p
    the centre of mass from Ground's origin, so it is zero when the common centre of mass is at the origin's
    height. A body whose parameter `feels_gravity` is 0 gets no force and stores nothing.

    Frames and signs
    ----------------
    g is expressed in Ground; it points down.

    Limits
    ------
    None.

    Parameters
    ----------
    gravity : array_like, shape (3,), m/s2, default (0, 0, -9.81)
        g, acceleration of a freely falling body, in Ground.

    Returns
    -------
    ``potential_energy`` (J) at POSITION.

    Stage
    -----
    Potential energy at POSITION, forces at DYNAMICS.

    Energy
    ------
    `potential_energy`, J, of all bodies together.

    References
    ----------
    Simbody 3.7, ``Force::UniformGravity``, and ``Force::Gravity`` for bodies that are excluded.

    Examples
    --------
    >>> Gravity(gravity=(0, -9.81, 0)).gravity.tolist()
    [0.0, -9.81, 0.0]
    """

    laws = contracts.Law.PASSIVE

    body = contracts.body(each=True, description="every body that has a mass")
    gravity = cosim.parameter(
        unit="m/s2",
        shape=3,
        default=(0.0, 0.0, -9.81),
        description="acceleration of a freely falling body, in Ground",
        elements="xyz",
    )
    potential_energy = cosim.cache_slot(
        unit="J", accumulates=True, description="potential energy of all bodies"
    )

    @cosim.kernel
    def energy(X_GB, mass, feels_gravity, center_of_mass, gravity, potential_energy):
        potential_energy[0] -= feels_gravity * mass * dot(gravity, station(X_GB, center_of_mass))

    @cosim.kernel
    def force(X_GB, mass, feels_gravity, center_of_mass, gravity, F_GB):
        weight = scaled(feels_gravity * mass, gravity)
        add_torque(F_GB, cross(rotate(X_GB, center_of_mass), weight))
        F_GB[3] += weight[0]
        F_GB[4] += weight[1]
        F_GB[5] += weight[2]
