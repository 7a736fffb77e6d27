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

from cosim.step import event_log as log
from cosim.step.carried_events import follow_phase
from cosim.step.carried_holds import follow_release
from cosim.step.carried_memory import follow_memory, has_room
from cosim.step.carried_rows import write_rows
from cosim.step.carried_steps import follow_assembly, follow_step
from cosim.step.carrier import carrier_at
from cosim.step.run import arrays_at
from cosim.step.tape import ASSEMBLY_WIDTH, LoggedMemory, LoggedPhase, LoggedRow
from cosim_compiler.record import rows_of


def end_of_phase(run, at, used):
    """Where the events of a group of handlers end."""
    while at < used and log.logged_finding(run, at).kind > float(log.STEP_TAKEN):
        at += int(log.logged_finding(run, at).length)
    return at


def carry(run, carrier, used, is_last):
    """Read the tape, `used` numbers, as far as rows have room; the place of the first that was not read."""
    width = (carrier.directions - 1) * run.chosen.values
    at = int(carrier.notes.log_used)
    while at < used:
        record = log.logged_finding(run, at)
        kind = int(record.kind)
        following = at + int(record.length)
        if kind == log.PHASE_BEGUN:
            end = end_of_phase(run, following, used)
            if end == used and not is_last:
                break
            cause = int(rows_of(LoggedPhase, run.log, at, 1)[0].cause)
            if carrier.notes.lost == 0.0 and end > following:
                follow_phase(run, carrier, cause, following, end)
        elif kind == log.ROW_WRITTEN:
            if int(carrier.notes.rows_used) + width > carrier.rows.shape[0]:
                break
            write_rows(run, carrier, rows_of(LoggedRow, run.log, at, 1)[0])
        elif carrier.notes.lost != 0.0:
            pass
        elif kind in (log.STEP_TAKEN, log.MEMORY_UPDATED) and not has_room(run, carrier):
            break
        elif kind == log.STEP_TAKEN:
            follow_step(run, carrier, at)
        elif kind == log.ASSEMBLED:
            follow_assembly(run, carrier, at + ASSEMBLY_WIDTH)
        elif kind == log.MEMORY_UPDATED:
            follow_memory(run, carrier, rows_of(LoggedMemory, run.log, at, 1)[0])
        elif kind in (log.RELEASED, log.RELEASED_BY_HANDLER, log.RELEASED_BY_WRITE):
            follow_release(run, carrier)
        at = following
    carrier.notes.log_used = float(at)
    return at


def keep_events(run, end):
    """Move the events and findings of a part of the tape to its beginning; how many numbers they are."""
    at = 0
    kept = 0
    while at < end:
        record = log.logged_finding(run, at)
        length = int(record.length)
        kind = int(record.kind)
        is_kept = kind > log.STEP_TAKEN
        if kind >= 0:
            is_kept = run.handlers[kind].is_private == 0
        if is_kept:
            for m in range(length):
                run.log[kept + m] = run.log[at + m]
            kept += length
        at += length
    return kept


CARRY_SIGNATURE = "iiii>i"


def carry_by_address(head, carrier_head, used, is_last):
    """`carry` of a run and of tangents whose arrays stand at addresses."""
    return carry(arrays_at(head), carrier_at(carrier_head), used, is_last != 0)


KEEP_SIGNATURE = "ii>i"


def keep_by_address(head, end):
    """`keep_events` of a run whose arrays stand at an address."""
    return keep_events(arrays_at(head), end)
