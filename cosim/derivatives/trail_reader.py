"""Reading the trail: the values and tangents with which a record began become the present ones."""

from __future__ import annotations

from cosim.derivatives.adjoint_holds import load_holds
from cosim.derivatives.carrier import ALONG, own_part, part_of
from cosim.derivatives.trail import TRAIL_WIDTH, TrailRecord, trail_numbers
from cosim.step.block_calls import copy_reals
from cosim_compiler.derivatives.rates import clear
from cosim_compiler.record import rows_of


def load_record(run, carrier, back, at):
    """Restore the values and tangents that a record began with."""
    carrier.notes.is_held = rows_of(TrailRecord, back.trail, at, 1)[0].is_held
    load_holds(run, carrier, back, trail_numbers(carrier, back, at).holds)
    numbers = trail_numbers(carrier, back, at)
    copy_reals(numbers.y, carrier.y)
    copy_reals(numbers.d, carrier.d)
    copy_reals(numbers.memory, carrier.start_memory)
    for i in range(carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in range(k.shape[0]):
            k[m] = int(numbers.k[m])
    copy_reals(numbers.y_dot, part_of(carrier.y_dots, ALONG, carrier.y))
    copy_reals(numbers.d_dot, part_of(carrier.d_dots, ALONG, carrier.d))
    load_moving(numbers.memory_dot, part_of(carrier.memory_dots, ALONG, carrier.memory))
    load_moving(numbers.memory_flow, part_of(carrier.memory_dots, 0, carrier.memory))
    if numbers.p.shape[0] > 0:
        copy_reals(numbers.p, carrier.p)
        copy_reals(numbers.p_dot, part_of(carrier.p_dots, ALONG, carrier.p))
    carrier.time_dots[ALONG] = rows_of(TrailRecord, back.trail, at, 1)[0].time_dot


def load_moving(numbers, memory_dot):
    """Restore the tangents that were written; those behind them are 0."""
    moving = numbers.shape[0]
    copy_reals(numbers, memory_dot[:moving])
    clear(memory_dot[moving:])


def undo_changes(carrier, back, at):
    """Restore histories from a record `PAST_CHANGED`: as they were before the record ahead of it."""
    h_dot = own_part(carrier, carrier.h_dots, ALONG)
    place = at + TRAIL_WIDTH
    for _ in range(int(rows_of(TrailRecord, back.trail, at, 1)[0].events)):
        m = int(back.trail[place])
        for i in range(carrier.directions):
            own_part(carrier, carrier.h, i)[m] = back.trail[place + 1]
        h_dot[m] = back.trail[place + 2]
        place += 3
