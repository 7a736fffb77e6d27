"""How far the cache of a run is evaluated, and which rows of the schedule are called together."""

from __future__ import annotations

from cosim_compiler.record import Record

# Evaluation.stage, and the stage of a `Node`; DERIVATIVES: all of the motion but the past blocks that wait
RESTORED, NOTHING, INSTANCE, DERIVATIVES, MOTION, REPORT = -1, 0, 1, 2, 3, 4


class RowRange(Record):
    """Rows of the schedule, from `first` to `last` - 1."""

    first: int
    last: int

    def is_empty(rows):
        """Whether there are none."""
        return rows.first == rows.last


class Node(Record):
    """Rows of the schedule that are called together, see `block_calls`."""

    block: int
    first: int  # where in `ints` its rows begin
    rows: int  # how many
    width: int  # of a row
    stage: int
    is_always_called: int  # whatever it says that it reads


class Evaluation(Record):
    """The stage to which the cache is evaluated, and counts of evaluations."""

    stage: int  # RESTORED, NOTHING …
    touched: int  # whether all changes since the last evaluation are marked
    lowest: int  # the lowest stage that these changes invalidate
    lowered: int  # the lowest stage that handlers have invalidated since the last `stage_out`
    evaluations: int  # statistics: whole ones, partial ones, rows called in these
    partial_evaluations: int
    rows_called: int
