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
    NEXT_STEP,
    NORMALIZE,
    SMALLEST,
    START,
    project,
)
from cosim_integrators.kit.first_step import choose_first_step


def write_first_step(table, ints, first, last, t, y, p, d, k, h, c, settings, memory, work):
    """The next step, given or chosen by `choose_first_step`, into the memory; DONE or BLOCK_FAILED."""
    if settings[FIXED] != 0.0:
        memory[NEXT_STEP] = settings[FIXED]
        return DONE
    if settings[INITIAL] != 0.0:
        memory[NEXT_STEP] = settings[INITIAL]
        return DONE
    if y.shape[0] == 0:
        memory[NEXT_STEP] = settings[LARGEST]
        return DONE
    status = choose_first_step(table, ints, first, last, t, y, p, d, k, h, c, settings, work)
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
    return write_first_step(table, ints, first, last, t, y, p, d, k, h, c, settings, memory, work)


def restart_steps(table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots):
    """Go on after a jump: the length of the step is kept, the memory of its error is not."""
    work[START] = math.nan
    memory[LAST_ERROR] = 0.0
    if slots[NORMALIZE] != slots[END_OF_CORRECTIONS]:
        project(table, ints, first, last, t, y, p, d, k, h, c, slots)
    return DONE
