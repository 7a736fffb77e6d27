"""Updates and publishes: which handlers are due, in which order they run, what becomes of what they write.

The path of an event: `witnesses.trigger` (or `agenda`) makes a handler pending; `run.start_step` calls
`updates`, which calls `handle` for each cause; `handle` calls `run_handler`, then `accept_results`, and
`take_over` changes the State.
"""

from __future__ import annotations

import math

from cosim.compiled.walker import call_python, walk
from cosim.step.agenda import next_time, row_of, serve
from cosim.step.arrays import Arrays, part
from cosim.step.codes import (
    FAILED_ANSWER,
    FAILED_FORBIDDEN,
    FAILED_HANDLER,
    FAILED_INFINITE,
    FAILED_INTEGER,
    FAILED_SIGNALS,
)
from cosim.step.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.step.copies import different, keep, take_over
from cosim.step.event_log import (
    ANSWER,
    CELL,
    CELLS,
    RECORD,
    TOOK,
    WHO,
    WINDOW_END,
    WINDOW_START,
    WITNESS_AFTER,
    WITNESS_BEFORE,
    room_in_log,
)
from cosim.step.holds import gathers, note_result
from cosim.step.layout import (
    ARRAY,
    BACKUP,
    BACKUP_K,
    BLOCK,
    BLOCK_OF,
    CAUSE,
    CHANGED,
    DISCRETE,
    DISCRETE_UPDATES,
    DOES,
    DUE,
    DURATION,
    ENTRIES,
    ENTRY,
    EVENTS,
    FAILED_C,
    FAILED_FROM,
    FAILED_FROM_K,
    FIRST_ENTRY,
    FLAG,
    HANDLED,
    HANDLER,
    IN_K,
    IN_P,
    IN_Y,
    INDEX,
    INSTANCE,
    LOCATED_AFTER,
    LOCATED_BEFORE,
    LOG_ALL,
    LOGGING,
    MOTION,
    NEEDS_REPORT,
    NEXT,
    NEXT_AT,
    NEXT_WIDTH,
    OFFSET,
    PHASE,
    PRIVATE,
    PUBLISH,
    PUBLISHES,
    REPORT,
    RESULT,
    SCHEDULE,
    SEVERITY,
    SIGNALS,
    SIGNALS_AT,
    SIZE,
    SOURCE,
    STATUS,
    STATUS_NOW,
    TARGET,
    TIME,
    TIME_ADVANCED,
    TIMED,
    TIMERS,
    UNRESTRICTED,
    UNRESTRICTED_UPDATES,
    WINDOW,
    WORKING,
    WORKING_K,
    WRITTEN,
    WRITTEN_K,
)
from cosim.step.realize import realize
from cosim.step.touched import lower_stage

INITIALIZATION_CAUSE, TRIGGERED, SCHEDULED, TIME_CAUSE, SIGNALED, TERMINATION_CAUSE = range(1, 7)
UPDATE_CAUSES = (1 << TRIGGERED) + (1 << SCHEDULED) + (1 << TIME_CAUSE)
PUBLISH_CAUSES = UPDATE_CAUSES + (1 << SIGNALED)
FIRST_PUBLISHES = (1 << SCHEDULED) + (1 << TIME_CAUSE) + (1 << SIGNALED)
SUCCEEDED, REACHED_TERMINATION, FAILED_STATUS = 1, 2, 3
SIGNAL_ROUNDS = 100
LARGEST_INTEGER = 9007199254740992.0


def is_due(a: Arrays, entry: int, does: int, causes: int) -> bool:
    """Whether a handler of this kind and of one of these causes (bits) is due now."""
    row = row_of(a, entry)
    cause = a.program[row + CAUSE]
    if a.program[row + DOES] != does or (causes >> cause) % 2 == 0:
        return False
    if cause in (TRIGGERED, SIGNALED):
        return a.agenda[FIRST_ENTRY + entry] != 0
    if cause == SCHEDULED:
        return next_time(a, entry) <= a.clock[TIME]
    if cause == TIME_CAUSE and does != PUBLISH:
        return a.agenda[TIME_ADVANCED] & does != 0
    return True


@part("Aii>i")
def list_due(a: Arrays, does: int, causes: int) -> int:
    """Note which handlers of a kind are due and what stands on their timers; how many."""
    due = a.program[DUE]
    count = 0
    for entry in range(a.program[ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + DOES] != does:
            continue
        a.places[due + entry] = 0
        if is_due(a, entry, does, causes):
            a.places[due + entry] = a.program[row + CAUSE]
            count += 1
            if a.program[row + SCHEDULE] == TIMED:
                a.scratch[a.program[TIMERS] + entry] = a.d[a.program[row + FLAG]]
    return count


@part("Ai>v")
def serve_all(a: Arrays, does: int) -> None:
    """The handlers of a kind that were due are no longer."""
    for entry in range(a.program[ENTRIES]):
        if a.program[row_of(a, entry) + DOES] != does:
            continue
        cause = a.places[a.program[DUE] + entry]
        if cause in (TRIGGERED, SIGNALED):
            a.agenda[FIRST_ENTRY + entry] = 0
        elif cause == SCHEDULED:
            serve(a, entry)


def answer(a: Arrays, severity: int, entry: int) -> None:
    """Keep the worst answer, the earlier one among equals."""
    if severity > a.places[PHASE]:
        a.places[PHASE] = severity
    if severity > a.places[SEVERITY]:
        a.places[SEVERITY] = severity
        a.places[SOURCE] = entry


def counts(a: Arrays, does: int) -> bool:
    """Whether a phase has had an effect that the statistics count."""
    seen = False
    for entry in range(a.program[ENTRIES]):
        row = row_of(a, entry)
        due = a.program[row + DOES] == does and a.places[a.program[DUE] + entry] != 0
        seen = seen or (due and a.program[row + PRIVATE] == 0)
    return seen and SUCCEEDED <= a.places[PHASE] <= REACHED_TERMINATION


@part("Ai>i", needed_for="handlers")
def updates(a: Arrays, causes: int) -> int:
    """Unrestricted, then discrete updates; inside each kind by cause. 0 or a code."""
    # who is due is known before any of them runs: they may move timers and periods
    unrestricted = list_due(a, UNRESTRICTED, causes)
    discrete = list_due(a, DISCRETE, causes)
    for does in range(UNRESTRICTED, DISCRETE + 1):
        if (unrestricted if does == UNRESTRICTED else discrete) == 0:
            continue
        keep(a, a.program[BACKUP], a.program[BACKUP_K])
        a.places[PHASE] = 0
        for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
            if (causes >> cause) % 2 == 0:
                continue
            code = realize(a, MOTION)
            if code == 0:
                code = handle(a, cause, does)
            if code != 0:
                drop_phase(a)
                return code
        if does == UNRESTRICTED and counts(a, does):
            a.places[UNRESTRICTED_UPDATES] += 1
        elif counts(a, does):
            a.places[DISCRETE_UPDATES] += 1
        serve_all(a, does)
        if (causes >> TIME_CAUSE) % 2 == 1:
            a.agenda[TIME_ADVANCED] &= 3 - does
    return 0


@part("A>v")
def drop_phase(a: Arrays) -> None:
    """A handler has failed: all that its kind wrote at this instant is dropped.

    What it read is kept for whoever looks for the reason.
    """
    keep(a, a.program[FAILED_FROM], a.program[FAILED_FROM_K])
    for m in range(a.c.shape[0]):
        a.scratch[a.program[FAILED_C] + m] = a.c[m]
    changed = a.places[CHANGED]
    block = a.places[BLOCK]
    take_over(a, a.program[BACKUP], a.program[BACKUP_K])
    a.places[CHANGED] = changed
    realize(a, MOTION)
    a.places[BLOCK] = block


@part("Ai>i", needed_for="handlers")
def publishes(a: Arrays, causes: int) -> int:
    """Publishes in order of cause; all run, whatever one of them answers. 0 or a code."""
    if list_due(a, PUBLISH, causes) == 0:
        return 0
    code = realize(a, REPORT)
    if code != 0:
        return code
    a.places[PHASE] = 0
    for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
        if (causes >> cause) % 2 == 1:
            handle(a, cause, PUBLISH)
    if SUCCEEDED <= a.places[PHASE] <= REACHED_TERMINATION:
        a.places[PUBLISHES] += 1
    serve_all(a, PUBLISH)
    return 0


@part("Aii>i")
def handle(a: Arrays, cause: int, does: int) -> int:
    """Run the handlers of one cause and kind; all read the State as it is, their writes come after.

    0 or a code; a publish that fails answers that, and the others run.
    """
    due = a.program[DUE]
    writes = False
    for entry in range(a.program[ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + DOES] != does or a.places[due + entry] != cause:
            continue
        if a.program[row + NEXT] > 0 and not writes:
            keep(a, a.program[WORKING], a.program[WORKING_K])
            writes = True
        a.places[HANDLED] += 1
        code = run_handler(a, entry, row)
        severity = a.places[STATUS_NOW]
        if code == 0 and severity == FAILED_STATUS:
            code = FAILED_HANDLER
        if code == 0 and severity > 0:
            code = check_results(a, row, does)
        if code != 0:
            a.places[ENTRY] = entry
            log_event(a, entry, row, FAILED_STATUS, 0)
            answer(a, FAILED_STATUS, entry)
            if does != PUBLISH:
                return code
            continue
        answer(a, severity, entry)
        log_event(a, entry, row, severity, 1 if severity > 0 else 0)
        if severity > 0:
            accept_results(a, row)
    if writes:
        take_over(a, a.program[WORKING], a.program[WORKING_K])
    return 0


def place_in_copy(a: Arrays, at: int, at_k: int, array: int) -> int:
    """Where an array starts in a copy of the variables: in `scratch`, for k in `places`."""
    if array == IN_K:
        return at_k
    if array == IN_Y:
        return at
    at += a.y.shape[0]
    if array == IN_P:
        return at
    return at + a.p.shape[0]


def working_value(a: Arrays, array: int, offset: int) -> float:
    """A number of the working copy, which holds what the handlers before have written."""
    at = place_in_copy(a, a.program[WORKING], a.program[WORKING_K], array) + offset
    if array == IN_K:
        return float(a.places[at])
    return a.scratch[at]


def result_value(a: Arrays, row: int, cell: int, m: int) -> float:
    """A number that a handler has left: a kernel function in the cache, a Python method in its copy."""
    array = a.program[cell + TARGET]
    if a.program[row + BLOCK_OF] >= 0:
        return a.c[a.program[cell + RESULT] + m]
    at = place_in_copy(a, a.program[WRITTEN], a.program[WRITTEN_K], array) + a.program[cell + OFFSET] + m
    if array == IN_K:
        return float(a.places[at])
    return a.scratch[at]


def is_changed(a: Arrays, row: int, cell: int) -> bool:
    """Whether a handler has left another value for a variable."""
    array = a.program[cell + TARGET]
    offset = a.program[cell + OFFSET]
    changed = False
    for m in range(a.program[cell + SIZE]):
        changed = changed or different(working_value(a, array, offset + m), result_value(a, row, cell, m))
    return changed


@part("Aii>i")
def run_handler(a: Arrays, entry: int, row: int) -> int:
    """Fill in what it may change, call it; its answer is in STATUS_NOW. 0 or a code."""
    code = realize(a, REPORT if a.program[row + NEEDS_REPORT] != 0 else MOTION)
    a.places[STATUS_NOW] = FAILED_STATUS
    a.scratch[a.program[DURATION]] = 0.0
    if code != 0:
        return code
    block = a.program[row + BLOCK_OF]
    if block < 0:
        if a.program[row + NEXT] > 0:
            copy_working(a)
        a.places[STATUS_NOW] = call_python(a.program[HANDLER], (entry,))
        return 0
    for i in range(a.program[row + NEXT]):
        cell = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        for m in range(a.program[cell + SIZE]):
            a.c[a.program[cell + RESULT] + m] = working_value(
                a, a.program[cell + TARGET], a.program[cell + OFFSET] + m
            )
    if walk(a.table, a.ints, block, block + 1, a.clock[TIME], a.y, a.p, a.d, a.k, a.h, a.c) != 0:
        a.places[BLOCK] = block
        return CODE_BLOCK
    status = a.program[row + STATUS]
    if status < 0:
        a.places[STATUS_NOW] = SUCCEEDED
        return 0
    number = a.c[status]
    if number not in (0.0, 1.0, 2.0, 3.0):
        return FAILED_ANSWER
    a.places[STATUS_NOW] = int(number)
    return 0


@part("A>v")
def copy_working(a: Arrays) -> None:
    """Give a Python handler a copy of the working copy to write to."""
    for m in range(a.y.shape[0] + a.p.shape[0] + a.d.shape[0]):
        a.scratch[a.program[WRITTEN] + m] = a.scratch[a.program[WORKING] + m]
    for m in range(a.k.shape[0]):
        a.places[a.program[WRITTEN_K] + m] = a.places[a.program[WORKING_K] + m]


@part("Aii>i")
def check_results(a: Arrays, row: int, does: int) -> int:
    """Refuse what no handler of this kind may write; 0 or a code."""
    for i in range(a.program[row + NEXT]):
        cell = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        array = a.program[cell + TARGET]
        a.places[ARRAY] = array
        a.places[INDEX] = a.program[cell + OFFSET]
        continuous = array in (IN_Y, IN_P)
        if (does == PUBLISH or (does == DISCRETE and continuous)) and is_changed(a, row, cell):
            return FAILED_FORBIDDEN
        for m in range(a.program[cell + SIZE]):
            value = result_value(a, row, cell, m)
            if array == IN_K and not (value == math.floor(value) and abs(value) < LARGEST_INTEGER):
                return FAILED_INTEGER
            if array == IN_Y and not math.isfinite(value):
                return FAILED_INFINITE
    return 0


@part("Ai>v")
def accept_results(a: Arrays, row: int) -> None:
    """Write what a handler has left into the working copy."""
    for i in range(a.program[row + NEXT]):
        cell = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        array = a.program[cell + TARGET]
        offset = a.program[cell + OFFSET]
        at = place_in_copy(a, a.program[WORKING], a.program[WORKING_K], array) + offset
        for m in range(a.program[cell + SIZE]):
            value = result_value(a, row, cell, m)
            if gathers(a, row):
                note_result(a, row, cell, m, working_value(a, array, offset + m), value)
            if array == IN_K:
                a.places[at + m] = int(value)
            else:
                a.scratch[at + m] = value


@part("Aiiii>v")
def log_event(a: Arrays, entry: int, row: int, severity: int, has_results: int) -> None:
    """Record that a handler was called, with the variables that it has changed."""
    if a.program[row + PRIVATE] != 0:
        return
    a.places[EVENTS] += 1
    if a.places[LOGGING] < LOG_ALL:
        return
    size = RECORD
    for i in range(a.program[row + NEXT] if has_results != 0 else 0):
        cell = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        if is_changed(a, row, cell):
            size += CELL + 2 * a.program[cell + SIZE]
    at = room_in_log(a, size)
    if at < 0:
        return
    a.log[at + WHO] = float(entry)
    a.log[at + WINDOW_START] = a.clock[TIME]
    a.log[at + WINDOW_END] = a.clock[TIME]
    a.log[at + WITNESS_BEFORE] = math.nan
    a.log[at + WITNESS_AFTER] = math.nan
    witness = a.program[row + FLAG]
    window = a.program[WINDOW]
    if a.program[row + CAUSE] == TRIGGERED and witness >= 0 and a.scratch[window] == a.scratch[window]:
        a.log[at + WINDOW_START] = a.scratch[window]
        a.log[at + WINDOW_END] = a.scratch[window + 1]
        a.log[at + WITNESS_BEFORE] = a.scratch[a.program[LOCATED_BEFORE] + witness]
        a.log[at + WITNESS_AFTER] = a.scratch[a.program[LOCATED_AFTER] + witness]
    a.log[at + ANSWER] = float(severity)
    a.log[at + TOOK] = a.scratch[a.program[DURATION]]
    a.log[at + CELLS] = 0.0
    write = at + RECORD
    for i in range(a.program[row + NEXT] if has_results != 0 else 0):
        cell = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        if not is_changed(a, row, cell):
            continue
        a.log[at + CELLS] += 1.0
        array = a.program[cell + TARGET]
        many = a.program[cell + SIZE]
        a.log[write] = float(array)
        a.log[write + 1] = float(a.program[cell + OFFSET])
        a.log[write + 2] = float(many)
        for m in range(many):
            a.log[write + CELL + m] = working_value(a, array, a.program[cell + OFFSET] + m)
            a.log[write + CELL + many + m] = result_value(a, row, cell, m)
        write += CELL + 2 * many


def is_signaled(a: Arrays) -> bool:
    """Whether a signal is set, or updates wait whose signal was taken already."""
    for i in range(a.program[SIGNALS]):
        if a.k[a.program[a.program[SIGNALS_AT] + i]] != 0:
            return True
    for entry in range(a.program[ENTRIES]):
        row = row_of(a, entry)
        waits = a.program[row + CAUSE] == SIGNALED and a.program[row + DOES] != PUBLISH
        if waits and a.agenda[FIRST_ENTRY + entry] != 0:
            return True
    return False


@part("A>i", needed_for="handlers")
def take_signals(a: Arrays) -> int:
    """Rounds of signaled updates until no signal is set; 0 or a code."""
    rounds = 0
    while is_signaled(a):
        if rounds == SIGNAL_ROUNDS:
            return FAILED_SIGNALS
        rounds += 1
        for entry in range(a.program[ENTRIES]):
            row = row_of(a, entry)
            if a.program[row + CAUSE] == SIGNALED and a.k[a.program[row + FLAG]] != 0:
                a.agenda[FIRST_ENTRY + entry] |= 1
        for i in range(a.program[SIGNALS]):
            a.k[a.program[a.program[SIGNALS_AT] + i]] = 0
        lower_stage(a, INSTANCE)
        a.places[CHANGED] = 1
        code = updates(a, 1 << SIGNALED)
        if code != 0:
            return code
    return 0
