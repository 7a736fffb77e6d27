"""The base of constraints that move a joint: they do work."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts


class Drive(contracts.Constraint):
    """Moves one speed of a joint, with whatever force that takes; not registered itself.

    Energy
    ------
    Supplied: the integral of the force times the speed.
    """

    drives = True

    coordinate = contracts.coordinate(description="what is moved")
    supplied_energy = contracts.supplied_energy()

    @cosim.kernel
    def do_work(u, force_on_coordinate, supplied_energy_dot):
        supplied_energy_dot[0] = force_on_coordinate[0] * u
