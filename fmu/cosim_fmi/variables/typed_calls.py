"""Reading and writing variables of several types of an FMU from compiled code, as reals.

A list of variables has an array of integers, its *control block*: a fault, the number of groups, then for
each group (the variables of one type) the words named below. Integers, booleans and enumerations lie in
buffers of their own width; as reals they are whole.
"""

from __future__ import annotations

import math

from cosim.kit import call_with_array, foreign

integers_at, reals_at = foreign.integers_at, foreign.reals_at

FAULT, GROUPS, FIRST_GROUP = range(3)
FUNCTION, REFERENCES, COUNT, BUFFER, BITS, LOWEST, HIGHEST, PLACES, GROUP_WIDTH = range(9)
"""Of a group: addresses of the function, the value references, the buffer; bits of one value there (0:
doubles); the least and the largest value (1: boolean); the address of the variables' places among all."""
ARRAY_CALL = "iiiii>i"
OK, WARNING, NOT_TAKEN = 0, 1, 3


def write_typed(handle, block, count, values, size):
    """Write reals as what the variables are; NOT_TAKEN, with FAULT set, where one does not fit its type."""
    head = integers_at(block, FIRST_GROUP)
    words = integers_at(block, FIRST_GROUP + head[GROUPS] * GROUP_WIDTH)
    given = reals_at(values, count)
    words[FAULT] = 0
    for g in range(words[GROUPS]):
        at = FIRST_GROUP + GROUP_WIDTH * g
        places = integers_at(words[at + PLACES], words[at + COUNT])
        for i in range(words[at + COUNT]):
            value = given[places[i]]
            if words[at + BITS] == 0:
                reals_at(words[at + BUFFER], words[at + COUNT])[i] = value
                continue
            if not words[at + LOWEST] <= value <= words[at + HIGHEST] or math.floor(value) != value:
                words[FAULT] = 1
                return NOT_TAKEN
            put(words[at + BUFFER], words[at + BITS], i, int(value))
    worst = OK
    for g in range(words[GROUPS]):
        status = call_group(handle, words, FIRST_GROUP + GROUP_WIDTH * g)
        if status > WARNING:
            words[FAULT] = -1 - g
            return status
        worst = max(worst, status)
    return worst


def read_typed(handle, block, count, values, size):
    """Read variables as reals."""
    head = integers_at(block, FIRST_GROUP)
    words = integers_at(block, FIRST_GROUP + head[GROUPS] * GROUP_WIDTH)
    found = reals_at(values, count)
    words[FAULT] = 0
    worst = OK
    for g in range(words[GROUPS]):
        at = FIRST_GROUP + GROUP_WIDTH * g
        status = call_group(handle, words, at)
        if status > WARNING:
            words[FAULT] = -1 - g
            return status
        worst = max(worst, status)
        places = integers_at(words[at + PLACES], words[at + COUNT])
        for i in range(words[at + COUNT]):
            if words[at + BITS] == 0:
                found[places[i]] = reals_at(words[at + BUFFER], words[at + COUNT])[i]
            else:
                value = taken(words[at + BUFFER], words[at + BITS], i)
                if words[at + HIGHEST] == 1 and value != 0:
                    value = 1
                found[places[i]] = float(value)
    return worst


def call_group(handle, words, at):
    """Call the FMU for the variables of one type."""
    return call_with_array(
        words[at + FUNCTION],
        handle,
        words[at + REFERENCES],
        words[at + COUNT],
        words[at + BUFFER],
        words[at + COUNT],
    )


def put(buffer, bits, i, value):
    """Write one integer of 8 or 32 bits into a buffer of words of 64."""
    each = 64 // bits
    word = integers_at(buffer + 8 * (i // each), 1)
    shift = bits * (i % each)
    mask = (1 << bits) - 1
    word[0] = (word[0] & ~(mask << shift)) | ((value & mask) << shift)


def taken(buffer, bits, i):
    """One signed integer of 8 or 32 bits out of a buffer of words of 64."""
    each = 64 // bits
    word = integers_at(buffer + 8 * (i // each), 1)[0]
    return (word << (64 - bits * (i % each + 1))) >> (64 - bits)
