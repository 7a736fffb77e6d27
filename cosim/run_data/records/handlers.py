"""Handlers: their causes and times, the variables that they may change, their answers."""

from __future__ import annotations

from cosim.cause import EventCause
from cosim.rational import tick, tick_time
from cosim_compiler.record import Record

# of several records: arrays of variables in tables
IN_Y, IN_P, IN_D, IN_K, IN_C, IN_NUMBERS = range(6)
# Handler.cause
INITIALIZATION_CAUSE, TERMINATION_CAUSE = int(EventCause.INITIALIZATION), int(EventCause.TERMINATION)
TRIGGERED, SCHEDULED = int(EventCause.TRIGGERED), int(EventCause.SCHEDULED)
TIME_CAUSE, SIGNALED = int(EventCause.TIME_ADVANCED), int(EventCause.SIGNALED)
UNRESTRICTED, DISCRETE, PUBLISH = 1, 2, 3
"""Handler.kind."""
BOTH_KINDS = UNRESTRICTED | DISCRETE
"""Agenda.time_advanced: both kinds of updates, as bits."""
PERIODIC, LISTED, TIMED = 1, 2, 3
"""Handler.schedule."""


class Handler(Record):
    """The cause of a handler, and the variables that it may change."""

    number: int  # its place among the handlers, in order of subsystems, then of declaration
    cause: int  # TRIGGERED, SCHEDULED …
    kind: int  # UNRESTRICTED, DISCRETE, PUBLISH
    block: int  # block of the schedule of a kernel function; -1: a method in Python
    flag: int  # number of its signal or witness, or the place in `d` of its timer; -1: none
    schedule: int  # PERIODIC, LISTED, TIMED; 0: it has no times
    period: int  # place in `program` of the `TimeSetting` of its period
    offset: int  # place in `program` of the `TimeSetting` of its offset
    follows: int  # whether its period or its offset is a parameter: they are read again at each step
    times: int  # number of listed times
    times_at: int  # place in `numbers` of the first
    status: int  # slot of the cache with its answer; -1: it gives none
    needs_report: int  # whether it reads values of the REPORT stage
    results: int  # number of its `Result`s: the variables that it may change
    results_at: int  # place in `program` of the first
    is_private: int  # whether it is book-keeping of its component, which records of events leave out
    sets: int  # number of its `SetState`s
    sets_at: int  # place in `program` of the first


WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS = range(3)
"""Result.write_pattern: on some paths through the handler (or unknown), on each path, only by ``+=``."""


class Result(Record):
    """A variable that a handler may change."""

    at: int  # first slot of the cache in which a kernel function leaves it
    array: int  # array of the variable: IN_Y, IN_P, IN_D, IN_K
    offset: int  # its first place there
    size: int  # its numbers
    is_switchable: int  # whether a hold may switch the variable to and fro
    write_pattern: int  # WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS


class SetState(Record):
    """A state that a handler may set and that a witness depends on."""

    witness: int  # its number
    result: int  # slot of the cache in which the handler leaves the state
    state: int  # its place in y


class TimeSetting(Record):
    """A period or an offset as it was given, and the rational number that it stood for at the start."""

    array: int  # IN_NUMBERS, or the array of the parameter that it is
    at: int  # its place there
    # place in `numbers` of the value at the start, s; another value stands for another rational number
    start_value_at: int
    whole: int  # of the rational number: whole seconds
    rest: int  # the rest, in parts of a second
    resolution: int  # how many of these parts a second has


class Grid(Record):
    """``offset + index * period``, exactly: whole seconds and rests in the resolution."""

    offset_whole: int  # s
    offset_rest: int  # in parts of a second
    period_whole: int  # s
    period_rest: int  # in parts of a second
    resolution: int  # how many of these parts a second has

    def time(grid, index):
        """The time of an occurrence: the nearest double, never an accumulated sum."""
        return tick_time(
            index,
            grid.offset_whole,
            grid.offset_rest,
            grid.period_whole,
            grid.period_rest,
            grid.resolution,
        )

    def tick(grid, index):
        """The time of an occurrence as whole seconds and a rest in the resolution."""
        return tick(
            index,
            grid.offset_whole,
            grid.offset_rest,
            grid.period_whole,
            grid.period_rest,
            grid.resolution,
        )


class Timing(Record):
    """When a handler comes; part of the State."""

    served: float  # the last time to which its timer was set and at which it has run, s
    period: float  # period of its `Grid`, s
    offset: float  # offset of its `Grid`, s
    next_time: float  # its next time, s; NaN if the period is lost to rounding beside the time


class Answers(Record):
    """The results of handlers."""

    severity: int  # the worst answer of this call: did nothing, succeeded, reached termination, failed
    source: int  # number of the handler that gave it
    phase: int  # the worst answer of the present phase: the updates of one kind
    latest: int  # the answer of the last handler
    calls: int  # handlers called since the updates of this instant began
    changed_now: int  # whether updates have changed something since those of this instant began
    changed_in_step: int  # the same since the step, or a host's event, began: it may have several rounds
    pushed: int  # whether triggered or signaled handlers have changed a state
