"""Recording: which values, at which times, and how much of the buffers is used."""

from __future__ import annotations

from cosim.rational import EXACT
from cosim_compiler.record import Record

NO_ROWS, AT_EVENTS, AT_STEPS, ON_GRID, ON_GRID_ALONE = range(5)
"""Output.recording."""
LOG_NOTHING, LOG_FINDINGS, LOG_ALL, LOG_TAPE = range(4)
"""Output.logging: nothing, findings, events too, or all that tangents need (see `tape`)."""


class Output(Record):
    """What is recorded, and how full the buffers are."""

    recording: int  # NO_ROWS, AT_EVENTS …
    rows_used: int  # numbers in the buffer of rows
    logging: int  # LOG_NOTHING, LOG_FINDINGS, LOG_ALL, LOG_TAPE
    log_used: int  # numbers in the buffer of events


class OutputGrid(Record):
    """The output times, ``origin + point * interval``, exactly: both stand for rational numbers.

    The counts say how many parts of a second origin and interval have, as doubles that are integers. Where no
    such parts are known, the resolution is 0, and times are computed from `origin` and `interval`.
    """

    origin: float  # s
    interval: float  # s
    point: float  # number of the next output time
    until: float  # the end of the run, s
    origin_count: float  # in parts of a second
    interval_count: float  # in parts of a second
    resolution: float  # how many of these parts a second has; 0: not known

    def next_time(grid):
        """The output time that comes next, s: rounded once, as times of timers are."""
        count = grid.origin_count + grid.point * grid.interval_count
        if grid.resolution > 0.0 and abs(count) < EXACT:
            return count / grid.resolution
        return grid.origin + grid.point * grid.interval


class Choice(Record):
    """The beginning of `choice`: the chosen values follow, then the blocks that compute them."""

    values: int  # number of `ChosenValue`s
    inside: int  # number of blocks that compute them inside a step; these come first
    outside: int  # number of blocks that compute them where the motion is evaluated


class ChosenValue(Record):
    """The place of a recorded value."""

    array: int  # IN_Y, IN_P, IN_D, IN_K, IN_C
    offset: int
