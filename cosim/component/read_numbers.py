"""Numbers out of what people type for a declared quantity: checked, in SI, in its shape."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.declaration import Declaration
from cosim.errors import CosimError
from cosim.units import parse_quantity
from cosim.value_text import quote


def read_numbers(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value of this declaration as a flat array in SI; ``ValueError`` with a sentence."""
    return read_shaped(declaration, value).reshape(-1)


def read_shaped(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value of a declaration whose shape is free, in its own shape."""
    name = declaration.name
    if value is None and declaration.start is not None:
        raise ValueError(f"{name} is None, needs {_expected(declaration)}, or leave it out for its default")
    if value is None:
        raise ValueError(f"{name} is missing; it has no default ({_expected(declaration)})")
    if declaration.convert is not None:
        value = declaration.convert(value)
    array = _as_array(declaration, value)
    if 0 in declaration.shape and array.size and _fits_free(declaration, array):
        declaration = replace(declaration, shape=array.shape)
    array = _in_shape(declaration, array)
    flat: NDArray[np.float64] = np.ascontiguousarray(array, dtype=np.float64).reshape(-1)
    _check_bounds(declaration, flat)
    _check_kind(declaration, value, flat)
    return flat.reshape(array.shape) if declaration.free_length else flat


def _in_shape(declaration: Declaration, array: NDArray[np.float64]) -> NDArray[np.float64]:
    """An array of the declared shape, also from one start value for all elements; `ValueError` for others."""
    each = bool(declaration.options.get("each"))
    if (declaration.kind != "parameter" or each) and array.ndim == 0:
        array = np.full(declaration.shape, array)
    fits = array.shape == declaration.shape or (each and declaration.shape == () and array.ndim == 1)
    fits = fits and not (declaration.free_length and not array.size)
    if not fits and not (array.size == declaration.size == 1 and array.ndim <= 1):
        description = f": {declaration.description}" if declaration.description else ""
        raise ValueError(
            f"{declaration.name} has shape {array.shape}, needs {_expected(declaration)}{description}"
        )
    return array


def _check_kind(declaration: Declaration, value: Any, flat: NDArray[np.float64]) -> None:
    """`ValueError` for numbers that a switch or an integer does not have."""
    if declaration.dtype is bool and np.any((flat != 0.0) & (flat != 1.0)):
        raise ValueError(f"{quote(value)} is not a switch, needs 1 (True) or 0 (False)")
    is_integer = declaration.kind == "integer" or declaration.dtype is int
    if is_integer and (np.any(flat != np.floor(flat)) or np.any(np.abs(flat) > 2.0**53)):
        if choices_of(declaration):
            raise ValueError(_needs_word(declaration, repr(value)))
        raise ValueError(f"{declaration.name} is {quote(value)}, needs an integer (at most 2**53)")


def _fits_free(declaration: Declaration, array: NDArray[np.float64]) -> bool:
    """Whether an array has as many axes as the free shape, or is one number for all where the default is."""
    if array.ndim == 0:
        return declaration.start is not None and np.ndim(declaration.start) == 0
    fixed = zip(array.shape, declaration.shape, strict=False)
    return array.ndim == len(declaration.shape) and all(size == axis for size, axis in fixed if axis)


def _number(declaration: Declaration, item: Any, index: int) -> float:
    """An element of a value as a number in SI: a number, text with a unit, or one of the declared words."""
    units, words = declaration.units, choices_of(declaration)
    if isinstance(item, str) and words:
        if item not in words:
            raise ValueError(_needs_word(declaration, repr(item)))
        return float(words.index(item) + 1)
    if isinstance(item, str):
        return parse_quantity(item, units[index] if len(units) > 1 else units[0])
    is_whole = declaration.kind in ("integer", "discrete") or declaration.dtype is bool
    if isinstance(item, bool) and words:
        raise ValueError(_needs_word(declaration, repr(item)))
    if isinstance(item, bool) and not is_whole:
        raise ValueError(f"{declaration.name} is {quote(item)}, needs a number")
    return float(item)


def _as_array(declaration: Declaration, value: Any) -> NDArray[np.float64]:
    """A value as an array of numbers in SI, in its own shape."""
    value = without_labels(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return value.astype(np.float64)
    if type(value) is float:
        return np.array(value)
    if isinstance(value, (str, int, float, np.generic)):
        return np.array(_number(declaration, value, 0))
    flat: list[float] = []
    last_unit = len(declaration.units) - 1

    def collect(items: Any) -> Any:
        if isinstance(items, (list, tuple, np.ndarray)):
            return [collect(item) for item in items]
        flat.append(_number(declaration, items, min(len(flat), last_unit)))
        return flat[-1]

    try:
        return np.array(collect(value), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, CosimError) or choices_of(declaration):
            raise
        raise ValueError(f"{declaration.name} is {quote(value)}, needs {_expected(declaration)}") from error


def _check_bounds(declaration: Declaration, flat: NDArray[np.float64]) -> None:
    least, most = bounds_of(declaration)
    for index, number in enumerate(flat.tolist()):
        if least <= number <= most and math.isfinite(number):
            continue
        at = declaration.name + (f"[{index}]" if declaration.shape else "")
        never = number == math.inf and declaration.options.get("timer")
        if not math.isfinite(number) and not never:
            raise ValueError(f"{at} is {number}, needs a finite number")
        if choices_of(declaration):
            raise ValueError(_needs_word(declaration, f"{number:g}", at))
        unit = declaration.unit(index)
        says = f"{at} is {number:g}" + ("" if unit == "1" else f" {unit}")
        if declaration.above is not None and number <= declaration.above:
            raise ValueError(f"{says}, needs more than {declaration.above:g}")
        if number < least:
            raise ValueError(f"{says}, needs at least {least:g}")
        if number > most:
            raise ValueError(f"{says}, needs at most {most:g}")


def bounds_of(declaration: Declaration) -> tuple[float, float]:
    """The least and the most that is allowed."""
    least = -math.inf if declaration.minimum is None else declaration.minimum
    return least, math.inf if declaration.maximum is None else declaration.maximum


def choices_of(declaration: Declaration) -> tuple[str, ...]:
    """The words that a parameter or port is one of; empty for one that is a number."""
    words: tuple[str, ...] = declaration.options.get("words", ())
    return words


def _needs_word(declaration: Declaration, value: str, at: str = "") -> str:
    listed = ", ".join(map(repr, choices_of(declaration)))
    return f"{at or declaration.name} is {value}, needs one of {listed}"


def without_labels(value: Any) -> Any:
    """An array of a column of pandas, of xarray and the like; anything else as it is."""
    if type(value) in (float, str, int):
        return value
    is_other = hasattr(value, "__array__") and not isinstance(value, (np.ndarray, np.generic, type))
    return np.asarray(value) if is_other else value


def _expected(declaration: Declaration) -> str:
    unit = "" if set(declaration.units) == {"1"} else f" [{', '.join(dict.fromkeys(declaration.units))}]"
    if choices_of(declaration) and not declaration.shape:
        return f"one of {', '.join(map(repr, choices_of(declaration)))}"
    if 0 in declaration.shape:
        return f"a list of {'numbers' if len(declaration.shape) == 1 else 'rows of numbers'}{unit}"
    return (f"{declaration.shape}" if declaration.shape else "one number") + unit
