"""Where things lie in the arrays of a run without Python.

============ ==========================================================================
``program``  a header (the names below), then tables; a table is named by two places in the header: how
             many rows, and where they start
``numbers``  0 accuracy of the State (NaN: none), then the times of lists of scheduled events
``clock``    0 time, 1 whether somebody wrote to the state since the last step (the shell says so), 2 next
             scheduled event or kink, 3 where the last step was completed (Model Exchange), 4 whether
             handlers have changed something in the last step or event; then three numbers for each
             handler (time that its timer was served last, period and offset that its grid has); then the
             memory of the witnesses; then what of them is held (see `holds`)
``agenda``   0 initialized, 1 updates at the start of this step are done, 2 kinds of updates that wait for
             time to advance, 3 finished; from FIRST_ENTRY on, for each handler, the index of its next time
             or whether it is pending
``places``   0 how far the cache is realized (the shell sets it to NOTHING whenever it writes to a state, and
             to RESTORED when it has put one back),
             1 whether updates changed something, 2 worst answer, 3 who gave it, 4 … 7 what failed, 8 length
             that `h` needs, 9 how many handlers were called (set to 0 by whoever looks), 10 the
             state that changes fastest; then working space
============ ==========================================================================
"""

from __future__ import annotations

# program: the header
(
    FIRST, LAST, ALL, REPORTS, NQ, NU,
    STEP, REDO, DENSE, BEGIN, RESTART, COMPLETE, SEARCH, RATES, FORECAST,
    END_FIRST, END_LAST, INSIDE_FIRST, INSIDE_LAST, SIDE, POINTS_INSIDE, ORDER, CHEAP, REMEMBERS,
    ENTRIES, ENTRIES_AT, SIGNALS, SIGNALS_AT, IN_STEPS, HAS_SCHEDULE, LOW_DISCRETE,
    SMOOTHNESS, SMOOTHNESS_AT, SWAPS, SWAPS_AT, RINGS, RINGS_AT, KINKS, KINKS_AT, BREAKS, BREAKS_AT,
    WITNESSES, WITNESSES_AT, WITNESS_MEMORY, WATCHED, WATCHED_AT, POLICY,
    TUNE, RELATIVE, RELATIVE_AT, ABSOLUTE, ABSOLUTE_AT,
    CACHE, COEFFICIENTS, HELD_COEFFICIENTS, SLOTS, HELD_SLOTS, MEMORY, HELD_MEMORY,
    HELD_FIRST, HELD_LAST, HELD_ROW, HOLDS, HOLDS_WIDTH,
    SPARE, ARRIVED_Y, DERIVATIVE, BACKUP, BACKUP_K, WORKING, WORKING_K, STARTING, STARTING_K, TIMERS, DUE,
    PROBED_Y, PROBED_C, INNER_C, KEPT_WORK, LEVELS, ENDS, POINTS, RATES_NOW, FORESEEN, BEFORE,
    LOW, NOW, FIRED_BY, CROSSED, TWIN_C, CANDIDATES, CANDIDATES_WIDTH,
    PAST, PAST_AT, FOUND, FOUND_AT, FOUND_BEFORE,
    HEADER,
) = range(98)  # fmt: skip
HOLD, TELL, STOP_AT = 0, 1, 2  # POLICY

# program: the row of a handler
(
    CAUSE, DOES, BLOCK_OF, FLAG, SCHEDULE, PERIOD_IN, PERIOD_AT, OFFSET_IN, OFFSET_AT, FOLLOWS,
    TIMES, TIMES_AT, STATUS, NEEDS_REPORT, NEXT, NEXT_AT, PRIVATE,
    ENTRY_WIDTH,
) = range(18)  # fmt: skip
UNRESTRICTED, DISCRETE, PUBLISH = 1, 2, 3  # DOES
PERIODIC, LISTED, TIMED = 1, 2, 3  # SCHEDULE
IN_Y, IN_P, IN_D, IN_K, IN_C, IN_NUMBERS = range(6)
NEXT_WIDTH = 5  # where in the cache, which array, where in it, how many, whether a hold may switch it
WITNESS_WIDTH = 2  # direction, whether it is a condition
SWAP_WIDTH = 4  # where in the cache, which array, where in it, what depends on it
ON_MOTION, ON_ALL, ON_REPORTS = range(3)

# numbers
ACCURACY = 0

# clock
TIME, JUMPED, NEXT_EVENT, COMPLETED, STATES_CHANGED, CLOCK_HEADER = range(6)
SERVED, GRID_PERIOD, GRID_OFFSET, ENTRY_NUMBERS = range(4)

# agenda
INITIALIZED, UPDATES_DONE, TIME_ADVANCED, FINISHED = range(4)
FIRST_ENTRY = 5

# places
(
    STAGE, CHANGED, SEVERITY, SOURCE, BLOCK, ENTRY, WITNESS, STEP_CODE, NEEDED, HANDLED, FASTEST,
    PLACES_HEADER,
) = range(12)  # fmt: skip
RESTORED, NOTHING, INSTANCE, MOTION, REPORT = -1, 0, 1, 2, 3  # STAGE: what is evaluated
