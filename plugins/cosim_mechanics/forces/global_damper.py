"""Damping of every speed of a model."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class GlobalDamper(contracts.Force):
    """A small friction everywhere: the same damping on every generalized speed of the model.

    Law: tau_i = -c u_i for every speed u_i of every joint.

    Frames and signs
    ----------------
    The speeds are those of the joints, so the unit of c is that of each: N.m.s/rad or N.s/m.

    Limits
    ------
    Useful for finding an equilibrium, or to take energy out of motions that do not matter. It is no
    physical medium: it depends on which joints the model is built from.

    Parameters
    ----------
    damping : float, >= 0, SI: N.m.s/rad or N.s/m

    Energy
    ------
    Dissipated at the rate sum c u_i^2, integrated in `dissipated_energy`.

    References
    ----------
    Simbody 3.7, ``Force::GlobalDamper``.

    Examples
    --------
    >>> GlobalDamper(damping=0.1).damping
    0.1
    """

    laws = contracts.Law.PASSIVE

    coordinate = contracts.coordinate(each=True, description="every speed of the model")
    damping = cosim.parameter(minimum=0.0, description="N.m.s/rad or N.s/m")
    dissipated_energy = contracts.dissipated_energy()
    power_dissipation = cosim.cache_slot(unit="W", accumulates=True, description="power lost")

    @cosim.kernel
    def force(u, damping, tau, power_dissipation):
        tau[0] -= damping * u
        power_dissipation[0] += damping * u * u

    @cosim.kernel
    def loss(power_dissipation, dissipated_energy_dot):
        dissipated_energy_dot[0] = power_dissipation
