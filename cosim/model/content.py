"""What an object holds, as a value that can be compared later."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Mapping, Set
from typing import Any

import numpy as np

from cosim.component.component import Component
from cosim.component.declaration import Declaration

ITSELF = (
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(Component, Declaration),
)
"""These stand for themselves; parts are looked into one by one."""
PLAIN = (bool, int, complex, bytes, str, np.integer, np.bool_)


def content(value: Any) -> Any:
    """Everything that a value holds, down to numbers; equal to what it is later if nothing has changed.

    What cannot be looked into is equal to nothing, so whoever compares finds a change.
    """
    return _contents([value], {})[0]


def _contents(values: Collection[Any], known: dict[int, Any]) -> list[Any]:
    kinds = set(map(type, values))
    if kinds == {str}:
        return list(values)
    if kinds == {Declaration}:
        return [*map(id, values), *values]
    found: list[Any] = []
    for value in values:
        kind: Any = type(value)
        if kind is str or value is None:
            found.append(value)
        elif kind is dict and not value:  # as most of them are
            found.append(dict)
        elif kind is np.ndarray and not value.dtype.hasobject:
            found.append((value.shape, value.dtype, value.tobytes()))
        elif (leaf := _leaf(kind)) is not None:
            found.append(leaf(value))
        elif id(value) in known:
            found.append(("seen", id(value)))
        else:
            known[id(value)] = value
            found.append((kind, *_inside(value, known)))
    return found


def _inside(value: Any, known: dict[int, Any]) -> tuple[Any, ...]:
    """What is in a value that is not a leaf."""
    if isinstance(value, (dict, Mapping)):
        return _contents(value, known), _contents(value.values(), known)
    if isinstance(value, (list, tuple, Set, np.ndarray)):
        return (_contents(value, known),)
    return _inside(vars(value), known) if hasattr(value, "__dict__") else (object(),)


@functools.cache
def _leaf(kind: type) -> Callable[[Any], Any] | None:
    """The content of values of a kind into which nothing is looked; None for the other kinds."""
    if issubclass(kind, float):
        return lambda value: ("float", value.hex())  # -0.0 is not 0.0, NaN is NaN
    if issubclass(kind, PLAIN):
        return lambda value: (kind, value)
    if issubclass(kind, ITSELF):
        return lambda value: (id(value), value)
    return None
