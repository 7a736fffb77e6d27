"""Blocks and functions of a method: they are recorded on the tape, and derivatives go back along them."""

from __future__ import annotations

from cosim.contracts.method_entries import by_address
from cosim.derivatives.adjoint_holds import reverse_holds
from cosim.derivatives.carrier import (
    ALONG,
    HELD,
    BlockTables,
    Dual,
    method_of,
    moved_along,
    part_of,
    system_along,
    walked_along,
    walked_dots,
)
from cosim.derivatives.trail import FULL_TAPE, NO_WAY
from cosim.recorded_walk import OWN_ROOTS, record_blocks, reverse_walk
from cosim.walker import call_redo_record, call_redo_reverse
from cosim_compiler.derivatives.rates import product
from cosim_compiler.derivatives.tape_ends import has_overflowed


def fail(back, time):
    """End going back at a time: the tape was too short, or something could not be done once more."""
    back.notes.status = FULL_TAPE if has_overflowed(back.tape) else NO_WAY
    back.notes.failed_time = time


def record_present(run, carrier, back, first, last, t, t_dot):
    """Evaluate blocks at the present states, on the tape; whether that was possible."""
    y_dot = part_of(carrier.y_dots, ALONG, carrier.y)
    c_dot = part_of(carrier.c_dots, ALONG, carrier.c)
    return record_at(
        run, carrier, back, (first, last), Dual(t, t_dot), Dual(carrier.y, y_dot), Dual(carrier.c, c_dot)
    )


def record_spare(run, carrier, back, first, last, t, t_dot):
    """Evaluate blocks at the spare states into the spare cache, on the tape; whether that was possible."""
    y = Dual(carrier.spare_y, carrier.spare_y_dot)
    c = Dual(carrier.spare_c, carrier.spare_c_dot)
    return record_at(run, carrier, back, (first, last), Dual(t, t_dot), y, c)


def record_motion(run, carrier, back, t, t_dot):
    """Evaluate all that the motion needs at the present states, on the tape; whether that was possible."""
    y_dot = part_of(carrier.y_dots, ALONG, carrier.y)
    c_dot = part_of(carrier.c_dots, ALONG, carrier.c)
    return record_motion_at(
        run, carrier, back, Dual(t, t_dot), Dual(carrier.y, y_dot), Dual(carrier.c, c_dot)
    )


def record_motion_at(run, carrier, back, time, states, cache):
    """Evaluate all that the motion needs at a time, on states, into a cache; whether that was possible.

    Each of the three is a `Dual`. Where witnesses are held, the blocks that hold them run, too.
    """
    rows = run.plan.derivatives
    if carrier.notes.is_held != HELD:
        return record_at(run, carrier, back, (run.plan.first_row, rows.last), time, states, cache)
    if not record_at(run, carrier, back, (run.plan.first_row, rows.first), time, states, cache):
        return False
    held = run.plan.held
    table, ints = back.held_table, back.held_ints
    rows_held = held.first, held.last
    walked = walked_along(carrier, ALONG, table, ints, rows_held, time.value, states.value, cache.value)
    dots = walked_dots(carrier, ALONG, time.dot, states.dot, cache.dot)
    return record_blocks(walked, dots, OWN_ROOTS, back.tape) == 0


def reverse_motion(run, carrier, back):
    """Go back along what `record_motion` has recorded: the adjoint of the time."""
    t_bar = reverse_present(back)
    if carrier.notes.is_held == HELD:
        t_bar += reverse_present(back)
        reverse_holds(run, carrier, back, back.c)
    return t_bar


def record_at(run, carrier, back, rows, time, states, cache):
    """Evaluate rows of the table on the tape; whether that was possible.

    `rows` are the first one and the one behind the last; time, states and cache are a `Dual` each.
    """
    walked = walked_along(carrier, ALONG, back.table, run.ints, rows, time.value, states.value, cache.value)
    dots = walked_dots(carrier, ALONG, time.dot, states.dot, cache.dot)
    return record_blocks(walked, dots, OWN_ROOTS, back.tape) == 0


def reverse_present(back):
    """Go back along blocks: the adjoint of the time."""
    return reverse_walk(back.y, back.p, back.d, back.h, back.c, back.tape)


def reverse_spare(back):
    """Go back along blocks that were evaluated at the spare states: the adjoint of the time."""
    return reverse_walk(back.spare_y, back.p, back.d, back.h, back.spare_c, back.tape)


def record_redo(run, carrier, back, address, t, y, y_dot, c, c_dot):
    """Call a function of the method that records; the code that it returns."""
    method = method_of(run, carrier)
    moved = moved_along(run, carrier, ALONG)
    tables = BlockTables(back.table, back.held_table, back.held_ints)
    system = system_along(run, carrier, ALONG, tables, y, c)
    dots = walked_dots(carrier, ALONG, carrier.time_dots[ALONG], y_dot, c_dot)
    behind = (moved.memory_numbers, moved.work_numbers, 0, 0, 0, 0, 0, 0, 0, back.tape)
    return call_redo_record(address, by_address(system, method, t) + dots + behind)


def reverse_redo(back, address, y, c):
    """Go back along what `record_redo` has recorded: the adjoint of the time."""
    memory, work = back.memory, back.work
    call_redo_reverse(address, (y, back.p, back.d, back.h, c, memory, work, back.tape, back.bars))
    return back.bars[0]


def flow_of(carrier, y):
    """The scalar product of the derivatives and an adjoint of the states."""
    total = 0.0
    for m in range(y.shape[0]):
        total += carrier.c[m] * y[m]
    return total


def reverse_time_shift(carrier, back, memory_flow):
    """Go back over a shift of the time, at the present derivatives; the adjoint of what it becomes.

    That of the time before stays in the notes: states, and what the method remembers, have moved along.
    """
    shift = flow_of(carrier, back.y)
    for m in range(memory_flow.shape[0]):
        shift += product(memory_flow[m], back.memory[m])
    wanted = back.notes.time_bar + shift
    back.notes.time_bar = -shift
    return wanted


def add_to(target, source):
    """Add an adjoint, which becomes 0."""
    for m in range(source.shape[0]):
        target[m] += source[m]
        source[m] = 0.0
