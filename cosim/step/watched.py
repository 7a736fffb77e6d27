"""Witnesses: their values, their rates, where their memory lies."""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.arrays import Arrays, part
from cosim.step.calls import call_rates

RATE_SPACING = 1e-6  # s
MOST_REPEATS = 10  # that many in a row are chattering, or pile up at an instant
LEAVING = -1.0  # in place of the number of repetitions: its handlers run because it is let go


def value(a: Arrays, i: int) -> float:
    """Present value of a witness."""
    return a.c[a.probe[ix.PROBE_HEADER + ix.PROBE_WIDTH * i + ix.VALUE_AT]]


def memory_of(a: Arrays, i: int) -> int:
    """Where in `clock` the memory of a witness starts."""
    return a.program[ix.WITNESS_MEMORY] + ix.COLUMNS * i


def direction_of(a: Arrays, i: int) -> int:
    """Which way it has to cross, whether it is held or not."""
    return a.program[a.program[ix.WITNESSES_AT] + ix.WITNESS_WIDTH * i]


def is_condition(a: Arrays, i: int) -> bool:
    """Whether it is true or false instead of a number that varies."""
    return a.program[a.program[ix.WITNESSES_AT] + ix.WITNESS_WIDTH * i + 1] != 0


@part("Af>v")
def look(a: Arrays, spacing: float) -> None:
    """How fast the witnesses change along the solution, into RATES_NOW; NaN where that is not known."""
    n = a.y.shape[0]
    size = a.c.shape[0]
    count = a.program[ix.WITNESSES]
    y = a.scratch[a.program[ix.PROBED_Y] : a.program[ix.PROBED_Y] + n]
    c = a.scratch[a.program[ix.PROBED_C] : a.program[ix.PROBED_C] + size]
    out = a.scratch[a.program[ix.RATES_NOW] : a.program[ix.RATES_NOW] + count]
    for m in range(a.program[ix.CACHE]):
        c[m] = a.c[m]
    state = (a.y, a.p, a.d, a.k, a.h, a.c)
    status = call_rates(
        a.program[ix.RATES], (a.watched, a.ints, a.clock[ix.TIME]) + state + (a.probe, y, c, spacing, out)
    )
    if status != 0:
        for i in range(count):
            out[i] = math.nan
