"""Witnesses: their values, their rates, where their memory lies."""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.arrays import Arrays, Integers, Reals
from cosim.step.evaluation import copy_cache, probed
from cosim.walker import walk

RATE_SPACING = 1e-6  # s
MOST_REPEATS = 10  # that many in a row are chattering, or pile up at an instant
REPORTED = 1e9  # in place of the number of repetitions: their finding is there, and nothing else is done
LEAVING = -1.0  # in place of the number of repetitions: its handlers run because it is let go


def is_timed(a: Arrays, i: int) -> bool:
    """Whether it is computed from the time."""
    return a.program[a.program[ix.WITNESSES_AT] + ix.WITNESS_WIDTH * i + ix.IS_TIMED] != 0


def value(a: Arrays, i: int) -> float:
    """Present value of a witness."""
    return a.c[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]]


def direction_of(a: Arrays, i: int) -> int:
    """Which way it has to cross, whether it is held or not."""
    return a.program[a.program[ix.WITNESSES_AT] + ix.WITNESS_WIDTH * i]


def is_condition(a: Arrays, i: int) -> bool:
    """Whether it is true or false instead of a number that varies."""
    return a.program[a.program[ix.WITNESSES_AT] + ix.WITNESS_WIDTH * i + ix.IS_CONDITION] != 0


def is_moved(a: Arrays, i: int) -> bool:
    """Whether it changes with the states or the time; else it jumps where variables are written."""
    return a.program[a.program[ix.WITNESSES_AT] + ix.WITNESS_WIDTH * i + ix.IS_MOVED] != 0


def level(a: Arrays, i: int) -> float:
    """The value that counts as zero."""
    return a.scratch[a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i + ix.LEVEL_ZERO]


def above(a: Arrays, i: int, number: float) -> float:
    """A value of a witness above its level, 0 where that is rounding: see `cosim.step.zeros`."""
    distance = number - level(a, i)
    band = a.scratch[a.program[ix.LEVELS] + ix.LEVEL_WIDTH * i + ix.LEVEL_BAND]
    return 0.0 if abs(distance) <= band else distance


def look(a: Arrays, spacing: float) -> None:
    """How fast the witnesses change along the solution, into RATES_NOW; NaN where that is not known."""
    rates_along(a, a.y, a.p, a.d, a.k, a.c, spacing, a.program[ix.RATES_NOW])


def rates_along(
    a: Arrays, y: Reals, p: Reals, d: Reals, k: Integers, c: Reals, spacing: float, out: int
) -> None:
    """How fast the witnesses change along the solution through a state of now, into `scratch`; else NaN.

    Central differences, where a rate is not declared: the curvature of the solution drops out. ``c[0:n]`` is
    the derivative of `y`.
    """
    missing = False
    for i in range(a.program[ix.WITNESSES]):
        missing = missing or a.probe[ix.PROBE_WIDTH * i + ix.RATE_AT] < 0
    if not missing:
        for i in range(a.program[ix.WITNESSES]):
            a.scratch[out + i] = c[a.probe[ix.PROBE_WIDTH * i + ix.RATE_AT]]
        return
    _, found = probed(a)
    copy_cache(a, c, found)
    later = a.clock[ix.TIME] + spacing
    earlier = a.clock[ix.TIME] - spacing
    status = look_along(a, later, y, p, d, k, c)
    if status == 0:
        for i in range(a.program[ix.WITNESSES]):
            a.scratch[out + i] = found[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]]
        status = look_along(a, earlier, y, p, d, k, c)
    for i in range(a.program[ix.WITNESSES]):
        rate = a.probe[ix.PROBE_WIDTH * i + ix.RATE_AT]
        if status != 0:
            a.scratch[out + i] = math.nan
        elif rate >= 0:
            a.scratch[out + i] = c[rate]
        elif later == earlier:
            a.scratch[out + i] = 0.0
        else:
            before = found[a.probe[ix.PROBE_WIDTH * i + ix.VALUE_AT]]
            a.scratch[out + i] = (a.scratch[out + i] - before) / (later - earlier)


def look_along(a: Arrays, t: float, y: Reals, p: Reals, d: Reals, k: Integers, c: Reals) -> int:
    """The witnesses at another time, on the tangent of the solution, into the spare cache; 0 or not."""
    moved, found = probed(a)
    for m in range(y.shape[0]):
        moved[m] = y[m] + (t - a.clock[ix.TIME]) * c[m]
    return walk(a.watched, a.ints, 0, a.program[ix.WATCHED], t, moved, p, d, k, a.h, found)
