"""Damper along the line between two points."""

from __future__ import annotations

from collections.abc import Sequence

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.two_point import TwoPoint


class TwoPointDamper(TwoPoint):
    """Massless damper along the line between a station on body 1 and one on body 2.

    Law: tension = c rate; it works against the change of the length.

    Frames and signs
    ----------------
    `rate` is positive while the stations part; a positive tension pulls them together.

    Limits
    ------
    The direction is not defined where the stations coincide: the computation stops there with an error.

    Parameters
    ----------
    body1, body2 : body
    station_on_body1, station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        In the bodies' frames.
    damping : float, N.s/m, >= 0

    Returns
    -------
    ``length`` (m) and ``line`` at POSITION, ``rate`` (m/s) at VELOCITY, ``tension`` (N) at DYNAMICS.

    Energy
    ------
    Dissipated at the rate c rate^2, integrated in `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::TwoPointLinearDamper``.

    Examples
    --------
    >>> TwoPointDamper(body1="ground", body2="bob", damping="0.2 N.s/mm").damping
    200.0
    """

    known_as = ("damper", "dashpot")
    laws = TwoPoint.laws | contracts.Law.PASSIVE | contracts.Law.ZERO_AT_REST_POSE

    damping = cosim.parameter(unit="N.s/m", minimum=0.0, description="tension per rate of lengthening")
    dissipated_energy = contracts.dissipated_energy()

    @cosim.kernel
    def pull(rate, damping, tension, dissipated_energy_dot):
        tension[0] = damping * rate
        dissipated_energy_dot[0] = damping * rate * rate

    def rest_pose(self) -> Sequence[float]:
        """Any pose with the points apart: here by 1 m."""
        return self.pose_at_length(1.0)
