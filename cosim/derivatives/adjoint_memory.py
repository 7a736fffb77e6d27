"""Going back over updates at the end of a step: of histories, and of auto-update variables.

The adjoints of a history's entries lie beside the entries, as tangents do. Blocks that have read an entry add
to its adjoint; going back over the update that has written the entry moves this adjoint on to the source.

To go back over an update it is repeated, on a tape. It appends to histories: they are saved before and
restored afterwards.
"""

from __future__ import annotations

from cosim.derivatives.adjoint_parts import (
    fail,
    record_motion,
    record_present,
    reverse_motion,
    reverse_present,
)
from cosim.derivatives.carrier import ALONG, own_part, part_of
from cosim.derivatives.tangent_memory import load_swaps
from cosim.derivatives.trail_reader import load_record
from cosim.run_data.records.handlers import IN_K
from cosim.step.block_calls import copy_reals
from cosim.step.histories import set_side
from cosim_compiler.derivatives.rates import clear


def save_past(carrier, back):
    """Save histories, and their tangents, before a record is done once more."""
    h = own_part(carrier, carrier.h, ALONG)
    size = h.shape[0]
    copy_reals(h, back.former_past[:size])
    copy_reals(own_part(carrier, carrier.h_dots, ALONG), back.former_past[size : 2 * size])


def restore_past(carrier, back):
    """Restore what `save_past` has saved."""
    h = own_part(carrier, carrier.h, ALONG)
    size = h.shape[0]
    copy_reals(back.former_past[:size], h)
    copy_reals(back.former_past[size : 2 * size], own_part(carrier, carrier.h_dots, ALONG))


def reverse_memory(run, carrier, back, at, head):
    """Go back over entries and new values of auto-update variables."""
    load_record(run, carrier, back, at)
    notes = back.notes
    save_past(carrier, back)
    rows = run.plan.end_updates
    c_dot = part_of(carrier.c_dots, ALONG, carrier.c)
    is_recorded = record_motion(run, carrier, back, head.time, head.time_dot)
    set_side(run, carrier.c, head.detail, head.start)
    load_swaps(run, carrier, ALONG, carrier.c, c_dot)
    is_recorded = is_recorded and record_present(
        run, carrier, back, rows.first, rows.last, head.time, head.time_dot
    )
    if not is_recorded:
        fail(back, head.time)
        return
    reverse_stored_swaps(run, back, back.c)
    notes.time_bar += reverse_present(back)
    reverse_loaded_swaps(run, back, back.c)
    notes.time_bar += reverse_motion(run, carrier, back)
    clear(back.c)
    restore_past(carrier, back)


def reverse_stored_swaps(run, back, c):
    """Go back over `store_swaps`."""
    for swap in run.swaps:
        if swap.array != IN_K:
            c[swap.update] += back.d[swap.offset]
            back.d[swap.offset] = 0.0


def reverse_loaded_swaps(run, back, c):
    """Go back over `load_swaps`."""
    for swap in run.swaps:
        if swap.array != IN_K:
            back.d[swap.offset] += c[swap.update]
        c[swap.update] = 0.0
