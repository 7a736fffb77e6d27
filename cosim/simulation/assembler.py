"""Finding a state that meets the constraints."""

from __future__ import annotations

import numpy as np

from cosim.contracts.constraints import (
    LOOSE,
    MEET_SIGNATURE,
    NOT_MET,
    has_corrections,
    meet_constraints,
)
from cosim.errors import SimulationError
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System, check_system
from cosim_compiler.python_calls import compiled
from cosim_compiler.record import words_of


def assemble(system: System, state: State) -> None:
    """Change coordinates, then speeds, as little as it takes until every constraint is met.

    Parameters
    ----------
    system : System
    state : State
        Anything near; afterwards realized to ACCELERATION.

    Raises
    ------
    SimulationError
        Names the constraints that cannot be met from here, with what is missing.
    """
    check_system(system, "cosim.assemble")
    state.realize(Stage.ACCELERATION)
    if not has_corrections(system.corrections):
        return
    y = state._arrays["y"]
    before = y.copy()
    status = compiled(meet_constraints, MEET_SIGNATURE)(
        *(system.table, system.ints, *system.derivative_range, state.time, *system.arrays(state)),
        *(np.array(words_of(system.corrections)), system.nq, system.nu, np.zeros(2 * system.ny)),
    )
    if not np.array_equal(before, y):
        state.invalidate(Stage.POSITION, "the assembler of constraints")
    if status > 0:
        raise system.failure(state, status - 1)
    if status == NOT_MET:
        raise SimulationError(state.time, assembly_complaint(system, state))
    state.realize(Stage.ACCELERATION)


def unmet(system: System, state: State) -> str:
    """The constraints that are not met, each with its distance; empty if all are met."""
    state.realize(Stage.ACCELERATION)
    return "" if system.solver is None else ", ".join(system.solver.unmet(state, LOOSE))


def assembly_complaint(system: System, state: State) -> str:
    """The message if no state meets the constraints."""
    listed = unmet(system, state) or "the constraints together"
    return (
        f"no state near this one meets {listed}. Start nearer to a pose in which it closes, or look for "
        "constraints that contradict each other"
    )
