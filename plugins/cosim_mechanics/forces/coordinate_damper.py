"""Damper on a coordinate of a joint."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.coordinate_units import angle_or_length


class CoordinateDamper(contracts.Force):
    """Linear damper acting on one speed of a joint.

    Law: tau = -c u.

    Frames and signs
    ----------------
    tau acts along the speed u of the coordinate: a torque on an angle, a force on a length.

    Limits
    ------
    None: it needs the speed alone, so a ball or a free joint will do as well.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    damping : float, >= 0, SI: N.m.s/rad or N.s/m

    Energy
    ------
    Dissipated at the rate c u^2, integrated in `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::MobilityLinearDamper``.

    Examples
    --------
    >>> CoordinateDamper(coordinate="hinge", damping=2.0).damping
    2.0
    """

    known_as = ("rotational_damper", "torsional_damper", "linear_damper")
    laws = contracts.Law.PASSIVE

    coordinate = contracts.coordinate(description="the coordinate that it acts on")
    damping = cosim.parameter(
        unit="{tau}/{u}",
        minimum=0.0,
        convert=angle_or_length("N.m.s/rad", "N.s/m"),
        description="N.m.s/rad or N.s/m",
    )
    dissipated_energy = contracts.dissipated_energy()

    @cosim.kernel
    def force(u, damping, tau, dissipated_energy_dot):
        tau[0] -= damping * u
        dissipated_energy_dot[0] = damping * u * u
