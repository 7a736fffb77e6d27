"""Uniform gravity on every body."""

from __future__ import annotations

import cosim
from cosim_mechanics.spatial import add_force_at, dot, scaled, station


class Gravity(cosim.Component):
    """Uniform gravity acting on every body of the model that has a mass.

    Law: each body gets the force m g at its centre of mass; the potential energy is -sum m g . p, with p
    the centre of mass from Ground's origin, so it is zero when the common centre of mass is at the origin's
    height.

    Parameters
    ----------
    gravity : array_like, shape (3,), m/s2, default (0, 0, -9.81)
        Acceleration of a freely falling body, in Ground.

    Stage
    -----
    Potential energy at POSITION, forces at DYNAMICS.

    Energy
    ------
    `potential_energy`, J, of all bodies together.

    Examples
    --------
    >>> Gravity(gravity=(0, -9.81, 0)).gravity.tolist()
    [0.0, -9.81, 0.0]
    """

    body = cosim.body(each=True, description="every body that has a mass")
    gravity = cosim.parameter(
        unit="m/s2",
        shape=3,
        default=(0.0, 0.0, -9.81),
        description="acceleration of a freely falling body, in Ground",
    )
    potential_energy = cosim.cache_slot(
        unit="J", accumulates=True, description="potential energy of all bodies"
    )

    @cosim.kernel
    def energy(X_GB, mass, center_of_mass, gravity, potential_energy):
        potential_energy[0] -= mass * dot(gravity, station(X_GB, center_of_mass))

    @cosim.kernel
    def force(X_GB, mass, center_of_mass, gravity, F_GB):
        add_force_at(F_GB, X_GB, station(X_GB, center_of_mass), scaled(mass, gravity))
