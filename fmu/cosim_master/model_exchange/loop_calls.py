"""Newton's method for x = G(x), where x are values on a closed loop, and G(x) those after one way round.

The caller evaluates G: after `start_search` it calls `next_point` and `store_value` by turns, until
`next_point` returns `SOLVED` or `UNSOLVED`. A loop has a row of integers, named below, and a buffer of
doubles. The Jacobian is made of differences. It is kept from solution to solution as long as it reduces the
residual to a tenth.

Tolerances are relative to the size of a value: the largest absolute value that it has had at points of the
solution, trials excluded. If rounding in G prevents a smaller residual, the size is enlarged accordingly.
"""

from __future__ import annotations

import math

from cosim.kit import foreign
from cosim_master.algorithms.newton_iteration import invert_matrix

integers_at, reals_at = foreign.integers_at, foreign.reals_at

(
    COUNT,  # of values
    FIRST,  # slot of the first one
    REALS_AT,  # the buffer
    SUBSTITUTES,  # 1: not all are real numbers, so x = G(x) is repeated in place of Newton's method
    KNOWN, INVERTED,  # 1: there is a last solution; there is the inverse of 1 - dG/dx
    PHASE, COLUMN, HALVINGS, STEPS, IS_FRESH, REASON,
    LOOP,
) = range(13)  # fmt: skip
X, G, TRIED, FOUND, STEP, SIZES, LOST_X, LOST_G, VECTORS = range(9)
"""Vectors in the buffer; then two numbers, the inverse, and room for an elimination."""
START, AT_POINT, DIFFERENTIATING, STEPPING = range(4)
TRY, SOLVED, UNSOLVED = range(3)
NO_REASON, NOT_FINITE, SINGULAR, NOT_FOUND = range(4)
TOLERANCE = 1e-13
"""The allowed residual, relative to sizes; integrators have tolerances down to 1e-12."""
GOOD_ENOUGH = 1e-10
"""The allowed residual if rounding prevents a smaller one, relative to sizes, or to 1 for unknown sizes."""
MOST_STEPS, MOST_SWEEPS, MOST_HALVINGS = 40, 100, 12
LEAST = 2.0**-26
"""A matrix of differences is singular if its least singular value is below this part of its norm."""
MOVE, LEAST_MOVE = 2.0**-20, 2.0**-40
"""The change of a value for a difference: this part of its size, and at least so much."""
REAL = 8
NEXT_SIGNATURE = "ii>i"


def reals_needed(count):
    """Doubles in the buffer of a loop."""
    return VECTORS * count + 2 + 3 * count * count


def place(row, which):
    """Address of one of the vectors of a loop."""
    loop = integers_at(row, LOOP)
    return loop[REALS_AT] + REAL * which * loop[COUNT]


def inverse_at(row):
    """Address of the inverse of 1 - dG/dx, row by row."""
    return place(row, VECTORS) + 2 * REAL


def room_at(row):
    """Address of a matrix, row by row, which its inverse follows, column by column."""
    n = integers_at(row, LOOP)[COUNT]
    return inverse_at(row) + REAL * n * n


def start_search(row, first):
    """Begin a search at the last solution, or else at these values."""
    n = integers_at(row, LOOP)[COUNT]
    loop = integers_at(row, LOOP)
    x = reals_at(place(row, X), n)
    if loop[KNOWN] == 0:
        for i in range(loop[COUNT]):
            x[i] = first[i]
    loop[PHASE] = START
    loop[STEPS] = 0
    loop[IS_FRESH] = 0
    loop[REASON] = NO_REASON
    reals_at(place(row, VECTORS), 2)[1] = math.inf


def store_value(row, values, is_there):
    """Store the value of G at the requested point; without `is_there` it is not defined."""
    n = integers_at(row, LOOP)[COUNT]
    result = reals_at(place(row, FOUND), n)
    for i in range(result.shape[0]):
        result[i] = values[i] if is_there else math.nan


def next_point(row, remembers):
    """Returns TRY to request G at TRIED, SOLVED with the values in FOUND, or UNSOLVED with a REASON.

    `remembers` is whether the point belongs to the solution, so that the sizes of the values are updated.
    """
    loop = integers_at(row, LOOP)
    if loop[PHASE] == START:
        copy(row, X, TRIED)
        loop[PHASE] = AT_POINT
        return TRY
    if loop[PHASE] == DIFFERENTIATING:
        store_column(row)
        loop[COLUMN] += 1
        if loop[COLUMN] < loop[COUNT]:
            move_one(row)
            return TRY
        reason = invert(row)
        return fail(row, reason) if reason != NO_REASON else first_step(row)
    if loop[PHASE] == STEPPING and not is_better(row) and loop[HALVINGS] < MOST_HALVINGS:
        loop[HALVINGS] += 1
        return step(row)
    copy(row, TRIED, X)
    copy(row, FOUND, G)
    return substitute(row) if loop[SUBSTITUTES] != 0 else check_residual(row, remembers)


def check_residual(row, remembers):
    """Accept x if its residual is small; else begin the next Newton step."""
    loop = integers_at(row, LOOP)
    if not is_finite(row, G):
        return fail(row, NOT_FINITE)
    now = reals_at(place(row, VECTORS), 2)
    now[0] = residual(row)
    if now[0] <= TOLERANCE:
        return accept(row, remembers)
    if loop[IS_FRESH] != 0 and now[0] >= 0.5 * now[1] and is_good_enough(row):
        return accept(row, remembers)
    if loop[STEPS] == MOST_STEPS:
        return fail(row, NOT_FOUND)
    loop[STEPS] += 1
    falls = now[0] <= 0.1 * now[1]
    now[1] = min(now[1], now[0])
    if loop[INVERTED] == 0 or not falls:
        loop[IS_FRESH] = 1
        loop[PHASE] = DIFFERENTIATING
        loop[COLUMN] = 0
        move_one(row)
        return TRY
    loop[IS_FRESH] = 0
    return first_step(row)


def substitute(row):
    """Accept x if G(x) equals it; else try G(x)."""
    n = integers_at(row, LOOP)[COUNT]
    loop = integers_at(row, LOOP)
    x = reals_at(place(row, X), n)
    g = reals_at(place(row, G), n)
    same = True
    for i in range(loop[COUNT]):
        same = same and x[i] == g[i]
    if same:
        return SOLVED
    if loop[STEPS] == MOST_SWEEPS:
        return fail(row, NOT_FOUND)
    loop[STEPS] += 1
    copy(row, G, TRIED)
    return TRY


def accept(row, remembers):
    """End the search with a solution."""
    n = integers_at(row, LOOP)[COUNT]
    loop = integers_at(row, LOOP)
    loop[KNOWN] = 1
    if remembers != 0:
        x = reals_at(place(row, X), n)
        g = reals_at(place(row, G), n)
        sizes = reals_at(place(row, SIZES), n)
        for i in range(loop[COUNT]):
            sizes[i] = max(sizes[i], abs(x[i]), abs(g[i] - x[i]) / TOLERANCE)
    return SOLVED


def fail(row, reason):
    """End the search without a solution."""
    loop = integers_at(row, LOOP)
    loop[REASON] = reason
    loop[KNOWN] = 0
    loop[INVERTED] = 0
    copy(row, X, LOST_X)
    copy(row, G, LOST_G)
    return UNSOLVED


def copy(row, source, target):
    """Copy one vector to another."""
    n = integers_at(row, LOOP)[COUNT]
    values = reals_at(place(row, source), n)
    copied = reals_at(place(row, target), n)
    for i in range(values.shape[0]):
        copied[i] = values[i]


def is_finite(row, which):
    """Whether all values of a vector are finite."""
    n = integers_at(row, LOOP)[COUNT]
    values = reals_at(place(row, which), n)
    finite = True
    for i in range(n):
        finite = finite and math.isfinite(values[i])
    return finite


def residual(row):
    """The residual of x = G(x), relative to the sizes of the values."""
    n = integers_at(row, LOOP)[COUNT]
    x = reals_at(place(row, X), n)
    g = reals_at(place(row, G), n)
    sizes = reals_at(place(row, SIZES), n)
    worst = 0.0
    for i in range(x.shape[0]):
        difference = abs(g[i] - x[i])
        size = max(abs(x[i]), sizes[i])
        if difference > 0.0:
            worst = max(worst, difference / size if size > 0.0 else math.inf)
    return worst


def is_good_enough(row):
    """Whether the residual may be rounding in G."""
    n = integers_at(row, LOOP)[COUNT]
    x = reals_at(place(row, X), n)
    g = reals_at(place(row, G), n)
    sizes = reals_at(place(row, SIZES), n)
    for i in range(x.shape[0]):
        least = TOLERANCE if sizes[i] > 0.0 else GOOD_ENOUGH
        if abs(g[i] - x[i]) > max(GOOD_ENOUGH * max(abs(x[i]), sizes[i]), least):
            return False
    return True


def move_one(row):
    """Request G with one value moved."""
    n = integers_at(row, LOOP)[COUNT]
    loop = integers_at(row, LOOP)
    copy(row, X, TRIED)
    j = loop[COLUMN]
    size = max(abs(reals_at(place(row, X), n)[j]), reals_at(place(row, SIZES), n)[j])
    reals_at(place(row, TRIED), n)[j] += max(MOVE * size, LEAST_MOVE)


def store_column(row):
    """Store a column of 1 - dG/dx."""
    n = integers_at(row, LOOP)[COUNT]
    j = integers_at(row, LOOP)[COLUMN]
    moved = reals_at(place(row, TRIED), n)[j] - reals_at(place(row, X), n)[j]
    g = reals_at(place(row, G), n)
    result = reals_at(place(row, FOUND), n)
    room = reals_at(room_at(row), n * n)
    for i in range(n):
        slope = (result[i] - g[i]) / moved
        room[n * i + j] = 1.0 - slope if i == j else -slope


def invert(row):
    """Invert 1 - dG/dx, scaled by rows and columns; NO_REASON, or a REASON if it is singular."""
    loop = integers_at(row, LOOP)
    n = loop[COUNT]
    room = reals_at(room_at(row), n * n)
    inverse = reals_at(room_at(row) + REAL * n * n, n * n)
    loop[INVERTED] = 0
    columns = reals_at(place(row, STEP), n)  # vectors that are not in use at this phase, as is TRIED
    rows = reals_at(place(row, FOUND), n)
    for i in range(n):
        rows[i] = 0.0
        for j in range(n):
            if not math.isfinite(room[n * i + j]):
                return NOT_FINITE
            rows[i] = max(rows[i], abs(room[n * i + j]))
        if rows[i] < LEAST:
            return SINGULAR
    for j in range(n):
        columns[j] = 0.0
        for i in range(n):
            columns[j] = max(columns[j], abs(room[n * i + j]) / rows[i])
        if columns[j] == 0.0:
            return SINGULAR
    for i in range(n):
        for j in range(n):
            room[n * i + j] /= rows[i] * columns[j]
    if invert_matrix(room, reals_at(place(row, TRIED), n), inverse, n) != 0:
        return SINGULAR
    unscaled = reals_at(inverse_at(row), n * n)
    norm = 0.0
    for i in range(n):
        for j in range(n):
            value = inverse[n * j + i]
            norm += value * value
            unscaled[n * i + j] = value / (columns[i] * rows[j])
    if not LEAST * LEAST * norm <= n:  # the least singular value is at most sqrt(n / norm)
        return SINGULAR
    loop[INVERTED] = 1
    return NO_REASON


def first_step(row):
    """Compute the Newton step, and request G at its end."""
    loop = integers_at(row, LOOP)
    n = loop[COUNT]
    x = reals_at(place(row, X), n)
    g = reals_at(place(row, G), n)
    whole = reals_at(place(row, STEP), n)
    inverse = reals_at(inverse_at(row), n * n)
    for i in range(n):
        whole[i] = 0.0
        for j in range(n):
            whole[i] += inverse[n * i + j] * (g[j] - x[j])
    loop[PHASE] = STEPPING
    loop[HALVINGS] = 0
    return step(row)


def step(row):
    """Request G after the part of the step that the halvings have left."""
    n = integers_at(row, LOOP)[COUNT]
    loop = integers_at(row, LOOP)
    x = reals_at(place(row, X), n)
    whole = reals_at(place(row, STEP), n)
    tried = reals_at(place(row, TRIED), n)
    for i in range(loop[COUNT]):
        tried[i] = x[i] + whole[i] * math.pow(0.5, loop[HALVINGS])
    return TRY


def is_better(row):
    """Whether the residual at the end of the step is smaller than at its start."""
    n = integers_at(row, LOOP)[COUNT]
    if not is_finite(row, FOUND):
        return False
    x = reals_at(place(row, X), n)
    g = reals_at(place(row, G), n)
    tried = reals_at(place(row, TRIED), n)
    result = reals_at(place(row, FOUND), n)
    before = 0.0
    after = 0.0
    for i in range(x.shape[0]):
        difference = g[i] - x[i]
        before += difference * difference
        difference = result[i] - tried[i]
        after += difference * difference
    return after < before
