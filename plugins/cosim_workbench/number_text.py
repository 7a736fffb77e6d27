"""Rows of numbers as text in bytes; a kernel function.

Text is put together in whole numbers of eight bytes, the first letter in the lowest byte, and appended to an
array of them. Whole numbers wrap around: it is for machine code alone, plain Python has `repr`.
"""

from __future__ import annotations

import numpy as np

from cosim_workbench.shortest_digits import (
    FRACTION,
    FRACTION_BITS,
    LARGEST_EXPONENT,
    WORD63,
    shortest,
    without_zeros,
)

ROWS_SIGNATURE = "IIIIi>i"
LONGEST = 32
"""Bytes of a number at most, with its sign and the character behind it."""
REAL, WHOLE, TEXT = 0, 1, 2
"""Kinds of columns: `repr` of a real, of a whole number of one digit, a zero byte in place of a text."""
DIGITS = 17
FIRST_OF_FIXED, LAST_OF_FIXED = -3, 16
"""Places of the decimal point, counted from the first digit, in numbers without an exponent."""
TENS = np.array([10**i for i in range(DIGITS + 1)], dtype=np.int64)
EIGHT_ZEROS = 0x3030303030303030
MINUS, POINT, NUL = ord("-"), ord("."), ord("0")


def word(text: str) -> int:
    """A text of at most eight letters as a whole number."""
    return int.from_bytes(text.encode("ascii"), "little")


NAN, INF, ZERO, ZEROS_BEHIND_POINT = word("nan"), word("inf"), word("0.0"), word("0.000000")
EXPONENT_MINUS, EXPONENT_PLUS = word("e-"), word("e+")


def append(buffer, end, text, count):
    """Append the first letters of a text to a buffer. Returns the place behind them."""
    text &= (1 << (8 * count)) - 1
    shift = 8 * (end & 7)
    buffer[end >> 3] |= text << shift
    buffer[(end >> 3) + 1] = ((text >> 1) & 0x7FFFFFFFFFFFFFFF) >> (63 - shift)
    return end + count


def eight_digits(number):
    """The digits of a number below 10^8 as a word, with zeros in front."""
    pairs = number // 10_000 | (number % 10_000) << 32
    hundreds = ((pairs * 10_486) >> 20) & 0x0000007F0000007F
    pairs = hundreds | (pairs - 100 * hundreds) << 16
    tens = ((pairs * 103) >> 10) & 0x000F000F000F000F
    return (tens | (pairs - 10 * tens) << 8) | EIGHT_ZEROS


def append_digits(buffer, place, digits, first_digit, behind_last):
    """Append some of the 17 digits of a number; the place behind them."""
    head, tail = digits // 1_000_000_000, digits % 1_000_000_000
    words = eight_digits(head), eight_digits(tail // 10), NUL + tail % 10
    for i in range(3):
        begin, behind = max(first_digit - 8 * i, 0), min(behind_last - 8 * i, 8)
        if begin < behind:
            place = append(buffer, place, words[i] >> (8 * begin), behind - begin)
    return place


def append_real(buffer, end, bits):
    """Append a real as `repr` writes it; the place behind it."""
    is_finite = (bits >> FRACTION_BITS) & LARGEST_EXPONENT != LARGEST_EXPONENT
    if not is_finite and bits & FRACTION != 0:
        return append(buffer, end, NAN, 3)
    if bits < 0:
        end = append(buffer, end, MINUS, 1)
    if not is_finite:
        return append(buffer, end, INF, 3)
    if bits & WORD63 == 0:
        return append(buffer, end, ZERO, 3)
    digits, exponent = shortest(bits)
    digits, exponent = without_zeros(digits, exponent)
    count = DIGITS
    while digits < TENS[count - 1]:
        count -= 1
    digits *= TENS[DIGITS - count]
    point = count + exponent  # digits before the decimal point
    if point > LAST_OF_FIXED or point < FIRST_OF_FIXED:
        end = append_digits(buffer, end, digits, 0, 1)
        if count > 1:
            end = append_digits(buffer, append(buffer, end, POINT, 1), digits, 1, count)
        return append_exponent(buffer, end, point - 1)
    if point <= 0:
        return append_digits(buffer, append(buffer, end, ZEROS_BEHIND_POINT, 2 - point), digits, 0, count)
    end = append_digits(buffer, end, digits, 0, point)
    return append_digits(buffer, append(buffer, end, POINT, 1), digits, point, max(count, point + 1))


def append_exponent(buffer, end, exponent):
    """Append the power of ten with a sign and two digits at least; the place behind it."""
    end = append(buffer, end, EXPONENT_MINUS if exponent < 0 else EXPONENT_PLUS, 2)
    size = abs(exponent)
    if size >= 100:
        end = append(buffer, end, NUL + size // 100, 1)
    return append(buffer, end, (NUL + size // 10 % 10) | (NUL + size % 10) << 8, 2)


def append_rows(numbers, kinds, separators, buffer, count):
    """Write `count` rows from the start of `buffer`, each with a column of each kind; the length of the text.

    Parameters
    ----------
    numbers : view of int64
        Row after row: the bits of reals, whole numbers from 0 to 9.
    kinds, ends : view of int64
        For each column, `REAL`, `WHOLE` or `TEXT`, and the sign that stands behind it.
    buffer : view of int64
    count : int
    """
    columns, end, number = len(kinds), 0, 0
    buffer[0] = 0
    for _ in range(count):
        for column in range(columns):
            if kinds[column] == REAL:
                end = append_real(buffer, end, numbers[number])
            else:
                letter = NUL + numbers[number] if kinds[column] == WHOLE else 0
                end = append(buffer, end, letter, 1)
            end = append(buffer, end, separators[column], 1)
            number += 1
    return end
