"""Reading calls of the functions of `cosim_compiler.tables`: tables, lanes, and new arrays."""

from __future__ import annotations

import ast
import math
from typing import Any

from cosim_compiler import tables
from cosim_compiler.errors import LanesDisagreeError
from cosim_compiler.language.constants import NoLanesError
from cosim_compiler.language.reading import Read, Reading
from cosim_compiler.language.typed_form import Agreed, AsLanes, AsTable, Constant, Expression, Known, Zeros
from cosim_compiler.language.types import (
    LANES,
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

LARGEST = 4096
"""Numbers at most in an array of a function's own, which lies on the stack."""


def _as_table(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    if len(items) != 3:
        reader.refuse(node, "write as_table(x, rows, columns)")
    view, rows, columns = (reader.typed(item, node) for item in items)
    if not isinstance(view.type, View) or view.type.axes != 1 or {rows.type, columns.type} != {WHOLE}:
        reader.refuse(node, "write as_table(x, rows, columns) of a view and two whole numbers")
    is_known = isinstance(rows, Constant) and isinstance(columns, Constant)
    shape = (rows.value, columns.value) if is_known else None  # type: ignore[attr-defined]
    return AsTable(View(view.type.item, 2, shape), view, rows, columns)


def _in_lanes(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    if len(items) != 2:
        reader.refuse(node, "write in_lanes(x, how many lanes)")
    view = reader.typed(items[0], node)
    if not isinstance(view.type, View) or view.type.axes != 1 or view.type.item is not REAL:
        raise NoLanesError(f"a view of {in_words(REAL)} is needed, and this is {in_words(view.type)}")
    return AsLanes(View(_lanes_named(reader, items[1], node)), view)


def _out_of_lanes(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    (view,) = (reader.typed(item, node) for item in items)
    if not isinstance(view.type, View) or view.type.axes != 1 or not is_for_lanes(view.type.item):
        raise NoLanesError(f"a view of numbers for lanes is needed, and this is {in_words(view.type)}")
    return AsLanes(View(REAL), view)


def _lanes_named(reader: Reading, count: Expression, node: ast.Call) -> Number:
    """A number for each of so many lanes, or for as many as the given number has."""
    value = reader.typed(count, node)
    if isinstance(value.type, Number) and is_for_lanes(value.type):
        return value.type
    lanes = LANES.get(value.value) if isinstance(value, Constant) else None
    if lanes is None:
        reader.refuse(node, f"there are {' or '.join(map(str, LANES))} lanes")
    return lanes


def _agreed(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    (value,) = items
    condition = reader.as_condition(value, node)
    if not is_truth_for_lanes(condition.type):
        return condition
    reader.function.raises = True
    return Agreed(TRUTH, condition, reader.program.failure(LanesDisagreeError, ()))


def _zeros(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    return _zeros_of(REAL, reader, items, node)


def _zeros_in_lanes(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    if len(items) != 2:
        reader.refuse(node, "write zeros_in_lanes(shape, how many lanes)")
    return _zeros_of(_lanes_named(reader, items[1], node), reader, items[:1], node)


def _zeros_of(item: Number, reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    if len(items) != 1:
        reader.refuse(node, "write zeros(n) or zeros((rows, columns))")
    shape = _shape(reader, items[0], node)
    if any(n < 0 for n in shape) or not 1 <= len(shape) <= 2:
        reader.refuse(node, "write zeros(n) or zeros((rows, columns)), with lengths from 0 on")
    if math.prod(shape) > LARGEST:
        reader.refuse(
            node, f"it has {math.prod(shape)} numbers, at most {LARGEST}: declare cosim.cache_slot(shape=…)"
        )
    if reader.is_in_loop(node):
        reader.refuse(
            node, "an array is made once, before the loop: write zeros(…) there, and set its elements in here"
        )
    type_ = View(item, len(shape), shape)
    return Zeros(type_, reader.new_name(type_))


def _shape(reader: Reading, argument: Expression, node: ast.Call) -> tuple[int, ...]:
    """The lengths of an array that `zeros` makes: a constant, or a tuple of constants."""
    lengths: tuple[Any, ...]
    if isinstance(argument, Known):
        lengths = argument.value if isinstance(argument.value, tuple) else (argument.value,)
    else:
        typed = reader.typed(argument, node)
        items = getattr(typed, "items", (typed,))
        lengths = tuple(item.value if isinstance(item, Constant) else None for item in items)
    if not all(type(length) is int for length in lengths):
        reader.refuse(node, "the lengths of an array are constants: write zeros(3), or zeros((2, 3))")
    return lengths


def has_view(type_: Type) -> bool:
    """Whether a value of this type is a view, or has one among its items."""
    return isinstance(type_, View) or (isinstance(type_, Tuple) and any(map(has_view, type_.items)))


READERS: dict[Any, Read] = {
    tables.agreed: _agreed,
    tables.as_table: _as_table,
    tables.in_lanes: _in_lanes,
    tables.out_of_lanes: _out_of_lanes,
    tables.zeros: _zeros,
    tables.zeros_in_lanes: _zeros_in_lanes,
}
