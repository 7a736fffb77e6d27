"""The Jacobian of the derivative, several columns at a time: by tangents, or else by finite differences."""

from __future__ import annotations

import math

from cosim.kit import call_tangent, rows_of, tangent_of
from cosim_integrators.implicit.implicit_method import BAD_NUMBER, OK
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.rounding import noise_of_holds
from cosim_integrators.kit.start_of_step import copy_values

RELATIVE_INCREMENT = 1.4901161193847656e-08  # root of the spacing of numbers: balances rounding and curvature


def make_jacobian(system, method, t):
    """Fill ``method.jacobian`` with the derivatives d(y_dot)/dy at the start of the step.

    One tangent of the system gives all columns of one colour, which have no row in common. Differences are
    used instead if a block has no tangent, and for colours with an entry that is not finite.

    Returns OK, BAD_NUMBER or 1 + the index of a block that failed.

    References
    ----------
    A. R. Curtis, M. J. D. Powell, J. K. Reid, "On the estimation of sparse Jacobian matrices", Journal of
    the Institute of Mathematics and its Applications 13 (1974), as cited in SciPy,
    scipy/integrate/_ivp/bdf.py; increments as there in common.py, num_jac.
    """
    method.work.jacobians += 1.0
    status = follow_colours(system, method, t)
    if status == BAD_NUMBER:
        status = OK
        for colour in range(method.pattern.colours):
            if status == OK and (method.pattern.tangents == 0 or not are_finite(method, colour)):
                status = try_differences(system, method, t, colour)
    return status


@tangent_of(make_jacobian, with_values=True, leaves_fixed=True)
def make_jacobian_alone(system, method, t, system_dot, method_dot, t_dot):
    """Make the Jacobian, without tangents of its own: in a run with tangents every block has a tangent."""
    return follow_colours(system, method, t)


def follow_colours(system, method, t):
    """Fill the Jacobian by tangents; OK, BAD_NUMBER if it is not finite, or 1 + the index of a failed block.

    Without tangents it is BAD_NUMBER, too.
    """
    clear_tangents(system, method)
    if method.pattern.tangents == 0:
        return BAD_NUMBER if method.pattern.colours > 0 else OK
    for colour in range(method.pattern.colours):
        status = follow_tangents(system, method, t, colour)
        if status != OK:
            return status
    not_finite = 0
    for entry in method.jacobian:
        not_finite += 0 if abs(entry) < math.inf else 1
    return OK if not_finite == 0 else BAD_NUMBER


def are_finite(method, colour):
    """Whether the entries in the columns of a colour are finite."""
    entries = method.jacobian
    all_finite = True
    for e in method.entries_of(colour):
        all_finite = all_finite and abs(entries[e]) < math.inf
    return all_finite


def clear_tangents(system, method):
    """Zero the tangents of parameters, discrete variables and cache: held witnesses may have left some."""
    if method.pattern.tangents == 0:
        return
    values = method.block_tangents(0, system.p.shape[0] + system.d.shape[0] + method.pattern.tangents_cache)
    for m in range(values.shape[0]):
        values[m] = 0.0


def follow_tangents(system, method, t, colour):
    """Compute the columns of a colour by tangents; OK or 1 + the index of a block that failed."""
    direction = method.error
    colours = method.colours
    shape = method.pattern
    p_size = system.p.shape[0]
    d_size = system.d.shape[0]
    p_dot = method.block_tangents(0, p_size)
    d_dot = method.block_tangents(p_size, d_size)
    c_dot = method.block_tangents(p_size + d_size, shape.tangents_cache)
    for j in range(method.n):
        direction[j] = 1.0 if colours[j] == colour else 0.0
    method.work.evaluations += 1.0
    number = method.slots.inner_first
    for row in method.tangent_rows:
        status = call_tangent(
            row.address, t, system.y, system.p, system.d, system.k, system.h, system.c, system.ints,
            row.first, row.rows, 0.0, direction, p_dot, d_dot, system.h, c_dot,
        )  # fmt: skip
        number += 1
        if status != 0:
            return number
    store_columns(method, c_dot, colour)
    return OK


def store_columns(method, c_dot, colour):
    """Store the entries in the columns of one colour.

    Rows are read by `rows_of`, which unlike an index does not test for a negative place.
    """
    rows = method.entry_rows
    entries = method.jacobian
    for e in method.entries_of(colour):
        row = rows_of(int, rows, e, 1)[0]
        rows_of(float, entries, e, 1)[0] = rows_of(float, c_dot, row, 1)[0]


def try_differences(system, method, t, colour):
    """Compute the columns of one colour by differences; OK, BAD_NUMBER or 1 + the index of a block.

    The increment of a state has the sign of its derivative, so that the model probably can be evaluated
    there; if it cannot, the other side is tried. It is not smaller than the noise of held witnesses. `y` is
    the start of the step again afterwards.
    """
    y = system.y
    start = method.start
    slope = method.slope
    absolute = method.absolute_tolerances
    accuracy = method.settings.step_accuracy
    increment = method.error
    colours = method.colours
    noise = noise_of_holds(method, start)
    status = OK
    sign = 1.0
    for _ in range(2):
        for j in range(method.n):
            y[j] = start[j]
            if colours[j] == colour:
                scale = max(absolute[j] / accuracy, abs(start[j]))
                size = sign * max(RELATIVE_INCREMENT * scale, noise)
                y[j] = start[j] - size if slope[j] < 0.0 else start[j] + size
                increment[j] = y[j] - start[j]
        status = evaluate(system, method, t)
        if status == 0:
            status = divide_differences(method, system.c, increment, colour)
        if status == OK:
            break
        sign = -1.0
    copy_values(y, start)
    return status


def divide_differences(method, c, increment, colour):
    """Compute the entries in the columns of one colour; OK, or BAD_NUMBER when one is not finite."""
    slope = method.slope
    colours = method.colours
    starts = method.column_starts
    rows = method.entry_rows
    entries = method.jacobian
    not_finite = 0.0  # NaN as soon as an entry is not finite: 0 * inf is NaN, too
    for j in range(method.n):
        if colours[j] == colour:
            for e in range(starts[j], starts[j + 1]):
                row = rows[e]
                entries[e] = (c[row] - slope[row]) / increment[j]
                not_finite += 0.0 * entries[e]
    return OK if not_finite == 0.0 else BAD_NUMBER
