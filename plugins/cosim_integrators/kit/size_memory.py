"""The sizes of the states: part of the memory of a method, and so of the State."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Record, rows_of, width_of

NEVER = 1e300


class SizeNumbers(Record):
    """Numbers about all states together."""

    followed: float  # whether some state is followed in every step: it grows from 0, or back
    wave: float  # since when states have left 0, step after step, s; `NEVER`: none has in the last step
    tried: float  # length of the attempt before, in which states left 0, s; 0: there was none in this step
    ahead: float  # how far ahead those that left 0 last were extrapolated, s
    # length of the steps that rounding was measured for, s; 0: it is less than sizes allow; negative: instead
    # of being measured it counts as that of states of size 1
    measured: float
    steps_since: float  # how many steps ago
    pause: float  # how many more attempts go by before it is measured again
    last_pause: float  # how many did so the last time
    largest_of_all: float  # largest value of all states
    least_of_all: float  # what these are taken to be at least; 1 where all begin at 0
    are_small: float  # whether a state that has left 0 is much smaller than 1


VECTORS, NUMBERS = 8, width_of(SizeNumbers)


def sizes_size(n):
    """Numbers in the memory."""
    return VECTORS * n + NUMBERS


class StateSizes(NamedTuple):
    """The sizes of the states: vectors of a number for each state, then `SizeNumbers`."""

    n: int
    numbers: NDArray[np.float64]

    def vector(sizes, index):
        """The vector of that index."""
        return rows_of(float, sizes.numbers, index * sizes.n, sizes.n)

    @property
    def floors(sizes):
        """Absolute part of the tolerance."""
        return sizes.vector(0)

    @property
    def largest(sizes):
        """Largest value at the start of a step."""
        return sizes.vector(1)

    @property
    def rounding(sizes):
        """What rounding gives the state, times a margin; 0: less than its size allows."""
        return sizes.vector(2)

    @property
    def powers(sizes):
        """The power of time with which it grows since it was 0; 0: it does not."""
        return sizes.vector(3)

    @property
    def zero_times(sizes):
        """The time since which each state counts as away from 0, s: that of the first one it followed."""
        return sizes.vector(4)

    @property
    def smallest(sizes):
        """Value from which it grows back steadily; 0: it has not been small; -1: this was reported.

        Of one that has not left 0: what it became in the attempt before.
        """
        return sizes.vector(5)

    @property
    def growth_rates(sizes):
        """The largest growth rate of each state since it was that small, 1/s."""
        return sizes.vector(6)

    @property
    def free(sizes):
        """Whether corrections that meet constraints leave the state as it is; see `corrected_ends`."""
        return sizes.vector(7)

    @property
    def all_states(sizes):
        """Numbers about all states together."""
        return rows_of(SizeNumbers, sizes.numbers, VECTORS * sizes.n, 1)[0]

    def copy_to(sizes, target):
        """Copy all numbers to the `StateSizes` of an equal number of states."""
        for i in range(sizes_size(sizes.n)):
            target.numbers[i] = sizes.numbers[i]
