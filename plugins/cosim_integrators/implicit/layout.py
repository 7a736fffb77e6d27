"""Where things lie in the flat arrays that the implicit kernels share.

=============== ===========================================================================
``settings``    accuracy, smallest and largest step, fixed step (0: none), the accuracy that Newton's
                method and the error estimate are measured with, what is left of an iteration's error
                when it stops, the rate of convergence beyond which the Jacobian is made anew
``memory``      part of the State: a header, the history of the method, the entries of the Jacobian
``work``        of the integrator: a header, vectors of the length of the state, then those of the
                family
``lu``          of the integrator: the step for which the matrices were made (0: none); the real
                matrix and its pivots; the complex one and its pivots; the Jacobian they were made from
``pattern``     structure of the Jacobian: a header, the colour of each column, where the entries of
                each column start, the row of each entry
=============== ===========================================================================
"""

from __future__ import annotations

# settings
ACCURACY, SMALLEST, LARGEST, FIXED, TOLERANCE, NEWTON, REFRESH = range(7)

# memory
NEXT = 0  # length of the next step, s (0: not initialized)
ERROR = 1  # error of the last step relative to the tolerance
LAST = 2  # length of the last step, s (0: nothing is known of the past)
FACTORED = 3  # length of the step for which the matrices are made, s (0: none)
AGE = 4  # of the Jacobian: 0 there is none, 1 from an earlier step, 2 from the start of this one
CONVERGENCE = 5  # what Newton's method expects of its first iteration
ORDER = 6  # of a method of variable order
EQUAL = 7  # steps of equal length and order so far
MEMORY_HEADER = 8

# work
START, END = 0, 1  # of the last step, s (NaN: none)
FAILED_BLOCK, FAILED_TIME = 2, 3
STEPS, REJECTIONS, EVALUATIONS, JACOBIANS, FACTORIZATIONS, NEWTON_FAILURES = 4, 5, 6, 7, 8, 9
ACCEPTED_END = 10  # end of the last step as error control accepted it, s
DEGREE = 11  # of the dense output
ESTIMATE = 12  # error of the last attempt relative to the tolerance
FACTOR = 13  # by which the attempt wants the step to change
RATE = 14  # of convergence of the last iteration
ITERATIONS = 15
REJECTED = 16  # whether this step was rejected before
WORST = 17  # index of the state with the largest error or correction (-1: none)
WORK_HEADER = 18

# vectors in work
V_START, V_END, V_SCALE, V_SPARE, V_SLOPE, V_WEIGHT, V_ERROR, V_RIGHT, V_IMAGINARY, V_BASE = range(10)
V_DENSE = 10  # five of them
V_FAMILY = 15

# pattern
P_SIZE, P_ENTRIES, P_COLOURS, P_SPARSE = range(4)  # P_SPARSE: address of a sparse solver (0: dense)
P_COLOUR = 4

# how an attempt ended; more than 0: 1 + the index of a block that failed
OK, NOT_FINITE, NOT_CONVERGED, SINGULAR = 0, -1, -2, -3

EPSILON = 2.220446049250313e-16


def vector(work, index, n):
    """The vector of that index."""
    return work[WORK_HEADER + index * n : WORK_HEADER + index * n + n]


def larger(a, b):
    """The larger number; NaN when the second one is."""
    if b > a or b != b:
        return b
    return a


def power(base, exponent):
    """``base`` to a whole power that is not negative, by multiplication."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result
