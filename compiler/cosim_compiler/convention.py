"""Signatures, and numba's calling convention as ctypes sees it.

Places for a result and an exception, then each argument. An array is
*(owner, parent, items, item size, data, shape …, strides …)*. A status is returned, 0 when
nothing was raised.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any

POINTER, WORD, REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
ARRAY = [POINTER, POINTER, WORD, WORD, POINTER, WORD, WORD]
ITEMS, DATA, SHAPE, STRIDES = 2, 4, 5, 6  # places in it
TABLE = [POINTER, POINTER, WORD, WORD, POINTER, WORD, WORD, WORD, WORD]
WORDS: dict[str, list[Any]] = {"f": [REAL], "i": [WORD], "F": ARRAY, "I": ARRAY, "T": TABLE, "M": TABLE}
"""Kinds of the words of an argument, by its letter in a signature."""
ITEM_SIZE = 8
SCALARS = "fi"
FOR_C = "_c"
"""Ends the symbol of a function in the form in which C calls it."""
compounds: dict[str, tuple[type, str]] = {}
"""Named tuples, and the letters of their members, by the letter that stands for them."""

records: dict[str, tuple[type, str]] = {}
"""Classes of records, each with the digest of its layout, by the letter that stands for one."""


def spelled(signature: str) -> str:
    """A signature in which letters of named tuples and of records are followed by what they have in them."""
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


@dataclass(frozen=True)
class Convention:
    """How machine code is called: pointers to places for what it answers, then the words of each argument.

    Attributes
    ----------
    places : int
        How many pointers stand first; the first is that of the result.
    words : dict of str to list
        Kinds of the words of an argument, by its letter.
    data, shape : int
        Which words of an array are its address and its first length.
    """

    places: int
    words: dict[str, list[Any]]
    data: int
    shape: int

    def prototype(self, signature: str) -> Any:
        """The ctypes type of a function with this signature."""
        words = [word for letter in signature.split(">")[0] for word in self.words.get(letter, [POINTER])]
        return ctypes.CFUNCTYPE(ctypes.c_int32, *[POINTER] * self.places, *words)


OF_NUMBA = Convention(2, WORDS, DATA, SHAPE)
OWN = Convention(
    1,
    {
        "f": [REAL],
        "i": [WORD],
        "F": [POINTER, WORD],
        "I": [POINTER, WORD],
        "M": [POINTER, WORD, WORD],
        "T": [POINTER, WORD, WORD],
    },
    data=0,
    shape=1,
)
"""Of the compiler of the kernel language: an array is its address and its lengths, a group one address."""


def address_of(array: Any) -> int:
    """Where the numbers of an array lie; NumPy's own answer takes four times as long."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it is empty, or may only be read
        return int(array.ctypes.data)


def words_of(letter: str, value: Any) -> tuple[Any, ...]:
    """An argument as its words; arrays are contiguous."""
    if letter in SCALARS:
        return (value,)
    size, data = value.size, address_of(value)
    if letter in "MT":
        rows, columns = value.shape
        return None, None, size, ITEM_SIZE, data, rows, columns, ITEM_SIZE * columns, ITEM_SIZE
    return None, None, size, ITEM_SIZE, data, size, ITEM_SIZE
