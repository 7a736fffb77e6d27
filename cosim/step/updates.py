"""Updates and publishes: which handlers are due, in which order they run, what becomes of what they write.

The path of an event: `witnesses.trigger` (or `agenda`) makes a handler pending; `run.start_step` calls
`updates`, which calls `handle` for each cause; `handle` calls `run_handler`, then `accept_results`, and
`take_over` changes the State.
"""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.agenda import first_due, next_time, serve, waits_for
from cosim.step.arrays import Arrays
from cosim.step.codes import (
    FAILED_ANSWER,
    FAILED_FORBIDDEN,
    FAILED_HANDLER,
    FAILED_INFINITE,
    FAILED_INTEGER,
    FAILED_SIGNALS,
)
from cosim.step.copies import different, keep, take_over
from cosim.step.evaluation import walk_here
from cosim.step.event_log import (
    ANSWER,
    CELL,
    CELL_ARRAY,
    CELL_OFFSET,
    CELL_SIZE,
    CELLS,
    OVERWRITTEN,
    RECORD,
    TOOK,
    WHO,
    WINDOW_END,
    WINDOW_START,
    WITNESS_AFTER,
    WITNESS_BEFORE,
    room_in_log,
    tell,
)
from cosim.step.holds import gathers, note_result
from cosim.step.realize import realize, realized
from cosim.step.records import Handler, Result
from cosim.step.touched import lower_stage
from cosim.step.zeros import note_set
from cosim.walker import call_python

INITIALIZATION_CAUSE, TRIGGERED, SCHEDULED, TIME_CAUSE, SIGNALED, TERMINATION_CAUSE = range(1, 7)
UPDATE_CAUSES = (1 << TRIGGERED) + (1 << SCHEDULED) + (1 << TIME_CAUSE)
PUBLISH_CAUSES = UPDATE_CAUSES + (1 << SIGNALED)
FIRST_PUBLISHES = (1 << SCHEDULED) + (1 << TIME_CAUSE) + (1 << SIGNALED)
SUCCEEDED, REACHED_TERMINATION, FAILED_STATUS = 1, 2, 3
SIGNAL_ROUNDS = 100
LARGEST_INTEGER = 9007199254740992.0


def has_kind(a: Arrays, does: int) -> bool:
    """Whether there are handlers of a kind."""
    return (a.program[ix.KINDS] >> does) % 2 == 1


def is_due(a: Arrays, handler: Handler, does: int, causes: int) -> bool:
    """Whether a handler of this kind and of one of these causes (bits) is due now."""
    cause = handler.cause
    if handler.does != does or (causes >> cause) % 2 == 0:
        return False
    if cause in (TRIGGERED, SIGNALED):
        return a.next_index[handler.number] != 0
    if cause == SCHEDULED:
        return next_time(a, handler) <= a.clock[ix.TIME]
    if cause == TIME_CAUSE and does != ix.PUBLISH:
        return a.agenda[ix.TIME_ADVANCED] & does != 0
    return True


def list_due(a: Arrays, does: int, causes: int) -> int:
    """Note which handlers of a kind are due and what their timers are set to; their causes (bits)."""
    due = a.program[ix.DUE]
    found = 0
    first = -2  # not looked for yet
    for handler in a.handlers:
        if handler.does != does:
            continue
        a.places[due + handler.number] = 0
        if is_due(a, handler, does, causes):
            if handler.cause == SCHEDULED:
                if first == -2:
                    first = first_due(a)
                if waits_for(a, handler, first):
                    continue
            a.places[due + handler.number] = handler.cause
            found |= 1 << handler.cause
            if handler.schedule == ix.TIMED:
                a.scratch[a.program[ix.TIMERS] + handler.number] = a.d[handler.flag]
    return found


def serve_all(a: Arrays, does: int) -> None:
    """The handlers of a kind that were due are no longer."""
    for handler in a.handlers:
        if handler.does != does:
            continue
        cause = a.places[a.program[ix.DUE] + handler.number]
        if cause in (TRIGGERED, SIGNALED):
            a.next_index[handler.number] = 0
        elif cause == SCHEDULED:
            serve(a, handler)


def answer(a: Arrays, severity: int, entry: int) -> None:
    """Keep the worst answer, the earlier one among equals."""
    if severity > a.places[ix.PHASE]:
        a.places[ix.PHASE] = severity
    if severity > a.places[ix.SEVERITY]:
        a.places[ix.SEVERITY] = severity
        a.places[ix.SOURCE] = entry


def counts(a: Arrays, does: int) -> bool:
    """Whether a phase has had an effect that the statistics count."""
    seen = False
    for handler in a.handlers:
        due = handler.does == does and a.places[a.program[ix.DUE] + handler.number] != 0
        seen = seen or (due and handler.is_private == 0)
    return seen and SUCCEEDED <= a.places[ix.PHASE] <= REACHED_TERMINATION


def updates(a: Arrays, causes: int) -> int:
    """Unrestricted, then discrete updates; inside each kind by cause. 0 or a code."""
    # who is due is known before any of them runs: they may move timers and periods
    unrestricted = list_due(a, ix.UNRESTRICTED, causes) if has_kind(a, ix.UNRESTRICTED) else 0
    discrete = list_due(a, ix.DISCRETE, causes) if has_kind(a, ix.DISCRETE) else 0
    for does in range(ix.UNRESTRICTED, ix.DISCRETE + 1):
        due = unrestricted if does == ix.UNRESTRICTED else discrete
        if due == 0:
            continue
        keep(a, a.program[ix.BACKUP], a.program[ix.BACKUP_K])
        a.places[ix.PHASE] = 0
        for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
            if (causes >> cause) % 2 == 0:
                continue
            code = realized(a, ix.MOTION)
            if code == 0 and (due >> cause) % 2 == 1:
                code = handle(a, cause, does)
            if code != 0:
                drop_phase(a)
                return code
        if does == ix.UNRESTRICTED and counts(a, does):
            a.places[ix.UNRESTRICTED_UPDATES] += 1
        elif counts(a, does):
            a.places[ix.DISCRETE_UPDATES] += 1
        serve_all(a, does)
        if (causes >> TIME_CAUSE) % 2 == 1:
            a.agenda[ix.TIME_ADVANCED] &= 3 - does
    return 0


def drop_phase(a: Arrays) -> None:
    """A handler has failed: all that its kind wrote at this instant is dropped.

    What it read is kept for whoever looks for the reason.
    """
    keep(a, a.program[ix.FAILED_FROM], a.program[ix.FAILED_FROM_K])
    for m in range(a.c.shape[0]):
        a.scratch[a.program[ix.FAILED_C] + m] = a.c[m]
    changed = a.places[ix.CHANGED]
    block = a.places[ix.BLOCK]
    take_over(a, a.program[ix.BACKUP], a.program[ix.BACKUP_K])
    a.places[ix.CHANGED] = changed
    realize(a, ix.MOTION)
    a.places[ix.BLOCK] = block


def publishes(a: Arrays, causes: int) -> int:
    """Publishes in order of cause; all run, whatever one of them answers. 0 or a code."""
    due = list_due(a, ix.PUBLISH, causes)
    if due == 0:
        return 0
    code = realize(a, ix.REPORT)
    if code != 0:
        return code
    a.places[ix.PHASE] = 0
    for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
        if (due >> cause) % 2 == 1:
            handle(a, cause, ix.PUBLISH)
    if SUCCEEDED <= a.places[ix.PHASE] <= REACHED_TERMINATION:
        a.places[ix.PUBLISHES] += 1
    serve_all(a, ix.PUBLISH)
    return 0


def handle(a: Arrays, cause: int, does: int) -> int:
    """Run the handlers of one cause and kind; all read the State as it is, their writes come after.

    0 or a code; a publish that fails answers that, and the others run.
    """
    due = a.program[ix.DUE]
    writes = False
    for handler in a.handlers:
        if handler.does != does or a.places[due + handler.number] != cause:
            continue
        if handler.results > 0 and not writes:
            keep(a, a.program[ix.WORKING], a.program[ix.WORKING_K])
            writes = True
            if a.program[ix.SHARES] != 0:
                forget_writers(a)
        a.places[ix.HANDLED] += 1
        code = run_handler(a, handler)
        severity = a.places[ix.STATUS_NOW]
        if code == 0 and severity == FAILED_STATUS:
            code = FAILED_HANDLER
        if code == 0 and severity > 0:
            code = check_results(a, handler, does)
        if code != 0:
            a.places[ix.ENTRY] = handler.number
            log_event(a, handler, FAILED_STATUS, 0)
            answer(a, FAILED_STATUS, handler.number)
            if does != ix.PUBLISH:
                return code
            continue
        answer(a, severity, handler.number)
        log_event(a, handler, severity, 1 if severity > 0 else 0)
        if severity > 0 and a.program[ix.SHARES] != 0:
            note_writers(a, handler)
        if severity > 0:
            if cause in (TRIGGERED, SIGNALED) and changes_states(a, handler):
                a.places[a.program[ix.WAS_PUSHED]] = 1
            accept_results(a, handler)
            if handler.sets > 0:
                note_set(a, handler)
    if writes:
        take_over(a, a.program[ix.WORKING], a.program[ix.WORKING_K])
    return 0


def place_in_copy(a: Arrays, at: int, at_k: int, array: int) -> int:
    """Where an array starts in a copy of the variables: in `scratch`, for k in `places`."""
    if array == ix.IN_K:
        return at_k
    if array == ix.IN_Y:
        return at
    at += a.y.shape[0]
    if array == ix.IN_P:
        return at
    return at + a.p.shape[0]


def working_value(a: Arrays, array: int, offset: int) -> float:
    """A number of the working copy, which holds what the handlers before have written."""
    at = place_in_copy(a, a.program[ix.WORKING], a.program[ix.WORKING_K], array) + offset
    if array == ix.IN_K:
        return float(a.places[at])
    return a.scratch[at]


def result_value(a: Arrays, handler: Handler, result: Result, m: int) -> float:
    """A number that a handler has left: a kernel function in the cache, a Python method in its copy."""
    array = result.array
    if handler.block >= 0:
        return a.c[result.at + m]
    at = place_in_copy(a, a.program[ix.WRITTEN], a.program[ix.WRITTEN_K], array) + result.offset + m
    if array == ix.IN_K:
        return float(a.places[at])
    return a.scratch[at]


def is_changed(a: Arrays, handler: Handler, result: Result) -> bool:
    """Whether a handler has left another value for a variable."""
    array = result.array
    offset = result.offset
    changed = False
    for m in range(result.size):
        changed = changed or different(
            working_value(a, array, offset + m), result_value(a, handler, result, m)
        )
    return changed


def changes_states(a: Arrays, handler: Handler) -> bool:
    """Whether a handler has left another value for a continuous state."""
    changed = False
    for result in a.results_of(handler):
        changed = changed or (result.array == ix.IN_Y and is_changed(a, handler, result))
    return changed


def run_handler(a: Arrays, handler: Handler) -> int:
    """Fill in what it may change, call it; its answer is in STATUS_NOW. 0 or a code."""
    code = realized(a, ix.REPORT if handler.needs_report != 0 else ix.MOTION)
    a.places[ix.STATUS_NOW] = FAILED_STATUS
    a.scratch[a.program[ix.DURATION]] = 0.0
    if code != 0:
        return code
    block = handler.block
    if block < 0:
        if handler.results > 0:
            copy_working(a)
        a.places[ix.STATUS_NOW] = call_python(a.program[ix.HANDLER], (handler.number,))
        return 0
    for result in a.results_of(handler):
        for m in range(result.size):
            a.c[result.at + m] = working_value(a, result.array, result.offset + m)
    code = walk_here(a, block, block + 1)
    if code != 0:
        return code
    status = handler.status
    if status < 0:
        a.places[ix.STATUS_NOW] = SUCCEEDED
        return 0
    number = a.c[status]
    if number not in (0.0, 1.0, 2.0, 3.0):
        return FAILED_ANSWER
    a.places[ix.STATUS_NOW] = int(number)
    return 0


def copy_working(a: Arrays) -> None:
    """Give a Python handler a copy of the working copy to write to."""
    for m in range(a.y.shape[0] + a.p.shape[0] + a.d.shape[0]):
        a.scratch[a.program[ix.WRITTEN] + m] = a.scratch[a.program[ix.WORKING] + m]
    for m in range(a.k.shape[0]):
        a.places[a.program[ix.WRITTEN_K] + m] = a.places[a.program[ix.WORKING_K] + m]


def check_results(a: Arrays, handler: Handler, does: int) -> int:
    """Refuse what no handler of this kind may write; 0 or a code."""
    for result in a.results_of(handler):
        array = result.array
        a.places[ix.ARRAY] = array
        a.places[ix.INDEX] = result.offset
        continuous = array in (ix.IN_Y, ix.IN_P)
        if (does == ix.PUBLISH or (does == ix.DISCRETE and continuous)) and is_changed(a, handler, result):
            return FAILED_FORBIDDEN
        for m in range(result.size):
            value = result_value(a, handler, result, m)
            if array == ix.IN_K and not (value == math.floor(value) and abs(value) < LARGEST_INTEGER):
                return FAILED_INTEGER
            if array == ix.IN_Y and not math.isfinite(value):
                return FAILED_INFINITE
    return 0


def forget_writers(a: Arrays) -> None:
    """No handler of this kind and cause has written anything at this instant."""
    for m in range(a.y.shape[0] + a.p.shape[0] + a.d.shape[0] + a.k.shape[0]):
        a.places[a.program[ix.WRITERS] + m] = 0


def note_writers(a: Arrays, handler: Handler) -> None:
    """Note what a handler has written; a finding, once for each handler, where another one has before.

    Both have read the values before the instant, so what the earlier one wrote is lost.
    """
    if handler.is_private != 0:
        return
    continuous = a.y.shape[0] + a.p.shape[0] + a.d.shape[0]
    for result in a.results_of(handler):
        array = result.array
        offset = result.offset
        way = result.way
        for m in range(result.size):
            number = place_in_copy(a, 0, continuous, array) + offset + m
            written = (
                way == ix.WRITES_ALWAYS or a.places[a.program[ix.WRITTEN_BY] + number] == handler.number + 1
            )
            if not written and not different(
                working_value(a, array, offset + m), result_value(a, handler, result, m)
            ):
                continue
            earlier = a.places[a.program[ix.WRITERS] + number]
            told = a.program[ix.REPORTED_WRITERS] + handler.number
            if earlier != 0 and way != ix.WRITES_SUMS and a.places[told] == 0:
                a.places[told] = 1
                tell(a, OVERWRITTEN, handler.number * a.program[ix.ENTRIES] + earlier - 1, float(number))
            a.places[a.program[ix.WRITERS] + number] = handler.number + 1


def accept_results(a: Arrays, handler: Handler) -> None:
    """Write what a handler has left into the working copy."""
    for result in a.results_of(handler):
        array = result.array
        offset = result.offset
        at = place_in_copy(a, a.program[ix.WORKING], a.program[ix.WORKING_K], array) + offset
        for m in range(result.size):
            value = result_value(a, handler, result, m)
            if gathers(a, handler):
                note_result(a, handler, result, m, working_value(a, array, offset + m), value)
            if array == ix.IN_K:
                a.places[at + m] = int(value)
            else:
                a.scratch[at + m] = value


def log_event(a: Arrays, handler: Handler, severity: int, has_results: int) -> None:
    """Record that a handler was called, with the variables that it has changed."""
    if handler.is_private != 0:
        return
    a.places[ix.EVENTS] += 1
    if a.places[ix.LOGGING] < ix.LOG_ALL:
        return
    size = RECORD
    for result in a.results_of(handler):
        if has_results != 0 and is_changed(a, handler, result):
            size += CELL + 2 * result.size
    at = room_in_log(a, size)
    if at < 0:
        return
    a.log[at + WHO] = float(handler.number)
    a.log[at + WINDOW_START] = a.clock[ix.TIME]
    a.log[at + WINDOW_END] = a.clock[ix.TIME]
    a.log[at + WITNESS_BEFORE] = math.nan
    a.log[at + WITNESS_AFTER] = math.nan
    witness = handler.flag
    window = a.program[ix.WINDOW]
    start = a.scratch[window + ix.WINDOW_START]
    if handler.cause == TRIGGERED and witness >= 0 and start == start:
        a.log[at + WINDOW_START] = start
        a.log[at + WINDOW_END] = a.scratch[window + ix.WINDOW_END]
        a.log[at + WITNESS_BEFORE] = a.scratch[a.program[ix.LOCATED_BEFORE] + witness]
        a.log[at + WITNESS_AFTER] = a.scratch[a.program[ix.LOCATED_AFTER] + witness]
    a.log[at + ANSWER] = float(severity)
    a.log[at + TOOK] = a.scratch[a.program[ix.DURATION]]
    a.log[at + CELLS] = 0.0
    write = at + RECORD
    for result in a.results_of(handler):
        if has_results == 0 or not is_changed(a, handler, result):
            continue
        a.log[at + CELLS] += 1.0
        array = result.array
        many = result.size
        a.log[write + CELL_ARRAY] = float(array)
        a.log[write + CELL_OFFSET] = float(result.offset)
        a.log[write + CELL_SIZE] = float(many)
        for m in range(many):
            a.log[write + CELL + m] = working_value(a, array, result.offset + m)
            a.log[write + CELL + many + m] = result_value(a, handler, result, m)
        write += CELL + 2 * many


def is_signaled(a: Arrays) -> bool:
    """Whether a signal is set, or updates wait whose signal was taken already."""
    for i in range(a.program[ix.SIGNALS]):
        if a.k[a.program[a.program[ix.SIGNALS_AT] + i]] != 0:
            return True
    for handler in a.handlers:
        waits = handler.cause == SIGNALED and handler.does != ix.PUBLISH
        if waits and a.next_index[handler.number] != 0:
            return True
    return False


def take_signals(a: Arrays) -> int:
    """Rounds of signaled updates until no signal is set; 0 or a code."""
    rounds = 0
    while is_signaled(a):
        if rounds == SIGNAL_ROUNDS:
            return FAILED_SIGNALS
        rounds += 1
        for handler in a.handlers:
            if handler.cause == SIGNALED and a.k[handler.flag] != 0:
                a.next_index[handler.number] |= 1
        for i in range(a.program[ix.SIGNALS]):
            a.k[a.program[a.program[ix.SIGNALS_AT] + i]] = 0
        lower_stage(a, ix.INSTANCE)
        a.places[ix.CHANGED] = 1
        code = updates(a, 1 << SIGNALED)
        if code != 0:
            return code
    return 0
