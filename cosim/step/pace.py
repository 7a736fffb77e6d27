"""Runs that would practically never end: steps are counted, not seconds."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import SETTINGS_HEADER
from cosim.step import layout as ix
from cosim.step.arrays import Arrays

STRETCH = 2_000  # steps; then it is asked whether they get shorter without end
STRETCHES = 50  # after so many it is asked whether it would take too long at the pace of all of them
MOST_STEPS = 1e10  # that is, more than so many to the end
MOST_WHEN_SLOWER = 1e9  # the same where one stretch after the other got less far
SLOWER = 0.5  # less than that part of the one before
SLOWER_IN_A_ROW = 3  # one is what begins with a contact
BEGIN_OF_ALL, BEGIN, LAST_PROGRESS, FINISHED_STRETCHES, SLOWER_STRETCHES, PACE_SIZE = range(6)


def forget_pace(a: Arrays) -> None:
    """A run begins, or goes on from another time."""
    at = a.program[ix.PACE]
    a.scratch[at + BEGIN_OF_ALL] = a.scratch[at + BEGIN] = a.clock[ix.TIME]
    a.scratch[at + FINISHED_STRETCHES] = a.scratch[at + SLOWER_STRETCHES] = 0.0
    a.scratch[at + LAST_PROGRESS] = 0.0
    a.places[ix.COUNTED_STEPS] = 0


def crawls(a: Arrays, t: float) -> bool:
    """After a step: whether it would take far too many to reach `t`."""
    a.places[ix.COUNTED_STEPS] += 1
    if a.places[ix.COUNTED_STEPS] < STRETCH:
        return False
    return is_too_slow(a, t) != 0


def is_too_slow(a: Arrays, t: float) -> int:
    """At the end of a stretch of steps: 1 where `t` is too many steps away, or they get ever shorter."""
    at = a.program[ix.PACE]
    now = a.clock[ix.TIME]
    if not a.scratch[at + BEGIN] <= now:
        forget_pace(a)
        return 0
    a.places[ix.COUNTED_STEPS] = 0
    if not t < math.inf:
        return 0
    progress = now - a.scratch[at + BEGIN]
    slower = progress < SLOWER * a.scratch[at + LAST_PROGRESS]
    a.scratch[at + SLOWER_STRETCHES] = a.scratch[at + SLOWER_STRETCHES] + 1.0 if slower else 0.0
    a.scratch[at + LAST_PROGRESS] = progress
    a.scratch[at + BEGIN] = now
    a.scratch[at + FINISHED_STRETCHES] += 1.0
    found = 0
    if a.scratch[at + SLOWER_STRETCHES] >= SLOWER_IN_A_ROW:
        found = 1 if progress * MOST_WHEN_SLOWER < (t - now) * STRETCH else 0
    if a.scratch[at + FINISHED_STRETCHES] >= STRETCHES:
        begin = a.scratch[at + BEGIN_OF_ALL]
        if (now - begin) * MOST_STEPS < (t - begin) * STRETCH * STRETCHES:
            found = 1
        a.scratch[at + BEGIN_OF_ALL] = now
        a.scratch[at + FINISHED_STRETCHES] = 0.0
    if found != 0:
        a.places[ix.FASTEST] = fastest_state(a)
    return found


def fastest_state(a: Arrays) -> int:
    """Index of the state whose rate is the largest for its size, in absolute tolerances at least."""
    n = a.y.shape[0]
    found = -1
    largest = 0.0
    for m in range(n):
        rate = abs(a.c[m]) / max(abs(a.y[m]), a.settings[SETTINGS_HEADER + n + m])
        if rate > largest:
            largest = rate
            found = m
    return found
