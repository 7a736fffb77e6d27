"""The values that a stored text names, as plain data from which another process finds them.

A text names functions, classes and arrays. A function or a class is stored as its number in a walk through
all that the differentiated function reaches, or by its module and name if it belongs to the compiler. An
array is stored by its numbers.
"""

from __future__ import annotations

import base64
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from cosim_compiler.derivatives.own_tangents import (
    LEAVES_FIXED,
    RECORDED,
    WITH_VALUES,
    in_lanes_of,
    own_tangent,
)
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.names_in_reach import ReachedNames, environment

PACKAGES_BY_NAME = "cosim_compiler", "builtins"
"""Values of these packages are found by module and name."""


class TextPlaces:
    """Finds values by places, and places by values.

    A place is plain data for JSON: the number of a function or class in the walk through what is in reach,
    ``[module, name]``, or ``["array", type, shape, numbers]``.

    Parameters
    ----------
    names : ReachedNames
    """

    def __init__(self, names: ReachedNames) -> None:
        self._values = list(dict.fromkeys(_reached_values(names)))
        self._numbers = {id(value): number for number, value in enumerate(self._values)}

    def place_of(self, value: Any) -> Any:
        """The place at which a value is found; None if there is none."""
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return ["array", value.dtype.str, value.shape, base64.b64encode(value.tobytes()).decode()]
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        return [module, name] if module and _value_by_name(module, name) is value else None

    def value_at(self, place: Any) -> Any:
        """The value at a place.

        Raises
        ------
        ValueError
            It is not a place.
        """
        match place:
            case int():
                return self._values[place]
            case ["array", kind, shape, numbers]:
                return np.frombuffer(base64.b64decode(numbers), kind).reshape(shape).copy()
            case [module, name]:
                return _value_by_name(module, name)
        raise ValueError(f"{place} is not a place")

    def author_digests(self) -> Iterator[str]:
        """Digests of the tangents and adjoints that authors have written for functions in reach."""
        for number, value in enumerate(self._values):
            tangent = own_tangent(value) if isinstance(value, types.FunctionType) else None
            if tangent is not None:
                marks = [tangent.__dict__.get(mark) for mark in (WITH_VALUES, LEAVES_FIXED)]
                yield f"{number} {marks} {fingerprint(tangent)} {fingerprint(in_lanes_of(tangent))}"
            if isinstance(value, types.FunctionType) and value in RECORDED:
                yield f"{number} {[fingerprint(function) for function in RECORDED[value]]}"


def _reached_values(names: ReachedNames) -> Iterator[Any]:
    """The functions and classes in reach, and the derivatives that authors have written for functions."""
    for function in names.functions:
        for value in (function, *environment(function).values()):
            if isinstance(value, (types.FunctionType, type)):
                yield value
            if isinstance(value, types.FunctionType):
                tangent = own_tangent(value)
                if tangent is not None:
                    yield tangent
                    yield in_lanes_of(tangent)
                yield from RECORDED.get(value, ())
    yield from names.classes


def _value_by_name(module: str, name: str) -> Any:
    """The value of a name in a loaded module of `PACKAGES_BY_NAME`; None if there is none."""
    if module.partition(".")[0] not in PACKAGES_BY_NAME or module not in sys.modules:
        return None
    value: Any = sys.modules[module]
    for part in name.split("."):
        value = getattr(value, part, None)
    return value
