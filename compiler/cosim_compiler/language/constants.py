"""Values of Python that a kernel function mentions, as numbers of the language."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from cosim_compiler.errors import ContractError
from cosim_compiler.language.typed_form import (
    Constant,
    ConstantView,
    Convert,
    Expression,
    Item,
    Known,
    MakeTuple,
)
from cosim_compiler.language.types import (
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Number,
    Tuple,
    Type,
    View,
    in_words,
    is_for_lanes,
    is_truth_for_lanes,
)

UNKNOWN: Type = NOTHING
"""In place of the type of a value of Python, until `typed` makes a constant of it."""
LEAST_WHOLE, MOST_WHOLE = -(2**63), 2**63 - 1


class NoLanesError(ContractError):
    """A number for each lane stands where one number is needed, so a function cannot compute in lanes."""


class NoNumberError(Exception):
    """A value of Python that is not a number, tuple or array of the language; the text says what to write."""


def known(value: Any) -> Known:
    """A value of Python as an expression."""
    return Known(UNKNOWN, value)


def typed(expression: Expression) -> Expression:
    """An expression with a type: a value of Python becomes a constant.

    Raises
    ------
    NoNumberError
    """
    return constant(expression.value) if isinstance(expression, Known) else expression


def constant(value: Any) -> Expression:
    """A value of Python as a constant of the language.

    Raises
    ------
    NoNumberError
    """
    if isinstance(value, (bool, np.bool_)):
        return Constant(TRUTH, bool(value))
    if isinstance(value, (int, np.integer)):
        if not LEAST_WHOLE <= value <= MOST_WHOLE:
            raise NoNumberError(f"{value} does not fit into 64 bits: write {float(value)!r}")
        return Constant(WHOLE, int(value))
    if isinstance(value, (float, np.float64)):
        return Constant(REAL, float(value))
    if isinstance(value, tuple):
        return make_tuple([constant(item) for item in value], type(value))
    if isinstance(value, np.ndarray):
        return _array(value)
    if value is None:
        raise NoNumberError(
            "None is not a number: write math.nan, or a number of your own that stands for it"
        )
    if isinstance(value, (np.float32, np.float16)):
        raise NoNumberError(f"it computes with fewer digits: write float({value})")
    if isinstance(value, enum.Enum):
        raise NoNumberError(f"{value} is not a number: write {type(value).__name__}.{value.name}.value")
    raise NoNumberError(
        f"this is {_with_article(type(value).__name__)}, and the language has numbers, tuples and views"
    )


def make_tuple(items: list[Expression], of: type | None = None) -> MakeTuple:
    """A tuple of these items; a named tuple if `of` is the class of one."""
    typed_items = tuple(map(typed, items))
    named = of if of is not None and hasattr(of, "_fields") else None
    return MakeTuple(Tuple(tuple(item.type for item in typed_items), named), typed_items)


def _array(value: np.ndarray[Any, Any]) -> Expression:
    kinds: dict[str, Number] = {"f": REAL, "i": WHOLE, "u": WHOLE, "b": WHOLE}
    item = kinds.get(value.dtype.kind)
    if item is None or (item is REAL and value.dtype.itemsize != 8):
        raise NoNumberError(f"an array of {value.dtype} cannot be read: write numpy.asarray(…, float)")
    if value.ndim not in (1, 2):
        raise NoNumberError(f"an array of {value.ndim} axes cannot be read: it has one or two")
    numbers = (float(x) if item is REAL else int(x) for x in value.ravel())
    return ConstantView(View(item, value.ndim, value.shape), tuple(numbers), value.shape)


def convert(expression: Expression, to: Type) -> Expression:
    """An expression converted to another type, which is wider unless the author asks for a narrower one."""
    value = typed(expression)
    if value.type == to:
        return value
    if is_for_lanes(value.type) or is_truth_for_lanes(value.type):
        raise NoLanesError(f"{in_words(value.type)} is converted to {in_words(to)}")
    if is_for_lanes(to) and value.type is not REAL:
        return Convert(to, convert(value, REAL))
    if isinstance(value, Constant) and to is REAL:
        return Constant(REAL, float(value.value))
    if isinstance(value, Constant) and to is WHOLE and value.type is TRUTH:
        return Constant(WHOLE, int(value.value))
    if isinstance(value, MakeTuple) and isinstance(to, Tuple):
        items = tuple(convert(item, item_type) for item, item_type in zip(value.items, to.items, strict=True))
        return MakeTuple(to, items)
    return Convert(to, value)


def parts_of(expression: Expression) -> list[Expression]:
    """The items of a tuple, one by one."""
    value = typed(expression)
    if isinstance(value, MakeTuple):
        return list(value.items)
    assert isinstance(value.type, Tuple)
    return [Item(kind, value, i) for i, kind in enumerate(value.type.items)]


def _with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
