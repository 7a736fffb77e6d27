"""Records of witnesses: declared properties, memory, level and slots; and an interval of time."""

from __future__ import annotations

import math

from cosim_compiler.record import Record

# Witness.guard and Level.guard: what leaving zero means, see `zeros`
UNGUARDED, DOWNWARD, UPWARD, EITHER, ARRIVED, PASSED = 0.0, 1.0, -1.0, 2.0, 3.0, 4.0
# Special values of Witness.band and Level.band, otherwise distances: the witness is not at its level; it is
# there only where the two are equal
NOT_AT_ZERO, EXACT_BAND = -1.0, 0.0
FALLING, RISING, BOTH = 1, 2, 3
"""WitnessKind.direction, Probe.direction."""
NO_DIRECTION = 0
"""Probe.direction of a witness that is held: it has no events."""
# Special values of Witness.repeats, which otherwise is a count
REPORTED = 1e9  # an endless series of its events was reported; it is not reported again
LEAVING = -1.0  # its handlers are pending because it is released from a hold
# Special values of Witness.expected, which otherwise is a time
NOT_EXPECTED = math.inf  # no crossing is predicted
MISSED = -math.inf  # a predicted crossing did not come: none is predicted until it crosses or is moved


class WitnessKind(Record):
    """The properties of a witness that its declaration fixes."""

    direction: int  # the direction of crossings that are events: FALLING, RISING, BOTH
    is_condition: int  # whether its value is true or false; else it is a number
    is_moved: int  # whether it changes with the states or the time; else it jumps where variables are written
    is_timed: int  # whether it is computed from the time
    is_straight: int  # whether it is a sum of states and the time, each times a constant
    own_block: int  # the block of the derivatives that alone computes it, from the first one on; -1: none
    shown_state: int  # the index in y of the state that is the witness; -1: none


class Witness(Record):
    """The memory of a witness; part of the State. Its states are listed in `cosim.step.witnesses`."""

    value: float  # at the end of the last step
    level: float  # the value that counts as zero
    guard: float  # the way of leaving the level that is an event: UNGUARDED, DOWNWARD …, see `zeros`
    band: float  # distance from the level within which it counts as zero; NOT_AT_ZERO: it is not at its level
    fired: float  # time at which it triggered last, s; -infinity: never; 0: this memory was not set up
    repeats: float  # number of its events in a row that followed each other closely; or LEAVING, REPORTED
    rate: float  # its rate when it triggered last, or at the end of the last step while it is held, 1/s
    expected: float  # predicted time of the next crossing, s; NOT_EXPECTED, or MISSED
    predicted_error: float  # error of `expected`, s

    def lies_at_zero(witness):
        """Whether the witness counts as zero: it is within the band around its level."""
        return witness.band >= 0.0

    def rest_at(witness, level, guard, band):
        """Set the level, the guard and the band."""
        witness.level = level
        witness.guard = guard
        witness.band = band

    def clear_level(witness):
        """Reset the level to 0, with the witness away from it."""
        witness.rest_at(0.0, UNGUARDED, NOT_AT_ZERO)

    def start_over(witness, level, guard, band):
        """Set the level, the guard and the band, and forget past events."""
        witness.rest_at(level, guard, band)
        witness.fired = -math.inf
        witness.repeats = 0.0

    def forget(witness):
        """Set all numbers of the memory to 0, as in a new State.

        This is not yet the memory with which a run begins: `cosim.step.witnesses.start_witnesses` then sets
        `fired` and `expected`, and `start_zeros` the level, the guard and the band.
        """
        witness.value = witness.level = witness.guard = witness.band = 0.0
        witness.fired = witness.repeats = witness.rate = witness.expected = witness.predicted_error = 0.0


class Level(Record):
    """The level with which a witness is compared during a step, see `zeros`."""

    zero: float  # the value that counts as zero
    guard: float  # the way of leaving it that is an event, if the step starts there
    band: float  # distance from it that counts as zero; NOT_AT_ZERO: the step does not start there


class Probe(Record):
    """The slots of a witness, and the direction in which it has to cross in this step."""

    value: int  # slot of the cache
    rate: int  # slot of the cache; -1: it declares no rate, differences are taken
    direction: int  # FALLING, RISING, BOTH; NO_DIRECTION while it is held


class Window(Record):
    """An interval of time, s."""

    start: float
    end: float
