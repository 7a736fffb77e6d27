"""Tangents that go along the steps of a run: the tape is read, and each record moves them on.

Each step is taken once more, from where the run took it, by the tangent of the method's own step; so the
tangents are the derivatives of what the method has computed. Handlers are differentiated one by one, in the
groups in which the run has called them.

What happens at a time that moves is described at that time: beside the tangents Y of the states stands the
tangent of the time itself, as if the time were another parameter. An event adds to both, Y += f shift and
time_dot += shift, so that the witness stays zero; nothing has to be known of the derivative behind it. At a
fixed time a tangent is Y - f time_dot.
"""

from __future__ import annotations

from cosim.derivatives.carrier import carrier_at
from cosim.derivatives.either_order import follow_instant
from cosim.derivatives.tangent_events import refuse_touch
from cosim.derivatives.tangent_holds import follow_release
from cosim.derivatives.tangent_lanes import leave_lanes
from cosim.derivatives.tangent_memory import follow_memory, has_room
from cosim.derivatives.tangent_rows import write_rows
from cosim.derivatives.tangent_steps import follow_assembly, follow_step
from cosim.run_data.run import arrays_at
from cosim.step import event_log as log
from cosim.step.tape import logged_mark

OF_INSTANT = 4
"""Entries that an instant may bring: fewer than what a step leaves of its room."""


def carry(run, carrier, used, is_last):
    """Follow the records of the tape, `used` numbers; the place of the first that cannot be followed yet."""
    at = int(carrier.notes.log_used)
    while at < used and is_ready(run, carrier, at, used, is_last):
        at = follow_record(run, carrier, at, used)
    leave_lanes(carrier)
    carrier.notes.log_used = float(at)
    return at


def is_ready(run, carrier, at, used, is_last):
    """Whether a record can be followed: what belongs to it is on the tape, and results have room."""
    record = log.logged_finding(run, at)
    kind = int(record.kind)
    if kind == log.PHASE_BEGUN:
        return is_last or end_of_phase(run, at + int(record.length), used) < used
    if kind == log.ROW_WRITTEN:
        width = (carrier.directions - 1) * run.chosen.values
        return int(carrier.notes.rows_used) + width <= carrier.rows.shape[0]
    if kind in (log.STEP_TAKEN, log.MEMORY_UPDATED) and carrier.notes.lost == 0.0:
        return has_room(run, carrier, run.plan.room if kind == log.STEP_TAKEN else OF_INSTANT)
    return True


def end_of_phase(run, at, used):
    """Where the events of a group of handlers end."""
    while at < used and log.logged_finding(run, at).kind > float(log.STEP_TAKEN):
        at += int(log.logged_finding(run, at).length)
    return at


def follow_record(run, carrier, at, used):
    """Move the tangents on by a record; where the next one begins. Without tangents only rows are written."""
    mark = logged_mark(run, at)
    kind = int(mark.kind)
    following = at + int(mark.length)
    stays = kind == log.ROW_WRITTEN or kind == log.STEP_TAKEN or kind == log.MEMORY_UPDATED
    if not stays:
        leave_lanes(carrier)
        carrier.notes.calm_steps = 0.0
    if kind == log.ROW_WRITTEN:
        write_rows(run, carrier, mark)
    elif kind == log.ROW_DROPPED:
        carrier.notes.rows_used -= float((carrier.directions - 1) * run.chosen.values)
    elif carrier.notes.lost != 0.0:
        pass
    elif kind == log.TOUCHED:
        carrier.notes.touched = 1.0 + mark.detail
        carrier.notes.touched_time = mark.time
        carrier.notes.touched_since = mark.time - mark.smoothness
    elif kind == log.STEP_TAKEN:
        follow_step(run, carrier, at)
        carrier.notes.calm_steps += 1.0
        refuse_touch(run, carrier)
    elif kind == log.PHASE_BEGUN:
        end = end_of_phase(run, following, used)
        if end > following:
            follow_instant(run, carrier, int(mark.detail), following, end)
    elif kind == log.ASSEMBLED:
        follow_assembly(run, carrier, at)
    elif kind == log.MEMORY_UPDATED:
        follow_memory(run, carrier, mark)
    elif kind in (log.RELEASED, log.RELEASED_BY_HANDLER, log.RELEASED_BY_WRITE):
        follow_release(run, carrier)
    if carrier.plan.stays_in_lanes == 0:
        leave_lanes(carrier)
    return following


def retain_events(run, end):
    """Move the events and findings of a part of the tape to its beginning; how many numbers they are."""
    at = 0
    retained = 0
    while at < end:
        record = log.logged_finding(run, at)
        length = int(record.length)
        kind = int(record.kind)
        is_reported = kind > log.STEP_TAKEN
        if kind >= 0:
            is_reported = run.handlers[kind].is_private == 0
        if is_reported:
            for m in range(length):
                run.log[retained + m] = run.log[at + m]
            retained += length
        at += length
    return retained


CARRY_SIGNATURE = "iiii>i"


def carry_by_address(head, carrier_head, used, is_last):
    """`carry` of a run and of tangents whose arrays stand at addresses."""
    return carry(arrays_at(head), carrier_at(carrier_head), used, is_last != 0)


RETAIN_SIGNATURE = "ii>i"


def retain_by_address(head, end):
    """`retain_events` of a run whose arrays stand at an address."""
    return retain_events(arrays_at(head), end)
