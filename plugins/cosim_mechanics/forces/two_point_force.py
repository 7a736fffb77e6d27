"""Constant force along the line between two points."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.two_point import TwoPoint


class TwoPointForce(TwoPoint):
    """Constant force along the line between a station on body 1 and one on body 2.

    Law: tension = pull, whatever the length.

    Frames and signs
    ----------------
    A positive `pull` draws the stations together, a negative one pushes them apart.

    Limits
    ------
    The direction is not defined where the stations coincide: the computation stops there with an error. The
    force turns round as they pass through each other.

    Parameters
    ----------
    body1, body2 : body
    station_on_body1, station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        In the bodies' frames.
    pull : float, N

    Returns
    -------
    ``length`` (m), ``line`` and ``potential_energy`` (J) at POSITION, ``rate`` (m/s) at VELOCITY,
    ``tension`` (N) at DYNAMICS.

    Energy
    ------
    Stored: pull * length.

    References
    ----------
    Simbody 3.7, ``Force::TwoPointConstantForce``, where a positive force pushes and no energy is kept.

    Examples
    --------
    >>> TwoPointForce(body1="ground", body2="bob", pull="2 kN").pull
    2000.0
    """

    laws = TwoPoint.laws | contracts.Law.PASSIVE

    pull = cosim.parameter(unit="N", description="draws the points together where positive")
    potential_energy = cosim.cache_slot(unit="J", description="work that the force can still do")

    @cosim.kernel
    def energy(length, pull, potential_energy):
        potential_energy[0] = pull * length

    @cosim.kernel
    def draw(length, pull, tension):
        tension[0] = pull
