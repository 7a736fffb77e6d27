"""What holds witnesses, on the trail and going back: how they are pushed, both sides of what they switch."""

from __future__ import annotations

from cosim.derivatives.carrier import ALONG, HELD, part_of
from cosim.run_data.records.holds import IN_SWITCH_D, IN_SWITCH_P, SWITCHED
from cosim.step.block_calls import copy_reals
from cosim.step.sliding_field import (
    SWITCHED_WIDTH,
    HeldWitness,
    SlidingRow,
    Switched,
    field_numbers,
)
from cosim.step.tape import held_sizes
from cosim_compiler.record import rows_of


def sliding_row(run, ints):
    """The row of what holds witnesses, among these integers."""
    return rows_of(SlidingRow, ints, run.plan.held_row, 1)[0]


def holds_width(run, carrier):
    """How many numbers say what holds witnesses now."""
    if carrier.notes.is_held != HELD:
        return 0
    tables, sides = held_sizes(run)
    return 2 + tables + sliding_row(run, carrier.held_ints).held * run.y.shape[0] + 2 * sides


def write_holds(run, carrier, numbers):
    """Write what holds witnesses: tables, pushes, sides and the tangents of these."""
    if numbers.shape[0] == 0:
        return
    row = sliding_row(run, carrier.held_ints)
    tables, sides = held_sizes(run)
    numbers[0] = float(row.held)
    numbers[1] = float(row.pushed)
    for m in range(tables):
        numbers[2 + m] = float(carrier.held_ints[row.witnesses_at + m])
    held, n, size = row.held, run.y.shape[0], run.plan.cache_size
    field = field_numbers(carrier.c, held, n, size)
    moved = field_numbers(part_of(carrier.c_dots, ALONG, carrier.c), held, n, size)
    at = 2 + tables
    copy_reals(field.pushes, numbers[at : at + held * n])
    at += held * n
    copy_reals(field.sides[:sides], numbers[at : at + sides])
    copy_reals(moved.sides[:sides], numbers[at + sides : at + 2 * sides])


def load_holds(run, carrier, back, numbers):
    """Restore what held witnesses."""
    if numbers.shape[0] == 0:
        return
    tables, sides = held_sizes(run)
    held, n, size = int(numbers[0]), run.y.shape[0], run.plan.cache_size
    for ints in (carrier.held_ints, back.held_ints):
        row = sliding_row(run, ints)
        row.held = held
        row.pushed = int(numbers[1])
        for m in range(tables):
            ints[row.witnesses_at + m] = int(numbers[2 + m])
    field = field_numbers(carrier.c, held, n, size)
    at = 2 + tables
    copy_reals(numbers[at : at + held * n], field.pushes)
    at += held * n
    copy_reals(numbers[at : at + sides], field.sides[:sides])
    for i in range(carrier.directions):
        moved = field_numbers(part_of(carrier.c_dots, i, carrier.c), held, n, size)
        for m in range(held * n):
            moved.pushes[m] = 0.0
        for m in range(sides):
            moved.sides[m] = numbers[at + sides + m] if i == ALONG else 0.0


def reverse_holds(run, carrier, back, c):
    """Go back over both sides of what witnesses switch, whose adjoints are in a cache."""
    if carrier.notes.is_held != HELD:
        return
    row = sliding_row(run, back.held_ints)
    held = row.held
    bars = field_numbers(c, held, run.y.shape[0], run.plan.cache_size).sides
    place = row.switches_at
    for j in range(held):
        if rows_of(HeldWitness, back.held_ints, row.witnesses_at, held)[j].kind != SWITCHED:
            continue
        count = back.held_ints[place]
        for switched in rows_of(Switched, back.held_ints, place + 1, count):
            at = switched.sides_at
            if switched.array == IN_SWITCH_D:
                back.d[switched.offset] += bars[at]
                back.former[back.p.shape[0] + switched.offset] += bars[at + 1]
            elif switched.array == IN_SWITCH_P:
                back.p[switched.offset] += bars[at]
                back.former[switched.offset] += bars[at + 1]
            bars[at] = 0.0
            bars[at + 1] = 0.0
        place += 1 + SWITCHED_WIDTH * count


def reverse_former(back):
    """Go back over what variables were before the handlers of an instant have changed them."""
    parameters = back.p.shape[0]
    for m in range(back.former.shape[0]):
        if back.changed[m] != 0.0:
            back.changed[m] = 0.0
            if m < parameters:
                back.p[m] += back.former[m]
            else:
                back.d[m - parameters] += back.former[m]
            back.former[m] = 0.0
