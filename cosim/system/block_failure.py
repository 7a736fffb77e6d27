"""The component that could not be evaluated."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.errors import SimulationError
from cosim.system.block_row import BlockRow
from cosim.system.blocks import Block
from cosim.system.state import State
from cosim_compiler.calls import last_errors

if TYPE_CHECKING:
    System = Any


def block_failure(system: System, state: State, index: int) -> SimulationError:
    """The error for a block that raised, which is called again, row by row.

    Parameters
    ----------
    system : System
    state : State
        As it was when the block raised.
    index : int
        Of the row of the table: of the system's, or of the one where witnesses are held.
    """
    cause = f": {last_errors[0]}" if last_errors else ""
    row = _row_of_schedule(system, index)
    if row is None:
        return SimulationError(state.time, f"the derivative with what holds witnesses failed{cause}")
    block = system.blocks[row]
    again = f"{block.label}: failed{cause}, and does not when called again"
    # what is outside comes first: to call it again could do harm
    failure = _failure_outside(system, state, block) or _failure_when_called(system, state, row)
    return failure or SimulationError(state.time, again)


def _row_of_schedule(system: System, index: int) -> int | None:
    """The row that stands at a place of the table, also once more behind the others; None: `sliding_field`.

    Behind all rows of the system's own table stand those of a derivative with what holds witnesses.
    """
    first, last = system.inner_range
    if index < first:
        return index
    if index < last:
        return int(system.inner_blocks[index - first])
    start, end = system.derivative_range
    row = start + index - last
    return None if row == end else row


def _failure_outside(system: System, state: State, block: Block) -> SimulationError | None:
    """The error that says what has failed outside of this process or in a library, if a part knows it."""
    for owner in dict.fromkeys(block.owners):
        part = system.parts.get(owner.partition(".")[0])
        outside = None if part is None else part.explain_failure()
        if outside is not None:
            failure = SimulationError(state.time, f"{owner}: {outside}")
            failure.__cause__ = outside
            return failure
    return None


def _failure_when_called(system: System, state: State, row: int) -> SimulationError | None:
    """The error that a block raises when it is called again, row by row; None where it raises none."""
    block = system.blocks[row]
    function = block.function  # as it was written: it raises what the compiled one has only counted
    count, width = block.rows.shape[0], block.rows.shape[1] if block.rows.ndim == 2 else 0
    start = BlockRow(*system.table[row].tolist()).first
    one_each = len(block.owners) == count
    for i in range(count if one_each else 1):
        try:
            with np.errstate(all="ignore"):
                arrays, rows = system.arrays(state), 1 if one_each else count
                function(np.float64(state.time), *arrays, system.ints, start + i * width, rows)
        except Exception as error:
            return _raised_failure(system, state, block, block.owners[i] if block.owners else "", error)
    return None


def _raised_failure(
    system: System, state: State, block: Block, owner: str, error: Exception
) -> SimulationError:
    """The error for what the block of a part, or of a solver, has raised."""
    where = f"{owner}: {block.label}" if owner else block.label
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    place = _place(system, error, owner)
    refusal = _refusal(system, state, owner, block.label)
    if refusal is not None:
        place, error = "", refusal
    explanation = "" if owner or system.solver is None else system.solver.explain(state, str(error))
    failure = SimulationError(state.time, f"{where}: {kind}{error}{place}{explanation}")
    failure.__cause__ = error
    return failure


def _place(system: System, error: BaseException, owner: str) -> str:
    """The place where a method of a part raised, as `` (file:line)``; empty for kernel functions."""
    part = system.parts.get(owner.partition(".")[0])
    module = type(part).__module__
    lines = [
        f" ({frame.f_code.co_filename}:{line})"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if part is not None and frame.f_globals.get("__name__") == module
    ]
    return lines[-1] if lines else ""


def _refusal(system: System, state: State, owner: str, label: str) -> ValueError | None:
    """The message of the check that has just raised."""
    for check in system.checks:
        if (check.part, check.name) == (owner, label):
            sentence = check.sentence(state._arrays["c"])
            return ValueError(sentence) if sentence else None
    return None
