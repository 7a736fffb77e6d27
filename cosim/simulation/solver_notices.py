"""Notices of the solver of the equations of motion about the first state of a run."""

from __future__ import annotations

from cosim.preparation.compiled_step import CompiledStep
from cosim.simulation.event_record import Finding
from cosim.stage import Stage
from cosim.system.state import State


def solver_notices(step: CompiledStep, state: State) -> list[Finding]:
    """A finding for each notice that was not reported yet.

    Parameters
    ----------
    step : CompiledStep
        Counts them as reported.
    state : State
        After initialization.

    Raises
    ------
    SimulationError
        The run cannot start from this state.
    """
    solver = state.system.solver
    if solver is None or not solver.describes_start:
        return []
    notices = solver.describe_start(state.copy().realize(Stage.ACCELERATION))
    return [Finding(state.time, "status", path, text) for path, text in notices if step.set_reported(path)]
