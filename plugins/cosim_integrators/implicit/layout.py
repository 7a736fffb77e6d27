"""Where things lie in the flat arrays of implicit methods, beyond what `cosim.contracts.method_layout` says.

================ ==========================================================================
``coefficients`` how the equations are solved: 0 vectors of the family in `work`, 1 vectors of its history
                 in `memory`, 2 factor between the tolerances of the solution and those that Newton's
                 method and the error estimate are held to, 3 what may be left of an iteration's error
                 when it stops, 4 the rate of convergence beyond which the Jacobian is made anew, 5 the
                 size of a correction that may be all rounding when it no longer shrinks, 6 how many more
                 iterations there are where the step cannot be shortened; from METHOD_AT on the numbers of
                 the method
``memory``       a header, the history of the method, the entries of the Jacobian
``work``         after the three common vectors: vectors for all implicit methods, those of the family,
                 the matrices, what the memory was at the start of the step and (for a step that is taken
                 again) at its end
``matrices``     the step for which they were made (0: none); the real matrix and its pivots; the complex
                 one and its pivots; the Jacobian they were made from
``pattern``      structure of the Jacobian, at the end of `slots`: a header, the colour of each column,
                 where the entries of each column start, the row of each entry
================ ==========================================================================
"""

from __future__ import annotations

from cosim.kit import OWN, WORK_HEADER

# coefficients
VECTORS, HISTORY, TOLERANCE, NEWTON, REFRESH, ROUNDING, MORE = range(7)
METHOD_AT = 7

# memory, after the next step and the last error
LAST = 2  # length of the last step, s (0: nothing is known of the past)
FACTORED = 3  # length of the step for which the matrices are made, s (0: none)
AGE = 4  # of the Jacobian: 0 there is none, 1 from an earlier step, 2 from the start of this one
CONVERGENCE = 5  # what Newton's method expects of its first iteration
ORDER = 6  # of a method of variable order
EQUAL = 7  # steps of equal length and order so far
HISTORY_AT = 8

# the method's own part of the header of work
DEGREE = OWN  # of the dense output
ESTIMATE = OWN + 1  # error of the last attempt relative to the tolerance
FACTOR = OWN + 2  # by which the attempt wants the step to change
RATE = OWN + 3  # of convergence, the slowest one of the step
ITERATIONS = OWN + 4
REJECTED = OWN + 5  # whether this step was rejected before

# vectors in work
V_START, V_END, V_SPARE, V_SLOPE, V_WEIGHT, V_ERROR, V_RIGHT, V_IMAGINARY, V_BASE = range(9)
V_DENSE = 9  # five of them
V_SHIFT = 14  # of Newton's real matrix, relative to that of the method; 1 unless groups of states differ
V_FAMILY = 15
COMMON_VECTORS = 3

# pattern
P_SIZE, P_ENTRIES, P_COLOURS, P_SPARSE, P_COMPLEX = range(5)  # P_SPARSE: address of a sparse solver, or 0
P_COLOUR = 5

# how an attempt ended; more than 0: 1 + the index of a block that failed
OK, BAD_NUMBER, SLOW, SINGULAR = 0, -1, -2, -3

EPSILON = 2.220446049250313e-16


def vector(work, index, n):
    """The vector of that index."""
    return work[WORK_HEADER + index * n : WORK_HEADER + index * n + n]


def family_vectors(work, index, count, n):
    """`count` vectors of the family, one after the other, from that index on."""
    at = WORK_HEADER + (V_FAMILY + index) * n
    return work[at : at + count * n]


def matrices_size(pattern):
    """Numbers in `matrices`."""
    n = pattern[P_SIZE]
    if pattern[P_SPARSE] != 0:
        return 1 + pattern[P_ENTRIES]
    return 1 + n * (n + 1) + pattern[P_COMPLEX] * n * (2 * n + 1) + pattern[P_ENTRIES]


def own_at(method, n):
    """Where the matrices start in `work`; what the memory was at the start of the step follows them."""
    return WORK_HEADER + (V_FAMILY + int(method[VECTORS])) * n


def power(base, exponent):
    """``base`` to a whole power that is not negative, by multiplication."""
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result
