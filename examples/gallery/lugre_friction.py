"""LuGre friction on a coordinate: bristles that bend before they slip."""

import math

import cosim
import cosim_mechanics


class LuGreFriction(cosim_mechanics.Force):
    """Friction on a coordinate that sticks, creeps before it slips, and falls with speed.

    Law: z' = u - s0 |u| z / g(u), tau = -(s0 z + s1 z' + s2 u), g(u) = Fc + (Fs - Fc) exp(-(u / us)^2).

    Frames and signs
    ----------------
    tau acts along the speed u of the coordinate.

    Limits
    ------
    With a large damping s1 of the bristles the law is not passive at high speeds.

    References
    ----------
    C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, "A new model for control of systems with
    friction", IEEE Transactions on Automatic Control 40 (1995).

    Examples
    --------
    >>> LuGreFriction(coordinate="slide", coulomb="1 N", breakaway="1.5 N").stribeck_speed
    0.001
    """

    coordinate = cosim_mechanics.coordinate(description="a sliding coordinate")
    coulomb = cosim.parameter(unit="N", above=0.0, description="friction Fc while it slips fast")
    breakaway = cosim.parameter(unit="N", above=0.0, description="friction Fs at which it begins to slip")
    stribeck_speed = cosim.parameter(
        unit="m/s", default=1e-3, above=0.0, description="speed us within which friction falls from Fs to Fc"
    )
    bristle_stiffness = cosim.parameter(unit="N/m", default=1e5, above=0.0, description="s0")
    bristle_damping = cosim.parameter(unit="N.s/m", default=300.0, minimum=0.0, description="s1")
    viscosity = cosim.parameter(unit="N.s/m", default=0.4, minimum=0.0, description="s2")
    bend = cosim.auxiliary_state(unit="m", nominal=1e-5, description="mean bend z of the bristles")

    @cosim.kernel
    def force(
        u,
        bend,
        coulomb,
        breakaway,
        stribeck_speed,
        bristle_stiffness,
        bristle_damping,
        viscosity,
        bend_dot,
        tau,
    ):
        ratio = u / stribeck_speed
        level = coulomb + (breakaway - coulomb) * math.exp(-ratio * ratio)
        rate = u - bristle_stiffness * abs(u) * bend / level
        bend_dot[0] = rate
        tau[0] -= bristle_stiffness * bend + bristle_damping * rate + viscosity * u
