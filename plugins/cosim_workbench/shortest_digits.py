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

FRACTION_BITS, BIAS, LARGEST_EXPONENT = 52, 1075, 2047
FRACTION, HIDDEN_BIT = (1 << 52) - 1, 1 << 52
LEAST_POWER, GREATEST_POWER = -292, 324
WORD32, WORD63 = (1 << 32) - 1, (1 << 63) - 1
TO_8 = 10**8


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
    is_power_of_two = fraction == 0 and exponent > 1  # the neighbour below is nearer
    k = (q * 661_971_961_083 - (274_743_187_321 if is_power_of_two else 0)) >> 41
    h = q + ((-k * 913_124_641_741) >> 38) + 2
    high, low = POWERS[2 * (-k - LEAST_POWER)], POWERS[2 * (-k - LEAST_POWER) + 1]
    lower = scaled(high, low, (4 * c - (1 if is_power_of_two else 2)) << h)
    value = scaled(high, low, (4 * c) << h)
    upper = scaled(high, low, (4 * c + 2) << h)
    is_outside = c & 1  # the middles themselves read back as the even neighbour
    s = value >> 2
    if s >= 10:
        tens = s // 10
        has_lower, has_upper = lower + is_outside <= 40 * tens, 40 * tens + 40 + is_outside <= upper
        if has_lower != has_upper:
            return (tens if has_lower else tens + 1), k + 1
    has_lower, has_upper = lower + is_outside <= 4 * s, 4 * s + 4 + is_outside <= upper
    if has_lower != has_upper:
        return (s if has_lower else s + 1), k
    middle = 4 * s + 2
    return (s if value < middle or (value == middle and s & 1 == 0) else s + 1), k


def without_zeros(digits: int, exponent: int) -> tuple[int, int]:
    """A number without trailing zeros of its digits."""
    while digits % TO_8 == 0:
        digits, exponent = digits // TO_8, exponent + 8
    while digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    return digits, exponent
