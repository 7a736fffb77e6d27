"""Reading calls of the functions of the language that are Python's builtins, or in `math`.

Functions of `math` call the C library by the names by which Python's `math` does, so the bits are the same.
"""

from __future__ import annotations

import ast
import builtins
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler.language import special
from cosim_compiler.language.constants import constant, convert, known, make_tuple, parts_of
from cosim_compiler.language.reading import Read, Reading
from cosim_compiler.language.typed_form import (
    Binary,
    Call,
    Constant,
    Expression,
    Known,
    Length,
    Mathematics,
    RowsIn,
)
from cosim_compiler.language.types import (
    LANES,
    REAL,
    TRUTH,
    WHOLE,
    Number,
    RecordRows,
    Tuple,
    Type,
    View,
    in_words,
    is_for_lanes,
    is_number,
    truth_beside,
    unify_all,
)
from cosim_compiler.record import Record, rows_of

READERS: dict[Any, Read] = {}
"""The reader of calls of each function."""

OF_C_LIBRARY = {
    **dict.fromkeys(
        ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erf", "erfc", "exp", "expm1",
         "log", "log10", "log1p", "log2", "sin", "sinh", "tan", "tanh"),
        1,
    ),
    **dict.fromkeys(("atan2", "fmod", "hypot", "pow"), 2),
}  # fmt: skip
"""Functions of reals that the C library computes, with their number of arguments."""
OF_PROCESSOR = {"sqrt": 1, "fabs": 1, "copysign": 2}
"""Functions of reals that a processor computes, exactly or rounded once, with their number of arguments."""
TO_WHOLE = ("floor", "ceil", "trunc")
CONDITIONS = ("isfinite", "isinf", "isnan")


def _reads(*functions: Any) -> Callable[[Read], Read]:
    """Make what is decorated the reader of calls of these functions."""

    def mark(read: Read) -> Read:
        for function in functions:
            READERS[function] = read
        return read

    return mark


def _numbers(
    reader: Reading, items: Sequence[Expression], node: ast.Call, count: int | None = None
) -> list[Expression]:
    """The arguments, which have to be numbers."""
    name = ast.unparse(node.func).rpartition(".")[2]
    if count is not None and len(items) != count:
        reader.refuse(node, f"{name}() takes {count} argument{'s' * (count != 1)}, and is given {len(items)}")
    arguments = [reader.typed(item, node) for item in items]
    for value in arguments:
        if not is_number(value.type):
            reader.refuse(node, f"{name}() does not take {in_words(value.type)}: compute with its elements")
    return arguments


def _in_python(function: Any, items: Sequence[Expression]) -> Expression | None:
    """The result in Python if all arguments are known; None if one is not, or if Python raises."""
    if not all(isinstance(item, Known) for item in items):
        return None
    try:
        return known(function(*(item.value for item in items if isinstance(item, Known))))
    except (ArithmeticError, ValueError, TypeError):
        return None


def _real_function(name: str, count: int) -> Read:
    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        arguments = _numbers(reader, items, node, count)
        common: Type = unify_all([REAL, *(value.type for value in arguments)])
        if name not in OF_PROCESSOR:
            common = REAL
        return Mathematics(common, name, tuple(convert(value, common) for value in arguments))

    return read


for _name, _count in {**OF_C_LIBRARY, **OF_PROCESSOR}.items():
    READERS[getattr(math, _name)] = _real_function(_name, _count)


def _rounding(name: str) -> Read:
    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        (value,) = _numbers(reader, items, node, 1)
        return _rounded(value, name)

    return read


def _rounded(value: Expression, name: str) -> Expression:
    """A real rounded to a whole number."""
    if value.type is not REAL:
        return convert(value, WHOLE)  # which refuses numbers for each lane
    return convert(Mathematics(REAL, name, (value,)), WHOLE)


for _name in TO_WHOLE:
    READERS[getattr(math, _name)] = _rounding(_name)
READERS[round] = _rounding("rint")


def _condition(name: str) -> Read:
    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        (value,) = _numbers(reader, items, node, 1)
        if isinstance(value.type, Number) and is_for_lanes(value.type):
            return Mathematics(truth_beside(value.type), name, (value,))
        return Mathematics(TRUTH, name, (convert(value, REAL),))

    return read


for _name in CONDITIONS:
    READERS[getattr(math, _name)] = _condition(_name)


def _scaled(factor: float) -> Read:
    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        (value,) = _numbers(reader, items, node, 1)
        return Binary(REAL, "*", convert(value, REAL), Constant(REAL, factor))

    return read


READERS[math.degrees] = _scaled(180.0 / math.pi)
READERS[math.radians] = _scaled(math.pi / 180.0)


def _extreme(name: str) -> Read:
    """The reading of ``min`` or ``max``: of numbers, of a tuple, of a view."""
    function = getattr(builtins, name)

    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        if len(items) == 1:
            only = reader.typed(items[0], node)
            if isinstance(only.type, Tuple):
                return reader.evaluate_once(only, lambda value: read(reader, parts_of(value), node))
            if isinstance(only.type, View) and only.type.axes == 1:
                return _extreme_of_elements(reader, only, name)
        folded = _in_python(function, items)
        if folded is not None:
            return folded
        arguments = _numbers(reader, items, node)
        if len(arguments) < 2:
            reader.refuse(node, f"write {name}(x, y), or {name}() of a tuple or a view")
        common = unify_all([value.type for value in arguments])
        common = WHOLE if common is TRUTH else common
        return functools.reduce(
            lambda left, right: Mathematics(common, name, (left, right)),
            [convert(value, common) for value in arguments],
        )

    return read


def _extreme_of_elements(reader: Reading, view: Expression, name: str) -> Expression:
    """The least or greatest element of a view."""
    helper = reader.program.function(getattr(special, "least" if name == "min" else "greatest"), (view.type,))
    reader.function.raises = reader.function.raises or helper.raises
    return Call(helper.result, helper, (view,))


READERS[min], READERS[max] = _extreme("min"), _extreme("max")


@_reads(abs)
def _abs(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    folded = _in_python(abs, items)
    if folded is not None:
        return folded
    (value,) = _numbers(reader, items, node, 1)
    if value.type is REAL or is_for_lanes(value.type):
        return Mathematics(value.type, "fabs", (value,))
    return Mathematics(WHOLE, "abs", (convert(value, WHOLE),))


def _conversion(function: Any, to: Type) -> Read:
    """The reading of ``float``, ``int`` or ``bool``."""

    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        folded = _in_python(function, items)
        if folded is not None:
            return folded
        (value,) = _numbers(reader, items, node, 1)
        if to is TRUTH:
            truth = reader.as_condition(value, node)
            return constant(truth.value) if isinstance(truth, Known) else truth
        return convert(value, to)

    return read


READERS[int], READERS[float], READERS[bool] = (
    _conversion(int, WHOLE),
    _conversion(float, REAL),
    _conversion(bool, TRUTH),
)


@_reads(len)
def _len(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    """``len`` of a tuple or a view; a number where it is known."""
    if len(items) != 1:
        reader.refuse(node, "write len(x)")
    if isinstance(items[0], Known) and isinstance(items[0].value, tuple):
        return known(len(items[0].value))
    value = reader.typed(items[0], node)
    if isinstance(value.type, Tuple):
        return known(len(value.type.items))
    if not isinstance(value.type, (View, RecordRows)):
        reader.refuse(node, f"{in_words(value.type)} has no length")
    if isinstance(value.type, View) and value.type.shape is not None:
        return known(value.type.shape[0])
    return Length(WHOLE, value)


def _is_made_of(declared: Any, kind: Any) -> bool:
    """Whether a field is a number of a kind, or a record of such."""
    if isinstance(declared, type) and issubclass(declared, Record):
        return all(_is_made_of(inside, kind) for inside in declared.declared.values())
    return declared is kind


@_reads(rows_of)
def _rows_of(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    """``rows_of``: records or numbers that lie in a view one after the other."""
    cls = items[0].value if len(items) == 4 and isinstance(items[0], Known) else None
    if not (cls in (float, int) or (isinstance(cls, type) and issubclass(cls, Record))):
        reader.refuse(node, "write rows_of(the class of a record, a view, first place, how many)")
    view, first, count = (reader.typed(item, node) for item in items[1:])
    kinds: dict[Type, type] = {REAL: float, **dict.fromkeys(LANES.values(), float), WHOLE: int}
    kind = kinds.get(view.type.item) if isinstance(view.type, View) else None
    if cls in (float, int):
        if kind is not cls:
            reader.refuse(node, f"{in_words(view.type)} has no numbers of the kind {cls.__name__}")
        shape = (count.value,) if isinstance(count, Constant) else None
        rows: Type = View(view.type.item, 1, shape)  # type: ignore[union-attr]
    else:
        other_fields = [name for name, declared in cls.declared.items() if not _is_made_of(declared, kind)]
        if kind is None or other_fields:
            reader.refuse(
                node, f"{in_words(view.type)} has no room for {cls.__name__}.{', '.join(other_fields)}"
            )
        rows = RecordRows(cls, view.type.item.lanes)  # type: ignore[union-attr]
    return RowsIn(rows, view, convert(first, WHOLE), convert(count, WHOLE))


@_reads(sum)
def _sum(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    value = reader.typed(items[0], node) if items else None
    if value is None or len(items) > 2 or not isinstance(value.type, Tuple):
        reader.refuse(node, "sum() takes a tuple: of a view write a loop")
    start = items[1] if len(items) == 2 else known(0)

    def build(held: Expression) -> Expression:
        return functools.reduce(lambda a, b: reader.binary("+", a, b, node), parts_of(held), start)

    return reader.evaluate_once(value, build)


@_reads(divmod)
def _divmod(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    dividend, divisor = _numbers(reader, items, node, 2)
    return reader.evaluate_once(
        dividend,
        lambda a: reader.evaluate_once(
            divisor,
            lambda b: make_tuple([reader.binary("//", a, b, node), reader.binary("%", a, b, node)]),
        ),
    )


@_reads(math.ldexp)
def _ldexp(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    fraction, exponent = _numbers(reader, items, node, 2)
    if exponent.type is REAL:
        reader.refuse(node, "the exponent of ldexp() is a whole number: write int(…)")
    return Mathematics(REAL, "ldexp", (convert(fraction, REAL), convert(exponent, WHOLE)))


@_reads(math.frexp)
def _frexp(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    (value,) = _numbers(reader, items, node, 1)
    return Mathematics(Tuple((REAL, WHOLE)), "frexp", (convert(value, REAL),))


@_reads(math.modf)
def _modf(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
    (value,) = _numbers(reader, items, node, 1)
    return Mathematics(Tuple((REAL, REAL)), "modf", (convert(value, REAL),))


def _in_the_language(name: str, kinds: tuple[Type, ...]) -> Read:
    """The reader of calls of a function that `special` has in the language itself."""

    def read(reader: Reading, items: list[Expression], node: ast.Call) -> Expression:
        arguments = [
            convert(v, k) for v, k in zip(_numbers(reader, items, node, len(kinds)), kinds, strict=True)
        ]
        helper = reader.program.function(getattr(special, name), kinds)
        return Call(helper.result, helper, tuple(arguments))

    return read


READERS[math.gcd] = _in_the_language("greatest_common_divisor", (WHOLE, WHOLE))
READERS[math.gamma] = _in_the_language("gamma", (REAL,))
READERS[math.lgamma] = _in_the_language("log_of_gamma", (REAL,))
