"""Groups of arrays that are found by one address; a named tuple declares the arrays of a group.

The head of a group has two words for each array, its address and its length (the rows of a `Table`). A call
passes the address of the head in place of all arrays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim_compiler.calls import GROUP_AT
from cosim_compiler.convention import COMPOUNDS, address_of
from cosim_compiler.foreign import integers_at, reals_at, table_at
from cosim_compiler.sources.run_source import run_source

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]
Table = NDArray[np.int64]
"""Three integers in a row."""

LETTERS = {"Reals": "F", "Integers": "I", "Table": "T"}
"""The letter in a signature, by the annotation of a member."""
READERS: dict[str, Callable[..., Any]] = {"F": reals_at, "I": integers_at, "T": table_at}
TYPES = {"F": (np.float64, 1), "I": (np.int64, 1), "T": (np.int64, 2)}
"""Type and dimensions of an array, by its letter."""
WORDS = 2
"""Words of a head for each array."""


@functools.cache
def letters_of(group: Any) -> str:
    """The letters of the members of a named tuple, annotated (as text) with `Reals`, `Integers` or `Table`.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> letters_of(NamedTuple("Pair", [("sizes", "Integers"), ("values", "Reals")]))
    'IF'
    """
    annotations = next(cls.__annotations__ for cls in reversed(group.__mro__) if hasattr(cls, "_fields"))
    return "".join(
        LETTERS[getattr(annotations[name], "__forward_arg__", annotations[name])] for name in group._fields
    )


def group_reader(group: Any) -> Callable[..., Any]:
    """A kernel function that returns the named tuple of the arrays of a head.

    It is written as text, since the kernel language has no loop over the members of a named tuple.
    """
    members = ", ".join(
        f"{READERS[letter].__name__}(head[{WORDS * i}], head[{WORDS * i + 1}])"
        for i, letter in enumerate(letters_of(group))
    )
    readers = {reader.__name__: reader for reader in READERS.values()}
    text = f"def arrays_of(head):\n    return Group({members})\n"
    label = f"arrays of {group.__name__}"
    read: Callable[..., Any] = run_source(text, {"Group": group, **readers}, label)["arrays_of"]
    return read


def address_reader(letter: str, group: Any) -> Callable[..., Any]:
    """A kernel function that returns the named tuple of the arrays whose head begins at an address.

    Parameters
    ----------
    letter : str
        It stands for the named tuple in signatures from now on.
    group : type
    """
    read, words = group_reader(group), WORDS * len(group._fields)

    def arrays_at(address: int) -> Any:
        return read(integers_at(address, words))

    arrays_at.__doc__ = f"The {group.__name__} whose head begins at an address."
    arrays_at.__dict__[GROUP_AT] = letter
    COMPOUNDS[letter] = (group, letters_of(group))
    return arrays_at


def head_of(arrays: Any) -> Integers:
    """The head of the arrays of a named tuple.

    Raises
    ------
    TypeError
        An array is not of the declared kind, or not contiguous.
    """
    words: list[int] = []
    group: Any = type(arrays)
    for name, array, letter in zip(arrays._fields, arrays, letters_of(group), strict=True):
        words += _words_of(f"{group.__name__}.{name}", array, letter)
    return np.array(words, dtype=np.int64)


def _words_of(path: str, array: Any, letter: str) -> tuple[int, int]:
    """The address and the length of an array of the kind that a letter stands for."""
    dtype, dimensions = TYPES[letter]
    if array.dtype != dtype or array.ndim != dimensions or not array.flags.c_contiguous:
        raise TypeError(f"{path} is not a contiguous array of {np.dtype(dtype)}")
    return address_of(array), len(array)


class ReusedHead:
    """The head of a named tuple whose arrays are replaced only now and then.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> Pair = NamedTuple("Pair", [("sizes", "Integers"), ("values", "Reals")])
    >>> pair, head = Pair(np.zeros(2, dtype=np.int64), np.zeros(3)), ReusedHead()
    >>> [head.address_of(pair) == head.address_of(pair), head.words[[1, 3]].tolist()]
    [True, [2, 3]]
    >>> before = head.address_of(pair)
    >>> [head.address_of(pair._replace(values=np.zeros(5))) == before, head.words[[1, 3]].tolist()]
    [True, [2, 5]]
    """

    def __init__(self) -> None:
        self._arrays: Any = ()
        self.words = np.zeros(0, dtype=np.int64)

    def address_of(self, arrays: Any) -> int:
        """The address of the head, after the words of replaced arrays were written again.

        Raises
        ------
        TypeError
            As for `head_of`.
        """
        if type(arrays) is not type(self._arrays):
            self.words = head_of(arrays)
        elif not all(map(is_, arrays, self._arrays)):
            group: Any = type(arrays)
            for i, (array, before) in enumerate(zip(arrays, self._arrays, strict=True)):
                if array is not before:
                    path = f"{group.__name__}.{group._fields[i]}"
                    self.words[WORDS * i : WORDS * (i + 1)] = _words_of(path, array, letters_of(group)[i])
        self._arrays = arrays  # held, so that their addresses stay valid
        return address_of(self.words)
