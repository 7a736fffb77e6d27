"""The past of a multistep method as backward differences of y: arrays, and arithmetic on differences.

The differences belong to equal distances in time. When the step changes they are brought to the new distance
by interpolation. All results are linear in the differences, so that tangents and adjoints repeat the same
arithmetic (`recorded_differences`).

References
----------
L. F. Shampine, M. W. Reichelt, "The MATLAB ODE suite", SIAM Journal on Scientific Computing 18 (1997), as
in SciPy, scipy/integrate/_ivp/bdf.py: change of distance.
"""

from __future__ import annotations

from cosim.kit import MethodArrays, Record, rows_of, tangent_of, width_of
from cosim_integrators.implicit.implicit_method import NUMBERS_AT, ImplicitMethod
from cosim_integrators.implicit.newton import tangent_method
from cosim_integrators.kit.start_of_step import copy_values

HIGHEST_ORDER = 5
DIFFERENCES = HIGHEST_ORDER + 3
"""They have orders 0 … 7: error estimates need the two orders above that of the method."""
CHANGE_SIZE = (HIGHEST_ORDER + 1) * (HIGHEST_ORDER + 1)  # numbers of a matrix that changes the distance


class BackwardNumbers(Record):
    """The numbers of the method; behind them gamma, alpha and the error constants of orders 0 … 5."""

    highest_order: float


COEFFICIENTS_AT = NUMBERS_AT + width_of(BackwardNumbers)


class BackwardMethod(ImplicitMethod):
    """The arrays of the method.

    The history holds the differences at the distance of the last step. The vectors of the family are the
    differences at the distance of this step, and temporary ones, as many as `DIFFERENCES` each.
    """

    @property
    def numbers(method):
        """The numbers of the method: its highest order."""
        return rows_of(BackwardNumbers, method.coefficients, NUMBERS_AT, 1)[0]

    def gamma(method, order):
        """1 + 1/2 + … + 1/order."""
        return method.coefficients[COEFFICIENTS_AT + order]

    def alpha(method, order):
        """The leading coefficient of the formula."""
        return method.coefficients[COEFFICIENTS_AT + HIGHEST_ORDER + 1 + order]

    def error_constant(method, order):
        """The quotient of the error and the difference of the next order."""
        return method.coefficients[COEFFICIENTS_AT + 2 * (HIGHEST_ORDER + 1) + order]

    @property
    def differences(method):
        """The differences at the distance of this step, one order after the other."""
        return method.family(0, DIFFERENCES)

    def difference(method, order):
        """The difference of an order."""
        return method.family(order, 1)

    @property
    def change(method):
        """Room for the matrix of a change of distance."""
        return method.work_numbers[method.work_numbers.shape[0] - CHANGE_SIZE :]

    @property
    def order(method):
        """The present order, within its bounds even if a restored State holds another number."""
        return int(min(max(method.memory.order, 1.0), float(HIGHEST_ORDER)))


def fill_change(change, order, ratio):
    """Fill in the matrix that brings differences of a polynomial to `ratio` times their distance."""
    for i in range(order + 1):
        for j in range(order + 1):
            change[i * (order + 1) + j] = 0.0
        for q in range(order + 1):
            entry = change_entry(i, q, ratio)
            for j in range(q, order + 1):  # below that change_entry(q, j, 1) is 0
                change[i * (order + 1) + j] += entry * change_entry(q, j, 1.0)


def change_distance(method, order, change):
    """Bring the differences to another distance by the matrix `change`."""
    differences = method.differences
    room = method.family(DIFFERENCES, DIFFERENCES)
    n = method.n
    for j in range(order + 1):
        changed = method.family(DIFFERENCES + j, 1)
        factor = change[j]
        difference = method.difference(0)
        for m in range(n):
            changed[m] = 0.0 + factor * difference[m]  # so that -0.0 is 0.0, as in other sums
        for i in range(1, order + 1):
            factor = change[i * (order + 1) + j]
            difference = method.difference(i)
            for m in range(n):
                changed[m] += factor * difference[m]
    for i in range((order + 1) * n):
        differences[i] = room[i]


def change_entry(i, j, ratio):
    """Product over q = 1 … i of ``(q - 1 - ratio j) / q``."""
    result = 1.0
    for q in range(1, i + 1):
        result *= (q - 1.0 - ratio * j) / q
    return result


def load_differences(method, step):
    """Bring the differences to the distance of this step, and return the order."""
    last = method.memory.last_step
    order = 1 if last == 0.0 else method.order
    if last != 0.0 and step != last:
        fill_change(method.change, order, step / last)
    bring_to_distance(method, step, last, order, method.change)
    return order


def bring_to_distance(method, step, last, order, change):
    """Compute the differences at the distance of this step from those of the last one, of length `last`.

    The results are linear in the history, the start and the slope.
    """
    differences = method.differences
    start = method.start
    if last == 0.0:
        slope = method.slope
        first = method.difference(1)
        for i in range(differences.shape[0]):
            differences[i] = 0.0
        for m in range(method.n):
            differences[m] = start[m]
            first[m] = step * slope[m]
        return
    copy_values(method.family(0, order + 3), method.history)
    for m in range(method.n):
        differences[m] = start[m]
    if step != last:
        change_distance(method, order, change)
        power = power_of_change(order, step / last)
        next_difference = method.difference(order + 1)
        last_difference = method.difference(order + 2)
        for m in range(method.n):  # these are for estimates of errors alone
            next_difference[m] *= power
            last_difference[m] *= power * (step / last)


def power_of_change(order, ratio):
    """The factor of the difference of the next order when the distance changes by `ratio`."""
    power = 1.0
    for _ in range(order + 1):
        power *= ratio
    return power


@tangent_of(load_differences, with_values=True)
def load_differences_and_tangents(method, step, method_dot, step_dot):
    """Load the differences of values and of tangents; the lengths of steps do not vary."""
    order = load_differences(method, step)
    arrays_dot = MethodArrays(*method_dot)
    tangents = tangent_differences(method, arrays_dot.memory_numbers, arrays_dot.work_numbers)
    bring_to_distance(tangents, step, method.memory.last_step, order, method.change)
    return order


def tangent_differences(method, memory_dot, work_dot):
    """A method whose memory and work are tangents; its other arrays do not vary."""
    return BackwardMethod(*tangent_method(method, memory_dot, work_dot))


def predict_end(method, y, order):
    """Extrapolate the past: the predicted end of a step into `y`, the base of its equation into ``base``."""
    base = method.base
    predicted = method.imaginary
    n = method.n
    copy_values(predicted, method.difference(0))
    for m in range(n):
        base[m] = 0.0  # at first the sum of gamma times differences
    for i in range(1, order + 1):
        difference = method.difference(i)
        gamma = method.gamma(i)
        for m in range(n):
            predicted[m] += difference[m]
            base[m] += gamma * difference[m]
    alpha = method.alpha(order)
    for m in range(n):
        base[m] = predicted[m] - base[m] / alpha
        y[m] = predicted[m]


def advance_differences(method, y, order, loaded):
    """Advance the differences to the end `y` of the step; write the dense output and the history.

    The first `loaded` differences become the history.
    """
    bring_to_end(method, y, order, loaded, method.change)


def bring_to_end(method, y, order, loaded, powers):
    """As `advance_differences`, with `powers` for temporary numbers."""
    n = method.n
    differences = method.differences
    predicted = method.base
    next_difference = method.difference(order + 1)
    last_difference = method.difference(order + 2)
    for m in range(n):
        newest = y[m] - predicted[m]  # the difference of the next order, of the corrected end
        last_difference[m] = newest - next_difference[m]
        next_difference[m] = newest
    for back in range(order + 1):
        difference = method.difference(order - back)
        above = method.difference(order - back + 1)
        for m in range(n):
            difference[m] += above[m]
    for m in range(n):
        differences[m] = y[m]
    write_polynomial(method, order, powers)
    history = method.history
    for i in range(loaded * n):
        history[i] = differences[i]


def write_polynomial(method, order, powers):
    """Write the interpolating polynomial as powers of s, s = 0 at the start and 1 at the end of the step.

    It is sum_i D_i binomial(x + i - 1, i) with x = s - 1; the products are multiplied out.
    """
    set_empty_product(powers, order)
    for i in range(1, order + 1):
        multiply_by_factor(powers, i)
        difference = method.difference(i)
        for q in range(1, i):
            part = method.dense(q - 1)
            power = powers[q]
            for m in range(method.n):
                part[m] += power * difference[m]
        highest = method.dense(i - 1)
        power = powers[i]
        for m in range(method.n):
            highest[m] = 0.0 + power * difference[m]  # so that -0.0 is 0.0, as in other sums


def set_empty_product(powers, order):
    """Set the coefficients of s^0 … s^order to those of the product without factors, 1."""
    for i in range(order + 1):
        powers[i] = 0.0
    powers[0] = 1.0


def multiply_by_factor(powers, i):
    """Multiply the polynomial with these coefficients by the factor of difference `i`, (s + i - 2) / i."""
    for back in range(i + 1):
        q = i - back
        below = powers[q - 1] if q > 0 else 0.0
        powers[q] = (below + (i - 2.0) * powers[q]) / i
