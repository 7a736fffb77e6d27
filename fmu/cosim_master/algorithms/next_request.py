"""The next request of a built-in algorithm: a kernel function over its arrays (`exchange_layout`).

The function calls no participant. It returns what has to be done, and is called again with the resulting
interface in NOW, so that it serves the compiled loop and an exchange in Python alike.
"""

from __future__ import annotations

import math

from cosim_master.algorithms.exchange_layout import (
    ADAPTIVE,
    AFTER_PASS,
    AFTER_RESTORE,
    AGAIN,
    ALONG,
    BEGIN,
    BY_ENERGY,
    CORRECTS,
    COUNT,
    DISCARDED,
    EXPECTED,
    FAILED,
    FINISHED,
    GOES_BACK,
    GUESS,
    IN_A_ROW,
    ITERATED,
    KIND,
    LAST_MIDDLE,
    LAST_START,
    LENGTH,
    MIDDLE,
    MISSED_ERROR,
    MISSED_LENGTH,
    MISSED_STOP,
    NEWTON,
    NEXT,
    NOW,
    PASS,
    PHASE,
    POINTS,
    REACHED,
    REPEATS,
    RESTORE,
    SAVE,
    SIZE,
    START,
    STEP_END,
    TIME,
    TOLERANCE,
    WANTED,
)
from cosim_master.algorithms.extrapolate import extrapolate, follow_polynomial, remember
from cosim_master.algorithms.hold_error import forget_changes, hold_error, update_slope_rates
from cosim_master.algorithms.iteration import copy_row, follow_guess, iterate
from cosim_master.algorithms.newton_iteration import find_root
from cosim_master.algorithms.step_control import adapt, energy_error, next_length, scaled_difference, stop_of

SIGNATURE = "IFFIff>i"
FIRST_PART = 1e-2
"""Largest part of the communication step for the first exchange, whose error is not known."""
STUBBORN = 3
"""If this number of exchanges in a row miss the tolerance, there is a jump in the line."""
JUMP = 100.0
"""A single error of this many tolerances is a jump."""
STAYS = 0.7
"""If half the length leaves more than this part of the error, there is a jump: the error of a smooth line
would have fallen further."""
HELD_PART = 0.1
"""Part of the communication step for which inputs may be held with an error of the tolerance."""
SMALLEST_PART = 1e-9
"""The smallest part of a communication step that an exchange may have; shorter ones are reported."""


def next_request(counts, numbers, table, bonds, time, size):
    """The next operation in a communication step from `time` by `size` (s).

    PHASE is BEGIN when a communication step begins. The answer is FINISHED, FAILED, DERIVE, or some of SAVE,
    RESTORE and PASS: the calls of an exchange, over TIME and LENGTH.
    """
    if counts[KIND] == ITERATED:
        return iterate(counts, numbers, table, time, size)
    if counts[KIND] == ADAPTIVE:
        return adapt_exchanges(counts, numbers, table, bonds, time, size)
    if counts[KIND] == NEWTON:
        return find_root(counts, numbers, table, time, size)
    return exchange_once(counts, numbers, table, time, size)


def exchange_once(counts, numbers, table, time, size):
    """Make one exchange, with inputs that are held or follow a polynomial."""
    if counts[PHASE] != BEGIN:
        return FINISHED
    counts[PHASE] = AFTER_PASS
    numbers[TIME] = time
    numbers[LENGTH] = size
    if counts[ALONG] != 0:
        copy_row(counts, table, NOW, START)
        remember(counts, numbers, table, time)
        follow_polynomial(counts, numbers, table, time, size)
        if counts[CORRECTS] != 0:
            correct_bonds(counts, table)
    return PASS


def correct_bonds(counts, table):
    """Add to the course of power bonds the error of their integrals over the last step."""
    n = counts[SIZE]
    for k in range(n):
        start = table[START * n + k]
        middle = table[MIDDLE * n + k]
        missing = 0.0
        if counts[CORRECTS] > 1 and table[WANTED * n + k] != 0.0:
            missing = 0.5 * (table[LAST_START * n + k] + start) - table[LAST_MIDDLE * n + k]
        table[LAST_START * n + k] = start
        table[LAST_MIDDLE * n + k] = middle
        table[MIDDLE * n + k] = middle + missing
    counts[CORRECTS] = 2


def adapt_exchanges(counts, numbers, table, bonds, time, size):
    """Make exchanges along lines until the tolerance is met."""
    if counts[PHASE] == BEGIN:
        if numbers[NEXT] == math.inf:
            # The first exchange holds its inputs, so its error is of first order: it is made short enough for
            # a run of second order.
            numbers[NEXT] = FIRST_PART * min(1.0, 10.0 * math.sqrt(numbers[TOLERANCE])) * size
        numbers[REACHED] = time
        numbers[STEP_END] = time + size
    elif counts[PHASE] == AFTER_PASS:
        error = math.inf
        if counts[DISCARDED] == 0:
            if (
                counts[COUNT] < counts[REPEATS]
                and scaled_difference(counts, numbers, table, GUESS, NOW) > 0.1
            ):
                counts[COUNT] += 1
                counts[AGAIN] += 1
                copy_row(counts, table, NOW, GUESS)
                follow_guess(counts, numbers, table)
                return RESTORE | PASS
            error = error_of_exchange(counts, numbers, table, bonds, size)
        counts[DISCARDED] = 0
        if adapt_length(counts, numbers, table, error):
            counts[PHASE] = AFTER_RESTORE
            return RESTORE
    if counts[PHASE] != BEGIN and numbers[NEXT] < SMALLEST_PART * size:
        return FAILED
    if numbers[REACHED] >= numbers[STEP_END]:
        return FINISHED
    start_exchange(counts, numbers, table)
    counts[PHASE] = AFTER_PASS
    return (SAVE | PASS) if counts[GOES_BACK] != 0 else PASS


def start_exchange(counts, numbers, table):
    """Prepare the next exchange, along the line through the last two."""
    time = numbers[REACHED]
    numbers[TIME] = time
    numbers[LENGTH] = stop_of(numbers, next_length(numbers)) - time
    copy_row(counts, table, NOW, START)
    remember(counts, numbers, table, time)
    extrapolate(counts, numbers, table, time + numbers[LENGTH], EXPECTED)
    copy_row(counts, table, EXPECTED, GUESS)
    follow_guess(counts, numbers, table)
    counts[COUNT] = 0


def error_of_exchange(counts, numbers, table, bonds, size):
    """The difference between predicted and computed values, over the tolerance."""
    error = 0.0
    if counts[BY_ENERGY] != 0:
        error = energy_error(counts, numbers, table, bonds, EXPECTED, NOW)
    else:
        error = scaled_difference(counts, numbers, table, EXPECTED, NOW)
        if counts[POINTS] > 1 and error < math.inf:
            return hold_error(counts, numbers, table, error)
    if counts[POINTS] > 1:
        return error
    # The error of held inputs is the movement of the interface, which matters by the length of the exchange.
    return error * min(1.0, numbers[LENGTH] / (HELD_PART * size))


def adapt_length(counts, numbers, table, error):
    """Adapt the length to the error of an exchange. Returns whether the exchange is repeated."""
    length = next_length(numbers)  # a difference of two times would be rounded
    stop = stop_of(numbers, length)
    adapt(counts, numbers, length, error, stop == numbers[STEP_END])
    counts[IN_A_ROW] = counts[IN_A_ROW] + 1 if error > 1.0 else 0
    is_jump = stays(numbers, length, stop, error) or counts[IN_A_ROW] >= STUBBORN
    if counts[POINTS] > 1 and (is_jump or JUMP < error < math.inf):
        counts[POINTS] = 0
        numbers[NEXT] = length  # with held inputs this length may meet the tolerance
    if error > 1.0 and counts[GOES_BACK] != 0:
        return True
    if counts[POINTS] > 1 and error <= 1.0:
        update_slope_rates(counts, numbers, table)
    else:
        forget_changes(counts, table)
    numbers[REACHED] = stop
    return False


def stays(numbers, length, stop, error):
    """Whether an exchange misses the tolerance nearly as much as an earlier one of twice the length.

    Exchanges in between may end before the jump and be accepted: the missed one is compared until time has
    passed its end.
    """
    if error <= 1.0:
        if stop >= numbers[MISSED_STOP]:
            numbers[MISSED_LENGTH] = 0.0
        return False
    is_known = numbers[MISSED_LENGTH] > 0.0
    if is_known and length > 0.5 * numbers[MISSED_LENGTH]:
        return False
    is_missed = is_known and STAYS * numbers[MISSED_ERROR] < error < math.inf
    numbers[MISSED_STOP] = stop
    numbers[MISSED_LENGTH] = length
    numbers[MISSED_ERROR] = error
    return is_missed
