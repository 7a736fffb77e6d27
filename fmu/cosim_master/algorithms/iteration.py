"""Waveform iteration: what comes next until a guess and what comes of it agree, as kernel functions."""

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
    """Waveform iteration: exchanges over the same step, until a guess and what comes of it agree."""
    n = counts[SIZE]
    if counts[PHASE] == BEGIN:
        begin_iteration(counts, numbers, table, time, size)
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


def begin_iteration(counts, numbers, table, time, size):
    """The first guess, by extrapolation."""
    numbers[TIME] = time
    numbers[LENGTH] = size
    copy_row(counts, table, NOW, START)
    remember(counts, numbers, table, time)
    extrapolate(counts, numbers, table, time + size, GUESS)
    follow_guess(counts, numbers, table)
    counts[COUNT] = 1


def end_of_iteration(counts, numbers, table):
    """FINISHED, or FAILED after too many exchanges; -1 when the iteration goes on."""
    settled = is_settled(counts, numbers, table)
    if not settled and counts[COUNT] < counts[MOST]:
        return -1
    counts[TOTAL] += counts[COUNT]
    counts[LARGEST] = max(counts[LARGEST], counts[COUNT])
    return FINISHED if settled else FAILED


def follow_guess(counts, numbers, table):
    """The course of the interface from START to GUESS, as HOLD says."""
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
        found = table[NOW * n + k]
        allowed = numbers[TOLERANCE] * max(abs(guess), abs(found)) + numbers[ABSOLUTE_TOLERANCE]
        if not abs(found - guess) <= allowed:
            return False
    return True


def copy_row(counts, table, source, target):
    """One row of the table onto another."""
    n = counts[SIZE]
    for k in range(n):
        table[target * n + k] = table[source * n + k]
