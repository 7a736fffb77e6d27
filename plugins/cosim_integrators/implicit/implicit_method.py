"""The arrays of implicit methods: records of numbers, Newton's matrices, and the vectors in ``work``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import OWN, WORK_HEADER, MethodArrays, Record, StepMemory, rows_of, width_of
from cosim_integrators.implicit.banded_lu import band_width
from cosim_integrators.kit.size_memory import StateSizes


class NewtonNumbers(Record):
    """The numbers of Newton's method, at the beginning of ``coefficients``."""

    vectors: float  # number of vectors of the family of methods, in `work`
    history: float  # number of vectors of its past, in `memory`
    tolerance_factor: float  # tolerance of Newton's method and of the estimate, over that of the solution
    left_error: float  # tolerances: an iteration stops when its error is below
    refresh_rate: float  # of convergence, above which the next step makes a new Jacobian
    rounding: float  # tolerances: a correction below that no longer shrinks may be rounding alone
    more_iterations: float  # additional iterations where the step cannot be shortened


class ImplicitMemory(StepMemory):
    """The memory of an implicit method from step to step.

    Its history, the sizes of the states and the entries of the Jacobian follow.
    """

    last_step: float  # s, its length; 0: there is none since the start of the run or a jump
    factored_step: float  # s, the length of the step that the matrices belong to; 0: there are none
    jacobian_age: float  # `NO_JACOBIAN`, `OLD`, `NEW`
    convergence: float  # rate / (1 - rate) that Newton's method expects before its second iteration
    order: float  # of a method of variable order
    equal_steps: float  # number of successive steps of equal length and order


class ImplicitWork(Record):
    """Results of the present attempt at a step."""

    degree: float  # of the dense output; negative while its polynomial is not written yet
    estimate: float  # error relative to the tolerance
    factor: float  # by which the next attempt or step should be longer
    rate: float  # of convergence, the slowest one of the step
    iterations: float
    rejected: float  # whether this step was rejected before
    saved_jacobian: float  # whether the Jacobian of the start of the step was saved, before another was made
    differences_at: float  # where in ``work`` the differences of a multistep method begin


class Pattern(Record):
    """The structure of the Jacobian, behind the slots of all methods.

    Behind it come the colour of each column, the start of the entries of each column, the row of each entry,
    the start of the entries of each colour, the entries by colour, and for a band the place of each state.
    """

    size: int
    entries: int
    colours: int
    sparse_solver: int  # its address; 0: matrices are dense
    is_complex: int  # whether there is a complex matrix
    is_band: int  # whether matrices are bands
    lower: int  # how many diagonals of a band lie below the main one
    upper: int  # how many lie above
    is_reordered: int  # whether the states have another order in the band
    tangents: int  # number of blocks whose tangents give the Jacobian; 0: differences do
    tangents_at: int  # where behind the slots of all methods the rows of tangents begin
    tangents_cache: int  # number of slots in the cache of tangents


class TangentRow(Record):
    """The tangent of a block, as `cosim.walker.call_tangent` calls it."""

    address: int
    first: int
    rows: int


class MadeMatrices(Record):
    """What the matrices were computed for, and how."""

    step: float  # s; 0: there are none
    recorded_at: float  # where on a tape their copy stands
    exchanged: float  # whether rows of the real band were exchanged


NO_JACOBIAN, OLD, NEW = range(3)  # none, from an earlier step, from the start of this one
NUMBERS_AT, HISTORY_AT, PATTERN_HEADER = width_of(NewtonNumbers), width_of(ImplicitMemory), width_of(Pattern)
MADE = width_of(MadeMatrices)

# vectors in work, behind the three of all methods
WEIGHT, ERROR, RIGHT, IMAGINARY, BASE = range(4, 9)
DENSE = 9
MOST_DENSE = 5
SHIFT, LOOSE = 14, 15
FAMILY = 16
COMMON_VECTORS = 3

# how an attempt ended; more than 0: 1 + the index of a block that failed
OK, BAD_NUMBER, SLOW, SINGULAR = 0, -1, -2, -3

EPSILON = 2.220446049250313e-16
ROUNDING = 1e-10  # relative: a correction below that no longer shrinks may be rounding alone


def matrices_size(pattern):
    """Numbers in the matrices of a `Pattern`."""
    n = pattern.size
    if pattern.sparse_solver != 0:
        return MADE + pattern.entries
    width = row_width(pattern)
    return (
        MADE
        + n * (width + 1)
        + pattern.is_complex * n * (2 * width + 1)
        + 2 * n * pattern.is_band
        + pattern.entries
    )


def row_width(pattern):
    """Entries of a row of the real matrix."""
    return band_width(pattern.lower, pattern.upper) if pattern.is_band != 0 else pattern.size


class NewtonMatrices(NamedTuple):
    """The matrices of Newton's method: real, complex, and the Jacobian that they were made from."""

    n: int
    width: int  # of a row
    entries: int
    numbers: NDArray[np.float64]

    @property
    def made_for(matrices):
        """The step for which the matrices were computed."""
        return rows_of(MadeMatrices, matrices.numbers, 0, 1)[0]

    @property
    def real(matrices):
        """The real matrix, row after row."""
        return matrices.numbers[MADE : MADE + matrices.n * matrices.width]

    @property
    def real_pivots(matrices):
        """The row that was exchanged with each row."""
        first = MADE + matrices.n * matrices.width
        return matrices.numbers[first : first + matrices.n]

    @property
    def complex(matrices):
        """The complex matrix, row after row; a complex number is two reals."""
        first = MADE + matrices.n * (matrices.width + 1)
        return matrices.numbers[first : first + 2 * matrices.n * matrices.width]

    @property
    def complex_pivots(matrices):
        """The row of the complex matrix that was exchanged with each row."""
        first = MADE + matrices.n * (3 * matrices.width + 1)
        return matrices.numbers[first : first + matrices.n]

    def ordered(matrices, index):
        """A vector in the order of a band: real parts (0), imaginary parts (1)."""
        first = matrices.numbers.shape[0] - matrices.entries - (2 - index) * matrices.n
        return matrices.numbers[first : first + matrices.n]

    @property
    def jacobian(matrices):
        """The entries of the Jacobian that the matrices were made from."""
        return matrices.numbers[matrices.numbers.shape[0] - matrices.entries :]


class ImplicitMethod(MethodArrays):
    """The arrays of an implicit method.

    ``work`` holds vectors that all implicit methods have, those of the family, the matrices, and copies of
    the memory from the start of the step and (for a step that is taken again) from its end. Each part of the
    former is saved right before it may change.
    """

    @property
    def newton(method):
        """The numbers of Newton's method."""
        return rows_of(NewtonNumbers, method.coefficients, 0, 1)[0]

    @property
    def memory(method):
        """The memory from step to step."""
        return rows_of(ImplicitMemory, method.memory_numbers, 0, 1)[0]

    def past(method, index):
        """A vector of the history."""
        first = HISTORY_AT + index * method.n
        return method.memory_numbers[first : first + method.n]

    @property
    def history_end(method):
        """The index in ``memory`` at which the sizes of the states begin."""
        return HISTORY_AT + int(method.newton.history) * method.n

    @property
    def history(method):
        """The vectors of the past that the family of methods stores."""
        return method.memory_numbers[HISTORY_AT : method.history_end]

    @property
    def sizes(method):
        """The sizes of the states; the view reaches to the end of the memory."""
        return StateSizes(method.n, method.memory_numbers[method.history_end :])

    @property
    def floors(method):
        """The absolute tolerances of the step."""
        return method.sizes.floors

    @property
    def jacobian_at(method):
        """The index in ``memory`` at which the entries of the Jacobian begin."""
        return method.memory_numbers.shape[0] - method.pattern.entries

    @property
    def jacobian(method):
        """The entries of the Jacobian."""
        return method.memory_numbers[method.jacobian_at :]

    @property
    def attempt(method):
        """Results of the present attempt at a step."""
        return rows_of(ImplicitWork, method.work_numbers, OWN, 1)[0]

    @property
    def weight(method):
        """1 / tolerance of each state."""
        return method.work_vector(WEIGHT)

    @property
    def loose_weight(method):
        """1 / tolerance as if each state were of size 1."""
        return method.work_vector(LOOSE)

    @property
    def error(method):
        """The estimate of the error."""
        return method.work_vector(ERROR)

    @property
    def right(method):
        """The right side of an equation, and the correction that solves it."""
        return method.work_vector(RIGHT)

    @property
    def imaginary(method):
        """A vector for imaginary parts, and for temporary values."""
        return method.work_vector(IMAGINARY)

    @property
    def base(method):
        """The state from which the equation of a stage starts."""
        return method.work_vector(BASE)

    @property
    def shift(method):
        """The diagonal of Newton's matrix, over that of the method: 1 unless groups of states differ."""
        return method.work_vector(SHIFT)

    def dense(method, power):
        """A coefficient of the polynomial of dense output; there are `MOST_DENSE`."""
        return method.work_vector(DENSE + power)

    @property
    def family_at(method):
        """The index in ``work`` at which the vectors of the family of methods begin."""
        return WORK_HEADER + FAMILY * method.n

    def family(method, index, count):
        """`count` vectors of the family of methods, one after the other."""
        first = method.family_at + index * method.n
        return method.work_numbers[first : first + count * method.n]

    @property
    def matrices_at(method):
        """The index in ``work`` at which the matrices begin."""
        return method.family_at + int(method.newton.vectors) * method.n

    @property
    def matrices(method):
        """The matrices of Newton's method."""
        first = method.matrices_at
        pattern = method.pattern
        numbers = method.work_numbers[first : first + matrices_size(pattern)]
        return NewtonMatrices(method.n, row_width(pattern), pattern.entries, numbers)

    @property
    def saved_at(method):
        """The index in ``work`` at which the copies of the memory begin."""
        return method.matrices_at + matrices_size(method.pattern)

    def saved_memory(method, index):
        """A copy of the memory from the start (0) or the end (1) of the step."""
        size = method.memory_numbers.shape[0]
        first = method.saved_at + index * size
        return method.work_numbers[first : first + size]

    def saved_part(method, first, last):
        """What the memory was at the start of the step, between two of its indices."""
        return method.saved_memory(0)[first:last]

    def block_tangents(method, first, count):
        """A part of the tangents of parameters, discrete variables and the cache, one after the other."""
        at = method.saved_at + 2 * method.memory_numbers.shape[0]
        return method.work_numbers[at + first : at + first + count]

    @property
    def tangent_rows(method):
        """Address, start in `ints`, rows of the tangent of each block that derivatives need."""
        return rows_of(TangentRow, method.own_slots, method.pattern.tangents_at, method.pattern.tangents)

    @property
    def pattern(method):
        """The structure of the Jacobian."""
        return rows_of(Pattern, method.own_slots, 0, 1)[0]

    @property
    def colours(method):
        """The colour of each column; columns of one colour have no row in common."""
        return method.own_slots[PATTERN_HEADER : PATTERN_HEADER + method.n]

    @property
    def column_starts(method):
        """The index of each column's first entry, and the number of entries."""
        first = PATTERN_HEADER + method.n
        return method.own_slots[first : first + method.n + 1]

    @property
    def entry_rows(method):
        """The row of each entry."""
        first = PATTERN_HEADER + 2 * method.n + 1
        return method.own_slots[first : first + method.pattern.entries]

    def entries_of(method, colour):
        """The indices of the entries in the columns of a colour."""
        starts = PATTERN_HEADER + 2 * method.n + 1 + method.pattern.entries
        ordered = starts + method.pattern.colours + 1
        first = ordered + method.own_slots[starts + colour]
        return method.own_slots[first : ordered + method.own_slots[starts + colour + 1]]

    @property
    def places(method):
        """The place of each state in a band."""
        pattern = method.pattern
        first = PATTERN_HEADER + 2 * (method.n + 1 + pattern.entries) + pattern.colours
        return method.own_slots[first : first + method.n]
