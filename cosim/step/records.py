"""What lies in the arrays of a run, as records: declared once for the tables, the Step and its readers.

`Arrays` (`cosim.step.arrays`) shows them: ``run.handlers``, ``run.timings``, ``run.grids`` …
"""

from __future__ import annotations

from cosim.rational import tick, tick_time
from cosim_compiler.record import Record


class Handler(Record):
    """What calls a handler, and what it may change; in `program`."""

    number: int
    cause: int
    does: int  # UNRESTRICTED, DISCRETE, PUBLISH
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


class Result(Record):
    """A variable that a handler may change; in `program`, behind the handlers."""

    at: int  # where a kernel function leaves it in the cache
    array: int  # the variable: IN_Y, IN_P, IN_D, IN_K, its place and its size
    offset: int
    size: int
    is_switchable: int  # whether a hold may switch it
    way: int  # WRITES_AT_TIMES, WRITES_ALWAYS, WRITES_SUMS


class GivenTime(Record):
    """A period or an offset as it was given; in `program`, behind the handlers."""

    array: int  # IN_NUMBERS, or that of the parameter that it is
    at: int
    given_at: int  # where in `numbers` the value stands for which the rational number was given
    whole: int  # that number, s: whole seconds, and a rest in the resolution
    rest: int
    resolution: int


class Timing(Record):
    """When a handler comes; part of the State, in `clock`."""

    served: float  # for which time its timer was served last
    period: float  # of the present grid, s
    offset: float
    comes: float  # next, s; NaN where the period is lost beside the time


class Witness(Record):
    """What is remembered of a witness; part of the State, in `clock`. See `witnesses` and `zeros`."""

    value: float  # at the end of the last step
    level: float  # what counts as zero
    guard: float  # what leaving it means
    band: float  # how close to it zero begins; -1: it does not lie at zero
    fired: float  # when it triggered last
    repeats: float  # how many events came close behind each other
    rate: float  # when it triggered last, 1/s
    expected: float  # when the next crossing is foreseen
    doubt: float  # about that, s

    def forget(witness):
        """As at the beginning of a run."""
        witness.value = witness.level = witness.guard = witness.band = 0.0
        witness.fired = witness.repeats = witness.rate = witness.expected = witness.doubt = 0.0


class Grid(Record):
    """``offset + index * period``, exactly: whole seconds and rests in the resolution; in `agenda`."""

    offset_whole: int
    offset_rest: int
    period_whole: int
    period_rest: int
    resolution: int

    def time(grid, index):
        """Of an occurrence, never an accumulated sum: the double nearest to it."""
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
