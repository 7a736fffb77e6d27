"""The indices of the arrays in which built-in algorithms decide.

=========== ==================================================================================
``counts``  integers, see the names below
``numbers`` reals, see the names below
``table``   rows of as many reals as the interface has values, one after the other
``bonds``   pairs of places in the interface
=========== ==================================================================================
"""

from __future__ import annotations

import hashlib

# Calls of which an exchange consists, each with a participant
SET, ADVANCE, READ, SET_ALONG, READ_AT_END, TAKE_KNOWN, PUT_END = range(7)
ADVANCE_ALL, ITERATE, NOTE_COURSE, BEGIN_STEP, FINISH_STEP, COLLECT_STEP = range(7, 13)
"""Calls whose names do not say enough:

=============== ==================================================================================
`SET_ALONG`     sets the inputs along the course of the interface
`READ_AT_END`   reads outputs with the inputs at the end of the course
`TAKE_KNOWN`    lets the course end at the outputs that were read
`PUT_END`       writes the end of the course onto the board
`ITERATE`       steps a loop; its participant is the first one of the loop
`NOTE_COURSE`   stores the course of the inputs of a member of a joint system, which is about to step
`BEGIN_STEP`    sends a step to another process
`COLLECT_STEP`  prepares such a step; it is sent together with the next one to the same process
`FINISH_STEP`   receives the answer to a step in another process
=============== ==================================================================================
"""

# The answers of `next_request`: what has to be done before it is called again
FINISHED, FAILED = 0, 1
SAVE, RESTORE, PASS = 2, 4, 8  # bits; in this order
DERIVE = 16
"""Alone: directional derivatives of the interface have to be written from `matrix_row` on."""

# Kinds of algorithms
ONCE, ITERATED, ADAPTIVE, NEWTON = range(4)

# `counts`
KIND, PHASE, SIZE, POINTS, ORDER, ALONG, CORRECTS, HOLD, MOST, COUNT, TOTAL, LARGEST = range(12)
GOES_BACK, DISCARDED, REPEATS, TAKEN, REJECTED, WORST, IN_A_ROW, BY_ENERGY, AGAIN = range(12, 21)
KNOWN, MOVED, COLUMN, DIFFERENCES, DERIVATIVES = range(21, 26)
COUNTS = 26
BEGIN, AFTER_PASS, AFTER_RESTORE, AFTER_DIFFERENCE, AFTER_DERIVATIVES = range(5)  # PHASE
LINE, MEAN, END_HELD = range(3)

# `numbers`
TIME, LENGTH, REACHED, TOLERANCE, ABSOLUTE, RELAXATION, NEXT, STEP_END, SPAN = range(9)
MISSED_STOP, MISSED_LENGTH, MISSED_ERROR, PAST_TIMES = range(9, 13)
MOST_POINTS = 3
NUMBERS = PAST_TIMES + MOST_POINTS

# `table`
NOW, START, MIDDLE, SLOPE, END, GUESS, EXPECTED, ALLOWED, WANTED, LAST_START, LAST_MIDDLE = range(11)
HELD, STEEPEST, SHARPEST, BEGUN, SINCE, LEAP, PAST = range(11, 18)
ROWS = PAST + MOST_POINTS
# Further rows in Newton's method: the transposed inverse of the Jacobian, and a matrix to be inverted
RESIDUAL, CHANGE, BASE, WORK, PIVOTS, INVERSE = range(ROWS, ROWS + 6)


def matrix_row(size: int) -> int:
    """The first row of the inverted matrix, for an interface with this number of values."""
    return INVERSE + size


def newton_rows(size: int) -> int:
    """The number of rows that Newton's method needs."""
    return INVERSE + 2 * size


def digest() -> str:
    """A digest of all indices: it differs if the layout of the arrays does."""
    constants = sorted((name, value) for name, value in globals().items() if name.isupper())
    return hashlib.sha256(repr(constants).encode()).hexdigest()
