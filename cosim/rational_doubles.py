"""The rational numbers that doubles stand for, as kernel functions: 0.3 is 3/10.

A user who writes 0.3 s means 3/10 s, and a program that computes 1 / 30 means 1/30 s. The doubles are other
numbers, so events that should meet would not. Rational numbers are as in `cosim.rational`.
"""

from __future__ import annotations

import math

from cosim.rational import (
    EXACT,
    LARGEST_RESOLUTION,
    LONGEST,
    common_resolution,
    greatest_divisor,
    multiple,
    nearest_time,
    tick_time,
)
from cosim_compiler.calls import rarely

MOST_DECIMALS = 18  # of a resolution that fits 64 bits
TYPED = 1e15  # decimals with more digits were computed, not typed
SIMPLE = 1e6  # denominators up to this, by the root of the number, are no coincidence (one in 10,000)


@rarely
def rational_time(number: float) -> tuple[int, int, int]:
    """Whole, rest and resolution of the rational that a double stands for; a resolution of 0 where none fits.

    That is its shortest decimal: 0.3 is 3/10. One with more than 15 digits was computed, not typed: where a
    fraction with a small denominator rounds to the same double, it is that (0.03333333333333333 is 1/30).
    Where the decimal does not fit, it is the first convergent of the continued fraction that rounds to it.
    """
    if not abs(number) < LONGEST:
        return 0, 0, 0
    size = abs(number)
    below = math.floor(size)
    if float(below) == size:
        return (below if number > 0.0 else -below), 0, 1
    whole, rest, resolution = decimal_time(size, below)
    if resolution == 0 or float(whole) * float(resolution) + float(rest) >= TYPED:
        above, simple = fraction_time(size, below, SIMPLE / math.sqrt(size) if resolution != 0 else LONGEST)
        if simple != 0:
            whole, rest, resolution = below, above, simple
    if resolution == 0:
        return 0, 0, 0
    divisor = greatest_divisor(resolution, rest)
    rest //= divisor
    resolution //= divisor
    if number < 0.0:
        return -whole - 1, resolution - rest, resolution
    return whole, rest, resolution


def binary_fraction(part: float) -> tuple[float, int]:
    """A number in [0, 1) as ``mantissa / 2**bits``, where the mantissa is a whole number."""
    bits = 0
    while part != math.floor(part):
        part *= 2.0
        bits += 1
    return part, bits


def decimal_time(size: float, whole: int) -> tuple[int, int, int]:
    """The shortest decimal that rounds to a double above 0; `whole` is the integer below it."""
    mantissa, bits = binary_fraction(size - float(whole))
    if bits > 62:
        return short_decimal_time(size, whole)
    unit = 1 << bits
    undecided = int(mantissa)  # of the part behind the point, what the digits so far leave
    rest = 0
    resolution = 1
    for _ in range(MOST_DECIMALS):
        digit, undecided = multiple(10, 0, undecided, unit)
        rest = 10 * rest + digit
        resolution *= 10
        is_above = undecided > unit - undecided or (undecided == unit - undecided and rest % 2 == 1)
        nearer = 1 if is_above else 0
        for last_digit_more in (nearer, 1 - nearer):  # the decimal above or below, the nearer one first
            decimal = rest + last_digit_more
            carry = decimal // resolution
            if nearest_time(whole + carry, decimal - carry * resolution, resolution) == size:
                return whole + carry, decimal - carry * resolution, resolution
    return 0, 0, 0


def short_decimal_time(size: float, whole: int) -> tuple[int, int, int]:
    """`decimal_time` of a double whose own bits do not fit; a decimal that does has few digits."""
    resolution = 1
    for _ in range(MOST_DECIMALS):
        resolution *= 10
        nearest = math.floor((size - float(whole)) * float(resolution) + 0.5)
        if 0.0 < nearest < EXACT and nearest / float(resolution) == size - float(whole):
            return whole, int(nearest), resolution
    return 0, 0, 0


def fraction_time(size: float, whole: int, largest_denominator: float) -> tuple[int, int]:
    """Numerator and denominator of what a double has behind its point; both 0 where the latter is too large.

    They are the first convergent of its continued fraction that, with `whole`, rounds to it. Convergents
    follow from the quotients of Euclid's algorithm; each is its quotient times the one before, plus the one
    before that.
    """
    mantissa, bits = binary_fraction(size - float(whole))
    # the first quotient is 2 to the power of `bits` by the mantissa: double 1 / mantissa, with its remainder
    divisor = int(mantissa)
    quotient = 1 // divisor
    remainder = 1 % divisor
    for _ in range(bits):
        if float(quotient) * 2.0 > largest_denominator:
            return 0, 0
        quotient += quotient
        if remainder >= divisor - remainder:
            remainder -= divisor - remainder
            quotient += 1
        else:
            remainder += remainder
    above_before = 0
    below_before = 1
    above = 1
    below = quotient
    while float(below) <= largest_denominator:
        if nearest_time(whole, above, below) == size:
            return above, below
        if remainder == 0:
            return 0, 0
        quotient = divisor // remainder
        divisor, remainder = remainder, divisor % remainder
        if float(quotient) * float(below) > largest_denominator:
            return 0, 0
        above, above_before = quotient * above + above_before, above
        below, below_before = quotient * below + below_before, below
    return 0, 0


def periodic_time(index: int, parts: int, offset: float, period: float) -> float:
    """``offset + index * period / parts`` of two doubles, s, as the rational numbers that they stand for."""
    period_whole, period_rest, of_period = rational_time(period)
    offset_whole, offset_rest, of_offset = rational_time(offset)
    is_counted = of_period != 0 and of_offset != 0 and of_period <= LARGEST_RESOLUTION // parts
    resolution = common_resolution(of_period * parts, of_offset) if is_counted else 0
    if resolution == 0:
        return offset + float(index) / float(parts) * period
    offset_rest *= resolution // of_offset
    part_rest = ((period_whole % parts) * of_period + period_rest) * (resolution // (of_period * parts))
    return tick_time(index, offset_whole, offset_rest, period_whole // parts, part_rest, resolution)
