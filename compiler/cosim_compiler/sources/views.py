"""Arguments of a kernel function that stand for several arguments: views and bundles.

The attributes of a *view* are all that a function may ask for; each one that it mentions becomes an argument.
A *bundle* is a named tuple of arguments with methods. See `flatten`.
"""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import FLAT, definition_of, names_of_file
from cosim_compiler.sources.recursion import is_recursive
from cosim_compiler.sources.tree_walk import tree_nodes

Class = TypeVar("Class", bound=type)
_bundles: set[type] = set()


@dataclass(frozen=True)
class ViewAttributes:
    """The attributes of a view.

    Attributes
    ----------
    numbers : frozenset of str
        Attributes that are one number: ``s.x = …`` sets it, if it is a result.
    bundles : tuple of (str, type, tuple of str)
        Attributes that are bundles: the name, the class, and the arguments that the bundle stands for.
    names : frozenset of str
        All attributes.
    """

    numbers: frozenset[str]
    bundles: tuple[tuple[str, type, tuple[str, ...]], ...] = ()
    names: frozenset[str] = field(default=frozenset(), compare=False)

    def bundle(self, name: str) -> tuple[type, tuple[str, ...]] | None:
        """The class of an attribute that is a bundle, and the arguments it stands for; None of others."""
        return next(((cls, names) for attribute, cls, names in self.bundles if attribute == name), None)

    def only(self, mentioned: set[str]) -> ViewAttributes:
        """A copy with the attributes of these names alone."""
        bundles = tuple(bundle for bundle in self.bundles if bundle[0] in mentioned)
        return replace(self, numbers=self.numbers & mentioned, bundles=bundles)


Kind = ViewAttributes | type
Expanded = tuple[tuple[str, Kind], ...]
"""The arguments of a function that are views or bundles, each by its name with what it is."""


@dataclass(frozen=True)
class Flat:
    """How a flat function was made from the author's: the mark `FLAT` of the flat function.

    Attributes
    ----------
    author : function
        The function as it was written.
    make_tree : callable
        Makes the definition of the flat function when it is first read; a cached function is seldom read.
    expanded : Expanded
        The arguments of the author's function that were expanded.
    arguments : dict of str to list of str
        The arguments that stand for each of these in the flat function: the attributes of a view in the order
        of their first mention, or the fields of a bundle that are used.
    fields : dict of str to list of str
        For each argument that is a bundle: the fields that are used.
    results : frozenset of str
        Numbers of a view that the function sets; they arrive as views of one element.
    lines : dict of str to int
        The line of the first mention of each attribute of a view.
    renamed : dict of str to str
        The author's names of local names that have another name in the flat function.
    key : str
        The key under which it is stored, see `KeptReading`; empty if it is not stored.
    """

    author: types.FunctionType
    make_tree: Callable[[], ast.FunctionDef]
    expanded: Expanded
    arguments: dict[str, list[str]]
    fields: dict[str, list[str]]
    results: frozenset[str]
    lines: dict[str, int]
    renamed: dict[str, str]
    key: str

    @functools.cached_property
    def tree(self) -> ast.FunctionDef:
        """The definition of the flat function."""
        return self.make_tree()


def flat_form(function: types.FunctionType) -> Flat | None:
    """How a flat function was made; None of a function as its author wrote it."""
    flat: Flat | None = function.__dict__.get(FLAT)
    return flat


def lines_of_attributes(function: types.FunctionType) -> dict[str, int]:
    """The line in which a function first mentions each attribute of a view; empty without views."""
    flat = flat_form(function)
    return {} if flat is None else flat.lines


def bundle(cls: Class) -> Class:
    """Mark a class of named tuples as a bundle: its methods are called with the fields that they use."""
    _bundles.add(cls)
    return cls


def is_bundle(value: Any) -> bool:
    """Whether a value is a class that is marked as a bundle."""
    return isinstance(value, type) and value in _bundles


def fields_of(cls: type) -> tuple[str, ...]:
    """The fields of a bundle."""
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    return fields


def attributes_of(function: types.FunctionType, name: str) -> list[str]:
    """The attributes of an argument that a function itself mentions, not a helper."""
    nodes = (node for node in tree_nodes(definition_of(function)) if isinstance(node, ast.Attribute))
    return [node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == name]


def is_view(function: types.FunctionType, name: str) -> bool:
    """Whether a function, or a helper of it, reads attributes of an argument: then the argument is a view."""
    if attributes_of(function, name):
        return True
    helpers = environment(function)
    for node in tree_nodes(definition_of(function)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        passed = [i for i, a in enumerate(node.args) if isinstance(a, ast.Name) and a.id == name]
        helper = helpers.get(node.func.id)
        if isinstance(helper, types.FunctionType) and flat_form(helper) is None and not is_recursive(helper):
            parameters = [a.arg for a in definition_of(helper).args.args]
            if any(is_view(helper, parameters[i]) for i in passed if i < len(parameters)):
                return True
        elif passed and is_further_down(function, node.func.id):
            return True
    return False


def is_further_down(function: types.FunctionType, name: str) -> bool:
    """Whether the file of a function assigns a name below the function."""
    return name not in environment(function) and name in names_of_file(function)
