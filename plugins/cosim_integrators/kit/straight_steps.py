"""Recognizes steps along a straight line, where the bend of dense output is rounding and is left out."""

from __future__ import annotations

from cosim.kit import tangent_of

STRAIGHT = 64.0 * 2.220446049250313e-16  # of a state: the largest bend that rounding leaves


def add_size(size, part):
    """The sum of a size and the absolute value of `part`."""
    return size + abs(part)


@tangent_of(add_size)
def add_size_of_tangents(size, part, size_dot, part_dot):
    """The sum of the sizes of tangents, in place of the tangent of the sum: `is_straight` compares it."""
    return size_dot + abs(part_dot)


def is_straight(size, start, end):
    """Whether rounding alone may have left a bend of this size in a step between these states."""
    return size <= STRAIGHT * max(abs(start), abs(end))


@tangent_of(is_straight, with_values=True)
def is_straight_with_tangents(size, start, end, size_dot, start_dot, end_dot):
    """Whether that holds for both the values and their tangents."""
    return is_straight(size, start, end) and is_straight(size_dot, start_dot, end_dot)
