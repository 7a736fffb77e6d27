"""Records and functions of them, as the rooms of a Step may have them."""

from __future__ import annotations

import math

from cosim_compiler.record import Record, Rows

FALLING, RISING = -1, 1


class Finding(Record):
    """One line of a log."""

    witness: int
    time: float


class Level(Record):
    """A value, and what counts as zero of it."""

    value: float
    guard: float

    def is_above(level):
        return level.value > level.guard


class Witness(Record):
    """A function whose zeros are events."""

    number: int
    direction: int
    at: int
    last: Level
    expected: float

    def has_crossed(w, before, after):
        if w.direction == FALLING:
            return before >= 0.0 and after < 0.0
        if w.direction == RISING:
            return before <= 0.0 and after > 0.0
        return (before >= 0.0 and after < 0.0) or (before <= 0.0 and after > 0.0)


class Run(Record):
    """All that a run works on."""

    time: float
    found: int
    witnesses: Rows[Witness]
    findings: Rows[Finding]
    c: Rows[float]
    counts: Rows[int]

    def value(run, w):
        return run.c[w.at]

    def report(run, w):
        if run.found < len(run.findings):
            finding = run.findings[run.found]
            finding.witness, finding.time = w.number, run.time
            run.found += 1


def look(run: Run) -> int:
    """Report what has crossed; how many did."""
    crossed = 0
    for i, w in enumerate(run.witnesses):
        now = run.value(w)
        if w.has_crossed(w.last.value, now):
            run.report(w)
            run.counts[i] += 1
            crossed += 1
        w.last.value = now
    if crossed > 2:
        raise ArithmeticError("too many")
    return crossed


def next_expected(run: Run) -> float:
    """When the next crossing is expected; infinite when none is."""
    first = math.inf
    for w in run.witnesses:
        if run.time < w.expected < first and not w.last.is_above():
            first = w.expected
    return first


def forget(run: Run) -> None:
    """Nothing that was foreseen can be relied on any more."""
    for w in run.witnesses:
        w.expected = math.inf
    last = run.witnesses[-1]
    last.last.guard *= 2.0
    run.time += 0.5
