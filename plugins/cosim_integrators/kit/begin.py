"""Where a run begins and goes on after a jump, for every method; signature `layout.REDO_SIGNATURE`."""

from __future__ import annotations

import math

from cosim.kit import (
    BLOCK_FAILED,
    DONE,
    END,
    END_OF_CORRECTIONS,
    FAILED_BLOCK,
    FAILED_TIME,
    FIXED,
    INITIAL,
    LARGEST,
    LAST_ERROR,
    MEMORY_HEADER,
    NEXT_STEP,
    NORMALIZE,
    RETURNED,
    SMALLEST,
    START,
    WORK_HEADER,
    project,
)
from cosim_integrators.kit.first_step import choose_first_step
from cosim_integrators.kit.state_sizes import begin_sizes


def write_first_step(table, ints, first, last, t, y, p, d, k, h, c, known, settings, memory, work):
    """The next step, given or chosen by `choose_first_step`, into the memory; DONE or BLOCK_FAILED.

    `known` are the largest values that the states have had.
    """
    if settings[FIXED] != 0.0:
        memory[NEXT_STEP] = settings[FIXED]
        return DONE
    if settings[INITIAL] != 0.0:
        memory[NEXT_STEP] = settings[INITIAL]
        return DONE
    if y.shape[0] == 0:
        memory[NEXT_STEP] = settings[LARGEST]
        return DONE
    status = choose_first_step(table, ints, first, last, t, y, p, d, k, h, c, known, settings, work)
    if status != 0:
        work[FAILED_BLOCK] = float(status - 1)
        work[FAILED_TIME] = t
        return BLOCK_FAILED
    memory[NEXT_STEP] = min(max(work[END], settings[SMALLEST]), settings[LARGEST])
    work[END] = math.nan
    return DONE


def begin_steps(table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots):
    """Write the memory at the beginning of a run; ``c`` is that of `y`, before and after."""
    for m in range(memory.shape[0]):
        memory[m] = 0.0
    work[START] = math.nan
    work[RETURNED] = 0.0
    n = y.shape[0]
    known = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    for m in range(n):
        known[m] = 0.0
    return write_first_step(table, ints, first, last, t, y, p, d, k, h, c, known, settings, memory, work)


def begin_explicit_steps(
    table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots
):
    """As `begin_steps`; with error control nothing is known of the sizes of the states."""
    code = begin_steps(
        table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots
    )
    if settings[FIXED] == 0.0:
        begin_sizes(settings, memory[MEMORY_HEADER:], y.shape[0])
    return code


def restart_steps(table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots):
    """Go on after a jump: the length of the step is kept, the memory of its error is not."""
    work[START] = math.nan
    memory[LAST_ERROR] = 0.0
    if slots[NORMALIZE] != slots[END_OF_CORRECTIONS]:
        project(table, ints, first, last, t, y, p, d, k, h, c, slots)
    return DONE
