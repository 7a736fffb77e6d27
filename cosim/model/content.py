"""What an object holds, as a value that can be compared later."""

from __future__ import annotations

import types
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from cosim.component.component import Component
from cosim.component.declarations import Declaration

ITSELF = (
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType),
    *(Component, Declaration),
)
"""These stand for themselves; parts are looked into one by one."""
PLAIN = (bool, int, complex, str, bytes, type(None))


def content(value: Any, known: dict[int, Any] | None = None) -> Any:
    """Everything that a value holds, down to numbers; equal to what it is later if nothing has changed.

    What cannot be looked into is equal to nothing, so whoever compares finds a change.
    """
    if isinstance(value, float):
        return ("float", value.hex())  # -0.0 is not 0.0, NaN is NaN
    if isinstance(value, PLAIN):
        return (type(value), value)
    if isinstance(value, ITSELF):
        return ("itself", id(value), value)
    known = {} if known is None else known
    if id(value) in known:
        return ("seen", id(value))
    known[id(value)] = value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return ("array", value.shape, str(value.dtype), value.tobytes())
    if isinstance(value, Mapping):
        return (type(value), tuple((content(k, known), content(v, known)) for k, v in value.items()))
    if isinstance(value, (list, tuple, Set, np.ndarray)):
        return (type(value), tuple(content(v, known) for v in value))
    if hasattr(value, "__dict__"):
        return (type(value), content(vars(value), known))
    return (type(value), object())
