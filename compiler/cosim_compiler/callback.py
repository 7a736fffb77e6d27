"""Plain Python that compiled code calls as it calls any function."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cosim_compiler.calls import last_errors
from cosim_compiler.convention import WORDS, prototype


def callback_of(function: Callable[..., Any], signature: str) -> Any:
    """A ctypes callback: a place for the result, then the words of each argument."""
    kinds, result_letter = signature.split(">")
    if result_letter == "i" and not kinds.strip("fi"):
        return prototype(signature)(_of_numbers(function))

    def raw(result: Any, *words: Any) -> int:
        try:
            value = function(*arguments_of(kinds, words))
            if result_letter == "i":
                ctypes.c_int64.from_address(result).value = value
        except BaseException as error:
            last_errors[:] = [error]
            if result_letter == "i":
                ctypes.c_int64.from_address(result).value = -1
            return 1
        return 0

    return prototype(signature)(raw)


def arguments_of(kinds: str, words: Sequence[Any]) -> list[Any]:
    """Numbers, and NumPy views of arrays, for the words of a call; None for a table."""
    arguments: list[Any] = []
    at = 0
    for letter in kinds:
        if letter in "fi":
            arguments.append(words[at])
            at += 1
            continue
        if letter == "T":
            arguments.append(None)
        else:
            element = ctypes.c_double if letter == "F" else ctypes.c_int64
            start = ctypes.cast(words[at], ctypes.POINTER(element))
            size = words[at + 1]
            arguments.append(np.ctypeslib.as_array(start, shape=(size,)) if size else np.empty(0))
        at += len(WORDS[letter])
    return arguments


def _of_numbers(function: Callable[..., Any]) -> Any:
    """The callback of a function of numbers that returns an integer: faster, without a loop over letters."""
    place = ctypes.c_int64.from_address

    def raw(result: Any, *numbers: Any) -> int:
        try:
            place(result).value = function(*numbers)
        except BaseException as error:
            last_errors[:] = [error]
            place(result).value = -1
            return 1
        return 0

    return raw
