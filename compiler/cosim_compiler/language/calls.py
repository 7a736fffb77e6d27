"""Reading calls: what is called decides how."""

from __future__ import annotations

import ast
import types

from cosim_compiler.convention import COMPOUNDS
from cosim_compiler.language import builtins, tables
from cosim_compiler.language.address_calls import marked_call
from cosim_compiler.language.constants import make_tuple
from cosim_compiler.language.helper_calls import helper_call
from cosim_compiler.language.reading import Reading
from cosim_compiler.language.typed_form import Expression, Known, MakeGroup
from cosim_compiler.language.types import Group, class_of, in_words

READERS = {**builtins.READERS, **tables.READERS}
"""The functions of the language, and what reads a call of each."""


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


def _function_call(
    reader: Reading, function: types.FunctionType, items: list[Expression], node: ast.Call
) -> Expression:
    """The call of a plain function: at an address or by a symbol if it is marked, else of a helper."""
    marked = marked_call(reader, function, items, node)
    return helper_call(reader, function, items, node) if marked is None else marked


def _named_tuple_call(reader: Reading, cls: type, items: list[Expression], node: ast.Call) -> Expression:
    """A named tuple; one that stands for arrays is a group."""
    fields = cls._fields  # type: ignore[attr-defined]
    if len(items) != len(fields):
        reader.refuse(node, f"{cls.__name__} has {len(fields)} fields, and is given {len(items)}")
    values = tuple(reader.typed(item, node) for item in items)
    for compound, letters in COMPOUNDS.values():
        if compound is cls:
            return MakeGroup(Group(cls, letters), values)
    return make_tuple(list(values), cls)
