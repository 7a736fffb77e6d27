"""Times that are rational numbers, as kernel functions: whole seconds, and a rest counted in a resolution.

A time is ``whole + rest / resolution`` s with ``0 <= rest < resolution < 2**63``. Nothing here overflows, and
`nearest_time` rounds once: equal times are equal doubles, whatever they were made of.
"""

from __future__ import annotations

from cosim_compiler.calls import rarely

LARGEST_RESOLUTION = (1 << 63) - 1
EXACT = 9007199254740992.0  # 2**53: integers below are doubles
FIRST_TOO_LONG = 9007199254740992  # the same as an integer: it and those above have more bits than a double
LONGEST = 4611686018427387904.0  # 2**62 s


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
    while digits < FIRST_TOO_LONG:
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
