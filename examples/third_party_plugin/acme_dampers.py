"""A force element in a distribution of its own."""

import cosim
from cosim_mechanics import ForceElement, Law
from cosim_mechanics.spatial import add_force_at, dot, minus, norm, point_velocity, scaled, station

cosim_contract = "1.0"


class QuadraticDamper(ForceElement):
    """Damper between two stations whose force grows with the square of the stretching speed.

    Law: f = -c |s'| s' along the line from station 1 to station 2, with s' the rate at which their distance
    s changes.

    Frames and signs
    ----------------
    s' > 0 when the stations move apart; f > 0 pushes them apart, so the force opposes the motion. Station 2
    gets f e, station 1 gets -f e, with e the unit vector from station 1 to station 2.

    Limits
    ------
    The line has no direction where the stations coincide: the computation stops with an error.

    Parameters
    ----------
    body1, body2 : body
        Any two bodies; either may be Ground.
    station_on_body1 : array_like, shape (3,), m, default (0, 0, 0)
        Point of body 1, in its frame.
    station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        Point of body 2, in its frame.
    damping : float, N.s2/m2, >= 0
        The coefficient c.
    dissipated_energy : float, J, default 0
        Start value of the dissipated energy.

    Returns
    -------
    ``dissipated_energy`` (J) is a state and readable at any time.

    Raises
    ------
    ModelError
        A negative damping.
    SimulationError
        The stations coincide.

    Stage
    -----
    Forces at DYNAMICS; parameters belong to INSTANCE and may differ between States.

    Energy
    ------
    Nothing is stored. Dissipated at the rate c |s'|^3, integrated in the auxiliary state `dissipated_energy`.

    References
    ----------
    The drag law of turbulent flow through an orifice, as of a damper without valves.

    Examples
    --------
    >>> QuadraticDamper(damping="40 N.s2/m2", station_on_body2=(0, 0, "10 cm")).station_on_body2.tolist()
    [0.0, 0.0, 0.1]
    """

    laws = Law.INTERNAL | Law.FRAME_INDIFFERENT | Law.PASSIVE | Law.SYMMETRIC

    station_on_body1 = cosim.parameter(
        unit="m", shape=3, default=(0.0, 0.0, 0.0), description="point of body 1, in its frame"
    )
    station_on_body2 = cosim.parameter(
        unit="m", shape=3, default=(0.0, 0.0, 0.0), description="point of body 2, in its frame"
    )
    damping = cosim.parameter(
        unit="N.s2/m2", minimum=0.0, description="force over the square of the stretching speed"
    )
    dissipated_energy = cosim.auxiliary_state(unit="J", description="energy dissipated since the start")

    @cosim.kernel
    def force(
        X_GB1,
        V_GB1,
        X_GB2,
        V_GB2,
        station_on_body1,
        station_on_body2,
        damping,
        F_GB1,
        F_GB2,
        dissipated_energy_dot,
    ):
        p1 = station(X_GB1, station_on_body1)
        p2 = station(X_GB2, station_on_body2)
        line = minus(p2, p1)
        length = norm(line)
        if length == 0.0:
            raise ValueError(
                "the stations of the damper coincide, so its line has no direction: move one of them"
            )
        rate = dot(line, minus(point_velocity(V_GB2, X_GB2, p2), point_velocity(V_GB1, X_GB1, p1))) / length
        f = -damping * abs(rate) * rate
        add_force_at(F_GB2, X_GB2, p2, scaled(f / length, line))
        add_force_at(F_GB1, X_GB1, p1, scaled(-f / length, line))
        dissipated_energy_dot[0] = -f * rate


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    """Register the damper of this package."""
    register("acme.quadratic_damper", QuadraticDamper)
