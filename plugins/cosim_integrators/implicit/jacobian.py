"""The Jacobian of the derivative by finite differences, several columns at a time."""

from __future__ import annotations

from cosim.kit import EVALUATIONS, JACOBIANS, SETTINGS_HEADER, STEP_ACCURACY, walk
from cosim_integrators.implicit.layout import (
    BAD_NUMBER,
    OK,
    P_COLOUR,
    P_COLOURS,
    V_ERROR,
    V_SLOPE,
    V_START,
    vector,
)

RELATIVE_INCREMENT = 1.4901161193847656e-08  # the root of the spacing of numbers: both errors are alike then


def make_jacobian(table, ints, first, last, t, y, p, d, k, h, c, pattern, entries, settings, work):
    """Fill `entries` with the derivatives d(y_dot)/dy at the start of the step.

    One walk for each colour of the pattern: its columns have no row in common. The increment of a
    state goes where its derivative points, so that it stays inside what the model can compute; where
    it does not, the other side is tried. `y` is the start of the step again afterwards.

    Returns OK, BAD_NUMBER or 1 + the index of a block that failed.

    References
    ----------
    A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian matrices", Journal of
    the Institute of Mathematics and its Applications 13 (1974), as cited in SciPy,
    scipy/integrate/_ivp/bdf.py; increments as there in common.py, num_jac.
    """
    n = y.shape[0]
    start = vector(work, V_START, n)
    slope = vector(work, V_SLOPE, n)
    absolute = settings[SETTINGS_HEADER + n : SETTINGS_HEADER + 2 * n]
    increment = vector(work, V_ERROR, n)
    work[JACOBIANS] += 1.0
    code = OK
    for colour in range(pattern[P_COLOURS]):
        sign = 1.0
        for _ in range(2):
            for j in range(n):
                y[j] = start[j]
                if pattern[P_COLOUR + j] == colour:
                    scale = max(absolute[j] / settings[STEP_ACCURACY], abs(start[j]))
                    size = sign * RELATIVE_INCREMENT * scale
                    y[j] = start[j] - size if slope[j] < 0.0 else start[j] + size
                    increment[j] = y[j] - start[j]
            work[EVALUATIONS] += 1.0
            code = walk(table, ints, first, last, t, y, p, d, k, h, c)
            if code == 0:
                code = _differences(c, slope, increment, pattern, colour, entries, n)
            if code == OK:
                break
            sign = -1.0
        if code != OK:
            break
    for j in range(n):
        y[j] = start[j]
    return code


def _differences(c, slope, increment, pattern, colour, entries, n):
    """The entries in the columns of one colour; BAD_NUMBER when one is not a number."""
    rows = P_COLOUR + 2 * n + 1
    total = 0.0
    for j in range(n):
        if pattern[P_COLOUR + j] == colour:
            for e in range(pattern[P_COLOUR + n + j], pattern[P_COLOUR + n + j + 1]):
                row = pattern[rows + e]
                entries[e] = (c[row] - slope[row]) / increment[j]
                total += 0.0 * entries[e]
    return OK if total == 0.0 else BAD_NUMBER
