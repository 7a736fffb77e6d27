"""Rules for the tangents of functions of `math`, in the kernel language.

If an argument does not change, its part of a tangent is 0, also where the slope is infinite. Where two smooth
pieces meet (`abs` at 0, `min` and `max` of equal numbers) a tangent is the mean of both sides. Where there is
no derivative it is NaN.
"""

import math


def ratio(rate, slope):
    """``rate / slope``: 0 where nothing changes, infinite where the slope is 0."""
    if rate == 0.0:
        return 0.0
    if slope == 0.0:
        return math.copysign(math.inf, rate) * math.copysign(1.0, slope)
    return rate / slope


def ratio_by(rate, divisor):
    """The tangent of ``dividend / divisor`` for a constant divisor."""
    return 0.0 if rate == 0.0 else rate / divisor


def quotient_rate(value, divisor, rate, divisor_rate):
    """The tangent of ``value = dividend / divisor``; a constant divisor adds nothing, also at infinity."""
    change = rate if divisor_rate == 0.0 else rate - value * divisor_rate
    if divisor != 0.0:
        return change / divisor
    return (
        change
        if change == 0.0 or math.isnan(change)
        else math.copysign(math.inf, change) * math.copysign(1.0, divisor)
    )


def size_rate(x, rate):
    """The tangent of ``abs(x)``."""
    if x > 0.0:
        return rate
    if x < 0.0:
        return -rate
    return 0.0 if x == 0.0 else math.nan


def signed_size_rate(x, sign, rate):
    """The tangent of ``copysign(x, sign)``."""
    return size_rate(x, rate) * math.copysign(1.0, sign)


def least_rate(x, y, x_rate, y_rate):
    """The tangent of ``min(x, y)``."""
    if x == y:
        return 0.5 * (x_rate + y_rate) if x_rate != y_rate else x_rate
    return y_rate if y < x else x_rate


def greatest_rate(x, y, x_rate, y_rate):
    """The tangent of ``max(x, y)``."""
    if x == y:
        return 0.5 * (x_rate + y_rate) if x_rate != y_rate else x_rate
    return y_rate if y > x else x_rate


def power_rate(x, y, value, x_rate, y_rate):
    """The tangent of ``value = pow(x, y)``."""
    rate = 0.0
    if x_rate != 0.0 and y != 0.0:
        if x != 0.0:
            rate = y * (value / x) * x_rate
        elif y == 1.0:
            rate = x_rate
        elif y < 1.0:
            rate = math.copysign(math.inf, x_rate) if y > 0.0 else math.nan
    if y_rate != 0.0:
        if x > 0.0:
            rate += value * math.log(x) * y_rate
        elif x < 0.0 or y <= 0.0:
            rate = math.nan
    return rate


def length_rate(x, y, value, x_rate, y_rate):
    """The tangent of ``value = hypot(x, y)``."""
    if value == 0.0:
        return 0.0
    return (x / value) * x_rate + (y / value) * y_rate


def angle_rate(y, x, y_rate, x_rate):
    """The tangent of ``atan2(y, x)``."""
    if y_rate == 0.0 and x_rate == 0.0:
        return 0.0
    size = max(abs(x), abs(y))
    if size == 0.0:
        return math.nan
    a, b = x / size, y / size
    return (a * y_rate - b * x_rate) / (a * a + b * b) / size


def remainder_rate(whole_quotient, rate, divisor_rate):
    """The tangent of ``x % y``; `whole_quotient` is ``x // y``."""
    return rate if divisor_rate == 0.0 or whole_quotient == 0.0 else rate - whole_quotient * divisor_rate


def fmod_rate(x, y, rate, divisor_rate):
    """The tangent of ``fmod(x, y)``."""
    if divisor_rate == 0.0 or abs(x) < abs(y):
        return rate
    return rate - (x - math.fmod(x, y)) / y * divisor_rate


EXACT = 1e-14
"""Numbers count as equal if they differ by this part of themselves."""
ALIKE = 1e-9
"""Numbers count as moving alike if their tangents differ by this part of themselves."""


def refuse_decision(x, y, x_rate, y_rate):
    """Raise if the numbers that a branch compares are equal, and move apart."""
    is_equal = abs(x - y) <= EXACT * max(abs(x), abs(y))
    if is_equal and abs(x_rate - y_rate) > ALIKE * (abs(x_rate) + abs(y_rate)):
        raise ValueError("a comparison of two equal numbers decides, and their difference varies")


def refuse_jump(x, rate):
    """Raise if a number that varies is whole: there rounding jumps."""
    if rate != 0.0 and abs(x - math.floor(x + 0.5)) <= EXACT * max(1.0, abs(x)):
        raise ValueError("a number that varies is rounded where that jumps")


def refuse_jump_beside_zero(x, rate):
    """Raise as `refuse_jump`, but not at 0, which is rounded as the numbers around it."""
    if abs(x) > 0.5:
        refuse_jump(x, rate)


def refuse_jump_at_half(x, rate):
    """Raise as `refuse_jump`, where rounding to the nearest whole number jumps."""
    refuse_jump(x - 0.5, rate)


def refuse_jump_of_quotient(x, y, x_rate, y_rate):
    """Raise as `refuse_jump`, for the quotient of two numbers."""
    if y != 0.0:
        refuse_jump(x / y, x_rate - x / y * y_rate)


def product(x, y):
    """``x * y``, but 0 if one factor is 0, even if the other one is infinite."""
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def start_of_part(first, count):
    """The index at which ``view[first:…]`` of a view of `count` numbers begins."""
    at = first + count if first < 0 else first
    return min(max(at, 0), count)


def clear(view):
    """Fill a view with zeros."""
    for i in range(len(view)):
        view[i] = 0.0
