"""Times that are rational numbers, as kernel functions: whole seconds, and a rest counted in a resolution.

A time is ``whole + rest / resolution`` s with ``0 <= rest < resolution < 2**63``. Nothing here overflows, and
`nearest_time` rounds once: equal times are equal doubles, whatever they were made of.
"""

from __future__ import annotations

import math

from cosim_compiler.calls import rarely

LARGEST_RESOLUTION = (1 << 63) - 1
EXACT = 9007199254740992.0  # 2**53: integers below are doubles
LONGEST = 4611686018427387904.0  # 2**62 s
MOST_DECIMALS = 18  # of a resolution that fits 64 bits
TYPED = 1e15  # decimals with more digits were computed, not typed
SIMPLE = 1e6  # denominators up to this, by the root of the number, are no coincidence (one in 10,000)


def nearest_time(whole: int, rest: int, resolution: int) -> float:
    """The double nearest to a time, s; of two that are as near the one whose last bit is 0."""
    if rest == 0:
        return float(whole)
    if whole < 0:
        return -nearest_above_zero(-whole - 1, resolution - rest, resolution)
    return nearest_above_zero(whole, rest, resolution)


@rarely
def nearest_above_zero(whole: int, rest: int, resolution: int) -> float:
    """`nearest_time` of a time that is more than 0."""
    if float(resolution) < EXACT and float(whole + 1) * float(resolution) < EXACT:
        return float(whole * resolution + rest) / float(resolution)  # of two integers that are doubles
    if float(whole) >= EXACT:
        return float(whole)
    # one bit after the other, until there is one more than a double has
    digits = whole
    unit = 1.0
    while digits < 9007199254740992:
        digits += digits
        unit *= 0.5
        if rest >= resolution - rest:
            rest -= resolution - rest
            digits += 1
        else:
            rest += rest
    half = digits & 1
    digits >>= 1
    if half == 1 and (rest != 0 or (digits & 1) == 1):
        digits += 1
    return float(digits) * (2.0 * unit)


@rarely
def multiple(count: int, whole: int, rest: int, resolution: int) -> tuple[int, int]:
    """Whole and rest of a time that is not negative, `count` times."""
    if float(count) * float(rest) < LONGEST:
        product = count * rest
        return count * whole + product // resolution, product % resolution
    # one bit of `count` after the other: double, and add the time where it is set
    total_whole = 0
    total_rest = 0
    for bit in range(62, -1, -1):
        total_whole += total_whole
        if total_rest >= resolution - total_rest:
            total_rest -= resolution - total_rest
            total_whole += 1
        else:
            total_rest += total_rest
        if (count >> bit) & 1 == 1:
            total_whole += whole
            if total_rest >= resolution - rest:
                total_rest -= resolution - rest
                total_whole += 1
            else:
                total_rest += rest
    return total_whole, total_rest


def tick(
    index: int, offset_whole: int, offset_rest: int, period_whole: int, period_rest: int, resolution: int
) -> tuple[int, int]:
    """Whole and rest of ``offset + index * period``; `index` is not negative."""
    whole, rest = multiple(index, period_whole, period_rest, resolution)
    whole += offset_whole
    if rest >= resolution - offset_rest:
        return whole + 1, rest - (resolution - offset_rest)
    return whole, rest + offset_rest


def tick_time(
    index: int, offset_whole: int, offset_rest: int, period_whole: int, period_rest: int, resolution: int
) -> float:
    """``offset + index * period``, s, rounded once; `index` is not negative."""
    size = float(index) * (float(period_whole) + 1.0) + abs(float(offset_whole)) + 1.0
    if float(resolution) < EXACT and size * float(resolution) < EXACT:
        count = index * (period_whole * resolution + period_rest) + offset_whole * resolution + offset_rest
        return float(count) / float(resolution)  # of two integers that are doubles
    whole, rest = tick(index, offset_whole, offset_rest, period_whole, period_rest, resolution)
    return nearest_time(whole, rest, resolution)


def compare_fractions(a: int, b: int, c: int, d: int) -> int:
    """-1, 0 or 1: whether ``a / b`` is less than ``c / d``, equal or more; both are in [0, 1)."""
    sign = 1
    while a != 0 and c != 0:
        # of the inverses, whose order is the other way round, wholes first, then what is left
        if b // a != d // c:
            return sign if b // a < d // c else -sign
        a, b = b % a, a
        c, d = d % c, c
        sign = -sign
    if a == c:
        return 0
    return sign if a != 0 else -sign


def greatest_divisor(a: int, b: int) -> int:
    """The greatest common divisor of two integers above 0."""
    while b != 0:
        a, b = b, a % b
    return a


def common_resolution(a: int, b: int) -> int:
    """The least resolution in which times of both can be counted; 0 where it does not fit 64 bits."""
    factor = b // greatest_divisor(a, b)
    return 0 if factor > LARGEST_RESOLUTION // a else a * factor


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


def decimal_time(size: float, whole: int) -> tuple[int, int, int]:
    """The shortest decimal that rounds to a double above 0; `whole` is the integer below it."""
    # the part behind the point is `mantissa` of 2 to the power of `bits`
    mantissa = size - float(whole)
    bits = 0
    while mantissa != math.floor(mantissa):
        mantissa *= 2.0
        bits += 1
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
        for last_digit_more in (nearer, 1 - nearer):
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
    """The first convergent of what a double has behind its point that rounds to it: above and below the line.

    Below the line 0 where there is none with a denominator that small.
    """
    mantissa = size - float(whole)
    bits = 0
    while mantissa != math.floor(mantissa):
        mantissa *= 2.0
        bits += 1
    # the first quotient is 2 to the power of `bits` by the mantissa, with what remains
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
