"""Force along the line between two points whose size comes from outside."""

from __future__ import annotations

import cosim
from cosim_mechanics.forces.two_point import TwoPoint


class TwoPointActuator(TwoPoint):
    """A cylinder or a linear motor between a station on body 1 and one on body 2; its force is an input.

    Law: tension = pull, whatever the length.

    Frames and signs
    ----------------
    A positive `pull` draws the stations together, a negative one pushes them apart.

    Limits
    ------
    The direction is not defined where the stations coincide: the computation stops there with an error.
    Between two communication points the input is held, or follows its slope, and so does the force.

    Parameters
    ----------
    body1, body2 : body
    station_on_body1, station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        In the bodies' frames.
    pull : input, N, start value 0
        Connect something to it, or it becomes an input of the system and of its FMU.

    Returns
    -------
    ``length`` (m) and ``line`` at POSITION, ``rate`` (m/s) at VELOCITY, ``tension`` (N) at DYNAMICS.

    Energy
    ------
    What it does, -pull * rate, is counted as supplied, in `supplied_energy`.

    References
    ----------
    Simbody 3.7, ``Force::TwoPointConstantForce``, for the line of action; there the force is constant.

    Examples
    --------
    >>> TwoPointActuator(body1="car", body2="wheel", pull="2 kN").pull
    2000.0
    """

    pull = cosim.input(unit="N", description="draws the points together where positive")

    supplied_energy = cosim.auxiliary_state(unit="J", description="work done since the start")

    @cosim.kernel
    def act(pull, rate, tension, supplied_energy_dot):
        tension[0] = pull
        supplied_energy_dot[0] = -pull * rate
