"""Witnesses: what their declaration fixes, their memory, and the search for their crossings."""

from __future__ import annotations

import math

from cosim_compiler.record import Record

# Witness.guard and Level.guard: what leaving zero means, see `zeros`
UNGUARDED, DOWNWARD, UPWARD, EITHER, ARRIVED, PASSED = 0.0, 1.0, -1.0, 2.0, 3.0, 4.0
# Witness.band and Level.band beside distances: the witness does not lie at zero; zero is its level exactly
NOT_AT_ZERO, EXACT_BAND = -1.0, 0.0
FALLING, RISING, BOTH = 1, 2, 3
"""WitnessKind.direction, Probe.direction."""


class WitnessKind(Record):
    """The properties of a witness that its declaration fixes."""

    direction: int  # which way it has to cross: FALLING, RISING, BOTH
    is_condition: int  # whether it is true or false instead of a number that varies
    is_moved: int  # whether it changes with the states or the time; else it jumps where variables are written
    is_timed: int  # whether it is computed from the time
    is_straight: int  # whether it is a sum of states and the time, each times a constant
    own_block: int  # the block of the derivatives that alone computes it, from the first one on; -1: none


class Witness(Record):
    """The memory of a witness; part of the State. See `witnesses` and `zeros`."""

    value: float  # at the end of the last step
    level: float  # what counts as zero
    guard: float  # what leaving it means: UNGUARDED …, see `zeros`
    band: float  # how close to it zero begins; NOT_AT_ZERO: it does not lie there
    fired: float  # time at which it triggered last, s
    repeats: float  # how many events came close behind each other
    rate: float  # of the witness, when it triggered last, 1/s
    expected: float  # predicted time of the next crossing, s
    predicted_error: float  # that of `expected`, s

    def start_over(witness, level, guard, band):
        """Say what counts as zero and what leaving it means, with no event behind the witness."""
        witness.level = level
        witness.guard = guard
        witness.band = band
        witness.fired = -math.inf
        witness.repeats = 0.0

    def forget(witness):
        """Reset the memory to that of the beginning of a run."""
        witness.value = witness.level = witness.guard = witness.band = 0.0
        witness.fired = witness.repeats = witness.rate = witness.expected = witness.predicted_error = 0.0


class Level(Record):
    """The level with which a witness is compared during a step, see `zeros`."""

    zero: float  # the value that counts as zero
    guard: float  # what leaving it means where the step starts there
    band: float  # how close to it zero begins; NOT_AT_ZERO: it does not start there


class Probe(Record):
    """The place of a witness, and the direction in which it has to cross (0: it is held)."""

    value: int  # in the cache
    rate: int  # in the cache; -1: found by differences
    direction: int


class Window(Record):
    """An interval of time, s."""

    start: float
    end: float
