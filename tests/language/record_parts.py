"""Records and functions of them, similar to those of the Step."""

from __future__ import annotations

import math

from cosim_compiler.record import Record, Rows

FALLING, RISING = -1, 1


class Finding(Record):
    """One line of a log."""

    witness: int
    time: float


class Level(Record):
    """A value, and the guard up to which it is zero."""

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
    """The data of a run."""

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


def report_crossings(run: Run) -> int:
    """Report the witnesses that have crossed; returns their number."""
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


def next_predicted_crossing(run: Run) -> float:
    """The time of the next predicted crossing; infinite if there is none."""
    first = math.inf
    for w in run.witnesses:
        if run.time < w.expected < first and not w.last.is_above():
            first = w.expected
    return first


def discard_predictions(run: Run) -> None:
    """Discard all predicted crossings, and double the guard of the last witness."""
    for w in run.witnesses:
        w.expected = math.inf
    last = run.witnesses[-1]
    last.last.guard *= 2.0
    run.time += 0.5
