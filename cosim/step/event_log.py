"""Records of events and findings, in a buffer that is emptied when it is full.

A `LoggedEvent` is followed by a `LoggedChange` for each variable that the event changed, and each of these by
the values before and after. A `LoggedFinding` differs from an event by a negative number, its kind, in the
place of the handler.
"""

from __future__ import annotations

from cosim.run_data.run import Run
from cosim.walker import call_python
from cosim_compiler.calls import rarely
from cosim_compiler.record import Record, place_in, rows_of, width_of


class LoggedEvent(Record):
    """A call of a handler; the changes that it made follow."""

    length: float  # of the record with its changes, in numbers
    time: float  # s
    handler: float
    start: float  # of the window in which its witness crossed, s
    end: float
    before: float  # the value of its witness at the start of the window
    after: float  # and at its end
    answer: float
    duration: float  # of a handler in Python, s
    changes: float  # how many variables follow


class LoggedChange(Record):
    """A variable that was changed; its values before and those after follow."""

    array: float
    offset: float
    size: float


class LoggedFinding(Record):
    """An observation that is reported to the user."""

    length: float
    time: float
    kind: float
    subject: float  # the number of a witness, a history, a handler or a state
    value: float


EVENT_WIDTH, CHANGE_WIDTH, FINDING_WIDTH = map(width_of, (LoggedEvent, LoggedChange, LoggedFinding))
LENGTH, TIME, HANDLER, ANSWER, CHANGES = (
    place_in(LoggedEvent, name) for name in ("length", "time", "handler", "answer", "changes")
)
"""Places in a record, for Python, which reads the columns of many events at once."""
# kinds of findings; unless a comment says otherwise, the subject is a witness
WRONG_SIDE = -1
CHATTERING, ZENO = -2, -3
HELD, RELEASED, RELEASED_BY_HANDLER, RELEASED_BY_WRITE = -4, -5, -6, -7
NOTICE = -8  # of a component, by the number of the notice
NOT_SMOOTH, NOT_KNOWN_INSIDE = -9, -10  # of a history, by the number of its ring
NOT_A_NUMBER = -11  # the value is the time, s
OVERWRITTEN = -12  # of two handlers: later number * count of handlers + earlier number
GREW_BACK = -13  # of a state, by its index
STEP_TAKEN, ROW_WRITTEN, PHASE_BEGUN, MEMORY_UPDATED, ASSEMBLED = -100, -101, -102, -103, -104
ROW_DROPPED = -105  # the next row replaces the last one
TOUCHED = -106  # a witness, in the step that follows
"""Kinds of records on a tape, see `cosim.step.tape`."""
DRAIN_LOG, DRAIN_ROWS = -1, -2
"""Arguments of the callback into Python that empties the buffer of events, or that of rows."""


def logged_event(run: Run, at: int) -> LoggedEvent:
    """The event that begins at a place in `log`."""
    return rows_of(LoggedEvent, run.log, at, 1)[0]


def logged_change(run: Run, at: int) -> LoggedChange:
    """The change that begins at a place in `log`."""
    return rows_of(LoggedChange, run.log, at, 1)[0]


def logged_finding(run: Run, at: int) -> LoggedFinding:
    """The finding that begins at a place in `log`."""
    return rows_of(LoggedFinding, run.log, at, 1)[0]


def room_in_log(run: Run, size: int) -> int:
    """Begin a record of this size in `log`; its place, or -1 if nothing is recorded or there is no room."""
    if run.output.logging == 0:
        return -1
    if run.output.log_used + size > run.log.shape[0]:
        call_python(run.plan.call_drain, (DRAIN_LOG,))
    at = run.output.log_used
    if at + size > run.log.shape[0]:
        return -1
    run.output.log_used = at + size
    entry = logged_finding(run, at)
    entry.length = float(size)
    entry.time = run.clock.time
    return at


@rarely
def report_finding(run: Run, kind: int, subject: int, value: float) -> None:
    """Record a finding about a subject (a number of its kind) at the present time."""
    at = room_in_log(run, FINDING_WIDTH)
    if at >= 0:
        finding = logged_finding(run, at)
        finding.kind = float(kind)
        finding.subject = float(subject)
        finding.value = value
