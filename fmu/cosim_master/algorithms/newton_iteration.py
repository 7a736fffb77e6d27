"""Newton's method on the interface (`find_root`), as kernel functions.

The residual is the returned interface (`NOW`) minus the guess (`GUESS`). The inverse of its Jacobian J is
stored transposed and corrected by Broyden's formula in the form of Sherman and Morrison: the work of a
correction, and of a Newton step, grows with the square of the number of values. Calls and arrays are those of
`iterate`.
"""

from __future__ import annotations

import math

from cosim_integrators.kit import lu_factor, lu_solve
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
    GUESS,
    INVERSE,
    KNOWN,
    MOVED,
    NOW,
    PASS,
    PHASE,
    PIVOTS,
    RESIDUAL,
    RESTORE,
    SAVE,
    SIZE,
    SPAN,
    START,
    WORK,
)
from cosim_master.algorithms.iteration import copy_row, end_of_iteration, follow_guess, start_iteration

SAME_SPAN = 1e-6
"""Steps whose lengths differ by less, relative, share a Jacobian."""
SLOW = 0.2
"""If a residual stays above this part of the last one, the Jacobian is made anew of differences."""
DIFFERENCE = 1e-5
"""The relative change of a value for a difference: larger than the rounding of the participants' answers, and
small against their curvature."""
SMALLEST_VALUE = 1e-3
"""The change is relative to at least this value."""
SHIFT = 1e-8
"""A singular Jacobian is shifted by this part of its largest entry. Then values that nothing determines stay
where they are, and a loop without a solution does not converge."""
SINGULAR = 1e-12
"""A correction that makes the Jacobian along the last change smaller than this part is not applied."""


def find_root(counts, numbers, table, time, size):
    """Newton's method: the next request, until the guess and the returned interface agree."""
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
    """Compute the residual, and correct the inverse Jacobian by it; False if a new Jacobian is needed."""
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
    """The next guess: a Newton step, or without a usable Jacobian the returned interface."""
    n = counts[SIZE]
    counts[KNOWN] = 1
    change = table[CHANGE * n : CHANGE * n + n]
    times_inverse(n, table, table[RESIDUAL * n : RESIDUAL * n + n], change)
    largest = 0.0
    for k in range(n):
        change[k] = -change[k]
        # NaN is never larger: the second condition passes it on to the check below
        if abs(change[k]) > largest or change[k] != change[k]:
            largest = abs(change[k])
    if not 0.0 < largest < math.inf:  # the Jacobian gives no step: relax, and make a new one
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
    """Begin a Jacobian of differences, which takes one more step of all participants for each value."""
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


def invert_matrix(matrix, pivots, inverse, n):
    """Write the transposed inverse of a matrix; 0, or 1 + the column without a pivot.

    Parameters
    ----------
    matrix : ndarray, shape (n * n,)
        Row after row; its factors afterwards.
    pivots : ndarray, shape (n,)
        Work space.
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


def invert(counts, table):
    """Write the transposed inverse of the matrix; NaN if it has none, even when it is shifted."""
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
