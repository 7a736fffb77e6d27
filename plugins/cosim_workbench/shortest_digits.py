"""The shortest decimal number that reads back as the same real; a kernel function of whole numbers.

Of a real c 2^q the numbers between the middles to its neighbours read back as it. Scaled by a power of ten
they hold one, two or three whole numbers that count; products with the 126 bits of that power, rounded to
odd, are compared in place of exact ones.

References
----------
R. Giulietti, The Schubfach way to render doubles, 2020.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FRACTION_BITS, LARGEST_EXPONENT = 52, 2047
BIAS = 1023 + FRACTION_BITS
"""The exponent of a real counts from here: c 2^q with a whole number c has q = exponent - `BIAS`."""
HIDDEN_BIT = 1 << FRACTION_BITS
FRACTION = HIDDEN_BIT - 1
LEAST_POWER, GREATEST_POWER = -292, 324
"""The powers of ten by which finite reals are scaled, from the largest to the least that is not normal."""
WORD32, WORD63 = (1 << 32) - 1, (1 << 63) - 1
TO_8 = 10**8

# floor(x log) for all exponents of a real, as a product of whole numbers and a shift
LOG_SHIFT, LOG10_OF_2, LOG10_OF_4_3 = 41, 661_971_961_083, 274_743_187_321
"""log10(2) and log10(4/3), times 2^41."""
LOG2_SHIFT, LOG2_OF_10 = 38, 913_124_641_741
"""log2(10), times 2^38."""


def bits_of_powers() -> NDArray[np.int64]:
    """The first 126 bits of each power of ten, and one more: two whole numbers of 63 bits for each."""
    halves = []
    for exponent in range(LEAST_POWER, GREATEST_POWER + 1):
        power = 10 ** abs(exponent)
        length = power.bit_length()
        if exponent >= 0:
            leading = power << (126 - length) if length <= 126 else power >> (length - 126)
        else:
            leading = (1 << (125 + length)) // power
        leading += 1
        halves += [leading >> 63, leading & WORD63]
    return np.array(halves, dtype=np.int64)


POWERS = bits_of_powers()


def high_product(a: int, b: int) -> int:
    """The bits from 64 on of the product of two numbers that are not negative."""
    a_high, a_low, b_high, b_low = a >> 32, a & WORD32, b >> 32, b & WORD32
    low = ((a_low * b_low) >> 32) & WORD32
    middle = low + a_high * b_low % (1 << 32) + a_low * b_high % (1 << 32)
    return a_high * b_high + ((a_high * b_low) >> 32) + ((a_low * b_high) >> 32) + (middle >> 32)


def scaled(high: int, low: int, c: int) -> int:
    """The product of `c` and a power, rounded to an odd number where it is not a whole one."""
    fraction = (((high * c) >> 1) & WORD63) + high_product(low, c)
    integer = high_product(high, c) + ((fraction >> 63) & 1)
    return integer | (1 if fraction & WORD63 != 0 else 0)


def shortest(bits: int) -> tuple[int, int]:
    """Digits and exponent of a finite real that is not zero; its sign does not count.

    Of several numbers with so few digits it is the nearest. Zeros at the end of the digits may be left.
    """
    fraction, exponent = bits & FRACTION, (bits >> FRACTION_BITS) & LARGEST_EXPONENT
    c, q = (fraction | HIDDEN_BIT, exponent - BIAS) if exponent != 0 else (fraction, 1 - BIAS)
    if q >= -FRACTION_BITS and q <= 0 and c & ((1 << -q) - 1) == 0:
        return c >> -q, 0  # a whole number
    is_power_of_two = fraction == 0 and exponent > 1  # the neighbour below is nearer, at 3/4 of the distance
    # 10^k is the largest power of ten that is not wider than the interval that reads back as the real
    k = (q * LOG10_OF_2 - (LOG10_OF_4_3 if is_power_of_two else 0)) >> LOG_SHIFT
    shift = q + ((-k * LOG2_OF_10) >> LOG2_SHIFT) + 2
    high, low = POWERS[2 * (-k - LEAST_POWER)], POWERS[2 * (-k - LEAST_POWER) + 1]
    # four times the real and the ends of its interval, in units of 10^k
    lower = scaled(high, low, (4 * c - (1 if is_power_of_two else 2)) << shift)
    value = scaled(high, low, (4 * c) << shift)
    upper = scaled(high, low, (4 * c + 2) << shift)
    is_odd = c & 1  # then the ends themselves read back as its even neighbours
    return chosen_digits(lower + is_odd, value, upper - is_odd, k)


def chosen_digits(lower: int, value: int, upper: int, k: int) -> tuple[int, int]:
    """The number with fewest digits in an interval, the nearest to a value; all are in quarters of 10^k."""
    ones = value >> 2
    if ones >= 10:
        tens = only_one_inside(ones // 10, 40, lower, upper)
        if tens >= 0:
            return tens, k + 1
    digits = only_one_inside(ones, 4, lower, upper)
    if digits >= 0:
        return digits, k
    middle = 4 * ones + 2
    is_below = value < middle or (value == middle and ones & 1 == 0)
    return (ones if is_below else ones + 1), k


def only_one_inside(number: int, unit: int, lower: int, upper: int) -> int:
    """Of a number and the next, times a unit, the one in an interval; -1 if both or neither are in it."""
    has_number, has_next = lower <= unit * number, unit * number + unit <= upper
    if has_number == has_next:
        return -1
    return number if has_number else number + 1


def without_zeros(digits: int, exponent: int) -> tuple[int, int]:
    """A number without trailing zeros of its digits."""
    while digits % TO_8 == 0:
        digits, exponent = digits // TO_8, exponent + 8
    while digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent
