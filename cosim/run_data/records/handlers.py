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

    number: int
    cause: int
    kind: int  # UNRESTRICTED, DISCRETE, PUBLISH
    block: int  # of the schedule: that of a kernel function; -1: Python
    flag: int  # of a signal or a witness its number, of a timer its place in `d`
    schedule: int  # 0, or PERIODIC, LISTED, TIMED
    period: int  # where in `program` its `GivenTime` stands
    offset: int
    follows: int  # whether a parameter is its period or its offset
    times: int  # how many are listed
    times_at: int  # and where in `numbers`
    status: int  # where in the cache its answer stands; -1: it gives none
    needs_report: int
    results: int  # how many variables it may change
    results_at: int
    is_private: int
    sets: int  # how many witnesses depend on states that it may set
    sets_at: int


WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS = range(3)
"""Result.write_pattern: on some paths through the handler (or unknown), on each path, only by ``+=``."""


class Result(Record):
    """A variable that a handler may change."""

    at: int  # where a kernel function leaves it in the cache
    array: int  # the variable: IN_Y, IN_P, IN_D, IN_K, its place and its size
    offset: int
    size: int
    is_switchable: int  # whether a hold may switch it
    write_pattern: int  # WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS


class SetState(Record):
    """A state that a handler may set and that a witness depends on."""

    witness: int
    result: int  # where in the cache the handler leaves it
    state: int  # its place in y


class GivenTime(Record):
    """A period or an offset as it was given."""

    array: int  # IN_NUMBERS, or that of the parameter that it is
    at: int
    given_at: int  # where in `numbers` the value stands whose rational number follows
    whole: int  # that number, s: whole seconds, and a rest in the resolution
    rest: int
    resolution: int


class Grid(Record):
    """``offset + index * period``, exactly: whole seconds and rests in the resolution."""

    offset_whole: int
    offset_rest: int
    period_whole: int
    period_rest: int
    resolution: int

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

    served: float  # the time of its timer that was served last, s
    period: float  # of the present grid, s
    offset: float
    next_time: float  # the next time, s; NaN if the period is lost to rounding beside the time


class Answers(Record):
    """The results of handlers."""

    severity: int  # the worst answer
    source: int  # number of the handler that gave it
    phase: int  # the worst answer of this phase
    latest: int  # the answer of the last handler
    calls: int  # how many handlers were called since the updates of this instant began
    changed_now: int  # whether updates have changed something since those of this instant began
    changed_in_step: int  # the same since the step, or a host's event, began: it may have several rounds
    pushed: int  # whether triggered or signaled handlers have changed a state
