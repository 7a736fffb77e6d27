"""Kinks in a kernel function and its helpers: whether there are any, and in which lines."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Mapping
from typing import Any

from cosim_compiler.names_in_reach import environment
from cosim_compiler.sources.kernel_source import definition_of
from cosim_compiler.sources.kink_places import CALLS, kink_calls, moving_names, varies
from cosim_compiler.sources.tree_walk import tree_nodes


def may_have_kinks(function: types.FunctionType) -> bool:
    """Whether a function has a branch, or it or a helper calls a function with a kink."""
    if set(CALLS).intersection(_names_in_reach(function)):
        return True
    return any(isinstance(node, (ast.If, ast.IfExp)) for node in tree_nodes(definition_of(function)))


@functools.cache
def has_kinks(helper: types.FunctionType) -> bool:
    """Whether a helper, or one that it calls, has a kink in one of its arguments."""
    if not set(CALLS).intersection(_names_in_reach(helper)):
        return False
    tree = definition_of(helper)
    moving = moving_names(tree.body, {a.arg for a in tree.args.args})
    if any(kink_calls(tree, moving)):
        return True
    helpers = [h for h in environment(helper).values() if isinstance(h, types.FunctionType)]
    return any(has_kinks(inner) for inner in helpers if inner is not helper)


def _names_in_reach(
    function: types.FunctionType, visited: frozenset[types.FunctionType] = frozenset()
) -> set[str]:
    """Names that a function and its helpers mention."""
    names = set(function.__code__.co_names)
    for helper in environment(function).values():
        if isinstance(helper, types.FunctionType) and helper not in visited and helper is not function:
            names |= _names_in_reach(helper, visited | {function})
    return names


def helper_lines(names: Mapping[str, Any], body: list[ast.stmt], moving: set[str]) -> list[int]:
    """Lines that call a helper with a kink on an argument that varies."""
    return [
        node.lineno
        for node in tree_nodes(ast.Module(body, []))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and isinstance(helper := names.get(node.func.id), types.FunctionType)
        and any(varies(argument, moving) for argument in node.args)
        and has_kinks(helper)
    ]
