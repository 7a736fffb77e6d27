"""Copies of the variables and their tangents, while the handlers of an instant are followed in two orders.

``carrier.order_copies`` has the shifts of one event, the copy at the start of the instant, the copy at its
end in the first order, and for each handler its witness before all events, and how fast it is.
"""

from __future__ import annotations

from types import SimpleNamespace

from cosim.derivatives.carrier import NOT_FRESH, part_of
from cosim.step.block_calls import copy_reals, different

SAME = 1e-9
"""By so much of its terms a tangent may differ between both orders."""
ROUNDING = 1e-13  # of the largest tangent along a direction
AT_START, AT_END = 0, 1
"""The copies."""
WITNESS_WIDTH = 2  # its value and its speed


def changed(carrier):
    """All that handlers change, but for integers, in the order of a copy."""
    return (
        carrier.y, carrier.p, carrier.d,
        carrier.y_dots, carrier.p_dots, carrier.d_dots, carrier.memory_dots, carrier.time_dots,
    )  # fmt: skip


def size_of_copies(arrays, handlers):
    """The numbers in all copies, by the arrays of a carrier and the number of handlers."""
    carrier = SimpleNamespace(**arrays)
    return carrier.time_dots.size + 2 * size_of_copy(carrier) + WITNESS_WIDTH * handlers


def size_of_copy(carrier):
    """The numbers in one copy."""
    size = carrier.k.shape[0]
    for numbers in changed(carrier):
        size += numbers.shape[0]
    return size


def place_of(carrier, which):
    """Where a copy begins."""
    return carrier.directions + which * size_of_copy(carrier)


def save(carrier, which):
    """Save the variables and their tangents in a copy."""
    copies = carrier.order_copies
    at = place_of(carrier, which)
    for numbers in changed(carrier):
        copy_reals(numbers, copies[at : at + numbers.shape[0]])
        at += numbers.shape[0]
    for m in range(carrier.k.shape[0]):
        copies[at + m] = float(carrier.k[m])


def restore_start(carrier):
    """Restore the variables and their tangents at the start of the instant."""
    copies = carrier.order_copies
    at = place_of(carrier, AT_START)
    for numbers in changed(carrier):
        copy_reals(copies[at : at + numbers.shape[0]], numbers)
        at += numbers.shape[0]
    for m in range(carrier.k.shape[0]):
        carrier.k[m] = int(copies[at + m])
    carrier.notes.is_shifted = 0.0
    carrier.notes.freshness = NOT_FRESH


# the end of the instant


def has_same_values(carrier):
    """Whether the variables are those of the copy at the end."""
    at = place_of(carrier, AT_END)
    is_same = True
    for numbers in (carrier.y, carrier.p, carrier.d):
        is_same = is_same and are_alike(carrier, at, numbers)
        at += numbers.shape[0]
    at_integers = place_of(carrier, AT_END) + size_of_copy(carrier) - carrier.k.shape[0]
    for m in range(carrier.k.shape[0]):
        is_same = is_same and int(carrier.order_copies[at_integers + m]) == carrier.k[m]
    return is_same


def has_same_end(carrier):
    """Whether the variables, and their tangents at a fixed time, are those of the copy at the end."""
    if not has_same_values(carrier):
        return False
    at_states = place_of(carrier, AT_END) + carrier.y.shape[0] + carrier.p.shape[0] + carrier.d.shape[0]
    at = at_states + carrier.y_dots.shape[0]
    is_same = are_alike(carrier, at, carrier.p_dots)
    at += carrier.p_dots.shape[0]
    is_same = is_same and are_alike(carrier, at, carrier.d_dots)
    at += carrier.d_dots.shape[0] + carrier.memory_dots.shape[0]
    n = carrier.y.shape[0]
    for i in range(1, carrier.directions):
        others = carrier.order_copies[at_states + i * n : at_states + (i + 1) * n]
        is_same = is_same and is_same_motion(carrier, i, others, carrier.order_copies[at + i])
    return is_same


def are_alike(carrier, at, numbers):
    """Whether numbers are those at a place of the copies, up to rounding."""
    is_alike = True
    for m in range(numbers.shape[0]):
        one = numbers[m]
        other = carrier.order_copies[at + m]
        is_near = one == other or one != one or abs(one - other) <= SAME * (abs(one) + abs(other))
        is_alike = is_alike and is_near
    return is_alike


def is_same_motion(carrier, i, others, other_time_dot):
    """Whether the tangents of the states along a direction, at a fixed time, are those of other ones.

    The derivatives of the states are the same at both ends, as the variables are.
    """
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    largest = 0.0
    for m in range(others.shape[0]):
        largest = max(largest, abs(others[m] - carrier.c[m] * other_time_dot))
    is_same = True
    for m in range(others.shape[0]):
        shift = carrier.c[m] * carrier.time_dots[i]
        other = others[m] - carrier.c[m] * other_time_dot
        terms = abs(y_dot[m]) + abs(shift) + abs(other)
        is_same = is_same and abs(y_dot[m] - shift - other) <= SAME * terms + ROUNDING * largest
    return is_same


# witnesses


def place_of_witness(run, carrier, handler):
    """Where the witness of a handler stands."""
    return carrier.order_copies.shape[0] - WITNESS_WIDTH * (len(run.handlers) - handler.number)


def store_witness(run, carrier, handler):
    """Store the witness of a handler, and how fast it is."""
    at = place_of_witness(run, carrier, handler)
    place = run.probes[handler.flag].value
    carrier.order_copies[at] = carrier.c[place]
    carrier.order_copies[at + 1] = part_of(carrier.c_dots, 0, carrier.c)[place]


def still_crosses(run, carrier, handler):
    """Whether other events have left a witness where it was, and on its way: else it crosses in one order."""
    at = place_of_witness(run, carrier, handler)
    place = run.probes[handler.flag].value
    speed = part_of(carrier.c_dots, 0, carrier.c)[place]
    is_there = not different(carrier.c[place], carrier.order_copies[at])
    return is_there and (speed > 0.0) == (carrier.order_copies[at + 1] > 0.0)
