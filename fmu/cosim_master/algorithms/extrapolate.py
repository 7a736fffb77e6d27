"""The course of the interface: polynomials through its last points, and lines; kernel functions."""

from __future__ import annotations

from cosim_master.algorithms.exchange_layout import (
    END,
    LENGTH,
    MIDDLE,
    NOW,
    ORDER,
    PAST,
    PAST_TIMES,
    POINTS,
    SIZE,
    SLOPE,
    START,
)


def remember(counts, numbers, table, time):
    """Append NOW to the points of the polynomial, as the values at `time` (s); points that are too old go."""
    n = counts[SIZE]
    earlier = 0
    while earlier < counts[POINTS] and numbers[PAST_TIMES + earlier] < time:
        earlier += 1
    first = max(0, earlier - counts[ORDER])
    count = earlier - first
    if first > 0:
        for i in range(count):
            numbers[PAST_TIMES + i] = numbers[PAST_TIMES + first + i]
            for k in range(n):
                table[(PAST + i) * n + k] = table[(PAST + first + i) * n + k]
    numbers[PAST_TIMES + count] = time
    for k in range(n):
        table[(PAST + count) * n + k] = table[NOW * n + k]
    counts[POINTS] = count + 1


def weight(counts, numbers, i, time):
    """The weight of point `i` in the polynomial at `time`, by Lagrange's formula."""
    product = 1.0
    for j in range(counts[POINTS]):
        if j != i:
            product *= (time - numbers[PAST_TIMES + j]) / (numbers[PAST_TIMES + i] - numbers[PAST_TIMES + j])
    return product


def extrapolate(counts, numbers, table, time, row):
    """Write the polynomial at `time` (s) into a row of the table."""
    n = counts[SIZE]
    for k in range(n):
        table[row * n + k] = 0.0
    for i in range(counts[POINTS]):
        part = weight(counts, numbers, i, time)
        for k in range(n):
            table[row * n + k] += part * table[(PAST + i) * n + k]


def follow_polynomial(counts, numbers, table, time, size):
    """Let the course be the line with the integral of the polynomial over a step; END is the polynomial's.

    Parameters
    ----------
    counts, numbers, table
    time, size : float
        The start and the size of the step, s.
    """
    n = counts[SIZE]
    extrapolate(counts, numbers, table, time + 0.5 * size, MIDDLE)
    extrapolate(counts, numbers, table, time, SLOPE)
    extrapolate(counts, numbers, table, time + size, END)
    for k in range(n):
        first = table[SLOPE * n + k]
        last = table[END * n + k]
        table[MIDDLE * n + k] = (first + 4.0 * table[MIDDLE * n + k] + last) / 6.0
        table[SLOPE * n + k] = (last - first) / size


def follow_line(counts, numbers, table):
    """Let the course be the line from START to END over the present exchange."""
    n = counts[SIZE]
    for k in range(n):
        start = table[START * n + k]
        end = table[END * n + k]
        table[MIDDLE * n + k] = 0.5 * (start + end)
        table[SLOPE * n + k] = (end - start) / numbers[LENGTH]


def follow_value(counts, numbers, table, k, value):
    """Let the course of value `k` end at the value that was read."""
    n = counts[SIZE]
    start = table[START * n + k]
    table[END * n + k] = value
    table[MIDDLE * n + k] = 0.5 * (start + value)
    table[SLOPE * n + k] = (value - start) / numbers[LENGTH]
