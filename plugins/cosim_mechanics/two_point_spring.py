"""Spring and damper along the line between two points."""

from __future__ import annotations

import cosim
from cosim_mechanics.spatial import add_force_at, dot, minus, norm, point_velocity, scaled, station


class TwoPointSpring(cosim.ForceElement):
    """Massless spring and damper along the line between a station on body 1 and one on body 2.

    Law: tension = k (length - free_length) + c length_dot; it pulls the stations together.

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
    ``length`` (m) and ``potential_energy`` (J) at POSITION, ``rate`` (m/s) at VELOCITY, ``tension`` (N) at
    DYNAMICS.

    Energy
    ------
    Stored: k (length - free_length)^2 / 2. Dissipated at the rate c length_dot^2, integrated in
    `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::TwoPointLinearSpring`` and ``Force::TwoPointLinearDamper``.

    Examples
    --------
    >>> TwoPointSpring(body1="ground", body2="bob", stiffness="2 N/mm", free_length="50 cm").free_length
    0.5
    """

    station_on_body1 = cosim.parameter(
        unit="m", shape=3, default=(0.0, 0.0, 0.0), description="point 1, in the frame of body 1"
    )
    station_on_body2 = cosim.parameter(
        unit="m", shape=3, default=(0.0, 0.0, 0.0), description="point 2, in the frame of body 2"
    )
    stiffness = cosim.parameter(unit="N/m", minimum=0.0, description="tension per lengthening")
    damping = cosim.parameter(
        unit="N.s/m", default=0.0, minimum=0.0, description="tension per rate of lengthening"
    )
    free_length = cosim.parameter(unit="m", minimum=0.0, description="length without tension")
    dissipated_energy = cosim.auxiliary_state(unit="J", description="energy dissipated since the start")

    length = cosim.cache_slot(unit="m", description="distance of the points")
    rate = cosim.cache_slot(unit="m/s", description="rate of lengthening")
    tension = cosim.cache_slot(unit="N", description="pulls the points together where positive")
    line = cosim.cache_slot(shape=3, description="unit vector from point 1 to point 2, in Ground")
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the spring")

    @cosim.kernel
    def place(X_GB1, X_GB2, station_on_body1, station_on_body2, length, line):
        between = minus(station(X_GB2, station_on_body2), station(X_GB1, station_on_body1))
        distance = norm(between)
        if distance == 0.0:
            raise ValueError(
                "the two points of the spring coincide, so its force has no direction: keep them apart"
            )
        length[0] = distance
        for i in range(3):
            line[i] = between[i] / distance

    @cosim.kernel
    def energy(length, stiffness, free_length, potential_energy):
        potential_energy[0] = 0.5 * stiffness * (length - free_length) * (length - free_length)

    @cosim.kernel
    def velocity(X_GB1, V_GB1, X_GB2, V_GB2, station_on_body1, station_on_body2, line, rate):
        v1 = point_velocity(V_GB1, X_GB1, station(X_GB1, station_on_body1))
        v2 = point_velocity(V_GB2, X_GB2, station(X_GB2, station_on_body2))
        rate[0] = dot(line, minus(v2, v1))

    @cosim.kernel
    def force(
        X_GB1,
        X_GB2,
        station_on_body1,
        station_on_body2,
        stiffness,
        damping,
        free_length,
        length,
        rate,
        line,
        tension,
        F_GB1,
        F_GB2,
        dissipated_energy_dot,
    ):
        pull = stiffness * (length - free_length) + damping * rate
        tension[0] = pull
        dissipated_energy_dot[0] = damping * rate * rate
        add_force_at(F_GB1, X_GB1, station(X_GB1, station_on_body1), scaled(pull, line))
        add_force_at(F_GB2, X_GB2, station(X_GB2, station_on_body2), scaled(-pull, line))
