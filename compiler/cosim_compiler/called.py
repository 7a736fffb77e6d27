"""Calling machine code of the kernel language from Python."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from cosim_compiler.code import Coder
from cosim_compiler.convention import SCALARS, address_of, prototype
from cosim_compiler.units import Unit

KINDS = {
    "F": np.dtype(np.float64),
    "I": np.dtype(np.int64),
    "T": np.dtype(np.int64),
    "M": np.dtype(np.float64),
}

TABLES = "MT"


class Called:
    """A compiled function, as Python calls it.

    Parameters
    ----------
    function : function
        As it was written.
    signature : str
    unit : Unit
    index : int
        Its place in the unit.
    coder : Coder
        Has loaded it.
    """

    def __init__(self, function: Any, signature: str, unit: Unit, index: int, coder: Coder) -> None:
        self._unit, self._name = unit, function.__qualname__
        self._letters, self._answer = signature.split(">")
        self._call = prototype(signature)(coder.machine.address_of(unit.symbol(index)))

    def __call__(self, *arguments: Any) -> Any:
        if len(arguments) != len(self._letters):
            raise TypeError(f"{self._name}() takes {len(self._letters)} arguments, not {len(arguments)}")
        words: list[Any] = []
        for letter, value in zip(self._letters, arguments, strict=True):
            if letter == "f":
                words.append(float(value))
            elif letter in SCALARS:
                words.append(int(value))
            else:
                words += self._view(letter, value)
        result = ctypes.c_double() if self._answer == "f" else ctypes.c_int64()
        status = self._call(ctypes.addressof(result), *words)
        if status != 0:
            raise self._unit.exception(status)
        return None if self._answer == "v" else result.value

    def _view(self, letter: str, value: Any) -> tuple[int, ...]:
        """The address and the lengths of an array."""
        if value.dtype != KINDS[letter] or value.ndim != (2 if letter in TABLES else 1):
            raise TypeError(f"{self._name}() is given an array of {value.dtype}, shape {value.shape}")
        if not value.flags.c_contiguous:
            raise TypeError(f"{self._name}() is given an array that is not contiguous")
        return (address_of(value), *value.shape)
