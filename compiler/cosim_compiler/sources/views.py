"""Arguments that stand for several: views and bundles.

A *view* stands for all that a function may ask for; its attributes are arguments. A *bundle* is a named
tuple of arguments with methods. See `flatten`.
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
    """The meaning of the attributes of a view.

    Attributes
    ----------
    numbers : frozenset of str
        Those that are one number: ``s.x = …`` sets it, where it is a result.
    bundles : tuple of (str, type, tuple of str)
        Those that stand for several arguments: the name, the class, the arguments.
    names : frozenset of str
        All that there are.
    """

    numbers: frozenset[str]
    bundles: tuple[tuple[str, type, tuple[str, ...]], ...] = ()
    names: frozenset[str] = field(default=frozenset(), compare=False)

    def bundle(self, name: str) -> tuple[type, tuple[str, ...]] | None:
        """The class and the arguments that an attribute stands for, where it is a bundle."""
        return next(((cls, names) for attribute, cls, names in self.bundles if attribute == name), None)

    def only(self, mentioned: set[str]) -> ViewAttributes:
        """A copy for functions that mention these names alone."""
        bundles = tuple(bundle for bundle in self.bundles if bundle[0] in mentioned)
        return replace(self, numbers=self.numbers & mentioned, bundles=bundles)


Kind = ViewAttributes | type
Given = tuple[tuple[str, Kind], ...]
"""Arguments of a function that are written out, with what they stand for."""


@dataclass(frozen=True)
class Flat:
    """The flattening of a function; the mark `FLAT` of the flat function.

    Attributes
    ----------
    author : function
        As it was written.
    make_tree : callable
        Makes the definition of the flat one when it is first read: where all is kept, nothing reads it.
    given : Given
    arguments : dict of str to list of str
        What each argument in `given` has become: attributes of views in the order in which they are met, and
        the fields of bundles that are used.
    fields : dict of str to list of str
        Those of each argument that is a bundle.
    results : frozenset of str
        Numbers of a view that arrive as views of one element, since they are set.
    lines : dict of str to int
        Where an attribute of a view is met first.
    renamed : dict of str to str
        What the author calls local names that have another one here.
    key : str
        Of the fact that it is kept as, see `KeptReading`; empty where it is not kept.
    """

    author: types.FunctionType
    make_tree: Callable[[], ast.FunctionDef]
    given: Given
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
    """The flattening of a function; None for one as its author wrote it."""
    flat: Flat | None = function.__dict__.get(FLAT)
    return flat


def lines_of_attributes(function: types.FunctionType) -> dict[str, int]:
    """The first line in which the author's function reads each attribute; empty without views."""
    flat = flat_form(function)
    return {} if flat is None else flat.lines


def bundle(cls: Class) -> Class:
    """Mark a class of named tuples: its methods are called with the fields that they use."""
    _bundles.add(cls)
    return cls


def is_bundle(value: Any) -> bool:
    """Whether it is a class of named tuples whose methods are called with their fields."""
    return isinstance(value, type) and value in _bundles


def fields_of(cls: type) -> tuple[str, ...]:
    """The fields of a bundle."""
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    return fields


def attributes_of(function: types.FunctionType, name: str) -> list[str]:
    """The attributes of an argument that a function mentions itself."""
    nodes = (node for node in tree_nodes(definition_of(function)) if isinstance(node, ast.Attribute))
    return [node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == name]


def is_view(function: types.FunctionType, name: str) -> bool:
    """Whether a function asks an argument for attributes, itself or in a helper."""
    if attributes_of(function, name):
        return True
    helpers = environment(function)
    for node in tree_nodes(definition_of(function)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        handed = [i for i, a in enumerate(node.args) if isinstance(a, ast.Name) and a.id == name]
        helper = helpers.get(node.func.id)
        if isinstance(helper, types.FunctionType) and flat_form(helper) is None and not is_recursive(helper):
            parameters = [a.arg for a in definition_of(helper).args.args]
            if any(is_view(helper, parameters[i]) for i in handed if i < len(parameters)):
                return True
        elif handed and is_further_down(function, node.func.id):
            return True
    return False


def is_further_down(function: types.FunctionType, name: str) -> bool:
    """Whether the file of a function gives a name its value after the function."""
    return name not in environment(function) and name in names_of_file(function)
