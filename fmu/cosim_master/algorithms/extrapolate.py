"""Where the interface is going: polynomials through its last communication points, as kernel functions."""

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
    """The interface is what is in NOW at a communication point; as many points are kept as are needed."""
    n = counts[SIZE]
    earlier = 0
    while earlier < counts[POINTS] and numbers[PAST_TIMES + earlier] < time:
        earlier += 1
    first = max(0, earlier - counts[ORDER])
    kept = earlier - first
    if first > 0:
        for i in range(kept):
            numbers[PAST_TIMES + i] = numbers[PAST_TIMES + first + i]
            for k in range(n):
                table[(PAST + i) * n + k] = table[(PAST + first + i) * n + k]
    numbers[PAST_TIMES + kept] = time
    for k in range(n):
        table[(PAST + kept) * n + k] = table[NOW * n + k]
    counts[POINTS] = kept + 1


def weight(counts, numbers, i, time):
    """That of point `i` in the polynomial at `time`, by Lagrange's formula."""
    found = 1.0
    for j in range(counts[POINTS]):
        if j != i:
            found *= (time - numbers[PAST_TIMES + j]) / (numbers[PAST_TIMES + i] - numbers[PAST_TIMES + j])
    return found


def extrapolate(counts, numbers, table, time, row):
    """The polynomial at `time` (s), into a row of the table."""
    n = counts[SIZE]
    for k in range(n):
        table[row * n + k] = 0.0
    for i in range(counts[POINTS]):
        part = weight(counts, numbers, i, time)
        for k in range(n):
            table[row * n + k] += part * table[(PAST + i) * n + k]


def follow_polynomial(counts, numbers, table, time, size):
    """A line with the integral of the polynomial over a step from `time` by `size` (s); END is that of it."""
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
    """The line from START to END over the exchange under way."""
    n = counts[SIZE]
    for k in range(n):
        start = table[START * n + k]
        end = table[END * n + k]
        table[MIDDLE * n + k] = 0.5 * (start + end)
        table[SLOPE * n + k] = (end - start) / numbers[LENGTH]


def take_known(counts, numbers, table, k, value):
    """The course of one value leads to what was read of it."""
    n = counts[SIZE]
    start = table[START * n + k]
    table[END * n + k] = value
    table[MIDDLE * n + k] = 0.5 * (start + value)
    table[SLOPE * n + k] = (value - start) / numbers[LENGTH]
