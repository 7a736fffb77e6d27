"""Signatures, and the calling convention of machine code as ctypes sees it.

A pointer to a place for the result, then each argument: a number, an array as its address and its lengths, a
group of arrays as one address. A status is returned, 0 when nothing was raised.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

POINTER, WORD, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
"""Types of words."""
STATUS = ctypes.c_int32
WORDS: dict[str, list[Any]] = {
    **{"f": [REAL], "i": [WORD]},
    **{"F": [POINTER, WORD], "I": [POINTER, WORD]},
    **{"M": [POINTER, WORD, WORD], "T": [POINTER, WORD, WORD]},
}
"""Types of the words of an argument, by its letter in a signature."""
SCALARS = "fi"
FOR_C = "_c"
"""Ends the symbol of a function in the form in which C calls it."""
compounds: dict[str, tuple[type, str]] = {}
"""Named tuples, and the letters of their members, by the letter that stands for them."""

records: dict[str, tuple[type, str]] = {}
"""Classes of records, each with the digest of its layout, by the letter that stands for one."""


def spelled(signature: str) -> str:
    """A signature in which letters of named tuples and of records are followed by what these contain."""
    return "".join(
        letter + _members(*compounds[letter])
        if letter in compounds
        else f"{letter}({records[letter][1]})"
        if letter in records
        else letter
        for letter in signature
    )


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
    """The address of the numbers of an array; NumPy's own attribute takes four times as long."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it is empty, or may only be read
        return int(array.ctypes.data)
