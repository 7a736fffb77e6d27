"""Reading calls: of built-in functions, of helpers, of parts, of what lies at an address."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from typing import Any

from cosim_compiler import foreign, functions
from cosim_compiler.calls import GROUP_AT, INDIRECT, TOGETHER
from cosim_compiler.calls import STATUS as STATUS_MARK
from cosim_compiler.convention import compounds
from cosim_compiler.errors import ContractError
from cosim_compiler.language import builtins, tables
from cosim_compiler.language.constants import NoLanesError, convert, known, make_tuple, parts_of
from cosim_compiler.language.reading import Reading
from cosim_compiler.language.typed_form import (
    FOREIGN,
    RESULT,
    STATUS,
    Call,
    CallAddress,
    CallForLanes,
    CallLinked,
    Expression,
    Function,
    GroupAt,
    Known,
    MakeGroup,
    ViewAt,
)
from cosim_compiler.language.types import (
    LANES,
    REAL,
    WHOLE,
    DisagreementError,
    Group,
    Record,
    RecordRows,
    Tuple,
    Type,
    View,
    class_of,
    in_words,
    is_number,
    type_of_letter,
    types_of,
    unify,
)
from cosim_compiler.sources.kernel_source import definition_of

READERS = {**builtins.READERS, **tables.READERS}
FOREIGN_LETTERS: dict[Any, str] = {foreign.call_with_array: "iiiii", foreign.call_with_interval: "iffiiiii"}
"""What C functions are given behind their address."""


def call_of(reader: Reading, node: ast.Call) -> Expression:
    """The typed form of a call."""
    if isinstance(node.func, ast.Attribute):
        owner = reader.expression(node.func.value)
        if class_of(owner.type) is not None:
            return _method_call(reader, owner, node.func, node)
    called = reader.expression(node.func)
    if not isinstance(called, Known):
        reader.refuse(node.func, f"{in_words(called.type)} cannot be called")
    function = called.value
    return reader.with_items(node.args, lambda items: _call_of_value(reader, function, items, node))


def _call_of_value(reader: Reading, function: object, items: list[Expression], node: ast.Call) -> Expression:
    """The call of what a name stands for: a built-in function, a helper, a class of tuples."""
    try:
        read = READERS.get(function)
    except TypeError:  # it has no hash
        read = None
    if read is None and isinstance(function, types.FunctionType):
        return _function_call(reader, function, items, node)
    if node.keywords:
        reader.refuse(node, "write the arguments in their order, without names")
    if read is not None:
        return read(reader, items, node)
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return _named_tuple_call(reader, function, items, node)
    if isinstance(getattr(function, "py_func", None), types.FunctionType):
        name = ast.unparse(node.func)
        reader.refuse(
            node, f"{name} was made by another compiler (numba?): write a plain function, no decorator"
        )
    reader.refuse(node, f"{ast.unparse(node.func)}() is not a function of the language")


def _method_call(reader: Reading, owner: Expression, named: ast.Attribute, node: ast.Call) -> Expression:
    """A method of a record, a group or a named tuple is a function whose first argument is that."""
    cls = class_of(owner.type)
    assert cls is not None
    method = getattr(cls, named.attr, None)
    if not isinstance(method, types.FunctionType):
        reader.refuse(node, f"{cls.__name__} has no method '{named.attr}'")
    return reader.with_items(node.args, lambda items: _function_call(reader, method, [owner, *items], node))


def call_of_function(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.AST
) -> Expression:
    """The call of a helper with arguments in its order."""
    arguments = [reader.typed(item, node) for item in items]
    try:
        helper = _typed_helper(reader, function, arguments, node)
    except NoLanesError:
        return _call_for_lanes(reader, function, arguments, node)
    reader.function.raises = reader.function.raises or helper.raises
    return Call(helper.result, helper, tuple(arguments))


def _call_for_lanes(
    reader: Reading, function: types.FunctionType, arguments: Sequence[Expression], node: ast.AST
) -> Expression:
    """The call of a helper that takes one number, and decides by it, for each lane."""
    kinds = [REAL if value.type is LANES else value.type for value in arguments]
    helper = reader.program.function(function, tuple(kinds))
    if not all(map(is_number, kinds)) or helper.result is not REAL or helper.raises:
        raise NoLanesError(f"{function.__name__}() decides by {in_words(LANES)}")
    return CallForLanes(LANES, helper, tuple(arguments))


def _named_tuple_call(reader: Reading, cls: type, items: list[Expression], node: ast.Call) -> Expression:
    """A named tuple; one that stands for arrays is a group."""
    fields = cls._fields  # type: ignore[attr-defined]
    if len(items) != len(fields):
        reader.refuse(node, f"{cls.__name__} has {len(fields)} fields, and is given {len(items)}")
    values = tuple(reader.typed(item, node) for item in items)
    for compound, letters in compounds.values():
        if compound is cls:
            return MakeGroup(Group(cls, letters), values)
    return make_tuple(list(values), cls)


def _function_call(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.Call
) -> Expression:
    """The call of a plain function: by its marks, at an address or by a symbol; else of a helper."""
    marks = function.__dict__
    linked = reader.program.linked(function)
    if linked is not None:
        return _linked_call(reader, function, linked, items, node)
    if STATUS_MARK in marks:
        return _address_call(reader, STATUS, marks[STATUS_MARK], items, node)
    if INDIRECT in marks:
        return reader.evaluate_once(
            _packed(reader, items, node),
            lambda held: _address_call(reader, RESULT, marks[INDIRECT], [items[0], *parts_of(held)], node),
        )
    if function in FOREIGN_LETTERS:
        return _address_call(reader, FOREIGN, f"{FOREIGN_LETTERS[function]}>i", items, node)
    if function in foreign.ARRAYS_AT:
        letter, columns = foreign.ARRAYS_AT[function]
        address, size = (_as_type(reader, item, WHOLE, node) for item in items)
        return ViewAt(type_of_letter(letter), address, size, columns)
    if GROUP_AT in marks:
        return GroupAt(Group(*compounds[marks[GROUP_AT]]), _as_type(reader, items[0], WHOLE, node))
    arguments = [reader.typed(item, node) for item in _in_order(reader, function, items, node)]
    for value in arguments:
        if not isinstance(value.type, (View, Group, Tuple, Record, RecordRows)) and value.type.rank < 0:
            reader.refuse(
                node, f"{function.__name__}() is given nothing: a helper that returns nothing has no value"
            )
    return call_of_function(reader, function, arguments, node)


def _typed_helper(
    reader: Reading, function: types.FunctionType, arguments: Sequence[Expression], node: ast.AST
) -> Function:
    """The typed form of a helper; a value that one of ours does not take is a fault of the calling line."""
    kinds = tuple(value.type for value in arguments)
    is_ours = function.__module__ == functions.__name__ != reader.function.author.__module__
    try:
        return reader.program.function(function, kinds)
    except NoLanesError:
        raise
    except ContractError:
        if not is_ours:
            raise
    meaning = (function.__doc__ or "").split("\n")[0]
    types_given = ", ".join(map(in_words, kinds))
    reader.refuse(node, f"{function.__name__}() does not take {types_given}: {meaning}")


def _packed(reader: Reading, items: Sequence[Expression], node: ast.AST) -> Expression:
    """The tuple of arguments behind an address."""
    arguments = reader.typed(items[1], node) if len(items) == 2 else None
    if arguments is None or not isinstance(arguments.type, Tuple):
        reader.refuse(node, "write the address, and a tuple of the arguments")
    return arguments


def _in_order(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.Call
) -> Sequence[Expression]:
    """The arguments of a helper in its order, with its defaults."""
    signature = definition_of(function).args
    names = [a.arg for a in signature.args]
    rest = items[len(names) :] if signature.vararg else []
    arguments = dict(zip(names, items, strict=False))
    count = len(items) + len(node.keywords)
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in arguments:
            arguments[keyword.arg] = reader.expression(keyword.value)
    defaults = function.__defaults__ or ()
    for name, value in zip(reversed(names), reversed(defaults), strict=False):
        arguments.setdefault(name, known(value))
    missing = [name for name in names if name not in arguments]
    shown = f"{function.__name__}({', '.join(names)})"
    if missing:
        reader.refuse(node, f"{shown} is called with others: missing a required argument: '{missing[0]}'")
    if count > len(names) + len(rest):
        reader.refuse(node, f"{shown} is called with others: too many positional arguments")
    return [*(arguments[name] for name in names), *rest]


def _as_type(reader: Reading, value: Expression, wanted: Type, node: ast.AST) -> Expression:
    """An argument as what a signature asks for."""
    argument = reader.typed(value, node)
    try:
        if unify(argument.type, wanted) == wanted:
            return convert(argument, wanted)
    except DisagreementError:
        pass
    reader.refuse(node, f"{in_words(wanted)} is needed, and this is {in_words(argument.type)}")


def _arguments(
    reader: Reading, signature: str, items: Sequence[Expression], node: ast.AST
) -> tuple[Expression, ...]:
    """The arguments of a call by a signature, each as the signature asks for it."""
    types_asked, _ = types_of(signature)
    if len(items) != len(types_asked):
        reader.refuse(
            node, f"the signature {signature} has {len(types_asked)} arguments, and {len(items)} are given"
        )
    return tuple(_as_type(reader, item, type_, node) for item, type_ in zip(items, types_asked, strict=True))


def _address_call(
    reader: Reading, kind: str, signature: str, items: Sequence[Expression], node: ast.AST
) -> Expression:
    """The call of what lies at an address, which is the first argument."""
    address = _as_type(reader, items[0], WHOLE, node)
    arguments = _arguments(reader, signature, items[1:], node)
    result = WHOLE if kind == STATUS else types_of(signature)[1]
    return CallAddress(result, kind, signature, address, arguments)


def _linked_call(
    reader: Reading,
    function: types.FunctionType,
    linked: tuple[str, str],
    items: list[Expression],
    node: ast.Call,
) -> Expression:
    """A call by a symbol; of what has an address in process, the arguments are a tuple."""
    symbol, signature = linked
    reader.function.raises = reader.function.raises or TOGETHER in function.__dict__
    result = types_of(signature)[1]
    if INDIRECT in function.__dict__:
        return reader.evaluate_once(
            _packed(reader, items, node),
            lambda held: CallLinked(
                result,
                symbol,
                signature,
                _arguments(reader, signature, [items[0], *parts_of(held)], node),
            ),
        )
    ordered = items if STATUS_MARK in function.__dict__ else _in_order(reader, function, items, node)
    return CallLinked(result, symbol, signature, _arguments(reader, signature, ordered, node))
