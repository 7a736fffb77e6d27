"""A component as its own equations see it: its declared values are looked up elsewhere."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

import cosim

VALUES = ("parameter", "position", "speed", "auxiliary", "discrete", "integer", "input")


class TracedPart:
    """Stands for `self` while equations are written: declared values are looked up, all else is the part's.

    Parameters
    ----------
    part : Component
    look_up : callable
        From the name and the element of a declared quantity to a symbol or a number.
    """

    def __init__(self, part: cosim.Component, look_up: Callable[[str, int], Any]) -> None:
        self._part, self._look_up = part, look_up

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The part's class, so that ``super()`` in its methods finds the way."""
        return type(self._part)

    def __getattr__(self, name: str) -> Any:
        part = self._part
        declaration = part.declarations.get(name)
        if declaration is not None and declaration.kind in VALUES:
            values = [self._look_up(name, i) for i in range(declaration.size)]
            return values[0] if declaration.shape == () else _array(values).reshape(declaration.shape)
        attribute = getattr(type(part), name, None)
        if isinstance(attribute, types.FunctionType):
            return types.MethodType(attribute, self)
        if isinstance(attribute, property) and attribute.fget is not None:
            return attribute.fget(self)
        return getattr(part, name)


def part_of(part: Any) -> cosim.Component:
    """The component itself, whether it is given or a stand-in for it."""
    return part._part if type(part) is TracedPart else part


def _array(values: list[Any]) -> Any:
    result = np.empty(len(values), dtype=object)
    result[:] = values
    return result if any(not isinstance(v, (int, float)) for v in values) else result.astype(float)
