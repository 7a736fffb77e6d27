"""Running event handlers that are kernel functions; as `cosim.simulation.dispatch` and `update_phase`."""

from __future__ import annotations

import math

from cosim.compiled.walker import walk
from cosim.lowering.agenda import next_time, row_of, serve
from cosim.lowering.arrays import part
from cosim.lowering.codes import FAILED_ANSWER, FAILED_HANDLER, FAILED_SIGNALS
from cosim.lowering.codes import FAILED_BLOCK as CODE_BLOCK
from cosim.lowering.copies import keep, take_over
from cosim.lowering.holds import can_hold, note_changes
from cosim.lowering.layout import (
    BACKUP,
    BACKUP_K,
    BLOCK,
    BLOCK_OF,
    CAUSE,
    CHANGED,
    DOES,
    DUE,
    ENTRIES,
    ENTRY,
    FIRST_ENTRY,
    FLAG,
    HANDLED,
    IN_K,
    IN_P,
    IN_Y,
    INSTANCE,
    MOTION,
    NEEDS_REPORT,
    NEXT,
    NEXT_AT,
    NEXT_WIDTH,
    PUBLISH,
    REPORT,
    SCHEDULE,
    SEVERITY,
    SIGNALS,
    SIGNALS_AT,
    SOURCE,
    STAGE,
    STATUS,
    TIME,
    TIME_ADVANCED,
    TIMED,
    TIMERS,
    WORKING,
    WORKING_K,
)
from cosim.lowering.realize import realize

INITIALIZATION_CAUSE, TRIGGERED, SCHEDULED, TIME_CAUSE, SIGNALED, TERMINATION_CAUSE = range(1, 7)
UPDATE_CAUSES = (1 << TRIGGERED) + (1 << SCHEDULED) + (1 << TIME_CAUSE)
PUBLISH_CAUSES = UPDATE_CAUSES + (1 << SIGNALED)
FIRST_PUBLISHES = (1 << SCHEDULED) + (1 << TIME_CAUSE) + (1 << SIGNALED)
SUCCEEDED, REACHED_TERMINATION, FAILED_STATUS = 1, 2, 3
SIGNAL_ROUNDS = 100
LARGEST_INTEGER = 9007199254740992.0


def is_due(a, entry, does, causes):
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
def list_due(a, does, causes):
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
def done(a, does):
    """The handlers of a kind that were due are no longer."""
    for entry in range(a.program[ENTRIES]):
        if a.program[row_of(a, entry) + DOES] != does:
            continue
        cause = a.places[a.program[DUE] + entry]
        if cause in (TRIGGERED, SIGNALED):
            a.agenda[FIRST_ENTRY + entry] = 0
        elif cause == SCHEDULED:
            serve(a, entry)


def answer(a, severity, entry):
    """Keep the worst answer, the earlier one among equals."""
    if severity > a.places[SEVERITY]:
        a.places[SEVERITY] = severity
        a.places[SOURCE] = entry


@part("Ai>i")
def updates(a, causes):
    """Unrestricted, then discrete updates; inside each kind by cause. 0 or a code."""
    # who is due is known before any of them runs: they may move timers and periods
    unrestricted = list_due(a, 1, causes)
    discrete = list_due(a, 2, causes)
    for does in range(1, 3):
        if (unrestricted if does == 1 else discrete) == 0:
            continue
        keep(a, a.program[BACKUP], a.program[BACKUP_K])
        for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
            if (causes >> cause) % 2 == 0:
                continue
            code = realize(a, MOTION)
            if code == 0:
                code = handle(a, cause, does)
            if code != 0:
                take_over(a, a.program[BACKUP], a.program[BACKUP_K])
                realize(a, MOTION)
                return code
        done(a, does)
        if (causes >> TIME_CAUSE) % 2 == 1:
            a.agenda[TIME_ADVANCED] &= 3 - does
    return 0


@part("Ai>i")
def publishes(a, causes):
    """Publishes in order of cause; all run, whatever one of them answers. 0 or a code."""
    if list_due(a, PUBLISH, causes) == 0:
        return 0
    code = realize(a, REPORT)
    if code != 0:
        return code
    for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
        if (causes >> cause) % 2 == 1:
            handle(a, cause, PUBLISH)
    done(a, PUBLISH)
    return 0


@part("Aii>i")
def handle(a, cause, does):
    """Run the handlers of one cause and kind; all read the state as it is, their writes come after.

    0 or a code; a publish that fails answers that, and the others run.
    """
    due = a.program[DUE]
    writes = 0
    for entry in range(a.program[ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + DOES] != does or a.places[due + entry] != cause:
            continue
        if a.program[row + NEXT] > 0 and writes == 0:
            keep(a, a.program[WORKING], a.program[WORKING_K])
            writes = 1
        a.places[HANDLED] += 1
        code = run_handler(a, entry, row)
        if code != 0:
            a.places[ENTRY] = entry
            if does != PUBLISH:
                return code
            answer(a, FAILED_STATUS, entry)
            continue
        status = a.program[row + STATUS]
        severity = SUCCEEDED
        if status >= 0:
            severity = int(a.c[status])
        answer(a, severity, entry)
        if severity == FAILED_STATUS:
            a.places[ENTRY] = entry
            if does != PUBLISH:
                return FAILED_HANDLER
        elif severity > 0:
            if can_hold(a):
                note_changes(a, row)
            write_results(a, row)
    if writes == 1:
        take_over(a, a.program[WORKING], a.program[WORKING_K])
    return 0


def next_place(a, array):
    """Where the working copy of an array starts: in `scratch`, for k in `places`."""
    if array == IN_K:
        return a.program[WORKING_K]
    at = a.program[WORKING]
    if array == IN_Y:
        return at
    at += a.y.shape[0]
    if array == IN_P:
        return at
    return at + a.p.shape[0]


@part("Aii>i")
def run_handler(a, entry, row):
    """Fill in what it may change, call it, check what it answers; 0 or a code."""
    code = realize(a, REPORT if a.program[row + NEEDS_REPORT] != 0 else MOTION)
    if code != 0:
        return code
    for i in range(a.program[row + NEXT]):
        at = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        target = a.program[at]
        array = a.program[at + 1]
        source = next_place(a, array) + a.program[at + 2]
        for m in range(a.program[at + 3]):
            a.c[target + m] = float(a.places[source + m]) if array == IN_K else a.scratch[source + m]
    block = a.program[row + BLOCK_OF]
    if walk(a.table, a.ints, block, block + 1, a.clock[TIME], a.y, a.p, a.d, a.k, a.h, a.c) != 0:
        a.places[BLOCK] = block
        return CODE_BLOCK
    for i in range(a.program[row + NEXT]):
        at = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        array = a.program[at + 1]
        for m in range(a.program[at + 3]):
            value = a.c[a.program[at] + m]
            if array == IN_K and not (value == math.floor(value) and abs(value) < LARGEST_INTEGER):
                return FAILED_ANSWER
            if array == IN_Y and not math.isfinite(value):
                return FAILED_ANSWER
    status = a.program[row + STATUS]
    if status >= 0:
        number = a.c[status]
        if number not in (0.0, 1.0, 2.0, 3.0):
            return FAILED_ANSWER
    return 0


@part("Ai>v")
def write_results(a, row):
    """What a handler has written into the cache, into the working copy."""
    for i in range(a.program[row + NEXT]):
        at = a.program[row + NEXT_AT] + NEXT_WIDTH * i
        array = a.program[at + 1]
        target = next_place(a, array) + a.program[at + 2]
        for m in range(a.program[at + 3]):
            value = a.c[a.program[at] + m]
            if array == IN_K:
                a.places[target + m] = int(value)
            else:
                a.scratch[target + m] = value


def is_signaled(a):
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


@part("A>i")
def take_signals(a):
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
        a.places[STAGE] = min(a.places[STAGE], INSTANCE)
        a.places[CHANGED] = 1
        code = updates(a, 1 << SIGNALED)
        if code != 0:
            return code
    return 0
