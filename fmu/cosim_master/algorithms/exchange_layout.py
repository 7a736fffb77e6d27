"""The arrays in which an algorithm of ours decides: which index means what.

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
"""`ITERATE` has the first participant of a loop. `NOTE_COURSE`: one that is solved jointly with another is
about to step. `BEGIN_STEP`, `FINISH_STEP`: a step that takes place elsewhere, in two halves; `COLLECT_STEP`
in place of the first: others of the same process follow, and go with the same message. `SET_ALONG` and
`READ_AT_END` take the course of the interface, `TAKE_KNOWN` makes it lead to what was read, `PUT_END` writes
its end onto the board."""

# What `next_request` answers: what has to be done before it is asked again
FINISHED, FAILED = 0, 1
SAVE, RESTORE, PASS = 2, 4, 8  # bits; in this order
DERIVE = 16
"""Alone: what directional derivatives tell of the interface is wanted from `matrix_row` on."""

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
# Beyond, in Newton's method: the transposed inverse of the Jacobian, and a matrix to be inverted
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
