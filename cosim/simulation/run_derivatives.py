"""How a run changes with its parameters and start values: tangents that go along its steps and events.

The run is made a second time, step by step, and says which events happen in which order. Between events the
tangents follow the solution (`variation`), whose events are located to the last digit.
What happens at a time that moves is described at that time: beside the tangents Y of the states stands the
tangent of the time itself, and both obey one law, dY/dt = J Y + (df/dt) time_dot, as if the time were another
parameter. An event adds to both, Y += f shift and time_dot += shift, so that the witness stays zero; the
handler is differentiated there; and nothing has to be known of the derivative behind it. At a fixed time
a tangent is Y - f time_dot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.method_layout import Corrections
from cosim.errors import LookUpError, ModelError, Problem
from cosim.simulation.event_record import Finding
from cosim.simulation.tangent_run import TangentRun
from cosim.stage import Stage
from cosim.step.constraints import has_constraints

if TYPE_CHECKING:
    from cosim.simulation.result import Result
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]


def run_derivatives(
    system: System, result: Result, by: Sequence[str], start: State, until: float, options: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Reals]], list[Finding]]:
    """The tangents of the recorded signals: by signal and by variable, an array as long as the signal's.

    Parameters
    ----------
    system : System
    result : Result
        Of the run.
    by : sequence of str
        Paths of parameters, start values, inputs and discrete variables, or of their elements.
    start : State
        With which the run began.
    until : float
    options : mapping of str to object
        For `Simulator`.

    Raises
    ------
    ModelError
        Something in the system has no derivative along a run, or a path stands for nothing that varies.
    """
    check_run(system, by)
    signals = {path: system.signal(path).slot for path in result.names if _is_signal(system, path)}
    directions = [_direction(system, path) for path in by]
    run = TangentRun(system, start, directions, list(signals), until, options)
    rows = run.take(result.time)
    derivatives: dict[str, dict[str, Reals]] = {}
    for path, slot in signals.items():
        first = run.places[path]
        values = rows[:, :, first : first + slot.size]
        shape = result[path].shape
        derivatives[path] = {name: values[:, i].reshape(shape) for i, name in enumerate(by)}
    return derivatives, run.moving.findings


def check_run(system: System, by: Sequence[str]) -> None:
    """`ModelError` with all that stands against derivatives of a run."""
    problems = []
    for path in by:
        signal = system.signal(path)
        slot = system.written_slot(path)
        if slot.array not in "ypd":
            problems.append(Problem(path, "is a whole number: nothing has a derivative by it"))
        elif slot.size > 1:
            problems.append(Problem(path, f"has {slot.size} elements: name one, {path}[0]"))
        elif signal.declaration.kind == "option":
            problems.append(Problem(path, "is an option: nothing has a derivative by it"))
    for part in dict.fromkeys(system.remembering):
        problems.append(Problem(part, "remembers a signal: tangents of what is remembered are not there yet"))
    if has_constraints(Corrections(*system.projection.tolist())):
        problems.append(Problem("constraints", "tangents of states that are corrected are not there yet"))
    rows = range(*system.block_range(Stage.TOPOLOGY, Stage.REPORT))
    for row, reason in system.tangents.prepare([*rows, *range(*system.inner_range)]).items():
        problems.append(
            Problem(", ".join(system.blocks[row].owners) if row < len(system.blocks) else "", reason)
        )
    for key, row in system.handler_blocks.items():
        for reason in system.tangents.prepare([row]).values():
            problems.append(Problem(".".join(map(str, key)) if isinstance(key, tuple) else str(key), reason))
    swapped = [variable for _, variable in system.assembly.swaps if variable.array == "d"]
    if swapped:
        followers = system.assembly.graph.followers(
            outside=lambda slot: any(slot.overlaps(variable) for variable in swapped)
        )
        layout = system.assembly.layout
        if any(layout.region_of(i) in followers for i in range(system.ny)):
            problems.append(
                Problem(
                    "", "a variable that is updated at every step changes the motion: it has no tangent yet"
                )
            )
    if problems:
        raise ModelError(problems)


def _is_signal(system: System, path: str) -> bool:
    """Whether a name of the result stands for numbers of the system."""
    try:
        system.signal(path)
    except LookUpError:
        return False
    return True


def _direction(system: System, path: str) -> dict[str, Reals]:
    arrays = system.start_arrays()
    moved = {letter: np.zeros(arrays[letter].size) for letter in "ypd"}
    slot = system.written_slot(path)
    moved[slot.array][slot.offset] = 1.0
    return moved
