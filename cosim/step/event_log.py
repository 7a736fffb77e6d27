"""Records of events and findings, in a buffer that is emptied when it is full.

A record begins with its length. That of an event has the numbers named below, then for each variable that was
changed the array, the offset, how many numbers, these before and these after. That of a finding has its kind,
as a negative number, in place of the handler.
"""

from __future__ import annotations

from cosim.run_data.run import Run
from cosim.walker import call_python
from cosim_compiler.record import Record, place_in, rows_of, width_of


class LoggedEvent(Record):
    """A handler was called; behind it what it has changed."""

    length: float  # of all that belongs to it, in numbers
    time: float  # s
    handler: float
    start: float  # of the window in which its witness crossed, s
    end: float
    before: float  # its witness at both ends
    after: float
    answer: float
    duration: float  # of a handler in Python, s
    changes: float  # how many variables follow


class LoggedChange(Record):
    """A variable that was changed; behind it its values before, then those after."""

    array: float
    offset: float
    size: float


class LoggedFinding(Record):
    """Something that a user should know."""

    length: float
    time: float
    kind: float
    subject: float  # a witness, a history, a handler, a state: its number
    value: float


EVENT_WIDTH, CHANGE_WIDTH, FINDING_WIDTH = map(width_of, (LoggedEvent, LoggedChange, LoggedFinding))
LENGTH, TIME, HANDLER, ANSWER, CHANGES = (
    place_in(LoggedEvent, name) for name in ("length", "time", "handler", "answer", "changes")
)
"""Columns of many events, for Python."""
# kinds of findings; their subject is a witness where nothing else is said
WRONG_SIDE = -1
CHATTERING, ZENO = -2, -3
HELD, RELEASED, RELEASED_BY_HANDLER, RELEASED_BY_WRITE = -4, -5, -6, -7
NOTICE = -8  # of a component, by the number of the notice
NOT_SMOOTH, NOT_KNOWN_INSIDE = -9, -10  # of a history, by the number of its ring
NOT_A_NUMBER = -11  # its value is when
OVERWRITTEN = -12  # of two handlers: the later one's number times how many there are, and the earlier one's
GREW_BACK = -13  # of a state, by its index
STEP_TAKEN, ROW_WRITTEN, PHASE_BEGUN, MEMORY_UPDATED, ASSEMBLED = -100, -101, -102, -103, -104
"""Of a tape, see `cosim.step.tape`."""
DRAIN_LOG, DRAIN_ROWS = -1, -2
"""What Python is asked for: to empty the buffer of events, that of rows."""


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
    """Where in `log` a record of this size may begin; -1 where nothing is recorded."""
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


def report_finding(run: Run, kind: int, subject: int, value: float) -> None:
    """Record a finding."""
    at = room_in_log(run, FINDING_WIDTH)
    if at >= 0:
        finding = logged_finding(run, at)
        finding.kind = float(kind)
        finding.subject = float(subject)
        finding.value = value
