"""The length of the next exchange from the error of the last one, as kernel functions."""

from __future__ import annotations

import math

from cosim_master.algorithms.exchange_layout import (
    ABSOLUTE,
    ALLOWED,
    LENGTH,
    NEXT,
    PAST_TIMES,
    POINTS,
    REACHED,
    REJECTED,
    SIZE,
    STEP_END,
    TAKEN,
    TOLERANCE,
    WORST,
)

SAFETY, MOST_GROWTH, LEAST_SHRINK = 0.9, 2.0, 0.2


def next_length(numbers):
    """The length of the next exchange, s; the last two are equal, so that no short one is left."""
    remaining = numbers[STEP_END] - numbers[REACHED]
    desired = numbers[NEXT]
    if desired >= 0.99 * remaining:
        return remaining
    if desired > 0.5 * remaining:
        return 0.5 * remaining
    return desired


def stop_of(numbers, length):
    """The end of an exchange of this length, s; exactly that of the communication step if it reaches it."""
    if length == numbers[STEP_END] - numbers[REACHED]:
        return numbers[STEP_END]
    return numbers[REACHED] + length


def scaled_difference(counts, numbers, table, row1, row2):
    """The largest difference of two rows over its tolerance; infinite when it is not finite."""
    n = counts[SIZE]
    largest = 0.0
    counts[WORST] = -1
    for k in range(n):
        a = table[row1 * n + k]
        b = table[row2 * n + k]
        ratio = abs(a - b) / (numbers[TOLERANCE] * max(abs(a), abs(b)) + table[ALLOWED * n + k])
        if not ratio < math.inf:
            ratio = math.inf
        if counts[WORST] < 0 or ratio > largest:
            counts[WORST] = k
            largest = ratio
    return largest


def energy_error(counts, numbers, table, bonds, expected, computed):
    """The largest energy that an exchange created in a power bond, over its tolerance."""
    n = counts[SIZE]
    size = numbers[LENGTH]
    largest = 0.0
    for i in range(bonds.shape[0] // 2):
        first = bonds[2 * i]
        second = bonds[2 * i + 1]
        received = table[expected * n + first] * table[computed * n + second]
        delivered = table[computed * n + first] * table[expected * n + second]
        allowed = numbers[ABSOLUTE] + numbers[TOLERANCE] * size * max(abs(received), abs(delivered))
        ratio = size * abs(received - delivered) / allowed
        if not ratio < math.inf:
            ratio = math.inf
        largest = max(largest, ratio)
    return largest


def adapt(counts, numbers, length, error, at_end):
    """Choose the next length after an exchange with this error (over the tolerance).

    A line through points `before` apart errs by h (h + before) u'' / 2 over an exchange by h.
    """
    longest = MOST_GROWTH * length
    before = 0.0
    after = 0.0
    if counts[POINTS] > 1:
        before = numbers[PAST_TIMES + 1] - numbers[PAST_TIMES]
        after = length if error <= 1.0 else before
    factor = 0.0
    if error < math.inf:
        goal = SAFETY * SAFETY * (1.0 + before / length) / max(error, 1e-9)
        part = 0.5 * after / length
        factor = math.sqrt(part * part + goal) - part
    if error <= 1.0:
        counts[TAKEN] += 1
        # an exchange that was cut at the end of the step does not forbid the length that was chosen before
        if at_end and numbers[NEXT] < math.inf:
            longest = max(longest, numbers[NEXT])
    else:
        counts[REJECTED] += 1
    numbers[NEXT] = min(longest, max(LEAST_SHRINK, factor) * length)
