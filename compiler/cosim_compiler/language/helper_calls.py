"""Reading calls of helpers: plain functions that are compiled together with their caller."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence

from cosim_compiler import functions
from cosim_compiler.errors import ContractError
from cosim_compiler.language.call_arguments import arguments_in_order
from cosim_compiler.language.constants import NoLanesError
from cosim_compiler.language.reading import Reading
from cosim_compiler.language.typed_form import Call, CallForLanes, Expression, Function
from cosim_compiler.language.types import (
    REAL,
    Group,
    Record,
    RecordRows,
    Tuple,
    View,
    in_words,
    is_for_lanes,
    is_number,
)


def helper_call(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.Call
) -> Expression:
    """The call of a helper with the arguments as the author writes them."""
    arguments = [reader.typed(item, node) for item in arguments_in_order(reader, function, items, node)]
    for value in arguments:
        if not isinstance(value.type, (View, Group, Tuple, Record, RecordRows)) and value.type.rank < 0:
            reader.refuse(
                node, f"{function.__name__}() is given nothing: a helper that returns nothing has no value"
            )
    return call_of_function(reader, function, arguments, node)


def call_of_function(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.AST
) -> Expression:
    """The call of a helper with the arguments in the order of its parameters."""
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
    """A separate call for each lane, of a helper whose branches depend on a number for each lane."""
    lanes = [value.type for value in arguments if is_for_lanes(value.type)]
    kinds = [REAL if is_for_lanes(value.type) else value.type for value in arguments]
    helper = reader.program.function(function, tuple(kinds))
    if not lanes or not all(map(is_number, kinds)) or helper.result is not REAL or helper.raises:
        raise NoLanesError(f"{function.__name__}() decides by numbers for lanes")
    return CallForLanes(lanes[0], helper, tuple(arguments))


def _typed_helper(
    reader: Reading, function: types.FunctionType, arguments: Sequence[Expression], node: ast.AST
) -> Function:
    """The typed form of a helper.

    If it is a function of the language (`functions`) and refuses an argument, the error names the line of the
    call.
    """
    kinds = tuple(value.type for value in arguments)
    is_of_the_language = function.__module__ == functions.__name__ != reader.function.author.__module__
    try:
        return reader.program.function(function, kinds)
    except NoLanesError:
        raise
    except ContractError:
        if not is_of_the_language:
            raise
    meaning = (function.__doc__ or "").split("\n")[0]
    types_given = ", ".join(map(in_words, kinds))
    reader.refuse(node, f"{function.__name__}() does not take {types_given}: {meaning}")
