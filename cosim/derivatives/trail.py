"""The trail: for each record of the tape the values and tangents with which it began.

Going back along a run needs them beside the tape. `trail_writer` writes the trail on the way forwards,
`trail_reader` restores what a record began with.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.derivatives.carrier import ALONG, own_part
from cosim.run_data.run import Integers, Reals
from cosim.step import event_log as log
from cosim_compiler.array_groups import Table, address_reader
from cosim_compiler.record import Record, rows_of, width_of


class TrailRecord(Record):
    """The head of a record; `TrailNumbers` follow it, and at the end its length once more."""

    length: float
    kind: float
    time: float  # s; the end of a step
    start: float  # the start of a step, s; for an update the smoothness of what goes into histories
    detail: float  # the cause of a phase; whether a row lies inside a step; the side of an update
    is_shifted: float  # whether an event of the same instant has shifted the time before this record
    row: float  # the number of a row
    events: (
        float  # how many numbers describe the events of a phase; how many values of histories have changed
    )
    time_dot: float
    is_held: float  # as `CarryNotes.is_held`
    holds: float  # how many numbers describe what holds witnesses
    moving: float  # how many numbers of the method's memory may move; those behind them do not


class TrailNotes(Record):
    """How far the trail has been written, and what going back along it has met."""

    used: float
    last_step: float  # the place of the last step; the records behind it belong to it
    rows: float
    status: float  # why going back has ended: 0, `FULL_TAPE` or `NO_WAY`
    failed_time: float
    time_bar: float  # the adjoint of the time
    is_full: float  # whether the trail has no more room
    may_have_changed: float  # whether histories may have changed since they were last compared
    was_held: float  # whether a witness has been held


TRAIL_WIDTH, TRAIL_NOTES = width_of(TrailRecord), width_of(TrailNotes)
INSIDE_WIDTH = TRAIL_WIDTH + 1
"""The length of the record of a row inside a step, which has no numbers."""
FULL_TAPE, NO_WAY = 1.0, 2.0
PAST_CHANGED = -200
"""The kind of a record with values of histories, as they were before the record ahead of it.

Such records are on the trail alone, not on the tape.
"""


class AdjointPlan(Record):
    """Addresses of the adjoints of a method's functions: each that records, and the one that goes back."""

    step: int
    step_back: int
    dense: int
    dense_back: int
    complete: int
    complete_back: int
    settle: int
    settle_back: int


class AdjointArrays(NamedTuple):
    """The arrays of a way back: the trail, a tape, and the adjoints of the arrays of a run."""

    table: Table  # of blocks, as `SystemAdjoints.table`
    numbers: Integers  # an `AdjointPlan`
    notes_numbers: Reals  # `TrailNotes`
    trail: Reals
    tape: Reals
    weights: Reals  # of the recorded values, row by row
    y: Reals
    p: Reals
    d: Reals
    h: Reals
    c: Reals
    memory: Reals
    memory_flow: Reals  # how fast what the method remembers changes, at the end of the step that is undone
    work: Reals
    spare_y: Reals
    spare_c: Reals
    working: Reals  # y, p and d, to which handlers write
    kinks: Reals
    bars: Reals  # of reals that are passed
    known_past: Reals  # histories and their tangents, as they were when they were last compared
    former_past: Reals  # histories and their tangents, as they were before a record is done again
    inner_c: Reals  # the cache at points inside a step
    held_table: Table  # as in `Carrier`: rows of blocks that record, and below them of those that go back
    held_ints: Integers  # see `recorded_field`
    former: Reals  # as in `Carrier`
    changed: Reals  # which parameters and variables the handlers of an instant have changed
    delayed: Integers  # places in the cache of the times at which past values are read, s

    @property
    def plan(back):
        """The functions of the method."""
        return rows_of(AdjointPlan, back.numbers, 0, 1)[0]

    @property
    def notes(back):
        """The notes on the trail and on going back."""
        return rows_of(TrailNotes, back.notes_numbers, 0, 1)[0]


adjoint_arrays_at = address_reader("B", AdjointArrays)


class TrailNumbers(NamedTuple):
    """What a record began with: values, the tangents along the one direction, and the events of a phase.

    Only the records of phases have parameters, since nothing but handlers changes them.
    """

    y: Reals
    d: Reals
    memory: Reals
    k: Reals
    y_dot: Reals
    d_dot: Reals
    memory_dot: Reals
    memory_flow: Reals  # the tangents of the memory along the direction of the flow
    p: Reals
    p_dot: Reals
    events: Reals
    holds: Reals


def trail_numbers(carrier, back, at):
    """The numbers of the record that begins at a place in the trail."""
    head = rows_of(TrailRecord, back.trail, at, 1)[0]
    n = carrier.y.shape[0]
    nd = carrier.d.shape[0]
    nm = carrier.memory.shape[0]
    moving = int(head.moving)
    parameters = carrier.p.shape[0] if int(head.kind) == log.PHASE_BEGUN else 0
    at_y = at + TRAIL_WIDTH
    at_d = at_y + n
    at_memory = at_d + nd
    at_k = at_memory + nm
    at_dots = at_k + own_part(carrier, carrier.k, ALONG).shape[0]
    at_flow = at_dots + n + nd + moving
    at_p = at_flow + moving
    at_events = at_p + 2 * parameters
    return TrailNumbers(
        back.trail[at_y:at_d],
        back.trail[at_d:at_memory],
        back.trail[at_memory:at_k],
        back.trail[at_k:at_dots],
        back.trail[at_dots : at_dots + n],
        back.trail[at_dots + n : at_dots + n + nd],
        back.trail[at_dots + n + nd : at_flow],
        back.trail[at_flow:at_p],
        back.trail[at_p : at_p + parameters],
        back.trail[at_p + parameters : at_events],
        back.trail[at_events : at_events + int(head.events)],
        back.trail[at + int(head.length) - 1 - int(head.holds) : at + int(head.length) - 1],
    )


def events_at(back, at):
    """Where the events of a phase begin in the trail."""
    head = rows_of(TrailRecord, back.trail, at, 1)[0]
    return at + int(head.length) - 1 - int(head.holds) - int(head.events)
