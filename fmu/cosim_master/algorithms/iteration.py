"""Waveform iteration on the interface (`iterate`), as kernel functions.

An exchange over one step is repeated until the interface values with which participants step (`GUESS`) and
those that they return (`NOW`) agree. Each call continues at the phase that the last one has left, and returns
what the caller has to do: save or restore states, exchange, or end. `counts` are integers and `numbers`
doubles, by the places of `exchange_layout`; `table` has a row of interface values for each name there.
"""

from __future__ import annotations

from cosim_master.algorithms.exchange_layout import ABSOLUTE as ABSOLUTE_TOLERANCE
from cosim_master.algorithms.exchange_layout import (
    AFTER_PASS,
    BEGIN,
    COUNT,
    END,
    END_HELD,
    FAILED,
    FINISHED,
    GUESS,
    HOLD,
    LARGEST,
    LENGTH,
    LINE,
    MIDDLE,
    MOST,
    NOW,
    PASS,
    PHASE,
    RELAXATION,
    RESTORE,
    SAVE,
    SIZE,
    SLOPE,
    START,
    TIME,
    TOLERANCE,
    TOTAL,
)
from cosim_master.algorithms.extrapolate import extrapolate, follow_line, remember


def iterate(counts, numbers, table, time, size):
    """Waveform iteration: the next guess lies between the last one and its result, by relaxation."""
    n = counts[SIZE]
    if counts[PHASE] == BEGIN:
        start_iteration(counts, numbers, table, time, size)
        counts[PHASE] = AFTER_PASS
        return SAVE | PASS
    ended = end_of_iteration(counts, numbers, table)
    if ended >= 0:
        return ended
    for k in range(n):
        guess = table[GUESS * n + k]
        table[GUESS * n + k] = guess + numbers[RELAXATION] * (table[NOW * n + k] - guess)
    follow_guess(counts, numbers, table)
    counts[COUNT] += 1
    return RESTORE | PASS


def start_iteration(counts, numbers, table, time, size):
    """Extrapolate the first guess."""
    numbers[TIME] = time
    numbers[LENGTH] = size
    copy_row(counts, table, NOW, START)
    remember(counts, numbers, table, time)
    extrapolate(counts, numbers, table, time + size, GUESS)
    follow_guess(counts, numbers, table)
    counts[COUNT] = 1


def end_of_iteration(counts, numbers, table):
    """Decide after an exchange: FINISHED, FAILED after too many of them, or -1 to continue."""
    settled = is_settled(counts, numbers, table)
    if not settled and counts[COUNT] < counts[MOST]:
        return -1
    counts[TOTAL] += counts[COUNT]
    counts[LARGEST] = max(counts[LARGEST], counts[COUNT])
    return FINISHED if settled else FAILED


def follow_guess(counts, numbers, table):
    """Let the course of the interface lead from START to GUESS, or be held, by the option HOLD."""
    n = counts[SIZE]
    copy_row(counts, table, GUESS, END)
    follow_line(counts, numbers, table)
    if counts[HOLD] == END_HELD:
        copy_row(counts, table, END, MIDDLE)
    if counts[HOLD] != LINE:
        for k in range(n):
            table[SLOPE * n + k] = 0.0


def is_settled(counts, numbers, table):
    """Whether GUESS and NOW agree."""
    n = counts[SIZE]
    for k in range(n):
        guess = table[GUESS * n + k]
        result = table[NOW * n + k]
        allowed = numbers[TOLERANCE] * max(abs(guess), abs(result)) + numbers[ABSOLUTE_TOLERANCE]
        if not abs(result - guess) <= allowed:
            return False
    return True


def copy_row(counts, table, source, target):
    """Copy one row of the table to another."""
    n = counts[SIZE]
    for k in range(n):
        table[target * n + k] = table[source * n + k]
