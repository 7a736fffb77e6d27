"""Recording: which values, at which times, and how much of the buffers is used."""

from __future__ import annotations

from cosim.rational import EXACT
from cosim_compiler.record import Record

NO_ROWS, AT_EVENTS, AT_STEPS, ON_GRID, ON_GRID_ALONE = range(5)
"""Output.recording."""
LOG_NOTHING, LOG_FINDINGS, LOG_ALL, LOG_TAPE = range(4)
"""Output.logging: nothing, findings, events too, or all that tangents need (see `tape`)."""


class Output(Record):
    """The state of recording."""

    recording: int  # NO_ROWS, AT_EVENTS …
    rows_used: int  # numbers in the buffer of rows
    logging: int  # LOG_NOTHING, LOG_FINDINGS, LOG_ALL, LOG_TAPE
    log_used: int  # numbers in the buffer of events


class OutputGrid(Record):
    """The output times, ``origin + point * interval``, s: of the rational numbers that both stand for.

    Both are counted in the resolution, as doubles that are integers; a resolution of 0: they cannot.
    """

    origin: float
    interval: float
    point: float  # the next one
    until: float  # the end of the run
    origin_count: float
    interval_count: float
    resolution: float

    def next_time(grid):
        """The output time that comes next, s: rounded once, as times of timers are."""
        count = grid.origin_count + grid.point * grid.interval_count
        if grid.resolution > 0.0 and abs(count) < EXACT:
            return count / grid.resolution
        return grid.origin + grid.point * grid.interval


class Choice(Record):
    """The beginning of `choice`: the chosen values follow, then the blocks that compute them."""

    values: int  # how many
    inside: int  # blocks that compute them inside a step; they come first
    outside: int  # those that compute them where the motion is known


class ChosenValue(Record):
    """A recorded value: its array, its place there."""

    array: int
    offset: int
