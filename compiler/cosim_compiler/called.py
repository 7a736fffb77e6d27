"""Calling machine code of the kernel language from Python."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from operator import call, is_
from typing import Any, NamedTuple

import numpy as np

from cosim_compiler.code import Coder
from cosim_compiler.convention import REAL, SCALARS, STATUS, WORD, WORDS, address_of
from cosim_compiler.units import Unit

DTYPES = {
    "F": np.dtype(np.float64),
    "I": np.dtype(np.int64),
    "T": np.dtype(np.int64),
    "M": np.dtype(np.float64),
}
"""Types of the numbers in an array, by its letter in a signature."""
TABLES = "MT"
"""Letters of arrays with two axes."""


class _ArrayCall(NamedTuple):
    """The arrays of a call, and its words without the numbers, which other calls with these arrays reuse."""

    arrays: list[weakref.ref[Any]]
    words: list[Any]


class Called:
    """A compiled function, as Python calls it.

    Where a call has the same arrays as the call before, their addresses are not looked up again.

    Parameters
    ----------
    function : function
        Its author's function.
    signature : str
    unit : Unit
    index : int
        Its place in the unit.
    coder : Coder
        Has loaded the unit.
    """

    def __init__(self, function: Any, signature: str, unit: Unit, index: int, coder: Coder) -> None:
        self._unit, self._name = unit, function.__qualname__
        self._letters, self._answer = signature.split(">")
        self._result = REAL if self._answer == "f" else WORD
        # without argument types, since all arguments are objects of ctypes, which are passed as they are
        self._call = ctypes.CFUNCTYPE(STATUS)(coder.machine.address_of(unit.symbol(index)))
        self._arrays = [i for i, letter in enumerate(self._letters) if letter not in SCALARS]
        self._reals: list[tuple[int, int]] = []
        self._integers: list[tuple[int, int]] = []
        place = 0
        for i, letter in enumerate(self._letters):
            if letter in SCALARS:
                (self._reals if letter == "f" else self._integers).append((place, i))
            place += len(WORDS[letter])
        self._width = place
        self._last = _ArrayCall([], [None] * place)

    def __call__(self, *arguments: Any) -> Any:
        words, result = self._words_with_numbers(arguments), self._result()
        status = self._call(ctypes.byref(result), *words)
        if status != 0:
            raise self._unit.exception(status)
        return None if self._answer == "v" else result.value

    def prepared(self, *arguments: Any) -> Callable[[], Any]:
        """The call with these arguments, to be made again and again by one thread at a time.

        It takes half the time of a call, since the arguments are converted once. The numbers in arrays may
        change between the calls.
        """
        words, result = self._words_with_numbers(arguments), self._result()
        call_code, at_result, exception = self._call, ctypes.byref(result), self._unit.exception
        has_answer = self._answer != "v"

        def call_again(held: tuple[Any, ...] = arguments) -> Any:
            status = call_code(at_result, *words)
            if status != 0:
                raise exception(status)
            return result.value if has_answer else None

        return call_again

    def _words_with_numbers(self, arguments: tuple[Any, ...]) -> list[Any]:
        """The words of a call."""
        if len(arguments) != len(self._letters):
            raise TypeError(f"{self._name}() takes {len(self._letters)} arguments, not {len(arguments)}")
        words = self._last.words
        if self._arrays:
            arrays = [arguments[i] for i in self._arrays]
            last_arrays = map(call, self._last.arrays)
            if not self._last.arrays or not all(map(is_, last_arrays, arrays)):
                words = self._words_of(arrays)
        words = words.copy()
        for place, i in self._reals:
            words[place] = REAL(arguments[i])
        for place, i in self._integers:
            words[place] = WORD(int(arguments[i]))
        return words

    def _words_of(self, arrays: list[Any]) -> list[Any]:
        """The words of a call with these arrays, without its numbers; stored for the next call."""
        words: list[Any] = [None] * self._width
        place, remaining = 0, iter(arrays)
        for letter in self._letters:
            kinds = WORDS[letter]
            if letter not in SCALARS:
                words[place : place + len(kinds)] = map(call, kinds, self._view(letter, next(remaining)))
            place += len(kinds)
        self._last = _ArrayCall([weakref.ref(array) for array in arrays], words)
        return words

    def _view(self, letter: str, value: Any) -> tuple[int, ...]:
        """The address and the lengths of an array."""
        if value.dtype != DTYPES[letter] or value.ndim != (2 if letter in TABLES else 1):
            raise TypeError(f"{self._name}() is given an array of {value.dtype}, shape {value.shape}")
        if not value.flags.c_contiguous:
            raise TypeError(f"{self._name}() needs a contiguous array: numpy.ascontiguousarray(…)")
        return (address_of(value), *value.shape)
