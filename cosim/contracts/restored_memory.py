"""Whether states and the memory of an integrator that come from outside can be those of a run."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import MEMORY_HEADER, StepMemory
from cosim_compiler.record import place_in

NEXT_STEP, LAST_ERROR = place_in(StepMemory, "next_step"), place_in(StepMemory, "last_error")


def are_of_a_run(y, memory):
    """Whether all numbers are finite, and neither the next step nor the last error is negative.

    Step control that gets another one takes it for the length of a step, and does not end. A next step may be
    infinite: nothing limits it where there are no states.
    """
    total = 0.0
    for m in range(y.shape[0]):
        total += 0.0 * y[m]
    for m in range(memory.shape[0]):
        if m != NEXT_STEP or memory[m] != math.inf or y.shape[0] > 0:
            total += 0.0 * memory[m]
    if total != 0.0:
        return False
    if memory.shape[0] > NEXT_STEP and memory[NEXT_STEP] < 0.0:
        return False
    return not (memory.shape[0] >= MEMORY_HEADER and memory[LAST_ERROR] < 0.0)
