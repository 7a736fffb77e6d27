"""Waveform iteration (`iterate`) and Newton's method (`find_root`) on the interface, as kernel functions.

Both repeat exchanges over one step, until the interface values with which participants step (`GUESS`) and
those that they return (`NOW`) agree. Each call continues at the phase that the last one has left, and returns
what the caller shall do: save or restore states, exchange, differentiate, or end. `counts` are integers and
`numbers` doubles, by the places of `exchange_layout`; `table` has a row of interface values for each name
there.
"""

from __future__ import annotations

import math

from cosim_integrators.kit import lu_factor, lu_solve
from cosim_master.algorithms.exchange_layout import ABSOLUTE as ABSOLUTE_TOLERANCE
from cosim_master.algorithms.exchange_layout import (
    AFTER_DERIVATIVES,
    AFTER_DIFFERENCE,
    AFTER_PASS,
    BASE,
    BEGIN,
    CHANGE,
    COLUMN,
    COUNT,
    DERIVE,
    DIFFERENCES,
    END,
    END_HELD,
    FAILED,
    FINISHED,
    GUESS,
    HOLD,
    INVERSE,
    KNOWN,
    LARGEST,
    LENGTH,
    LINE,
    MIDDLE,
    MOST,
    MOVED,
    NOW,
    PASS,
    PHASE,
    PIVOTS,
    RELAXATION,
    RESIDUAL,
    RESTORE,
    SAVE,
    SIZE,
    SLOPE,
    SPAN,
    START,
    TIME,
    TOLERANCE,
    TOTAL,
    WORK,
)
from cosim_master.algorithms.extrapolate import extrapolate, follow_line, remember


def invert_matrix(matrix, pivots, inverse, n):
    """Write the transposed inverse of a matrix; 0, or 1 + the column without a pivot.

    Parameters
    ----------
    matrix : ndarray, shape (n * n,)
        Row after row; its factors afterwards.
    pivots : ndarray, shape (n,)
        Room.
    inverse : ndarray, shape (n * n,)
        Column after column.
    n : int
    """
    missing = lu_factor(matrix, pivots, n)
    if missing == 0:
        for j in range(n):
            column = inverse[j * n : j * n + n]
            for k in range(n):
                column[k] = 0.0
            column[j] = 1.0
            lu_solve(matrix, pivots, n, column)
    return missing


def iterate(counts, numbers, table, time, size):
    """Waveform iteration: the next guess lies between the last one and its result, by relaxation."""
    n = counts[SIZE]
    if counts[PHASE] == BEGIN:
        start_iteration(counts, numbers, table, time, size)
        counts[PHASE] = AFTER_PASS
        return SAVE | PASS
    ended = end_of_iteration(counts, numbers, table)
    if ended >= 0:
        return ended
    for k in range(n):
        guess = table[GUESS * n + k]
        table[GUESS * n + k] = guess + numbers[RELAXATION] * (table[NOW * n + k] - guess)
    follow_guess(counts, numbers, table)
    counts[COUNT] += 1
    return RESTORE | PASS


def start_iteration(counts, numbers, table, time, size):
    """The first guess, by extrapolation."""
    numbers[TIME] = time
    numbers[LENGTH] = size
    copy_row(counts, table, NOW, START)
    remember(counts, numbers, table, time)
    extrapolate(counts, numbers, table, time + size, GUESS)
    follow_guess(counts, numbers, table)
    counts[COUNT] = 1


def end_of_iteration(counts, numbers, table):
    """Decide after an exchange: FINISHED, FAILED after too many of them, or -1 to continue."""
    settled = is_settled(counts, numbers, table)
    if not settled and counts[COUNT] < counts[MOST]:
        return -1
    counts[TOTAL] += counts[COUNT]
    counts[LARGEST] = max(counts[LARGEST], counts[COUNT])
    return FINISHED if settled else FAILED


def follow_guess(counts, numbers, table):
    """The course of the interface from START to GUESS, as HOLD says."""
    n = counts[SIZE]
    copy_row(counts, table, GUESS, END)
    follow_line(counts, numbers, table)
    if counts[HOLD] == END_HELD:
        copy_row(counts, table, END, MIDDLE)
    if counts[HOLD] != LINE:
        for k in range(n):
            table[SLOPE * n + k] = 0.0


def is_settled(counts, numbers, table):
    """Whether GUESS and NOW agree."""
    n = counts[SIZE]
    for k in range(n):
        guess = table[GUESS * n + k]
        result = table[NOW * n + k]
        allowed = numbers[TOLERANCE] * max(abs(guess), abs(result)) + numbers[ABSOLUTE_TOLERANCE]
        if not abs(result - guess) <= allowed:
            return False
    return True


def copy_row(counts, table, source, target):
    """Copy one row of the table to another."""
    n = counts[SIZE]
    for k in range(n):
        table[target * n + k] = table[source * n + k]


# Newton's method on the interface.
#
# The residual is *what comes out minus what was put in*. Of its Jacobian J the inverse is kept, transposed,
# and corrected by Broyden's formula in the form of Sherman and Morrison: the work of a correction, and of a
# step with it, grows with the square of the number of values.

SAME_SPAN = 1e-6
"""Steps whose lengths differ by less, relative, share a Jacobian."""
SLOW = 0.2
"""A residual that shrinks less than to this part asks for new differences."""
DIFFERENCE = 1e-5
SMALLEST_VALUE = 1e-3
"""By how much a value is moved, relative to it: between rounding of the participants' answers and the bend of
what they answer."""
SHIFT = 1e-8
"""Of a Jacobian without an inverse: so much of its largest entry is taken off its diagonal. Values that
nothing determines stay where they are; a loop without a solution does not settle."""
SINGULAR = 1e-12
"""A correction that would leave less than this of the Jacobian along the last change is none."""


def find_root(counts, numbers, table, time, size):
    """Exchanges over the same step, until a guess and what comes of it agree."""
    phase = counts[PHASE]
    if phase == BEGIN:
        if abs(size - numbers[SPAN]) > SAME_SPAN * size:
            counts[KNOWN] = 0
            numbers[SPAN] = size
        start_iteration(counts, numbers, table, time, size)
        counts[MOVED] = 0
        counts[PHASE] = AFTER_PASS
        return SAVE | PASS
    if phase == AFTER_DIFFERENCE:
        store_difference(counts, table)
        if counts[COLUMN] < counts[SIZE]:
            return next_difference(counts, numbers, table)
        invert(counts, table)
        return next_newton_guess(counts, numbers, table)
    if phase == AFTER_DERIVATIVES:
        if counts[KNOWN] == 0:
            return start_differences(counts, numbers, table)
        invert(counts, table)
        return next_newton_guess(counts, numbers, table)
    ended = end_of_iteration(counts, numbers, table)
    if ended >= 0:
        return ended
    has_inverse = update_inverse(counts, table)
    copy_row(counts, table, GUESS, BASE)
    if has_inverse:
        return next_newton_guess(counts, numbers, table)
    if counts[MOVED] == 0:
        counts[PHASE] = AFTER_DERIVATIVES
        return DERIVE
    return start_differences(counts, numbers, table)


def update_inverse(counts, table):
    """Compute the residual, and correct the inverse Jacobian by it; False where a new Jacobian is needed."""
    n = counts[SIZE]
    before = 0.0
    after = 0.0
    for k in range(n):
        residual = table[NOW * n + k] - table[GUESS * n + k]
        before += table[RESIDUAL * n + k] * table[RESIDUAL * n + k]
        after += residual * residual
        table[RESIDUAL * n + k] = residual
    if counts[KNOWN] == 0 or counts[MOVED] == 0:
        return counts[KNOWN] != 0
    if not after <= SLOW * SLOW * before:
        return False
    return apply_broyden(n, table)


def apply_broyden(n, table):
    """Broyden's correction, the smallest one that explains the last change; False if it were singular.

    With s the change, r the residual that it left, and H the inverse: H y = s + H r, so that the correction
    H + (s - H y) s'H / (s'H y) needs the residual alone.
    """
    change = table[CHANGE * n : CHANGE * n + n]
    residual = table[RESIDUAL * n : RESIDUAL * n + n]
    left = table[WORK * n : WORK * n + n]
    times_inverse(n, table, residual, left)
    square = 0.0
    along = 0.0
    for k in range(n):
        square += change[k] * change[k]
        along += change[k] * (change[k] + left[k])
    if not abs(along) > SINGULAR * square:
        return False
    for j in range(n):
        row = table[(INVERSE + j) * n : (INVERSE + j) * n + n]
        part = 0.0
        for k in range(n):
            part += row[k] * change[k]
        part = part / along
        for k in range(n):
            row[k] -= part * left[k]
    return True


def times_inverse(n, table, vector, result):
    """The inverse of the Jacobian times a vector."""
    for k in range(n):
        result[k] = 0.0
    for j in range(n):
        row = table[(INVERSE + j) * n : (INVERSE + j) * n + n]
        factor = vector[j]
        for k in range(n):
            result[k] += factor * row[k]


def next_newton_guess(counts, numbers, table):
    """The next guess: a step of Newton's method, or one to what came out where there is none."""
    n = counts[SIZE]
    counts[KNOWN] = 1
    change = table[CHANGE * n : CHANGE * n + n]
    times_inverse(n, table, table[RESIDUAL * n : RESIDUAL * n + n], change)
    largest = 0.0
    for k in range(n):
        change[k] = -change[k]
        # NaN is never larger: the second condition lets it through, so that it shows below
        if abs(change[k]) > largest or change[k] != change[k]:
            largest = abs(change[k])
    if (
        not 0.0 < largest < math.inf
    ):  # no step follows from this Jacobian: one of relaxation, and a new Jacobian
        copy_row(counts, table, RESIDUAL, CHANGE)
        counts[KNOWN] = 0
    for k in range(n):
        table[GUESS * n + k] = table[BASE * n + k] + change[k]
    follow_guess(counts, numbers, table)
    counts[MOVED] = 1
    counts[COUNT] += 1
    counts[PHASE] = AFTER_PASS
    return RESTORE | PASS


def start_differences(counts, numbers, table):
    """A Jacobian of differences: one more step of all participants for each value."""
    counts[DIFFERENCES] += 1
    counts[COLUMN] = 0
    return next_difference(counts, numbers, table)


def next_difference(counts, numbers, table):
    """Move one value of the guess, to find the next column of the Jacobian by a difference."""
    n = counts[SIZE]
    k = counts[COLUMN]
    copy_row(counts, table, BASE, GUESS)
    usual = max(abs(table[BASE * n + k]), abs(table[START * n + k]), SMALLEST_VALUE)
    table[GUESS * n + k] += DIFFERENCE * usual
    follow_guess(counts, numbers, table)
    counts[PHASE] = AFTER_DIFFERENCE
    return RESTORE | PASS


def store_difference(counts, table):
    """Store a column of the Jacobian: the difference of residuals over that of the guess."""
    n = counts[SIZE]
    column = counts[COLUMN]
    matrix = table[(INVERSE + n) * n : (INVERSE + 2 * n) * n]
    moved = table[GUESS * n + column] - table[BASE * n + column]
    for k in range(n):
        residual = table[NOW * n + k] - table[GUESS * n + k]
        matrix[k * n + column] = (residual - table[RESIDUAL * n + k]) / moved
    counts[COLUMN] = column + 1


def invert(counts, table):
    """The transposed inverse of the matrix; what is not finite shows in the step that is taken with it."""
    n = counts[SIZE]
    inverse = table[INVERSE * n : (INVERSE + n) * n]
    matrix = table[(INVERSE + n) * n : (INVERSE + 2 * n) * n]
    pivots = table[PIVOTS * n : PIVOTS * n + n]
    largest = 0.0
    for k in range(n * n):
        inverse[k] = matrix[k]
        largest = max(largest, abs(matrix[k]))
    if invert_matrix(matrix, pivots, inverse, n) != 0:
        for k in range(n * n):
            matrix[k] = inverse[k]
        for k in range(n):
            matrix[k * n + k] -= SHIFT * largest
        if invert_matrix(matrix, pivots, inverse, n) != 0:
            for k in range(n * n):
                inverse[k] = math.nan
