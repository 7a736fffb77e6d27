"""The component that could not be evaluated."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.errors import SimulationError
from cosim.system.block_row import BlockRow
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
    first, last = system.inner_range
    if index >= last:  # where witnesses are held the evaluation stands behind all rows
        index += system.derivative_range[0] - last
        if index == system.derivative_range[1]:
            return SimulationError(state.time, f"the derivative with what holds witnesses failed{cause}")
    elif index >= first:
        index = system.inner_blocks[index - first]
    block = system.blocks[index]
    width = block.rows.shape[1] if block.rows.ndim == 2 else 0
    function = block.function  # as it was written: it raises what the compiled one has only counted
    start = BlockRow(*system.table[index].tolist()).first
    one_each = len(block.owners) == block.rows.shape[0]
    for owner in dict.fromkeys(block.owners):
        part = system.parts.get(owner.partition(".")[0])
        outside = None if part is None else part.explain_failure()
        if outside is not None:  # where calling again could do harm
            result = SimulationError(state.time, f"{owner}: {outside}")
            result.__cause__ = outside
            return result
    for i in range(block.rows.shape[0] if one_each else 1):
        owner = block.owners[i] if block.owners else ""
        count = 1 if one_each else block.rows.shape[0]
        try:
            with np.errstate(all="ignore"):
                function(np.float64(state.time), *system.arrays(state), system.ints, start + i * width, count)
        except Exception as error:
            where = f"{owner}: {block.label}" if owner else block.label
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            place = _place(system, error, owner)
            refusal = _refusal(system, state, owner, block.label)
            place, error = (place, error) if refusal is None else ("", refusal)
            explanation = "" if owner or system.solver is None else system.solver.explain(state, str(error))
            result = SimulationError(state.time, f"{where}: {kind}{error}{place}{explanation}")
            result.__cause__ = error
            return result
    return SimulationError(state.time, f"{block.label}: failed{cause}, and does not when called again")


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
