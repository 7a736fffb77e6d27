"""Signatures, and the calling convention of machine code as ctypes sees it.

A signature has a letter for each argument, then ``>`` and the letter of the result: ``fF>f``.

====== =====================================================================
letter type
====== =====================================================================
f, i   a real, an integer
F, I   an array of reals, of integers
M, T   an array with two axes: a matrix of reals, a table of integers
v      no result
others a named tuple of `COMPOUNDS` or a record of `RECORDS`
====== =====================================================================

A function takes the address of its result, then its arguments as words: a number as itself, an array as its
address and its lengths, a named tuple or a record as one address. It returns a status, 0 if it has raised
nothing.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

POINTER, WORD, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
"""Types of words."""
STATUS = ctypes.c_int32
WORDS: dict[str, list[Any]] = {
    "f": [REAL],
    "i": [WORD],
    "F": [POINTER, WORD],
    "I": [POINTER, WORD],
    "M": [POINTER, WORD, WORD],
    "T": [POINTER, WORD, WORD],
}
"""Types of the words of an argument, by its letter; all others are one pointer."""
SCALARS = "fi"
"""Letters of numbers."""
FOR_C = "_c"
"""The suffix of the symbol under which C calls a function; the symbol without it follows this convention."""

COMPOUNDS: dict[str, tuple[type, str]] = {}
"""By letter, a named tuple and the letters of its members; `array_groups` adds them."""
RECORDS: dict[str, tuple[type, str]] = {}
"""By letter, a class of records and the digest of its layout."""


def expanded(signature: str) -> str:
    """A signature in which letters of named tuples and records are followed by their members and digests."""
    return "".join(letter + _content(letter) for letter in signature)


def _content(letter: str) -> str:
    """The members of a named tuple, the digest of a record, in brackets; empty for all other letters."""
    if letter in COMPOUNDS:
        return _members(*COMPOUNDS[letter])
    if letter in RECORDS:
        return f"({RECORDS[letter][1]})"
    return ""


@functools.cache
def _members(compound: Any, letters: str) -> str:
    named = zip(letters, compound._fields, strict=True)
    return f"({', '.join(f'{letter} {name}' for letter, name in named)})"


@functools.cache
def prototype(signature: str) -> Any:
    """The ctypes type of a function with this signature."""
    words = [word for letter in signature.split(">")[0] for word in WORDS.get(letter, [POINTER])]
    return ctypes.CFUNCTYPE(STATUS, POINTER, *words)


def address_of(array: Any) -> int:
    """The address that stands for an array in a call; NumPy's attribute takes four times as long."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it is empty, or may only be read
        return int(array.ctypes.data)
