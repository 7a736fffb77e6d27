"""Axes of any length in what a component declares: their lengths follow from the values that it is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.declaration import Declaration
from cosim.errors import Problem

Values = Any


def with_lengths(values: Values, problems: list[Problem]) -> Mapping[str, Declaration]:
    """The declarations with the lengths that were given in place of free ones."""
    declarations: dict[str, Declaration] = dict(values.declarations)
    lengths: dict[str, tuple[str, int]] = {}
    for name, declaration in declarations.items():
        if declaration.free_length and name in values.numbers and _has_lengths(values, declaration):
            _measure(declaration, values.numbers[name], lengths, problems)
    for name, declaration in declarations.items():
        if declaration.free_length:
            axes = zip(declaration.free_length, declaration.shape, strict=True)
            shape = tuple(_length(axis, lengths) if axis else size for axis, size in axes)
            declarations[name] = declaration = replace(declaration, shape=shape)
            if name in values.numbers and not _has_lengths(values, declaration):
                values.numbers[name] = np.full(shape, values.numbers[name])  # one start value for all
    return declarations


def _has_lengths(values: Values, declaration: Declaration) -> bool:
    """Whether a value shows the free lengths: one number for all elements does not."""
    return values.numbers[declaration.name].ndim > 0


def _measure(
    declaration: Declaration,
    numbers: NDArray[np.float64],
    lengths: dict[str, tuple[str, int]],
    problems: list[Problem],
) -> None:
    """Store the free lengths that a value has; a problem where an earlier value has another length."""
    name = declaration.name
    for axis, size in zip(declaration.free_length, numbers.shape, strict=True):
        if axis:
            base, extra = _axis(axis)
            shown = size if numbers.ndim == 1 else f"the shape {numbers.shape}"
            first, expected = lengths.setdefault(base, (f"{name} has {shown}", size - extra))
            if size - extra != expected:
                elements = "" if numbers.ndim > 1 else " elements"
                text = (
                    f"{name} has {shown}{elements}, {first}: they go together, {expected + extra} is needed"
                )
                problems.append(Problem(name, text))


def _axis(text: str) -> tuple[str, int]:
    """``"order+1"`` as ``("order", 1)``."""
    base, _, extra = text.partition("+")
    return base, int(extra or 0)


def _length(axis: str, lengths: Mapping[str, tuple[str, int]]) -> int:
    base, extra = _axis(axis)
    return lengths.get(base, ("", 0))[1] + extra
