"""Values of expressions that follow from constants: integers, truth values, and tuples of these."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression
from cosim_compiler.language.types import WHOLE

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "min": min, "max": max,
}  # fmt: skip
SIGNS: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "~": operator.invert, "not": operator.not_}
Length = Callable[[form.Length], int | None]


def value_of(node: Expression, values: Mapping[str, Any], length: Length) -> Any:
    """The value of an expression; None if it is not known.

    Parameters
    ----------
    node : Expression
    values : mapping of str to object
        The known values of local names.
    length : callable
        Returns the number of elements of a view; None if it is not known.
    """

    def value(operand: Expression) -> Any:
        return value_of(operand, values, length)

    if isinstance(node, form.Constant):
        return node.value if isinstance(node.value, (bool, int)) else None
    if isinstance(node, form.Variable):
        return values.get(node.name)
    if isinstance(node, form.Length):
        return length(node)
    if isinstance(node, form.Convert):
        number = value(node.operand)
        return int(number) if node.type is WHOLE and isinstance(number, (bool, int)) else None
    if isinstance(node, form.MakeTuple):
        items = tuple(map(value, node.items))
        return None if None in items else items
    if isinstance(node, (form.Item, form.Pick)):
        return _item(value(node.tuple), node.index if isinstance(node.index, int) else value(node.index))
    if isinstance(node, form.Unary):
        number = value(node.operand)
        return None if number is None else SIGNS[node.operator](number)
    if isinstance(node, form.Logic):
        return _decided(node.operator, value(node.left), value(node.right))
    if isinstance(node, (form.Binary, form.Compare)):
        return _operation(node.operator, value(node.left), value(node.right))
    if isinstance(node, form.Mathematics) and node.name in ("min", "max"):
        return _operation(node.name, *map(value, node.arguments))
    return None


def _item(items: Any, index: Any) -> Any:
    """The item of a tuple at an index; None if one of them is not known, or the index lies outside."""
    is_inside = isinstance(items, tuple) and type(index) is int and -len(items) <= index < len(items)
    return items[index] if is_inside else None


def _decided(sign: str, left: Any, right: Any) -> Any:
    """The value of ``and`` or ``or`` of two values; one of them may decide although the other is unknown."""
    deciding = sign == "or"
    if any(value is not None and bool(value) is deciding for value in (left, right)):
        return deciding
    return None if left is None or right is None else not deciding


def _operation(sign: str, left: Any, right: Any) -> Any:
    """The result of an operation of two integers; None if it is not known."""
    operation = OPERATIONS.get(sign)
    if operation is None or not isinstance(left, (bool, int)) or not isinstance(right, (bool, int)):
        return None
    try:
        return operation(left, right)
    except ZeroDivisionError:
        return None
