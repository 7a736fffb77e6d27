"""Tangents of a run whose Step is called by a host without Python.

Between two calls of entry points the host may write inputs and parameters, and may lengthen the arrays of
histories. So each entry point first copies what the host has written (`accept_host_writes`), and ends by
following the records of the tape (`read_tape`). Called by `cosim.preparation.entries_with_tangents`.

In all functions `run` is the `Run`, `carrier` holds its tangents, and times are in s.
"""

from __future__ import annotations

from cosim.component.history import ENTRY_WIDTH
from cosim.derivatives.carrier import FAILED, NOT_FRESH, TAPE_IS_FULL, lose, own_part
from cosim.derivatives.tangent_exchange import meet_exchange
from cosim.derivatives.tangent_lanes import leave_lanes
from cosim.derivatives.tangent_memory import history_of
from cosim.derivatives.tangent_rows import write_present_row
from cosim.derivatives.tape_reader import carry
from cosim.step.block_calls import copy_reals


def start_in_host(run, carrier, t):
    """Copy the variables with which a run begins at `t`. Their tangents are in the arrays of the carrier."""
    copy_reals(run.y, carrier.y)
    copy_reals(run.p, carrier.p)
    copy_reals(run.d, carrier.d)
    copy_reals(run.c, carrier.c)
    lengthen_histories(run, carrier)
    for i in range(carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in range(k.shape[0]):
            k[m] = run.k[m]
        copy_reals(run.h, own_part(carrier, carrier.h, i))
    carrier.notes.time = t
    carrier.notes.shifted_at = t
    carrier.notes.freshness = NOT_FRESH
    run.output.log_used = 0


def accept_host_writes(run, carrier):
    """Copy the variables that the host has written since the last step, at a time that does not vary.

    The host may write again before the next step: `meets_host` stays set until the tape is read.
    """
    notes = carrier.notes
    lengthen_histories(run, carrier)
    if run.clock.jumped == 0.0 and notes.meets_host == 0.0:  # the host has written nothing
        return
    meet_exchange(run, carrier)
    copy_reals(run.p, carrier.p)
    copy_reals(run.d, carrier.d)
    notes.freshness = NOT_FRESH
    notes.meets_host = 1.0


def read_tape(run, carrier):
    """Follow all records of the tape, and empty it.

    A record that finds no room on the tape is dropped (`room_in_log`). A record needs half of the tape at
    most, so none was dropped if at most half of it is in use; otherwise the tangents are given up.
    """
    lengthen_histories(run, carrier)
    used = run.output.log_used
    if 2 * used > run.log.shape[0]:
        lose(carrier, run.clock.time, TAPE_IS_FULL, 0)
    is_last = True
    carry(run, carrier, used, is_last)
    if int(carrier.notes.log_used) < used:  # a record could not be followed
        lose(carrier, run.clock.time, FAILED, 0)
    carrier.notes.log_used = 0.0
    carrier.notes.meets_host = 0.0
    run.output.log_used = 0


def show_tangents(run, carrier):
    """Write the tangents of the outputs at the present time into `rows`."""
    if run.agenda.initialized != 0:
        carrier.notes.rows_used = 0.0
        write_present_row(run, carrier, run.clock.time)
        leave_lanes(carrier)


def lengthen_histories(run, carrier):
    """Repeat along each direction what `make_room` of `cosim.step.histories` does in the run.

    The host has lengthened the arrays: the parts of the directions move apart, and histories that are nearly
    full double their capacity.
    """
    used = 0
    for number in range(len(run.rings)):
        used = max(used, history_of(run, carrier, 0, number).ring.stop)
    size = carrier.h.shape[0] // carrier.directions
    if size <= used or used == 0:
        return
    # move the parts of the directions to their new places, the last part first, so that none is overwritten
    for i in range(carrier.directions - 1, 0, -1):
        for m in range(used - 1, -1, -1):
            carrier.h[i * size + m] = carrier.h[i * used + m]
            carrier.h_dots[i * size + m] = carrier.h_dots[i * used + m]
    for i in range(carrier.directions):
        used_along = used
        for number in range(len(run.rings)):
            ring = history_of(run, carrier, i, number).ring
            while ring.capacity - ring.count < run.plan.room:
                used_along = double_along(run, carrier, i, number, used_along)


def double_along(run, carrier, i, number, used):
    """Double the capacity of history `number` along direction `i`. Return the new length of all histories.

    Does for the entries and their tangents what `cosim.step.histories` does for the entries of the run.
    """
    ring = history_of(run, carrier, i, number).ring
    h = own_part(carrier, carrier.h, i)
    h_dot = own_part(carrier, carrier.h_dots, i)
    stop = ring.stop
    added = ENTRY_WIDTH * ring.capacity
    # make room behind the history
    for m in range(used - 1, stop - 1, -1):
        h[m + added] = h[m]
        h_dot[m + added] = h_dot[m]
    for other in range(len(run.rings)):
        moved = history_of(run, carrier, i, other).ring
        if other != number and moved.start >= stop:
            moved.start += added
    # entries that had wrapped to the start of the ring follow the others now
    wrapped = max(0, ring.oldest + ring.count - ring.capacity)
    for m in range(ENTRY_WIDTH * wrapped):
        h[stop + m] = h[ring.start + m]
        h_dot[stop + m] = h_dot[ring.start + m]
    ring.capacity = 2 * ring.capacity
    return used + added
