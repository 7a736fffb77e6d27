"""Inertia of a rotor on a coordinate of a joint."""

from __future__ import annotations

from typing import Any

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.coordinate_units import angle_or_length


def reflected_inertia(default: float | None = None) -> Any:
    """The parameter of a rotor: its moment of inertia times the square of the gear's ratio."""
    return cosim.parameter(
        unit="{added_inertia}",
        default=default,
        minimum=0.0,
        convert=angle_or_length("kg.m2", "kg"),
        description="of the rotor, times the square of the gear's ratio, kg.m2 or kg",
    )


def rotor_energy() -> Any:
    """Kinetic energy of a rotor, J, which balances of energy find by its name."""
    return cosim.cache_slot(unit="J", description="kinetic energy of the rotor")


class CoordinateInertia(contracts.Force):
    """A rotor that turns with one coordinate of a joint behind a gear: its reflected inertia.

    Law: M_ii is larger by J = n^2 J_r on the diagonal of the mass matrix: moment of inertia J_r of the rotor,
    ratio n of the gear. So the coordinate takes the effort J u_dot more.

    Frames and signs
    ----------------
    None: an inertia resists in both directions.

    Limits
    ------
    The rotor turns with the speed of its coordinate alone. What it does while its housing turns (gyroscopic
    moments, n J_r times the housing's acceleration) is left out, which is right for large ratios.

    Parameters
    ----------
    coordinate : joint, or one of its speeds as ``"joint[1]"``
    reflected_inertia : float, >= 0, SI: kg.m2 on an angle, kg on a length

    Returns
    -------
    ``kinetic_energy`` (J) at REPORT.

    Energy
    ------
    Kinetic: J u^2 / 2.

    References
    ----------
    R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 9.6. MuJoCo's `armature`.

    Examples
    --------
    >>> CoordinateInertia(coordinate="hinge", reflected_inertia="0.3 kg.m2").reflected_inertia
    0.3
    """

    known_as = ("armature", "rotor", "reflected_inertia")

    coordinate = contracts.coordinate(description="the coordinate that it turns with")
    reflected_inertia = reflected_inertia()
    kinetic_energy = rotor_energy()

    @cosim.kernel
    def resist(reflected_inertia, added_inertia):
        added_inertia[0] += reflected_inertia

    @cosim.kernel(stage=cosim.Stage.REPORT)
    def energy(u, reflected_inertia, kinetic_energy):
        kinetic_energy[0] = 0.5 * reflected_inertia * u * u
