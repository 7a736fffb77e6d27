"""Reading and writing variables of several types of an FMU from compiled code, as reals.

A list of variables has a *control block*: a `BlockHead`, then a `Group` for each type among the variables.
Each group has a buffer, in which the values lie as the FMU's function has them, arrays whole, and a `Place`
for each variable. As reals, integers, booleans and enumerations are whole numbers.

Both entries have the arguments of the functions of FMI for reals, so that the interpreter of exchanges calls
them in their place: the address of the control block stands for that of the value references.
"""

from __future__ import annotations

import math

from cosim.kit import Record, call_with_array, foreign, rows_of, width_of
from cosim_fmi.binding.statuses import OK, is_bad

integers_at, reals_at = foreign.integers_at, foreign.reals_at


class BlockHead(Record):
    """The begin of a control block."""

    fault: int  # of the last call: 0 none, 1 a value that does not fit, below 0 see `failed_call`
    group_count: int


class Group(Record):
    """The variables of one type, with addresses of what serves them."""

    function: int  # of the FMU: sets or gets variables of this type
    getter: int  # of the FMU: reads elements of arrays that are not written; 0: all are written
    references: int
    reference_count: int
    buffer: int
    buffer_size: int  # in values
    bits: int  # of a value in the buffer: `DOUBLE`, `SINGLE`, or those of an integer
    lowest: int
    highest: int  # 1: a boolean
    places: int
    place_count: int


class Place(Record):
    """The place of the value of a variable."""

    number: int  # among all variables of the list
    in_buffer: int
    sign: int  # -1: the variable is the negative of what lies there


HEAD_WIDTH, GROUP_WIDTH, PLACE_WIDTH = width_of(BlockHead), width_of(Group), width_of(Place)
WORD_BYTES = 8
DOUBLE, SINGLE = 0, -32
"""`Group.bits` of floating-point numbers."""
ARRAY_CALL = "iiiii>i"
"""The signature of `write_typed` and `read_typed`."""
LOW_WORD = (1 << 32) - 1
"""The lower half of 64 bits."""
NOT_TAKEN = 3
"""Returned where a value does not fit; FMI's *error*."""
MISFIT = 1
"""`BlockHead.fault` then."""


def head_of(block):
    """The head of a control block."""
    return rows_of(BlockHead, integers_at(block, HEAD_WIDTH), 0, 1)[0]


def groups_of(block, count):
    """The groups of a control block."""
    return rows_of(Group, integers_at(block + WORD_BYTES * HEAD_WIDTH, GROUP_WIDTH * count), 0, count)


def places_of(group):
    """The places of the values of a group."""
    return rows_of(Place, integers_at(group.places, PLACE_WIDTH * group.place_count), 0, group.place_count)


def failed_call(number):
    """The fault after a call of the FMU that failed: for group 0 it is -1, for the next -2, and so on.

    Calls of a getter count on: that of group 0 has the number behind the last group's.
    """
    return -1 - number


def write_typed(handle, block, count, values, size):
    """Write reals as what the variables are; NOT_TAKEN, with the fault MISFIT, where one does not fit."""
    head = head_of(block)
    groups = groups_of(block, head.group_count)
    reals = reals_at(values, count)
    head.fault = 0
    for number, group in enumerate(groups):
        if group.getter != 0:
            status = call_group(handle, group, group.getter)
            if is_bad(status):
                head.fault = failed_call(head.group_count + number)
                return status
        for place in places_of(group):
            value = reals[place.number]
            if place.sign < 0:
                value = -value
            if not put_value(group, place.in_buffer, value):
                head.fault = MISFIT
                return NOT_TAKEN
    worst = OK
    for number, group in enumerate(groups):
        status = call_group(handle, group, group.function)
        if is_bad(status):
            head.fault = failed_call(number)
            return status
        worst = max(worst, status)
    return worst


def read_typed(handle, block, count, values, size):
    """Read variables as reals."""
    head = head_of(block)
    reals = reals_at(values, count)
    head.fault = 0
    worst = OK
    for number, group in enumerate(groups_of(block, head.group_count)):
        status = call_group(handle, group, group.function)
        if is_bad(status):
            head.fault = failed_call(number)
            return status
        worst = max(worst, status)
        for place in places_of(group):
            value = get_value(group, place.in_buffer)
            reals[place.number] = -value if place.sign < 0 else value
    return worst


def call_group(handle, group, function):
    """Call a function of the FMU for the variables of one type."""
    return call_with_array(
        function, handle, group.references, group.reference_count, group.buffer, group.buffer_size
    )


def put_value(group, place, value):
    """Write a real into the buffer of a group; False where it does not fit the type."""
    if group.bits == DOUBLE:
        reals_at(group.buffer, group.buffer_size)[place] = value
        return True
    if group.bits == SINGLE:
        put_integer(group.buffer, 32, place, single_of(value))
        return True
    if not group.lowest <= value <= group.highest or math.floor(value) != value:
        return False
    put_integer(group.buffer, group.bits, place, int(value))
    return True


def get_value(group, place):
    """A value in the buffer of a group, as a real."""
    if group.bits == DOUBLE:
        return reals_at(group.buffer, group.buffer_size)[place]
    if group.bits == SINGLE:
        return real_of(get_integer(group.buffer, 32, place) & LOW_WORD)
    value = get_integer(group.buffer, group.bits, place)
    if group.highest == 1:
        return 1.0 if value != 0 else 0.0
    if group.lowest == 0 and group.bits == 64:  # rounded once
        return math.ldexp(float((value >> 32) & LOW_WORD), 32) + float(value & LOW_WORD)
    if group.lowest == 0:
        value = value & ((1 << group.bits) - 1)
    return float(value)


def put_integer(buffer, bits, i, value):
    """Write one integer of 8, 16, 32 or 64 bits into a buffer of words of 64."""
    each = 64 // bits
    word = integers_at(buffer + 8 * (i // each), 1)
    if bits == 64:
        word[0] = value
    else:
        shift = bits * (i % each)
        mask = (1 << bits) - 1
        word[0] = (word[0] & ~(mask << shift)) | ((value & mask) << shift)


def get_integer(buffer, bits, i):
    """A signed integer of 8, 16, 32 or 64 bits in a buffer of words of 64 bits."""
    each = 64 // bits
    word = integers_at(buffer + 8 * (i // each), 1)[0]
    return (word << (64 - bits * (i % each + 1))) >> (64 - bits)


INFINITE = 255 << 23
"""Bits of infinity in single precision."""


def single_of(value):
    """The bits of the number of single precision nearest to a real; of two, the even one."""
    sign = 1 << 31 if math.copysign(1.0, value) < 0.0 else 0
    if math.isnan(value):
        return sign | INFINITE | 1 << 22
    if math.isinf(value):
        return sign | INFINITE
    fraction, exponent = math.frexp(abs(value))
    if value == 0.0 or exponent < -125:  # subnormal
        return sign | round(math.ldexp(abs(value), 149))
    digits = round(math.ldexp(fraction, 24))  # a carry out of them is one into the exponent
    return sign | min(INFINITE, (min(exponent + 125, 255) << 23) + digits)


def real_of(bits):
    """The value of a number of single precision, given by its bits."""
    exponent = bits >> 23 & 255
    digits = bits & ((1 << 23) - 1)
    if exponent == 255:
        size = math.inf if digits == 0 else math.nan
    elif exponent == 0:
        size = math.ldexp(float(digits), -149)
    else:
        size = math.ldexp(float(digits + (1 << 23)), exponent - 150)
    return -size if bits >> 31 != 0 else size
