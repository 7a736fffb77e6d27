"""Dry friction in a joint."""

from __future__ import annotations

import math

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.coordinate_units import angle_or_length


class CoordinateFriction(contracts.Force):
    """Dry friction of a joint: a force against its speed whose size does not depend on it.

    Law: tau = -f tanh(u / u_s): Coulomb's law, with a steep line through 0 in place of the jump.

    Frames and signs
    ----------------
    tau acts against the speed u of the coordinate: a torque on an angle, a force on a length.

    Limits
    ------
    It does not stick: under a load below f the joint creeps, at u_s artanh(load / f). The stiffness of the
    equations grows with f / u_s.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    friction : float, >= 0, SI: N.m or N
    transition_speed : float, > 0, SI: rad/s or m/s
        u_s: at three of it friction has 99.5 % of its size.

    Energy
    ------
    Dissipated at the rate f u tanh(u / u_s), integrated in `dissipated_energy`.

    References
    ----------
    S. Andersson, A. Söderberg, S. Björklund, "Friction models for sliding dry, boundary and mixed lubricated
    contacts", Tribology International 40 (2007).

    Examples
    --------
    >>> CoordinateFriction(coordinate="hinge", friction="2 N.m").friction
    2.0
    """

    known_as = ("dry_friction", "coulomb_friction", "joint_friction")
    laws = contracts.Law.PASSIVE

    coordinate = contracts.coordinate(description="the coordinate that it acts on")
    friction = cosim.parameter(
        unit="{tau}", minimum=0.0, convert=angle_or_length("N.m", "N"), description="N.m or N"
    )
    transition_speed = cosim.parameter(
        unit="{u}",
        above=0.0,
        default=0.01,
        convert=angle_or_length("rad/s", "m/s"),
        description="speed over which it grows to its size, rad/s or m/s",
    )
    dissipated_energy = contracts.dissipated_energy()

    @cosim.kernel
    def force(u, friction, transition_speed, tau, dissipated_energy_dot):
        held = friction * math.tanh(u / transition_speed)
        tau[0] -= held
        dissipated_energy_dot[0] = held * u
