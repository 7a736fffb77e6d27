"""Finding a state that meets the constraints."""

from __future__ import annotations

import numpy as np

from cosim.compiled import native
from cosim.contracts.constraint import Constraint
from cosim.errors import SimulationError
from cosim.integration.projection import (
    END,
    ERRORS,
    LOOSE,
    MOVE,
    NORMALIZE,
    NOT_MET,
    PREPARE,
    PROJECT_SIGNATURE,
    project,
)
from cosim.stage import Stage
from cosim.system.state import State
from cosim.system.system import System

MOST = 100
LONGEST = 0.5  # largest change of a coordinate in one step, rad or m


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
    state.realize(Stage.ACCELERATION)
    at = system.projection
    if at[NORMALIZE] == at[END]:
        return
    y = state._arrays["y"]
    before = y.copy()
    status = _project(system, state)
    if status == NOT_MET and at[PREPARE] != at[END]:
        y[:] = before
        status = _search(system, state)
    if not np.array_equal(before, y):
        state.invalidate(Stage.POSITION, "the assembler of constraints")
    if status > 0:
        raise system.failure(state, status - 1)
    if status == NOT_MET:
        raise SimulationError(state.time, _complaint(system, state))
    state.realize(Stage.ACCELERATION)


def _project(system: System, state: State) -> int:
    step = native.compile_function(project, PROJECT_SIGNATURE)
    with np.errstate(all="ignore"):
        return int(
            step(
                *(system.table, system.ints, *system.derivative_range, state.time, *system.arrays(state)),
                system.projection,
            )
        )


def _search(system: System, state: State) -> int:
    """Newton's method with short steps, as long as the errors shrink; then as after a step."""
    at, arrays = system.projection, system.arrays(state)
    y, c = arrays[0], arrays[5]
    u = slice(system.nq, system.nq + system.nu)

    def run(group: int) -> None:
        system.walk_blocks(system.table, at[group], at[group + 1], state.time, arrays)

    def evaluate() -> float:
        if system.walk(state, *system.derivative_range):
            return np.inf
        error = float(c[at[ERRORS] + 1])
        return error if np.isfinite(error) else np.inf

    error = evaluate()
    for _ in range(MOST):
        if error <= LOOSE or error == np.inf:
            break
        start, factor = y.copy(), 1.0
        while factor > 1e-4:
            run(PREPARE)
            moved = factor * y[u]
            longest = float(abs(moved).max(initial=0.0))
            y[u] = moved * min(1.0, LONGEST / longest) if longest > 0.0 else moved
            system.walk(state, *system.derivative_range)
            run(MOVE)
            run(NORMALIZE)
            shorter = evaluate()
            if shorter < error:
                break
            y[:] = start
            evaluate()
            factor *= 0.5
        else:
            break
        error = shorter
    return _project(system, state) if error <= 1e-3 else NOT_MET


def unmet(system: System, state: State) -> str:
    """Which constraints are not met, and by how much; empty when all are."""
    state.realize(Stage.ACCELERATION)
    found = []
    for name, part in system.parts.items():
        if isinstance(part, Constraint):
            for what in ("position_error", "velocity_error"):
                error = float(abs(np.atleast_1d(state[f"{name}.{what}"])).max())
                if not error <= LOOSE:
                    found.append(f"{name} ({what} {error:.3g})")
                    break
    return ", ".join(found)


def _complaint(system: System, state: State) -> str:
    listed = unmet(system, state) or "the constraints together"
    return (
        f"no state near this one meets {listed}. Start nearer to a pose in which it closes, or look for "
        "constraints that contradict each other"
    )
