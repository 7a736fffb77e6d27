"""Updates and publishes: which handlers are due, in which order they run, what becomes of what they write.

The path of an event: `triggered.trigger_handlers` (or `agenda`) makes a handler pending; `step.start_step`
calls `run_updates`, which calls `handle` for each cause; `handle` calls `run_handler`, then `accept_all`,
and `restore_variables` changes the State.

A handler has a kind (UNRESTRICTED, DISCRETE, PUBLISH) and a cause, what calls it; of several causes each is a
bit. A sampler, say, is a discrete update of cause SCHEDULED: `agenda` says when, `list_due` finds
it, and its result goes into a discrete variable.

At one instant, unrestricted updates run before discrete ones. Inside a kind the causes run in the order of
their numbers (`EventCause`): triggered, scheduled, time advanced; inside a cause handlers run in the order of
parts, then of declaration.
"""

from __future__ import annotations

import math

from cosim.run_data.records.evaluation import INSTANCE, MOTION, REPORT
from cosim.run_data.records.handlers import (
    DISCRETE,
    IN_K,
    IN_P,
    IN_Y,
    INITIALIZATION_CAUSE,
    PUBLISH,
    SCHEDULED,
    SIGNALED,
    TERMINATION_CAUSE,
    TIME_CAUSE,
    TIMED,
    TRIGGERED,
    UNRESTRICTED,
    WRITES_ALWAYS,
    WRITES_SUMS,
    Handler,
    Result,
)
from cosim.run_data.records.recording import LOG_ALL, LOG_TAPE
from cosim.run_data.run import Run
from cosim.step.agenda import first_due, next_time, serve, waits_for
from cosim.step.block_calls import (
    copied_value,
    different,
    lower_stage,
    number_of_variable,
    restore_variables,
    save_variables,
    set_copied,
    walk_here,
)
from cosim.step.event_log import (
    CHANGE_WIDTH,
    EVENT_WIDTH,
    OVERWRITTEN,
    PHASE_BEGUN,
    logged_change,
    logged_event,
    report_finding,
    room_in_log,
)
from cosim.step.failures import (
    EndlessSignals,
    ForbiddenChange,
    HandlerFailed,
    InfiniteState,
    NoAnswer,
    NoInteger,
    StepFailure,
)
from cosim.step.holds import collect_result, collects_results
from cosim.step.realize import realize
from cosim.step.tape import log_mark
from cosim.step.zeros import WITHOUT_EFFECT, mark_set_witnesses
from cosim.walker import call_python
from cosim_compiler.calls import never_inlined

# causes as bits
UPDATE_CAUSES = (1 << TRIGGERED) + (1 << SCHEDULED) + (1 << TIME_CAUSE)
PUBLISH_CAUSES = UPDATE_CAUSES + (1 << SIGNALED)
FIRST_PUBLISHES = (1 << SCHEDULED) + (1 << TIME_CAUSE) + (1 << SIGNALED)  # after the initialization
# the answer of a handler; 0: it did not succeed, and changes nothing
SUCCEEDED, REACHED_TERMINATION, FAILED_STATUS = 1, 2, 3
ANSWERS = (0.0, 1.0, 2.0, 3.0)
NOT_SEARCHED = -2  # in place of the number of a handler
SIGNAL_ROUNDS = 100  # rounds of signals at one instant, at most
LARGEST_INTEGER = 9007199254740992.0  # 2**53: up to there doubles hold integers exactly


def has_kind(run: Run, kind: int) -> bool:
    """Whether there are handlers of a kind."""
    return (run.plan.kinds >> kind) % 2 == 1


def is_due(run: Run, handler: Handler, kind: int, causes: int) -> bool:
    """Whether a handler of this kind and of one of these causes (bits) is due now."""
    cause = handler.cause
    if handler.kind != kind or (causes >> cause) % 2 == 0:
        return False
    if cause in (TRIGGERED, SIGNALED):
        return run.next_index[handler.number] != 0
    if cause == SCHEDULED:
        return next_time(run, handler) <= run.clock.time
    if cause == TIME_CAUSE and kind != PUBLISH:
        return run.agenda.time_advanced & kind != 0
    return True


def list_due(run: Run, kind: int, causes: int) -> int:
    """List the handlers of a kind that are due, and the times of their timers; their causes (bits)."""
    due_causes = 0
    first = NOT_SEARCHED  # the periodic event that is due first
    for handler in run.handlers:
        if handler.kind != kind:
            continue
        run.due[handler.number] = 0
        if is_due(run, handler, kind, causes):
            if handler.cause == SCHEDULED:
                if first == NOT_SEARCHED:
                    first = first_due(run)
                if waits_for(run, handler, first):
                    continue
            run.due[handler.number] = handler.cause
            due_causes |= 1 << handler.cause
            if handler.schedule == TIMED:
                run.timer_values[handler.number] = run.d[handler.flag]
    return due_causes


def serve_all(run: Run, kind: int) -> None:
    """Mark the handlers of a kind that were due as handled."""
    for handler in run.handlers:
        if handler.kind != kind:
            continue
        cause = run.due[handler.number]
        if cause in (TRIGGERED, SIGNALED):
            run.next_index[handler.number] = 0
        elif cause == SCHEDULED:
            serve(run, handler)


def store_worst_answer(run: Run, severity: int, entry: int) -> None:
    """Keep the worst answer, the earlier one among equals."""
    if severity > run.answers.phase:
        run.answers.phase = severity
    if severity > run.answers.severity:
        run.answers.severity = severity
        run.answers.source = entry


def is_counted_phase(run: Run, kind: int) -> bool:
    """Whether a phase has had an effect that the statistics count."""
    is_counted = False
    for handler in run.handlers:
        due = handler.kind == kind and run.due[handler.number] != 0
        is_counted = is_counted or (due and handler.is_private == 0)
    return is_counted and SUCCEEDED <= run.answers.phase <= REACHED_TERMINATION


def run_updates(run: Run, causes: int) -> None:
    """Run unrestricted, then discrete updates; inside each kind by cause.

    Where one fails, all that its kind has written at this instant is dropped.
    """
    # list the due handlers before any of them runs: they may move timers and periods
    unrestricted = list_due(run, UNRESTRICTED, causes) if has_kind(run, UNRESTRICTED) else 0
    discrete = list_due(run, DISCRETE, causes) if has_kind(run, DISCRETE) else 0
    for kind in range(UNRESTRICTED, DISCRETE + 1):
        due = unrestricted if kind == UNRESTRICTED else discrete
        if due == 0:
            continue
        save_variables(run, run.backup)
        run.answers.phase = 0
        try:
            run_kind(run, kind, due, causes)
        except StepFailure:
            discard_phase(run)
            raise
        if kind == UNRESTRICTED and is_counted_phase(run, kind):
            run.counts.unrestricted_updates += 1
        elif is_counted_phase(run, kind):
            run.counts.discrete_updates += 1
        serve_all(run, kind)
        if (causes >> TIME_CAUSE) % 2 == 1:
            run.agenda.time_advanced &= UNRESTRICTED + DISCRETE - kind  # the bit of the other kind stays


def run_kind(run: Run, kind: int, due: int, causes: int) -> None:
    """Run the updates of one kind, by cause: a later cause reads what an earlier one has written."""
    for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
        if (causes >> cause) % 2 == 0:
            continue
        realize(run, MOTION)
        if (due >> cause) % 2 == 1:
            handle(run, cause, kind)


def discard_phase(run: Run) -> None:
    """Drop all that a kind of updates has written at this instant, because a handler has failed.

    What it read is kept for whoever looks for the reason.
    """
    save_variables(run, run.failed_from)
    for m in range(run.failed_cache.shape[0]):
        run.failed_cache[m] = run.c[m]
    block = run.failure.block
    restore_variables(run, run.backup)
    try:
        realize(run, MOTION)
    except StepFailure:
        pass  # the failure of the handler counts
    run.failure.block = block


def run_publishes(run: Run, causes: int) -> None:
    """Run publishes in order of cause; all run, whatever one of them answers."""
    due = list_due(run, PUBLISH, causes)
    if due == 0:
        return
    realize(run, REPORT)
    run.answers.phase = 0
    for cause in range(INITIALIZATION_CAUSE, TERMINATION_CAUSE + 1):
        if (due >> cause) % 2 == 1:
            handle(run, cause, PUBLISH)
    if SUCCEEDED <= run.answers.phase <= REACHED_TERMINATION:
        run.counts.publishes += 1
    serve_all(run, PUBLISH)


def handle(run: Run, cause: int, kind: int) -> None:
    """Run the handlers of one cause and kind; all read the State as it is, their writes come after.

    A publish that fails answers that, and the others run.
    """
    writes = False
    accepts = False
    if kind != PUBLISH:
        log_mark(run, PHASE_BEGUN, run.clock.time, float(cause), 0.0)
    for handler in run.handlers:
        if handler.kind != kind or run.due[handler.number] != cause:
            continue
        if handler.results > 0 and not writes:
            save_variables(run, run.working)
            writes = True
            if run.plan.shares_variables != 0:
                clear_writers(run)
        run.answers.calls += 1
        try:
            run_handler(run, handler)
            check_answer(run, handler)
        except StepFailure:
            run.failure.handler = handler.number
            log_event(run, handler, FAILED_STATUS, False)
            store_worst_answer(run, FAILED_STATUS, handler.number)
            if kind != PUBLISH:
                raise
            continue
        severity = run.answers.latest
        store_worst_answer(run, severity, handler.number)
        log_event(run, handler, severity, severity > 0)
        if severity > 0:
            accept_all(run, handler)
            accepts = accepts or handler.results > 0
    if accepts and restore_variables(run, run.working):
        mark_changed(run)


def mark_changed(run: Run) -> None:
    """Note that updates have changed something: variables, or a signal that they took."""
    run.answers.changed_now = 1
    run.answers.changed_in_step = 1
    run.course.hold_known = 0


def accept_all(run: Run, handler: Handler) -> None:
    """Write the results of a handler that has succeeded into the working copy."""
    if run.plan.shares_variables != 0:
        record_writers(run, handler)
    if handler.cause in (TRIGGERED, SIGNALED) and changes_states(run, handler):
        run.answers.pushed = 1
    accept_results(run, handler)
    if handler.sets > 0:
        mark_set_witnesses(run, handler)


def working_value(run: Run, array: int, offset: int) -> float:
    """A number of the working copy, which holds what the handlers before have written."""
    return copied_value(run.working, array, offset)


def result_value(run: Run, handler: Handler, result: Result, m: int) -> float:
    """A number that a handler has left: a kernel function in the cache, a Python method in its copy."""
    if handler.block >= 0:
        return run.c[result.at + m]
    return copied_value(run.written, result.array, result.offset + m)


def is_changed(run: Run, handler: Handler, result: Result) -> bool:
    """Whether a handler has left another value for a variable."""
    array = result.array
    offset = result.offset
    changed = False
    for m in range(result.size):
        changed = changed or different(
            working_value(run, array, offset + m), result_value(run, handler, result, m)
        )
    return changed


def changes_states(run: Run, handler: Handler) -> bool:
    """Whether a handler has left another value for a continuous state."""
    changed = False
    for result in run.results_of(handler):
        changed = changed or (result.array == IN_Y and is_changed(run, handler, result))
    return changed


def run_handler(run: Run, handler: Handler) -> None:
    """Call a handler with copies of what it may change; its answer is in ``answers.latest``."""
    run.answers.latest = FAILED_STATUS
    run.transient.duration = 0.0
    realize(run, REPORT if handler.needs_report != 0 else MOTION)
    if handler.block < 0:
        if handler.results > 0:
            copy_working(run)
        run.answers.latest = call_python(run.plan.call_handler, (handler.number,))
        return
    for result in run.results_of(handler):
        for m in range(result.size):
            run.c[result.at + m] = working_value(run, result.array, result.offset + m)
    walk_here(run, handler.block, handler.block + 1)
    if handler.status < 0:
        run.answers.latest = SUCCEEDED
        return
    number = run.c[handler.status]
    if number not in ANSWERS:
        raise NoAnswer()
    run.answers.latest = int(number)


def check_answer(run: Run, handler: Handler) -> None:
    """Refuse that a handler has failed, and results that it may not leave."""
    if run.answers.latest == FAILED_STATUS:
        raise HandlerFailed()
    if run.answers.latest > 0:
        check_results(run, handler)


def copy_working(run: Run) -> None:
    """Give a Python handler a copy of the working copy to write to."""
    for m in range(len(run.working_numbers)):
        run.written_numbers[m] = run.working_numbers[m]
    for m in range(len(run.working_integers)):
        run.written_integers[m] = run.working_integers[m]


def check_results(run: Run, handler: Handler) -> None:
    """Refuse what no handler of this kind may write."""
    kind = handler.kind
    for result in run.results_of(handler):
        array = result.array
        run.failure.array = array
        run.failure.index = result.offset
        continuous = array in (IN_Y, IN_P)
        if (kind == PUBLISH or (kind == DISCRETE and continuous)) and is_changed(run, handler, result):
            raise ForbiddenChange()
        for m in range(result.size):
            value = result_value(run, handler, result, m)
            if array == IN_K and not (value == math.floor(value) and abs(value) < LARGEST_INTEGER):
                raise NoInteger()
            if array == IN_Y and not math.isfinite(value):
                raise InfiniteState()


def clear_writers(run: Run) -> None:
    """Clear the record of which handlers have written variables: a cause begins."""
    for m in range(run.y.shape[0] + run.p.shape[0] + run.d.shape[0] + run.k.shape[0]):
        run.writers[m] = 0


def record_writers(run: Run, handler: Handler) -> None:
    """Note what a handler has written; report, once for each handler, if another one has before.

    Both have read the values before the instant, so what the earlier one wrote is lost.
    """
    if handler.is_private != 0:
        return
    for result in run.results_of(handler):
        for m in range(result.size):
            record_writer(run, handler, result, m)


def record_writer(run: Run, handler: Handler, result: Result, m: int) -> None:
    """Note that a handler has written a number of its results, if it has; report an earlier writer of it."""
    array = result.array
    offset = result.offset + m
    number = number_of_variable(run, array, offset)
    is_written = result.write_pattern == WRITES_ALWAYS or run.python_writers[number] == handler.number + 1
    changes = different(working_value(run, array, offset), result_value(run, handler, result, m))
    if not is_written and not changes:
        return
    earlier = run.writers[number] - 1  # -1: none
    if earlier >= 0 and result.write_pattern != WRITES_SUMS:
        if array == IN_Y and changes:
            mark_without_effect(run, run.handlers[earlier])
        if run.reported_writers[handler.number] == 0:
            run.reported_writers[handler.number] = 1
            both = handler.number * len(run.handlers) + earlier
            report_finding(run, OVERWRITTEN, both, float(number))
    run.writers[number] = handler.number + 1


def mark_without_effect(run: Run, handler: Handler) -> None:
    """Mark the witness of a handler whose new state another handler of this instant has overwritten.

    Bodies would fall through each other otherwise: a witness that goes on through zero triggers again.
    """
    if handler.cause == TRIGGERED and handler.flag >= 0:
        run.was_set[handler.flag] = WITHOUT_EFFECT


def accept_results(run: Run, handler: Handler) -> None:
    """Write what a handler has left into the working copy."""
    for result in run.results_of(handler):
        array = result.array
        offset = result.offset
        for m in range(result.size):
            value = result_value(run, handler, result, m)
            if collects_results(run, handler):
                collect_result(run, handler, result, m, working_value(run, array, offset + m), value)
            set_copied(run.working, array, offset + m, value)


def log_event(run: Run, handler: Handler, severity: int, has_results: bool) -> None:
    """Record that a handler was called, with the variables that it has changed."""
    if handler.is_private == 0:
        run.counts.events += 1
    if run.output.logging >= (LOG_ALL if handler.is_private == 0 else LOG_TAPE):
        write_event(run, handler, severity, has_results)


@never_inlined
def write_event(run: Run, handler: Handler, severity: int, has_results: bool) -> None:
    """Write the record of an event, and of each variable that it has changed."""
    size = EVENT_WIDTH
    for result in run.results_of(handler):
        if has_results and is_changed(run, handler, result):
            size += CHANGE_WIDTH + 2 * result.size
    at = room_in_log(run, size)
    if at < 0:
        return
    event = logged_event(run, at)
    event.handler = float(handler.number)
    event.start = event.end = run.clock.time
    event.before = event.after = math.nan
    witness = handler.flag
    if handler.cause == TRIGGERED and witness >= 0 and run.located.start == run.located.start:
        event.start = run.located.start
        event.end = run.located.end
        event.before = run.located_before[witness]
        event.after = run.located_after[witness]
    event.answer = float(severity)
    event.duration = run.transient.duration
    event.changes = 0.0
    write = at + EVENT_WIDTH
    for result in run.results_of(handler):
        if has_results and is_changed(run, handler, result):
            event.changes += 1.0
            write = log_change(run, handler, result, write)


def log_change(run: Run, handler: Handler, result: Result, at: int) -> int:
    """Record a variable that a handler has changed, from a place in `log` on; where the next one begins."""
    change = logged_change(run, at)
    change.array = float(result.array)
    change.offset = float(result.offset)
    change.size = float(result.size)
    values = at + CHANGE_WIDTH
    for m in range(result.size):
        run.log[values + m] = working_value(run, result.array, result.offset + m)
        run.log[values + result.size + m] = result_value(run, handler, result, m)
    return values + 2 * result.size


def is_signaled(run: Run) -> bool:
    """Whether a signal is set, or updates wait whose signal was taken already."""
    for i in range(len(run.signals)):
        if run.k[run.signals[i]] != 0:
            return True
    for handler in run.handlers:
        waits = handler.cause == SIGNALED and handler.kind != PUBLISH
        if waits and run.next_index[handler.number] != 0:
            return True
    return False


def handle_signals(run: Run) -> None:
    """Rounds of signaled updates until no signal is set."""
    rounds = 0
    while is_signaled(run):
        if rounds == SIGNAL_ROUNDS:
            raise EndlessSignals()
        rounds += 1
        for handler in run.handlers:
            if handler.cause == SIGNALED and run.k[handler.flag] != 0:
                run.next_index[handler.number] |= 1
        for i in range(len(run.signals)):
            run.k[run.signals[i]] = 0
        lower_stage(run, INSTANCE)
        mark_changed(run)
        run_updates(run, 1 << SIGNALED)
