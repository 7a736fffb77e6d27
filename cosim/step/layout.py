"""Where things lie in the arrays of a run: every index into them has a name here.

============ ==========================================================================
``program``  a header (the names below), then tables; a table is named by two places in the header: how
             many rows, and where they start
``numbers``  0 accuracy of the State (NaN: none), 1 the shortest pulse of witnesses, 2 how far from a
             scheduled time a host may call a step's end; then the times of lists of scheduled events, and
             periods and offsets
``clock``    the header below; then four numbers for each handler (time that its timer was served last,
             period and offset that its grid has, when it comes next); then the memory of the witnesses; then
             what of them is held (see `holds`)
``agenda``   the header below; then for each handler the index of its next time, or whether it is pending;
             then for each handler the grid of its times as integers (see `cosim.rational`)
``places``   the header below, then working space
``scratch``  working space
``reach``    which rows of the schedule follow which variables, see `touched`
``choice``   what is recorded, see `recording`
``rows``     a header, then recorded rows, see `recording`
``log``      records of events and findings, see `event_log`
============ ==========================================================================

Python's constants, the sections of a saved State and the header of the C shell are all made from this file
and from `cosim.step.arrays`.
"""

from __future__ import annotations

# program: the header
(
    FIRST, LAST, ALL, REPORTS, NQ, NU,
    STEP, REDO, DENSE, BEGIN, RESTART, COMPLETE, HANDLER, DRAIN,
    END_FIRST, END_LAST, INSIDE_FIRST, INSIDE_LAST, SIDE, POINTS_INSIDE, ORDER, CHEAP, REMEMBERS, SMOOTH,
    ENTRIES, ENTRIES_AT, SIGNALS, SIGNALS_AT, IN_STEPS, KINDS, HAS_SCHEDULE, HAS_TIMERS, HAS_GRIDS,
    STAGES_D, STAGES_D_AT,
    STAGES_K, STAGES_K_AT,
    SMOOTHNESS, SMOOTHNESS_AT, SWAPS, SWAPS_AT, RINGS, RINGS_AT, KINKS, KINKS_AT, BREAKS, BREAKS_AT,
    WITNESSES, WITNESSES_AT, WITNESS_MEMORY, WATCHED, WATCHED_AT, POLICY, NOTICES, NOTICES_AT,
    TUNE, RELATIVE, RELATIVE_AT, ABSOLUTE, ABSOLUTE_AT,
    CACHE, COEFFICIENTS, HELD_COEFFICIENTS, SLOTS, HELD_SLOTS, MEMORY, HELD_MEMORY,
    HELD_FIRST, HELD_LAST, HELD_ROW, HOLDS, HOLDS_WIDTH,
    SPARE, ARRIVED_Y, DERIVATIVE, BACKUP, BACKUP_K, WORKING, WORKING_K, WRITTEN, WRITTEN_K,
    STARTING, STARTING_K,
    FAILED_FROM, FAILED_FROM_K, FAILED_C, TIMERS, DUE, WAITING,
    PROBED_Y, PROBED_C, INNER_C, KEPT_WORK, LEVELS, ENDS, POINTS, RATES_NOW, BEFORE,
    RATES_BEFORE,
    LOW, NOW, FIRED_BY, CROSSED, TWIN_C, CANDIDATES, CANDIDATES_WIDTH,
    WINDOW, LOCATED_BEFORE, LOCATED_AFTER, DURATION, PACE, TOLD, MARKS, STACK, ROUNDING, WAS_SET, WAS_PUSHED,
    PAST, PAST_AT, FOUND, FOUND_AT, FOUND_BEFORE,
    BETWEEN_FIRST, BETWEEN_LAST, BETWEEN, BETWEEN_AT, REFINED_UNTIL, ASKED, TOLD_OF_RINGS, ROOM,
    SWAPPED, TOLD_OF_WITNESSES,
    SHARES, WRITERS, WRITTEN_BY, REPORTED_WRITERS,  # variables that two handlers of one instant may write
    HEADER,
) = range(137)  # fmt: skip
HOLD, TELL, STOP_AT = 0, 1, 2  # POLICY
# program: handlers and what belongs to them are `records`
UNRESTRICTED, DISCRETE, PUBLISH = 1, 2, 3  # DOES
PERIODIC, LISTED, TIMED = 1, 2, 3  # SCHEDULE
IN_Y, IN_P, IN_D, IN_K, IN_C, IN_NUMBERS = range(6)
# WRITES: on some ways or unknown, on each way, only +=
WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS = range(3)
# A witness that depends on a state which a handler may set: where that is left in the cache, its place in y.
SET_WITNESS, SET_RESULT, SET_STATE, SET_WIDTH = range(4)
# direction, whether it is a condition, whether it changes with states or time, whether with time
IS_CONDITION, IS_MOVED, IS_TIMED, WITNESS_WIDTH = 1, 2, 3, 4
# What is swapped in: where in the cache, which array, where in it, what depends on it.
NEW_AT, SWAPPED_IN, SWAPPED_AT, DEPENDS, SWAP_WIDTH = range(5)
# Where in the cache stands how smooth a source is; whether it follows a delayed signal at once.
SMOOTHNESS_OF, AT_ONCE, SMOOTHNESS_WIDTH = range(3)
PAST_ROW, WAITS, PAST_WIDTH = range(3)  # a block that reads histories; whether it waits, see DERIVATIVES
# First row in `watched`, and how many are walked for a look; then such rows of the blocks.
BETWEEN_ROWS, LOOKED_ROWS, BETWEEN_WIDTH = range(3)
ON_MOTION, ON_ALL, ON_REPORTS = range(3)
FALLING, RISING, BOTH = 1, 2, 3  # directions of witnesses

# probe: of each witness where its value lies in the cache, where its rate (-1: found by differences), which
# way it has to cross
VALUE_AT, RATE_AT, DIRECTION, PROBE_WIDTH = range(4)
# scratch, of each witness: the value that counts as zero, what leaving it means where the step starts there,
# and how close to it zero begins (-1: it does not start there), see `zeros`
LEVEL_ZERO, LEVEL_GUARD, LEVEL_BAND, LEVEL_WIDTH = range(4)
# scratch: what was found, then the witnesses at the start of the step and at its end
WINDOW_START, WINDOW_END, ENDS_HEADER = range(3)

# numbers
ACCURACY, SHORTEST_PULSE, MEETING = 0, 1, 2
SAME_TIME = 1e-9  # of a host's step: a scheduled event that its end misses by that is at its end

# clock
(
    TIME,  # s
    JUMPED,  # whether a variable was written since the last step (whoever writes says so)
    STAMP,  # time at the end of the last step: it shows whether the time was changed since
    NEXT_EVENT,  # the next scheduled event or kink
    COMPLETED,  # Model Exchange: where the last step was completed
    STATES_CHANGED,  # whether handlers have changed something in the last step or event
    CLOCK_HEADER,
) = range(7)

# agenda
INITIALIZED, UPDATES_DONE, TIME_ADVANCED, FINISHED, FIRST_ENTRY = range(5)
HALTED = 2  # UPDATES_DONE: before them a delayed jump has to arrive

# places
(
    STAGE,  # how far the cache is realized; RESTORED after a State was put back
    CHANGED,  # whether updates have changed something
    SEVERITY, SOURCE,  # the worst answer, and who gave it
    PHASE, STATUS_NOW,  # the worst answer of this phase, the answer of the last handler
    BLOCK, ENTRY, WITNESS, STEP_CODE, ARRAY, INDEX,  # what failed
    NEEDED,  # length that `h` needs
    HANDLED,  # how many handlers were called
    FASTEST, COUNTED_STEPS,  # the state that changes fastest, steps of this stretch: see `pace`
    MOST,  # how many steps one call may take
    SUPPRESSED,  # whether initialization leaves its events out
    TOUCHED,  # whether all that has changed since the last evaluation is marked
    LOWEST,  # the lowest stage that this invalidates
    LOWERED,  # the lowest stage that handlers have invalidated since the State was told
    RECORDING,  # NO_ROWS, AT_EVENTS …
    ROWS_USED, LOG_USED,  # numbers in these buffers
    LOGGING,  # LOG_NOTHING, LOG_FINDINGS or LOG_ALL
    STEPS_TAKEN, PUBLISHES, DISCRETE_UPDATES, UNRESTRICTED_UPDATES, EVENTS,  # statistics
    EVALUATED, PARTLY_EVALUATED, ROWS_CALLED,
    ARRIVED,  # whether a delayed break has arrived at the end of the step
    HALTS,  # whether a step ends before the delayed jump that arrives at its end: the host has an event mode
    GOES_ON,  # whether another step follows at once, so that blocks of PAST may wait
    HAS_BANDS,  # whether a witness counts as zero in a band in this step
    ENDS_KNOWN,  # whether witnesses at both ends of the step are at hand: now, and in BEFORE
    PLACES_HEADER,
) = range(39)  # fmt: skip
# STAGE: what is evaluated; DERIVATIVES: all of the motion but the blocks of PAST that wait
RESTORED, NOTHING, INSTANCE, DERIVATIVES, MOTION, REPORT = -1, 0, 1, 2, 3, 4
NO_ROWS, AT_EVENTS, AT_STEPS, ON_GRID, ON_GRID_ALONE = 0, 1, 2, 3, 4  # RECORDING
LOG_NOTHING, LOG_FINDINGS, LOG_ALL = 0, 1, 2  # LOGGING
ORIGIN, INTERVAL, POINT, UNTIL, ROWS_HEADER = range(5)  # header of the rows that are recorded
