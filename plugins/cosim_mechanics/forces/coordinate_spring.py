"""Spring and damper on a coordinate of a joint."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.coordinate_units import angle_or_length


class CoordinateSpring(contracts.Force):
    """Linear spring and damper acting on one coordinate of a joint.

    Law: tau = -k (q - neutral) - c u.

    Frames and signs
    ----------------
    tau acts along the coordinate: a torque on an angle, a force on a length.

    Limits
    ------
    For coordinates whose rate is the speed of the same index, as of pins, sliders, universal joints,
    gimbals; not for quaternions.

    Parameters
    ----------
    coordinate : joint, or one of its coordinates as ``"joint[1]"``
    stiffness : float, >= 0, SI: N.m/rad for an angle, N/m for a length
    damping : float, >= 0, SI: N.m.s/rad or N.s/m, default 0
    neutral : float, rad or m, default 0
        Where the spring is relaxed.

    Returns
    -------
    ``potential_energy`` (J) at POSITION.

    Energy
    ------
    Stored: k (q - neutral)^2 / 2. Dissipated at the rate c u^2, integrated in `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::MobilityLinearSpring`` and ``Force::MobilityLinearDamper``.

    Examples
    --------
    >>> CoordinateSpring(coordinate="hinge", stiffness=2.0).damping
    0.0
    """

    known_as = ("torsion_spring", "torsional_spring", "rotational_spring", "linear_spring")
    laws = contracts.Law.PASSIVE

    coordinate = contracts.coordinate(description="the coordinate that it acts on")
    stiffness = cosim.parameter(
        unit="{tau}/{q}", minimum=0.0, convert=angle_or_length("N.m/rad", "N/m"), description="N.m/rad or N/m"
    )
    damping = cosim.parameter(
        unit="{tau}/{u}",
        default=0.0,
        minimum=0.0,
        convert=angle_or_length("N.m.s/rad", "N.s/m"),
        description="N.m.s/rad or N.s/m",
    )
    neutral = cosim.parameter(
        unit="{q}",
        default=0.0,
        convert=angle_or_length("rad", "m"),
        description="coordinate at which the spring is relaxed, rad or m",
    )
    dissipated_energy = contracts.dissipated_energy()
    potential_energy = cosim.cache_slot(unit="J", description="energy stored in the spring")

    @cosim.kernel
    def energy(q, stiffness, neutral, potential_energy):
        potential_energy[0] = 0.5 * stiffness * (q - neutral) * (q - neutral)

    @cosim.kernel
    def force(q, u, stiffness, damping, neutral, tau, dissipated_energy_dot):
        tau[0] -= stiffness * (q - neutral) + damping * u
        dissipated_energy_dot[0] = damping * u * u
