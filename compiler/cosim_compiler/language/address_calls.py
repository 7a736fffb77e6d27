"""Reading calls of marked functions: calls of machine code, and views of memory at an address.

A marked function stands for the call of machine code at an address, for the call of a function that is
compiled elsewhere and has a symbol, or for memory at an address. The mark lies in its ``__dict__``
(`cosim_compiler.calls`); the functions of `cosim_compiler.foreign` are known without one.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler import foreign
from cosim_compiler.calls import GROUP_AT, INDIRECT, TOGETHER
from cosim_compiler.calls import STATUS as STATUS_MARK
from cosim_compiler.convention import COMPOUNDS
from cosim_compiler.language.call_arguments import (
    argument_of_type,
    arguments_in_order,
    arguments_of_signature,
)
from cosim_compiler.language.constants import parts_of
from cosim_compiler.language.reading import Reading
from cosim_compiler.language.typed_form import (
    FOREIGN,
    RESULT,
    STATUS,
    CallAddress,
    CallLinked,
    Expression,
    GroupAt,
    ViewAt,
)
from cosim_compiler.language.types import WHOLE, Group, Tuple, type_of_letter, types_of

FOREIGN_LETTERS: dict[Any, str] = {foreign.call_with_array: "iiiii", foreign.call_with_interval: "iffiiiii"}
"""The letters of the arguments that a C function takes, by the function that calls it."""


def marked_call(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.Call
) -> Expression | None:
    """The call of a function with a symbol or a mark; None if it has neither, so that it is a helper."""
    marks = function.__dict__
    linked = reader.program.linked(function)
    if linked is not None:
        return _linked_call(reader, function, linked, items, node)
    if STATUS_MARK in marks:
        return _address_call(reader, STATUS, marks[STATUS_MARK], items, node)
    if INDIRECT in marks:
        signature = marks[INDIRECT]
        return _with_unpacked(
            reader, items, node, lambda unpacked: _address_call(reader, RESULT, signature, unpacked, node)
        )
    if function in FOREIGN_LETTERS:
        return _address_call(reader, FOREIGN, f"{FOREIGN_LETTERS[function]}>i", items, node)
    if function in foreign.ARRAYS_AT:
        letter, columns = foreign.ARRAYS_AT[function]
        address, size = (argument_of_type(reader, item, WHOLE, node) for item in items)
        return ViewAt(type_of_letter(letter), address, size, columns)
    if GROUP_AT in marks:
        address = argument_of_type(reader, items[0], WHOLE, node)
        return GroupAt(Group(*COMPOUNDS[marks[GROUP_AT]]), address)
    return None


def _address_call(
    reader: Reading, kind: str, signature: str, items: Sequence[Expression], node: ast.AST
) -> Expression:
    """The call of the machine code at an address, which is the first argument."""
    address = argument_of_type(reader, items[0], WHOLE, node)
    arguments = arguments_of_signature(reader, signature, items[1:], node)
    result = WHOLE if kind == STATUS else types_of(signature)[1]
    return CallAddress(result, kind, signature, address, arguments)


def _linked_call(
    reader: Reading,
    function: types.FunctionType,
    linked: tuple[str, str],
    items: list[Expression],
    node: ast.Call,
) -> Expression:
    """The call of a linked function by its symbol; its marks say how the author writes the arguments."""
    symbol, signature = linked
    marks = function.__dict__
    reader.function.raises = reader.function.raises or TOGETHER in marks
    result = types_of(signature)[1]

    def call(ordered: Sequence[Expression]) -> Expression:
        arguments = arguments_of_signature(reader, signature, ordered, node)
        return CallLinked(result, symbol, signature, arguments)

    if INDIRECT in marks:
        return _with_unpacked(reader, items, node, call)
    return call(items if STATUS_MARK in marks else arguments_in_order(reader, function, items, node))


def _with_unpacked(
    reader: Reading,
    items: Sequence[Expression],
    node: ast.AST,
    call: Callable[[list[Expression]], Expression],
) -> Expression:
    """A call that the author writes as ``f(address, (x, y))``, with `call` for the address, x and y."""
    arguments = reader.typed(items[1], node) if len(items) == 2 else None
    if arguments is None or not isinstance(arguments.type, Tuple):
        reader.refuse(node, "write the address, and a tuple of the arguments")
    return reader.evaluate_once(arguments, lambda held: call([items[0], *parts_of(held)]))
