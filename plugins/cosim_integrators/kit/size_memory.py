"""The sizes of the states: part of the memory of a method, and so of the State."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Record, rows_of, width_of

NEVER = 1e300  # s, in place of a time that has not come


class SizeNumbers(Record):
    """Numbers about all states together."""

    followed: float  # whether sizes are updated in every step, since some state grows from 0, or back
    wave: float  # s, when the first of the states left 0 that have done so step after step; or `NEVER`
    tried: float  # s, length of the previous attempt at this step, in which states left 0; 0: there is none
    ahead: float  # s, by how much the growth of the states that left 0 last was extrapolated
    # s, length of the steps that rounding was measured for; 0: it is below all floors; negative: it was not
    # measured, and all states have the tolerances of size 1
    measured: float
    steps_since: float  # steps that rounding may have made short since it was measured
    pause: float  # rejected attempts that still pass before it is measured again
    last_pause: float  # `pause` after the last measurement; 0 if that has raised a floor
    largest_of_all: float  # largest value of all states
    least_of_all: float  # lower bound of that; 1 if all states begin at 0
    are_small: float  # whether a state that has left 0 is much smaller than 1


VECTORS, NUMBERS = 8, width_of(SizeNumbers)


def sizes_size(n):
    """The count of numbers in `StateSizes` of `n` states."""
    return VECTORS * n + NUMBERS


class StateSizes(NamedTuple):
    """The sizes of the states: vectors of a number for each state, then `SizeNumbers`."""

    n: int
    numbers: NDArray[np.float64]

    def vector(sizes, index):
        """The vector with this index."""
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
        """The rounding noise of each state, times a margin; 0: it is below the floor."""
        return sizes.vector(2)

    @property
    def powers(sizes):
        """The power of time with which each state has grown since it left 0; 0: it does not grow so."""
        return sizes.vector(3)

    @property
    def zero_times(sizes):
        """The time when each state left 0, s; of states that follow each other, the time of the first one."""
        return sizes.vector(4)

    @property
    def smallest(sizes):
        """The value from which each state grows back steadily; 0: it was not small; -1: it was reported.

        For a state still at 0 it is the value that the state took in the previous attempt.
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
