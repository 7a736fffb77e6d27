"""The arrays that compiled steps work in; the same for every method.

All compiled steps have the signature `cosim.walker.STEP_SIGNATURE`:

    step(table, ints, first, last, t, y, p, d, k, h, c,
         coefficients, settings, memory, work, slots, t_stop, limit)

and return a code (`DONE` …, the numbers of `cosim.kit.StepCode`). On entry ``c[0:n]`` is the derivative at
`t`; after DONE, `y` and `c` are those of the end ``work[END]``; after any other code `y`, `c` and `memory`
are as on entry. Steps that are taken again have `REDO_SIGNATURE`, dense outputs
`cosim.walker.DENSE_SIGNATURE`:

    redo(table, ints, first, last, t_event, y, p, d, k, h, c, coefficients, settings, memory, work, slots)
    dense(t, coefficients, work, y, out)

The beginning of a run, going on after a jump, and completing what dense output needs have it, too; the last
one gets a copy of `y` and `c` that it may overwrite.

================ ==========================================================================
``coefficients`` constant numbers of the method
``settings``     0 accuracy, 1 smallest step, 2 largest step, 3 fixed step (0: none), 4 order of the error
                 estimate (the exponent of the step in it), 5 first step (0: chosen), 6 whether dense output
                 that is not completed is a cubic, 7 accuracy of one step, then the relative and the absolute
                 tolerances, `n` numbers each, then the two numbers by which the accuracy of one step
                 follows (`cosim.contracts.tolerances.accuracy_of_step`) and the least absolute tolerance,
                 then for each state the size that its absolute tolerance is held to (0: it follows the
                 largest value so far)
``memory``       part of the State: 0 next step (0: not initialized), 1 error of the last step
                 relative to the tolerance (0: none), then what the method needs
``work``         the header below, then the state at the start and at the end of the step and a spare vector,
                 `n` numbers each, then what the method needs
``slots``        0 … 10 the corrections of the system (`cosim.step.projection`), 11 and 12 first and last row
                 of what a derivative needs inside a step (the cache has to be complete at the ends of steps
                 alone), 13 how many slots report an error, 14 how many report until when they are
                 smooth, 15 how many change their sign at a kink, 16 whether witnesses are held (the rates
                 of a held one are differences); then the offsets in the cache; then what the method needs
================ ==========================================================================
"""

from __future__ import annotations

from cosim.walker import REDO_SIGNATURE as REDO_SIGNATURE

TUNE_SIGNATURE = "FF>v"  # settings, coefficients: writes those coefficients that depend on the accuracy

# How a step ended; the numbers of `cosim.kit.StepCode`.
DONE = 0
NOT_FINITE = 1
MINIMUM_STEP = 2
BLOCK_FAILED = 3
NOT_INITIALIZED = 4
NO_CONVERGENCE = 5
CONSTRAINTS_NOT_MET = 6

# What decided where a step ends; the numbers of `cosim.StepReason`.
BY_METHOD = 0
BY_TARGET = 1
BY_LIMIT = 2
BY_KINK = 3
BY_MAXIMUM = 4

ACCURACY, SMALLEST, LARGEST, FIXED, ERROR_ORDER, INITIAL, IS_CUBIC, STEP_ACCURACY = 0, 1, 2, 3, 4, 5, 6, 7
SETTINGS_HEADER = 8

NEXT_STEP, LAST_ERROR = 0, 1
MEMORY_HEADER = 2

START, END = 0, 1  # times of the last step (NaN: none)
FAILED_BLOCK, FAILED_TIME, ATTEMPTED_END = 2, 3, 4
STEPS, REJECTIONS, EVALUATIONS = 5, 6, 7
ACCEPTED_END = 8  # end of the last step as it was accepted, before it was taken again
REASON = 9
DENSE_READY = 10  # whether everything that dense output needs is there
STIFF_HITS, STIFF_MISSES, STIFF_TIME = 11, 12, 13
JACOBIANS, FACTORIZATIONS, NEWTON_FAILURES = 14, 15, 16
WORST = 17  # of implicit methods: the state with the largest error or correction (-1: none)
OWN = 18  # from here on six numbers of the method's own
RETURNED = 24  # 1 + the state that has grown back from below its tolerance (0: none); the Step reports it
USUAL_ERROR = (
    25  # of an attempt that was too large, or of an implicit method: in tolerances of states of size 1
)
WORK_HEADER = 26

INNER_FIRST, INNER_LAST = 11, 12
ERROR_SLOTS, SMOOTH_SLOTS, KINK_SLOTS = 13, 14, 15
HOLDS = 16
SLOTS_HEADER = 17


def own_slots(slots):
    """Where in `slots` begins what the method needs."""
    return SLOTS_HEADER + slots[ERROR_SLOTS] + slots[SMOOTH_SLOTS] + slots[KINK_SLOTS]
