"""The arguments of calls: in the order of a function's parameters, and of the types of a signature."""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence

from cosim_compiler.language.constants import convert, known
from cosim_compiler.language.reading import Reading
from cosim_compiler.language.typed_form import Expression
from cosim_compiler.language.types import DisagreementError, Type, in_words, types_of, unify
from cosim_compiler.sources.kernel_source import definition_of


def arguments_in_order(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.Call
) -> Sequence[Expression]:
    """The arguments of a call in the order of the function's parameters, with its defaults."""
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


def argument_of_type(reader: Reading, value: Expression, wanted: Type, node: ast.AST) -> Expression:
    """An argument converted to the type that a signature asks for."""
    argument = reader.typed(value, node)
    try:
        if unify(argument.type, wanted) == wanted:
            return convert(argument, wanted)
    except DisagreementError:
        pass
    reader.refuse(node, f"{in_words(wanted)} is needed, and this is {in_words(argument.type)}")


def arguments_of_signature(
    reader: Reading, signature: str, items: Sequence[Expression], node: ast.AST
) -> tuple[Expression, ...]:
    """The arguments of a call, each converted to the type that the signature asks for."""
    kinds, _ = types_of(signature)
    if len(items) != len(kinds):
        reader.refuse(
            node, f"the signature {signature} has {len(kinds)} arguments, and {len(items)} are given"
        )
    return tuple(argument_of_type(reader, item, kind, node) for item, kind in zip(items, kinds, strict=True))
