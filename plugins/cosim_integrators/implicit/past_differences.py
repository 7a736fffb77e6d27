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
from cosim_integrators.implicit.implicit_method import HISTORY_AT, NUMBERS_AT, ImplicitMethod
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

    The history holds the differences at the distance of the last step. Where the distance of this step is
    another one, the first vectors of the family are the differences at that; the others are temporary. Both
    are as many as `DIFFERENCES`. Where the distance is the same, the saved history of the start of the step
    serves.
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
    def changed_differences(method):
        """The differences at a distance that is not that of the last step, one order after the other."""
        return method.family(0, DIFFERENCES)

    @property
    def differences(method):
        """The differences at the distance of this step, one order after the other.

        That of order 0 is ``start``; in its place may lie another one.
        """
        first = int(method.attempt.differences_at)
        return method.work_numbers[first : first + DIFFERENCES * method.n]

    def vector_of(method, vectors, index):
        """One of several vectors that lie one after the other."""
        return vectors[index * method.n : (index + 1) * method.n]

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


def change_distance(method, differences, changed, order, change):
    """Bring the differences to another distance by the matrix `change`; that of order 0 is the start."""
    n = method.n
    start = method.start
    for j in range(order + 1):
        target = method.vector_of(changed, j)
        factor = change[j]
        for m in range(n):
            target[m] = 0.0 + factor * start[m]  # so that -0.0 is 0.0, as in other sums
        for i in range(1, order + 1):
            factor = change[i * (order + 1) + j]
            difference = method.vector_of(differences, i)
            for m in range(n):
                target[m] += factor * difference[m]


def change_entry(i, j, ratio):
    """Product over q = 1 … i of ``(q - 1 - ratio j) / q``."""
    result = 1.0
    for q in range(1, i + 1):
        result *= (q - 1.0 - ratio * j) / q
    return result


def load_differences(method, step):
    """Bring the differences to the distance of this step, and return the order.

    The history of the start is saved: where the distance is the same, it is what the step begins with.
    """
    copy_values(method.saved_part(HISTORY_AT, method.history_end), method.history)
    if step == method.memory.last_step:
        method.attempt.differences_at = float(method.saved_at + HISTORY_AT)
        return method.order
    return load_changed_differences(method, step)


def load_changed_differences(method, step):
    """As `load_differences`, into the vectors of the family."""
    last = method.memory.last_step
    order = 1 if last == 0.0 else method.order
    method.attempt.differences_at = float(method.family_at)
    if last != 0.0 and step != last:
        fill_change(method.change, order, step / last)
    bring_to_distance(method, step, last, order, method.change)
    return order


def history_is_saved(method):
    """Save nothing where a step is accepted: `load_differences` has saved the history."""


def bring_to_distance(method, step, last, order, change):
    """Compute the differences at the distance of this step from those of the last one, of length `last`.

    The results are linear in the history, the start and the slope.
    """
    differences = method.changed_differences
    history = method.history
    start = method.start
    if last == 0.0:
        slope = method.slope
        first = method.vector_of(differences, 1)
        for i in range(differences.shape[0]):
            differences[i] = 0.0
        for m in range(method.n):
            differences[m] = start[m]
            first[m] = step * slope[m]
        return
    if step == last:
        copy_values(method.family(0, order + 3), history)
        copy_values(method.family(0, 1), start)
        return
    change_distance(method, history, differences, order, change)
    power = power_of_change(order, step / last)
    for above in range(1, 3):  # these are for estimates of errors alone
        source = method.vector_of(history, order + above)
        target = method.vector_of(differences, order + above)
        factor = power if above == 1 else power * (step / last)
        for m in range(method.n):
            target[m] = source[m] * factor


def power_of_change(order, ratio):
    """The factor of the difference of the next order when the distance changes by `ratio`."""
    power = 1.0
    for _ in range(order + 1):
        power *= ratio
    return power


@tangent_of(load_differences, with_values=True)
def load_differences_and_tangents(method, step, method_dot, step_dot):
    """Load the differences of values and of tangents; the lengths of steps do not vary."""
    order = load_changed_differences(method, step)
    arrays_dot = MethodArrays(*method_dot)
    tangents = tangent_differences(method, arrays_dot.memory_numbers, arrays_dot.work_numbers)
    bring_to_distance(tangents, step, method.memory.last_step, order, method.change)
    return order


def tangent_differences(method, memory_dot, work_dot):
    """A method whose memory and work are tangents; its other arrays do not vary."""
    return BackwardMethod(*tangent_method(method, memory_dot, work_dot))


def predict_end(method, y, order):
    """Extrapolate the past: the predicted end of a step into `y`, the base of its equation into ``base``."""
    predict_from(method, method.differences, y, order)


def predict_from(method, differences, y, order):
    """Do what `predict_end` says, with the differences at the distance of this step."""
    base = method.base
    predicted = method.imaginary
    start = method.start
    n = method.n
    first = method.vector_of(differences, 1)
    gamma_1 = method.gamma(1)
    for m in range(n):
        predicted[m] = start[m] + first[m]
        base[m] = 0.0 + gamma_1 * first[m]  # at first the sum of gamma times differences
    for i in range(2, order + 1):
        difference = method.vector_of(differences, i)
        gamma = method.gamma(i)
        for m in range(n):
            predicted[m] += difference[m]
            base[m] += gamma * difference[m]
    alpha = method.alpha(order)
    for m in range(n):
        base[m] = predicted[m] - base[m] / alpha
        y[m] = predicted[m]


def advance_differences(method, y, order, loaded):
    """Write the history: the differences at the end `y` of the step, the first `loaded` of them.

    `complete_polynomial` writes the dense output when it is first read.
    """
    history = method.history
    bring_to_end(method, method.differences, history, y, order)
    if loaded > order + 3:  # the first step has no more differences
        for i in range((order + 3) * method.n, loaded * method.n):
            history[i] = 0.0
    method.attempt.degree = -float(order)


@tangent_of(advance_differences, with_values=True)
def advance_differences_and_tangents(method, y, order, loaded, method_dot, y_dot):
    """Advance the differences of values and of tangents, and write the dense output of both at once."""
    arrays_dot = MethodArrays(*method_dot)
    tangents = tangent_differences(method, arrays_dot.memory_numbers, arrays_dot.work_numbers)
    advance_in_place(method, y, order, loaded)
    advance_in_place(tangents, y_dot, order, loaded)
    write_polynomials(method, tangents, order)


def advance_in_place(method, y, order, loaded):
    """Do what `advance_differences` says for differences in the family; they are then those at the end."""
    differences = method.changed_differences
    bring_to_end(method, differences, differences, y, order)
    history = method.history
    for i in range(loaded * method.n):
        history[i] = differences[i]


def write_polynomials(method, tangents, order):
    """Write the dense output of values and of tangents, by the differences at the end in the family."""
    write_polynomial(method, method.changed_differences, order, method.change)
    write_polynomial(tangents, tangents.changed_differences, order, method.change)
    method.attempt.degree = float(order)


def bring_to_end(method, differences, at_end, y, order):
    """Bring the differences to the end `y` of the step: what is written is linear in what is read."""
    n = method.n
    predicted = method.base
    next_difference = method.vector_of(differences, order + 1)
    next_at_end = method.vector_of(at_end, order + 1)
    last_at_end = method.vector_of(at_end, order + 2)
    for m in range(n):
        newest = y[m] - predicted[m]  # the difference of the next order, of the corrected end
        last_at_end[m] = newest - next_difference[m]
        next_at_end[m] = newest
    for back in range(order):
        difference = method.vector_of(differences, order - back)
        target = method.vector_of(at_end, order - back)
        above = method.vector_of(at_end, order - back + 1)
        for m in range(n):
            target[m] = difference[m] + above[m]
    copy_values(method.vector_of(at_end, 0), y)


def complete_polynomial(method):
    """Write the dense output of the last step, unless it is there: few steps are interpolated in.

    What it follows from lies in ``work`` until the next attempt.
    """
    degree = method.attempt.degree
    if degree < 0.0:
        order = int(-degree)
        at_end = method.family(DIFFERENCES, DIFFERENCES)
        bring_to_end(method, method.differences, at_end, method.end, order)
        write_polynomial(method, at_end, order, method.change)
        method.attempt.degree = -degree


def write_polynomial(method, differences, order, powers):
    """Write the interpolating polynomial as powers of s, s = 0 at the start and 1 at the end of the step.

    `differences` are those at the end of the step. The polynomial is sum_i D_i binomial(x + i - 1, i) with
    x = s - 1; the products are multiplied out.
    """
    set_empty_product(powers, order)
    for i in range(1, order + 1):
        multiply_by_factor(powers, i)
        difference = method.vector_of(differences, i)
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
