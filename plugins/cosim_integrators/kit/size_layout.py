"""Where the sizes of the states lie in the memory of a method, so in the State.

Vectors of `n` numbers, then numbers.

================  ============================================================================
``FLOOR``         absolute part of the tolerance; what norms of errors read
``LARGEST``       largest value at the start of a step
``NOISE``         what rounding gives the state, times a margin (0: less than its size allows)
``POWER``         of time, with which it grows since it was 0 (0: it does not)
``SINCE``         when it was 0, s
``BACK_FROM``     value from which it grows back steadily (0: it has not been small; -1: this was told); of
                  one that has not left 0: what it became in the attempt before
``RATE``          its largest rate of growth since, 1/s
``FOLLOWED``      whether some state is looked at in every step: it grows from 0, or back
``WAVE``          since when states have left 0, step after step, s (`NEVER`: none has in the last step)
``TRIED``         length of the attempt before, in which states left 0, s (0: there was none in this step)
``AHEAD``         for how long those that left 0 last were looked ahead, s
``MEASURED``      length of the steps that rounding was measured for, s (0: it is less than sizes allow)
``STEPS_SINCE``   how many steps ago
``PAUSE``         how many more attempts go by before it is measured again
``LAST_PAUSE``    how many did so the last time
``LARGEST_OF_ALL``  largest value of all states
``ARE_SMALL``     whether a state that has left 0 is much smaller than 1
================  ============================================================================
"""

from __future__ import annotations

FLOOR, LARGEST, NOISE, POWER, SINCE, BACK_FROM, RATE = range(7)
SIZE_VECTORS = 7
FOLLOWED, WAVE, TRIED, AHEAD, MEASURED, STEPS_SINCE, PAUSE, LAST_PAUSE, LARGEST_OF_ALL, ARE_SMALL = range(10)
SIZE_NUMBERS = 10

NEVER = 1e300


def sizes_size(n):
    """Numbers in the memory."""
    return SIZE_VECTORS * n + SIZE_NUMBERS
