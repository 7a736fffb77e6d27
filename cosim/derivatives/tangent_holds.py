"""Carrying tangents over steps in which witnesses are held; the block that holds them has a tangent, too."""

from __future__ import annotations

from cosim.derivatives.carrier import HELD, IS_HELD, NOT_FRESH, NOT_HELD, PARTLY_RELEASED, lose, part_of
from cosim.run_data.records.handlers import IN_D, IN_P
from cosim.run_data.records.holds import IN_SWITCH_D, IN_SWITCH_P, SWITCHED
from cosim.step.sliding_field import (
    SWITCHED_WIDTH,
    HeldWitness,
    SlidingRow,
    Switched,
    field_numbers,
)
from cosim.step.tape import held_sizes, holds_at
from cosim_compiler.calls import never_inlined
from cosim_compiler.record import rows_of


@never_inlined
def follow_holds(run, carrier, step, at):
    """Load from the log what holds witnesses in the step at a place, and its tangents."""
    notes = carrier.notes
    if step.is_held == 0.0:
        if notes.is_held != NOT_HELD:
            notes.is_held = NOT_HELD
            notes.freshness = NOT_FRESH
        return
    if carrier.plan.follows_holds == 0:
        lose(carrier, step.start, IS_HELD, 0)
        return
    notes.is_held = HELD
    notes.freshness = NOT_FRESH
    load_holds_of_step(run, carrier, holds_at(run, at))
    load_tangents_of_holds(run, carrier, step)


def load_holds_of_step(run, carrier, at):
    """Load from the log which witnesses are held, how states are pushed, and the sides of switches."""
    n = carrier.y.shape[0]
    row = rows_of(SlidingRow, carrier.held_ints, run.plan.held_row, 1)[0]
    row.held = int(run.log[at])
    row.pushed = int(run.log[at + 1])
    at += 2
    tables, sides = held_sizes(run)
    for m in range(tables):
        carrier.held_ints[row.witnesses_at + m] = int(run.log[at + m])
    at += tables
    held = row.held
    numbers = field_numbers(carrier.c, held, n, run.plan.cache_size)
    for m in range(held * n):
        numbers.pushes[m] = run.log[at + m]
    for m in range(sides):
        numbers.sides[m] = run.log[at + held * n + m]


def load_tangents_of_holds(run, carrier, step):
    """Set the tangents of pushes to 0, and those of sides to those of the variables that are switched."""
    n = carrier.y.shape[0]
    row = rows_of(SlidingRow, carrier.held_ints, run.plan.held_row, 1)[0]
    held = row.held
    numbers = field_numbers(carrier.c, held, n, run.plan.cache_size)
    for i in range(carrier.directions):
        moved = field_numbers(part_of(carrier.c_dots, i, carrier.c), held, n, run.plan.cache_size)
        for m in range(held * n):
            moved.pushes[m] = 0.0
    place = row.switches_at
    for j in range(held):
        if rows_of(HeldWitness, carrier.held_ints, row.witnesses_at, held)[j].kind != SWITCHED:
            check_push(carrier, step, numbers.pushes[j * n : (j + 1) * n])
            continue
        count = carrier.held_ints[place]
        for switched in rows_of(Switched, carrier.held_ints, place + 1, count):
            load_sides(run, carrier, step, held, switched)
        place += 1 + SWITCHED_WIDTH * count


def check_push(carrier, step, push):
    """Give up where several states are pushed: the direction of the push may vary, which is not followed."""
    pushed = 0
    for m in range(push.shape[0]):
        pushed += 1 if push[m] != 0.0 else 0
    if pushed > 1:
        lose(carrier, step.start, IS_HELD, 0)


def load_sides(run, carrier, step, held, switched):
    """Load the tangents of both values of a variable that a witness switches."""
    is_whole = switched.array != IN_SWITCH_D and switched.array != IN_SWITCH_P
    at_d = carrier.p.shape[0] if switched.array == IN_SWITCH_D else 0
    place = at_d + switched.offset
    n = carrier.y.shape[0]
    size = carrier.former.shape[0]
    sides = field_numbers(carrier.c, held, n, run.plan.cache_size).sides
    if not is_whole and carrier.former[place] != sides[switched.sides_at + 1]:
        lose(carrier, step.start, IS_HELD, 0)
    for i in range(carrier.directions):
        c_dot = part_of(carrier.c_dots, i, carrier.c)
        moved = field_numbers(c_dot, held, n, run.plan.cache_size).sides
        present = 0.0
        former = 0.0
        if not is_whole and i > 0:
            former = carrier.former_dots[i * size + place]
            present = part_of(carrier.p_dots, i, carrier.p)[switched.offset]
            if at_d > 0:
                present = part_of(carrier.d_dots, i, carrier.d)[switched.offset]
        moved[switched.sides_at] = present
        moved[switched.sides_at + 1] = former


def follow_release(run, carrier):
    """Note that a witness is no longer held; where others are, the flow is not known before the next step."""
    notes = carrier.notes
    if notes.is_held == HELD:
        row = rows_of(SlidingRow, carrier.held_ints, run.plan.held_row, 1)[0]
        notes.is_held = PARTLY_RELEASED if row.held > 1 else NOT_HELD
        notes.freshness = NOT_FRESH


def store_former(run, carrier, array, offset):
    """Store a parameter or discrete variable, and its tangents, before a handler changes it."""
    size = carrier.former.shape[0]
    if array == IN_P:
        carrier.former[offset] = carrier.p[offset]
        for i in range(1, carrier.directions):
            carrier.former_dots[i * size + offset] = part_of(carrier.p_dots, i, carrier.p)[offset]
    elif array == IN_D:
        place = carrier.p.shape[0] + offset
        carrier.former[place] = carrier.d[offset]
        for i in range(1, carrier.directions):
            carrier.former_dots[i * size + place] = part_of(carrier.d_dots, i, carrier.d)[offset]
