"""Plain Python that compiled code calls as it calls any function."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from cosim.compiled import walker
from cosim.compiled.intrinsics import DATA, SHAPE

ARRAY_WORDS = 7
TABLE_WORDS = 9


def callback_of(function: Callable[..., Any], signature: str) -> Any:
    """A ctypes callback in numba's calling convention: result, exception, each array as its words."""
    pointer, word, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    array = [pointer, pointer, word, word, pointer, word, word]
    kinds, answer = signature.split(">")
    words_of: dict[str, list[Any]] = {
        "f": [real],
        "i": [word],
        "T": [*array[:5], word, word, word, word],
    }
    prototype: list[Any] = [pointer, pointer]
    for letter in kinds:
        prototype += words_of.get(letter, array)

    def raw(result: Any, exception: Any, *words: Any) -> int:
        try:
            arguments: list[Any] = []
            at = 0
            for letter in kinds:
                if letter in "fi":
                    arguments.append(words[at])
                    at += 1
                elif letter == "T":
                    arguments.append(None)
                    at += TABLE_WORDS
                else:
                    element = ctypes.c_double if letter == "F" else ctypes.c_int64
                    start = ctypes.cast(words[at + DATA], ctypes.POINTER(element))
                    size = words[at + SHAPE]
                    arguments.append(np.ctypeslib.as_array(start, shape=(size,)) if size else np.empty(0))
                    at += ARRAY_WORDS
            value = function(*arguments)
            if answer == "i":
                ctypes.c_int64.from_address(result).value = value
        except BaseException as error:
            walker.last_errors[:] = [error]
            if answer == "i":
                ctypes.c_int64.from_address(result).value = -1
            return 1
        return 0

    return ctypes.CFUNCTYPE(ctypes.c_int32, *prototype)(raw)
