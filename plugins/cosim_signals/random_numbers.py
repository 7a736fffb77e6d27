"""Random numbers that are functions of a seed and a counter; for kernel functions.

Nothing is remembered from one to the next, so a number does not depend on which were asked for before: a
signal made of them is a function of time.
"""

from __future__ import annotations

import math

WORD = 0xFFFFFFFF
LARGEST_SEED = 2.0**53
NO_SEED = "the seed is not a whole number: give one, 0 to 2**53"


def threefry(counter0: int, counter1: int, key0: int, key1: int) -> tuple[int, int]:
    """Two words of 32 bits from a counter and a key of two words each.

    References
    ----------
    J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11
    (2011): Threefry-2x32 with 20 rounds (not opened here); the test has numbers of its library Random123.

    Examples
    --------
    >>> [hex(word) for word in threefry(0, 0, 0, 0)]
    ['0x6b200159', '0x99ba4efe']
    """
    key2 = 0x1BD11BDA ^ key0 ^ key1
    a = (counter0 + key0) & WORD
    b = (counter1 + key1) & WORD
    for block in range(5):
        if block % 2 == 0:
            a, b = _four_rounds(a, b, 13, 15, 26, 6)
        else:
            a, b = _four_rounds(a, b, 17, 29, 16, 24)
        first = key1 if block % 3 == 0 else key2 if block % 3 == 1 else key0
        second = key2 if block % 3 == 0 else key0 if block % 3 == 1 else key1
        a = (a + first) & WORD
        b = (b + second + block + 1) & WORD
    return a, b


def _four_rounds(a: int, b: int, r0: int, r1: int, r2: int, r3: int) -> tuple[int, int]:
    a, b = _round(a, b, r0)
    a, b = _round(a, b, r1)
    a, b = _round(a, b, r2)
    return _round(a, b, r3)


def _round(a: int, b: int, turn: int) -> tuple[int, int]:
    a = (a + b) & WORD
    b = ((b << turn) | (b >> (32 - turn))) & WORD
    return a, a ^ b


def uniform_pair(seed: float, stream: int, number: int) -> tuple[float, float]:
    """Two numbers above 0 and below 1, independent of those of every other number, stream and seed.

    Parameters
    ----------
    seed : float
        A whole number, 0 to 2**53.
    stream : int
        Which use of the seed it is, 0 to 2**31 - 1.
    number : int
        Which one in the stream, modulo 2**42; may be negative.

    Examples
    --------
    >>> uniform_pair(1.0, 0, 5) == uniform_pair(1.0, 0, 5) != uniform_pair(2.0, 0, 5)
    True
    """
    # Bits of the key: 54 of the seed, then 10 of the stream. Of the counter: 42 of the number, then the next
    # 22 of the stream.
    whole = int(seed)
    key1 = ((whole >> 32) & 0x3FFFFF) | ((stream & 0x3FF) << 22)
    counter1 = ((number >> 32) & 0x3FF) | (((stream >> 10) & 0x3FFFFF) << 10)
    a, b = threefry(number & WORD, counter1, whole & WORD, key1)
    return (a + 0.5) / 4294967296.0, (b + 0.5) / 4294967296.0


def normal_number(seed: float, stream: int, number: int) -> float:
    """A number of the normal distribution, mean 0 and standard deviation 1; arguments as `uniform_pair`.

    References
    ----------
    G. E. P. Box, M. E. Muller, Annals of Mathematical Statistics 29 (1958).
    """
    first, second = uniform_pair(seed, stream, number)
    return math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)
