"""The Jacobian of the derivative by finite differences, several columns at a time."""

from __future__ import annotations

from cosim_integrators.implicit.implicit_method import BAD_NUMBER, OK
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values

RELATIVE_INCREMENT = 1.4901161193847656e-08  # the root of the spacing of numbers: both errors are alike then


def make_jacobian(system, method, t):
    """Fill ``method.jacobian`` with the derivatives d(y_dot)/dy at the start of the step.

    One evaluation for each colour of the pattern: its columns have no row in common. The increment of a
    state goes where its derivative points, so that it stays inside what the model can compute; where
    it does not, the other side is tried. `y` is the start of the step again afterwards.

    Returns OK, BAD_NUMBER or 1 + the index of a block that failed.

    References
    ----------
    A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian matrices", Journal of
    the Institute of Mathematics and its Applications 13 (1974), as cited in SciPy,
    scipy/integrate/_ivp/bdf.py; increments as there in common.py, num_jac.
    """
    y = system.y
    n = method.n
    start = method.start
    slope = method.slope
    absolute = method.absolute_tolerances
    accuracy = method.settings.step_accuracy
    increment = method.error
    colours = method.colours
    method.work.jacobians += 1.0
    status = OK
    for colour in range(method.pattern.colours):
        sign = 1.0
        for _ in range(2):
            for j in range(n):
                y[j] = start[j]
                if colours[j] == colour:
                    scale = max(absolute[j] / accuracy, abs(start[j]))
                    size = sign * RELATIVE_INCREMENT * scale
                    y[j] = start[j] - size if slope[j] < 0.0 else start[j] + size
                    increment[j] = y[j] - start[j]
            status = evaluate(system, method, t)
            if status == 0:
                status = divide_differences(method, system.c, increment, colour)
            if status == OK:
                break
            sign = -1.0
        if status != OK:
            break
    copy_values(y, start)
    return status


def divide_differences(method, c, increment, colour):
    """Compute the entries in the columns of one colour; OK, or BAD_NUMBER when one is not finite."""
    slope = method.slope
    colours = method.colours
    starts = method.column_starts
    rows = method.entry_rows
    entries = method.jacobian
    total = 0.0
    for j in range(method.n):
        if colours[j] == colour:
            for e in range(starts[j], starts[j + 1]):
                row = rows[e]
                entries[e] = (c[row] - slope[row]) / increment[j]
                total += 0.0 * entries[e]
    return OK if total == 0.0 else BAD_NUMBER
