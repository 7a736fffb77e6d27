"""Reading and writing variables of several types of an FMU from compiled code, as reals.

A list of variables has an array of integers, its *control block*: a fault, the number of groups, then for
each group (the variables of one type) the words named below. Values lie in buffers of their own width, arrays
whole; as reals, integers, booleans and enumerations are whole.
"""

from __future__ import annotations

import math

from cosim.kit import call_with_array, foreign

integers_at, reals_at = foreign.integers_at, foreign.reals_at

FAULT, GROUPS, FIRST_GROUP = range(3)
FUNCTION, GETTER, REFERENCES, COUNT, BUFFER, SIZE = range(6)
BITS, LOWEST, HIGHEST, PLACES, VARIABLES, GROUP_WIDTH = range(6, 12)
"""Of a group: addresses of the function, of one that reads before elements of arrays are written (0: all of
them are), of the value references; how many there are; address and size of the buffer; bits of one value in
it (`DOUBLE`, `SINGLE`, or those of integers); the least and the largest value (1: boolean); the address of
rows *(place among all, place in the buffer, sign)*, one for each variable; how many these are."""
DOUBLE, SINGLE = 0, -32
PLACE_WIDTH = 3
ARRAY_CALL = "iiiii>i"
HALF = (1 << 32) - 1
OK, WARNING, NOT_TAKEN = 0, 1, 3


def write_typed(handle, block, count, values, size):
    """Write reals as what the variables are; NOT_TAKEN, with FAULT set, where one does not fit its type."""
    head = integers_at(block, FIRST_GROUP)
    words = integers_at(block, FIRST_GROUP + head[GROUPS] * GROUP_WIDTH)
    given = reals_at(values, count)
    words[FAULT] = 0
    for g in range(words[GROUPS]):
        at = FIRST_GROUP + GROUP_WIDTH * g
        if words[at + GETTER] != 0:
            status = call_group(handle, words, at, words[at + GETTER])
            if status > WARNING:
                words[FAULT] = -1 - g - words[GROUPS]
                return status
        places = integers_at(words[at + PLACES], PLACE_WIDTH * words[at + VARIABLES])
        for i in range(words[at + VARIABLES]):
            value = given[places[PLACE_WIDTH * i]]
            if places[PLACE_WIDTH * i + 2] < 0:
                value = -value
            if not put_value(words, at, places[PLACE_WIDTH * i + 1], value):
                words[FAULT] = 1
                return NOT_TAKEN
    worst = OK
    for g in range(words[GROUPS]):
        at = FIRST_GROUP + GROUP_WIDTH * g
        status = call_group(handle, words, at, words[at + FUNCTION])
        if status > WARNING:
            words[FAULT] = -1 - g
            return status
        worst = max(worst, status)
    return worst


def read_typed(handle, block, count, values, size):
    """Read variables as reals."""
    head = integers_at(block, FIRST_GROUP)
    words = integers_at(block, FIRST_GROUP + head[GROUPS] * GROUP_WIDTH)
    reals = reals_at(values, count)
    words[FAULT] = 0
    worst = OK
    for g in range(words[GROUPS]):
        at = FIRST_GROUP + GROUP_WIDTH * g
        status = call_group(handle, words, at, words[at + FUNCTION])
        if status > WARNING:
            words[FAULT] = -1 - g
            return status
        worst = max(worst, status)
        places = integers_at(words[at + PLACES], PLACE_WIDTH * words[at + VARIABLES])
        for i in range(words[at + VARIABLES]):
            value = taken_value(words, at, places[PLACE_WIDTH * i + 1])
            reals[places[PLACE_WIDTH * i]] = -value if places[PLACE_WIDTH * i + 2] < 0 else value
    return worst


def call_group(handle, words, at, function):
    """Call a function of the FMU for the variables of one type."""
    return call_with_array(
        function,
        handle,
        words[at + REFERENCES],
        words[at + COUNT],
        words[at + BUFFER],
        words[at + SIZE],
    )


def put_value(words, at, place, value):
    """Write a real into the buffer of a group; False where it does not fit the type."""
    bits = words[at + BITS]
    if bits == DOUBLE:
        reals_at(words[at + BUFFER], words[at + SIZE])[place] = value
        return True
    if bits == SINGLE:
        put(words[at + BUFFER], 32, place, single_of(value))
        return True
    if not words[at + LOWEST] <= value <= words[at + HIGHEST] or math.floor(value) != value:
        return False
    put(words[at + BUFFER], bits, place, int(value))
    return True


def taken_value(words, at, place):
    """One value out of the buffer of a group, as a real."""
    bits = words[at + BITS]
    if bits == DOUBLE:
        return reals_at(words[at + BUFFER], words[at + SIZE])[place]
    if bits == SINGLE:
        return real_of(taken(words[at + BUFFER], 32, place) & ((1 << 32) - 1))
    value = taken(words[at + BUFFER], bits, place)
    if words[at + HIGHEST] == 1:
        return 1.0 if value != 0 else 0.0
    if words[at + LOWEST] == 0 and bits == 64:  # rounded once
        return math.ldexp(float((value >> 32) & HALF), 32) + float(value & HALF)
    if words[at + LOWEST] == 0:
        value = value & ((1 << bits) - 1)
    return float(value)


def put(buffer, bits, i, value):
    """Write one integer of 8, 16, 32 or 64 bits into a buffer of words of 64."""
    each = 64 // bits
    word = integers_at(buffer + 8 * (i // each), 1)
    if bits == 64:
        word[0] = value
    else:
        shift = bits * (i % each)
        mask = (1 << bits) - 1
        word[0] = (word[0] & ~(mask << shift)) | ((value & mask) << shift)


def taken(buffer, bits, i):
    """One signed integer of 8, 16, 32 or 64 bits out of a buffer of words of 64."""
    each = 64 // bits
    word = integers_at(buffer + 8 * (i // each), 1)[0]
    return (word << (64 - bits * (i % each + 1))) >> (64 - bits)


INFINITE = 255 << 23
"""Bits of an infinite number of single precision."""


def single_of(value):
    """The bits of the number of single precision next to a real, an even one between two."""
    sign = 1 << 31 if math.copysign(1.0, value) < 0.0 else 0
    if math.isnan(value):
        return sign | INFINITE | 1 << 22
    if math.isinf(value):
        return sign | INFINITE
    fraction, exponent = math.frexp(abs(value))
    if value == 0.0 or exponent < -125:  # below the least that has all digits
        return sign | round(math.ldexp(abs(value), 149))
    digits = round(math.ldexp(fraction, 24))  # a carry out of them is one into the exponent
    return sign | min(INFINITE, (min(exponent + 125, 255) << 23) + digits)


def real_of(bits):
    """The real that a number of single precision is."""
    exponent = bits >> 23 & 255
    digits = bits & ((1 << 23) - 1)
    if exponent == 255:
        size = math.inf if digits == 0 else math.nan
    elif exponent == 0:
        size = math.ldexp(float(digits), -149)
    else:
        size = math.ldexp(float(digits + (1 << 23)), exponent - 150)
    return -size if bits >> 31 != 0 else size
