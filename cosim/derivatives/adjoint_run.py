"""Going back along a run: how a weighted sum of what it has recorded changes with what it began with.

The trail is read from its end. Each record is done once more, from what it began with, by functions that
put on a tape what their reverse needs; then the adjoints go back along it. A step is two such parts: the
evaluation at its start, and the method's own step; the tape has room for one step, not for a run.

Adjoints are those at a time that moves, as the tangents are (see `tape_reader`): beside those of the states
stands that of the time. A row at a fixed time adds its weights w to the states, and -f w to the time; where
an event shifts the time, y + f shift, the shift gets the adjoint f y.
"""

from __future__ import annotations

from cosim.derivatives.adjoint_events import reverse_assembly, reverse_phase
from cosim.derivatives.adjoint_memory import reverse_memory
from cosim.derivatives.adjoint_rows import has_weights, reverse_row
from cosim.derivatives.adjoint_steps import reverse_step
from cosim.derivatives.carrier import carrier_at
from cosim.derivatives.trail import PAST_CHANGED, TrailRecord, adjoint_arrays_at
from cosim.derivatives.trail_reader import undo_changes
from cosim.run_data.run import arrays_at
from cosim.step import event_log as log
from cosim_compiler.derivatives.tape_ends import clear_tape
from cosim_compiler.record import rows_of


def reverse_run(run, carrier, back, end):
    """Go back on the trail from a place; the place that was reached: not 0 where the tape was too short."""
    while end > 0 and back.notes.status == 0.0:
        at = end - int(back.trail[end - 1])
        head = rows_of(TrailRecord, back.trail, at, 1)[0]
        kind = int(head.kind)
        clear_tape(back.tape)
        if kind == log.STEP_TAKEN:
            reverse_step(run, carrier, back, at, head)
        elif kind == log.ROW_WRITTEN:
            if head.detail == 0.0 and has_weights(run, back, int(head.row)):
                reverse_row(run, carrier, back, at, head)
        elif kind == log.PHASE_BEGUN:
            reverse_phase(run, carrier, back, at, head)
        elif kind == log.MEMORY_UPDATED:
            reverse_memory(run, carrier, back, at, head)
        elif kind == log.ASSEMBLED:
            reverse_assembly(run, carrier, back, at, head)
        elif kind == PAST_CHANGED:
            undo_changes(carrier, back, at)
        if back.notes.status == 0.0:
            end = at
    return end


REVERSE_RUN_SIGNATURE = "iiii>i"


def reverse_run_by_address(head, carrier_head, back_head, end):
    """`reverse_run` of arrays that stand at addresses."""
    return reverse_run(arrays_at(head), carrier_at(carrier_head), adjoint_arrays_at(back_head), end)
