"""Going back over recorded values: their weights are added to the adjoints."""

from __future__ import annotations

from cosim.derivatives.adjoint_holds import reverse_holds
from cosim.derivatives.adjoint_parts import add_to, fail, flow_of, record_motion, record_present
from cosim.derivatives.carrier import HELD
from cosim.derivatives.trail_reader import load_record
from cosim.recorded_walk import reverse_walk
from cosim.run_data.records.handlers import IN_C, IN_D, IN_P, IN_Y
from cosim_compiler.derivatives.rates import clear


def has_weights(run, back, row):
    """Whether a row counts."""
    width = run.chosen.values
    has_weight = False
    for i in range(width):
        has_weight = has_weight or back.weights[row * width + i] != 0.0
    return has_weight


def add_weights(run, back, row, y, c):
    """Add the weights of a row to the adjoints; whether some are of computed values."""
    has_computed = False
    width = run.chosen.values
    at = row * width
    for value in run.chosen_values:
        weight = back.weights[at]
        at += 1
        if value.array == IN_Y:
            y[value.offset] += weight
        elif value.array == IN_P:
            back.p[value.offset] += weight
        elif value.array == IN_D:
            back.d[value.offset] += weight
        elif value.array == IN_C and weight != 0.0:
            c[value.offset] += weight
            has_computed = True
    return has_computed


def reverse_row(run, carrier, back, at, head):
    """Go back over a row that was recorded where the run was."""
    load_record(run, carrier, back, at)
    notes = back.notes
    clear(back.spare_y)
    has_computed = add_weights(run, back, int(head.row), back.spare_y, back.c)
    if not has_computed and head.time_dot == 0.0:
        add_to(back.y, back.spare_y)
        return
    is_recorded = record_motion(run, carrier, back, head.time, 0.0)
    for block in run.blocks_outside:
        is_recorded = is_recorded and record_present(run, carrier, back, block, block + 1, head.time, 0.0)
    if not is_recorded:
        fail(back, head.time)
        return
    if has_computed:
        for _ in run.blocks_outside:
            reverse_walk(back.spare_y, back.p, back.d, back.h, back.c, back.tape)
        for _ in range(2 if carrier.notes.is_held == HELD else 1):
            reverse_walk(back.spare_y, back.p, back.d, back.h, back.c, back.tape)
        reverse_holds(run, carrier, back, back.c)
    clear(back.c)
    if head.time_dot != 0.0:
        notes.time_bar -= flow_of(carrier, back.spare_y)
    add_to(back.y, back.spare_y)
