"""Calling C functions of other libraries from compiled code, by address, and being called by them.

In compiled code these are calls of machine code, a few nanoseconds each; in plain Python they go through
ctypes. Every argument is a 64-bit integer (a pointer, a size, a flag) or a double, which the calling
conventions of x86-64 and arm64 hand over in registers, whatever integer the callee declares; arguments that
a callee does not have are ignored by it.
"""

from __future__ import annotations

import ctypes

import numpy as np


def call_with_array(address, handle, indices, count, values, size):
    """``int32 f(void *handle, const uint32_t *indices, size_t count, double *values, size_t size)``."""
    word = ctypes.c_int64
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, word, word, word, word, word)
    return prototype(int(address))(int(handle), int(indices), int(count), int(values), int(size))


def call_with_interval(address, handle, start, length, flag, first, second, third, fourth):
    """``int32 f(void *handle, double start, double length, int flag, void *first, … void *fourth)``."""
    word, real = ctypes.c_int64, ctypes.c_double
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, word, real, real, word, word, word, word, word)
    return prototype(int(address))(
        int(handle), float(start), float(length), int(flag), int(first), int(second), int(third), int(fourth)
    )


def reals_at(address, size):
    """The array of doubles that begins at an address."""
    return _array_at(ctypes.c_double, address, size)


def integers_at(address, size):
    """The array of 64-bit integers that begins at an address."""
    return _array_at(ctypes.c_int64, address, size)


def table_at(address, rows):
    """The table of 64-bit integers, three in a row, that begins at an address."""
    return _array_at(ctypes.c_int64, address, 3 * rows).reshape(rows, 3)


def _array_at(kind, address, size):
    return np.ctypeslib.as_array((kind * int(size)).from_address(int(address)))


ARRAYS_AT = {reals_at: ("F", 1), integers_at: ("I", 1), table_at: ("T", 3)}
"""Letter of what is there, and how many numbers make one of the size."""
