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

    block: int  # of the schedule
    first: int  # place in `ints` of its first row
    rows: int  # number of rows
    width: int  # numbers in a row
    stage: int  # the stage that it belongs to: INSTANCE …
    is_always_called: int  # whether it is called after each change: what it reads is not known


class Evaluation(Record):
    """The stage to which the cache is evaluated, and counts of evaluations."""

    stage: int  # RESTORED, NOTHING …
    touched: int  # whether `marks` shows all changes since the last evaluation, so that a partial one will do
    lowest: int  # the lowest stage that these changes invalidate
    lowered: int  # the lowest stage that handlers have invalidated since the last `stage_out`
    evaluations: int  # statistics: evaluations of the whole motion
    partial_evaluations: int  # evaluations of what follows from changes alone
    rows_called: int  # rows of nodes that were called in partial evaluations
