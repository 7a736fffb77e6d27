"""Spring and damper along the line between two points."""

from __future__ import annotations

from collections.abc import Sequence

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.two_point import TwoPoint


class TwoPointSpring(TwoPoint):
    """Massless spring and damper along the line between a station on body 1 and one on body 2.

    Law: tension = k (length - free_length) + c rate; it pulls the stations together.

    Frames and signs
    ----------------
    The length is the distance of the stations, positive; a positive tension pulls. The forces on the two
    bodies are opposite and have the same line of action.

    Limits
    ------
    The direction is not defined where the stations coincide: the computation stops there with an error.

    Parameters
    ----------
    body1, body2 : body
    station_on_body1, station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        In the bodies' frames.
    stiffness : float, N/m, >= 0
    damping : float, N.s/m, >= 0, default 0
    free_length : float, m, >= 0
        Length without tension.

    Returns
    -------
    ``length`` (m), ``line`` and ``potential_energy`` (J) at POSITION, ``rate`` (m/s) at VELOCITY,
    ``tension`` (N) at DYNAMICS.

    Energy
    ------
    Stored: k (length - free_length)^2 / 2. Dissipated at the rate c rate^2, integrated in
    `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::TwoPointLinearSpring`` and ``Force::TwoPointLinearDamper``.

    Examples
    --------
    >>> TwoPointSpring(body1="ground", body2="bob", stiffness="2 N/mm", free_length="50 cm").free_length
    0.5
    """

    known_as = ("spring",)
    laws = TwoPoint.laws | contracts.Law.PASSIVE | contracts.Law.ZERO_AT_REST_POSE

    stiffness = cosim.parameter(unit="N/m", minimum=0.0, description="tension per lengthening")
    damping = cosim.parameter(
        unit="N.s/m", default=0.0, minimum=0.0, description="tension per rate of lengthening"
    )
    free_length = cosim.parameter(unit="m", minimum=0.0, description="length without tension")
    dissipated_energy = contracts.dissipated_energy()
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the spring")

    @cosim.kernel
    def energy(length, stiffness, free_length, potential_energy):
        potential_energy[0] = 0.5 * stiffness * (length - free_length) * (length - free_length)

    @cosim.kernel
    def pull(length, rate, stiffness, damping, free_length, tension, dissipated_energy_dot):
        tension[0] = stiffness * (length - free_length) + damping * rate
        dissipated_energy_dot[0] = damping * rate * rate

    def rest_pose(self) -> Sequence[float]:
        """The points a free length apart."""
        return self.pose_at_length(float(self.values.numbers["free_length"][0]))
