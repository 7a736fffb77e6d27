"""Where the interface is going: polynomials through its last points; how holding distorts a ramp."""

from __future__ import annotations

import math

from cosim_master.algorithms.exchange_layout import (
    ALLOWED,
    BEGUN,
    END,
    HELD,
    LEAP,
    LENGTH,
    MIDDLE,
    NOW,
    ORDER,
    PAST,
    PAST_TIMES,
    POINTS,
    SHARPEST,
    SINCE,
    SIZE,
    SLOPE,
    START,
    STEEPEST,
    TOLERANCE,
    WORST,
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
    """The weight of point `i` in the polynomial at `time`, by Lagrange's formula."""
    product = 1.0
    for j in range(counts[POINTS]):
        if j != i:
            product *= (time - numbers[PAST_TIMES + j]) / (numbers[PAST_TIMES + i] - numbers[PAST_TIMES + j])
    return product


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


def follow_value(counts, numbers, table, k, value):
    """The course of one value leads to what was read of it."""
    n = counts[SIZE]
    start = table[START * n + k]
    table[END * n + k] = value
    table[MIDDLE * n + k] = 0.5 * (start + value)
    table[SLOPE * n + k] = (value - start) / numbers[LENGTH]


# What participants that hold the mean of a line make of a ramp: kernel functions.
#
# An input held at its mean over a step h shifts a first-order follower of rate a by a u' h² / 12 in the mean,
# also where nothing bends and the line fits. No participant tells its rate. That of the interface stands
# for it: how fast its slope changed, over the steepest slope of the run.

PART = 1.0 / 3.0
"""Part of the steepest slope by which a slope has to change before its rate is used."""
EVEN = 4.0 / 3.0
"""Lengths in a row differ by this factor at most: where values lag by half of one, slopes change with it."""


def hold_error(counts, numbers, table, largest):
    """The error of held inputs in the exchange under way, over its tolerance, where it is the largest."""
    n = counts[SIZE]
    for k in range(n):
        if table[HELD * n + k] != 0.0 and table[STEEPEST * n + k] > 0.0:
            a = table[(PAST + 1) * n + k]
            b = table[NOW * n + k]
            rate = table[SHARPEST * n + k] / table[STEEPEST * n + k]
            moved = rate * abs(b - a) * numbers[LENGTH] / 12.0
            ratio = moved / (numbers[TOLERANCE] * max(abs(a), abs(b)) + table[ALLOWED * n + k])
            if ratio > largest:
                counts[WORST] = k
                largest = ratio
    return largest


def update_slope_rates(counts, numbers, table):
    """Learn from an accepted exchange how fast slopes change.

    A kink changes the slope in one exchange, or in two when it is inside of one: a rate is believed when no
    exchange alone made half of the change.
    """
    n = counts[SIZE]
    size = numbers[LENGTH]
    before = numbers[PAST_TIMES + 1] - numbers[PAST_TIMES]
    time = numbers[PAST_TIMES + 1] + 0.5 * size
    even = size < EVEN * before and before < EVEN * size
    for k in range(n):
        a = table[(PAST + 1) * n + k]
        last = (a - table[PAST * n + k]) / before
        slope = (table[NOW * n + k] - a) / size
        steepest = max(table[STEEPEST * n + k], min(abs(slope), abs(last)))
        change = abs(slope - table[BEGUN * n + k])
        leap = max(table[LEAP * n + k], abs(slope - last))
        table[STEEPEST * n + k] = steepest
        table[LEAP * n + k] = leap
        if not even or change > PART * steepest:
            if even and 2.0 * leap < change < math.inf:
                sharp = change / (time - table[SINCE * n + k])
                table[SHARPEST * n + k] = max(table[SHARPEST * n + k], sharp)
            start_change(n, table, k, slope, time)


def forget_changes(counts, table):
    """Slopes of before say nothing of what comes: there was a jump, or a line missed the tolerance."""
    n = counts[SIZE]
    for k in range(n):
        start_change(n, table, k, math.inf, 0.0)


def start_change(n, table, k, slope, time):
    """Measure the change of a slope from this time on."""
    table[BEGUN * n + k] = slope
    table[SINCE * n + k] = time
    table[LEAP * n + k] = 0.0
