"""The error of inputs that are held at the mean of a line; kernel functions.

An input held at its mean over a step h shifts a first-order follower of rate a by a u' h² / 12, even if the
input is exactly a line. No participant tells its rate a. The rate of the interface stands for it: the largest
rate at which a slope changed, over the steepest slope of the run.
"""

from __future__ import annotations

import math

from cosim_master.algorithms.exchange_layout import (
    ALLOWED,
    BEGUN,
    HELD,
    LEAP,
    LENGTH,
    NOW,
    PAST,
    PAST_TIMES,
    SHARPEST,
    SINCE,
    SIZE,
    STEEPEST,
    TOLERANCE,
    WORST,
)

PART = 1.0 / 3.0
"""Part of the steepest slope by which a slope has to change before its rate is used."""
EVEN = 4.0 / 3.0
"""Rates are measured only while successive lengths differ by at most this factor: values that lag by half an
exchange change their slope with the length."""


def hold_error(counts, numbers, table, largest):
    """The error of held inputs in the present exchange over its tolerance, or `largest` if that is larger."""
    n = counts[SIZE]
    for k in range(n):
        if table[HELD * n + k] != 0.0 and table[STEEPEST * n + k] > 0.0:
            a = table[(PAST + 1) * n + k]
            b = table[NOW * n + k]
            rate = table[SHARPEST * n + k] / table[STEEPEST * n + k]
            error = rate * abs(b - a) * numbers[LENGTH] / 12.0
            ratio = error / (numbers[TOLERANCE] * max(abs(a), abs(b)) + table[ALLOWED * n + k])
            if ratio > largest:
                counts[WORST] = k
                largest = ratio
    return largest


def update_slope_rates(counts, numbers, table):
    """Update the rates at which slopes change, after an accepted exchange.

    A kink changes the slope in one exchange, or in two if it is inside one: a rate is used only if no single
    exchange made half of the change.
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
    """Measure all changes of slopes anew, after a jump or after a line that missed the tolerance."""
    n = counts[SIZE]
    for k in range(n):
        start_change(n, table, k, math.inf, 0.0)


def start_change(n, table, k, slope, time):
    """Measure the change of a slope from this time on."""
    table[BEGUN * n + k] = slope
    table[SINCE * n + k] = time
    table[LEAP * n + k] = 0.0
