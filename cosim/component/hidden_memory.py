"""Python methods of a component that remember something outside the State: found when the class is made."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cosim.component.kernel_function import HandlerFunction
from cosim.errors import ContractError
from cosim_compiler.sources.kernel_source import definition_of, where
from cosim_compiler.sources.tree_walk import tree_nodes

if TYPE_CHECKING:
    Component = Any

CHANGES = frozenset(
    [
        *("append", "appendleft", "extend", "insert", "pop", "popitem", "popleft", "remove", "discard"),
        *("add", "clear", "update", "setdefault", "sort", "reverse", "fill"),
    ]
)
"""Methods of lists, dicts, sets and arrays that change them."""
ANSWERS = frozenset(["pop", "popitem", "popleft", "setdefault"])
"""Methods among them that return a value that was there before."""


def hidden_memories(cls: type[Component]) -> list[str]:
    """A sentence for each attribute of the part that a law or a handler in the body of a class assigns.

    The next run would go on from it. A class that says why no State of it is saved (`Component.not_saved`)
    holds something outside of the State on purpose.
    """
    if cls.not_saved:
        return []
    faults, changed = [], []
    read: set[str] = set()
    for name, value in vars(cls).items():
        law, publishes = cls.kernels.get(name), False
        if isinstance(value, HandlerFunction):
            law, publishes = value.function, value.does == "publish"
        if law is not None and law.is_python and value is not None:
            function = law.function
            faults += [_sentence(function, *assignment) for assignment in _assigned(function, publishes)]
            faults += [_sentence_of_global(function, *assignment) for assignment in _rebound(function)]
            if not publishes:
                assigned, also_read = _changed(function)
                changed += [(function, *assignment) for assignment in assigned]
                read |= also_read
    return faults + [_sentence(*assignment) for assignment in changed if assignment[2] in read]


def _changed(function: types.FunctionType) -> tuple[list[tuple[int, str]], set[str]]:
    """Line and name of each attribute whose list, dict or set is changed; and the attributes that are read.

    What is only added to is a log, and decides nothing: so ``self.log`` in ``self.log.append(…)`` is not
    read, but in ``self.stack.pop()`` it is.
    """
    changed, only_changed, read = [], set(), set()
    for node in tree_nodes(_tree(function)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            of = node.func.value
            if isinstance(of, ast.Attribute) and _is_self(of.value) and of.attr != "__dict__":
                changed.append((node.lineno, of.attr))
                if node.func.attr not in ANSWERS:
                    only_changed.add(of)
        elif isinstance(node, ast.Attribute) and _is_self(node.value) and node not in only_changed:
            read.add(node.attr)
    return changed, read


def _tree(function: types.FunctionType) -> ast.AST:
    """The syntax tree of a function, empty where its source is not there."""
    try:
        return definition_of(function)
    except ContractError:  # no source
        return ast.Module([], [])


def _rebound(function: types.FunctionType) -> Iterator[tuple[int, str]]:
    """Line and name of each variable outside that is declared to be assigned."""
    for node in tree_nodes(_tree(function)):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from ((node.lineno, name) for name in node.names)


def _assigned(function: types.FunctionType, publishes: bool) -> Iterator[tuple[int, str]]:
    """Line and name of each attribute that is assigned; elements of it too, but for a publish."""
    for node in tree_nodes(_tree(function)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            if node.args and _is_self(node.args[0]):
                yield node.lineno, ast.unparse(node.args[1]) if len(node.args) > 1 else "…"
            continue
        if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            continue
        target: ast.AST = node
        while isinstance(target, ast.Subscript) and not publishes:
            target = target.value
        if isinstance(target, ast.Attribute) and _is_self(target.value):
            yield target.lineno, target.attr


def _is_self(node: ast.AST) -> bool:
    """Whether it is the part, or its class."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        return len(node.args) == 1 and _is_self(node.args[0])
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return _is_self(node.value)
    return isinstance(node, ast.Name) and node.id == "self"


def _sentence_of_global(function: types.FunctionType, line: int, name: str) -> str:
    """The sentence about a variable of a module that a function assigns."""
    return (
        f"{where(function, line)}: {name} is not part of the State, so the next run goes on from it, and no "
        f"save holds it: declare {name} = cosim.discrete(), and write it in a handler: {name}_next[0] = …, "
        f'or next_state["<part>.{name}"] = …'
    )


def _sentence(function: types.FunctionType, line: int, name: str) -> str:
    """The sentence about an attribute of the part that a function assigns."""
    plain = name.strip("_'\"")
    return (
        f"{where(function, line)}: self.{name} is not part of the State, so the next run goes on from it, "
        f"and no save holds it: declare {plain} = cosim.discrete(), and write it in a handler: "
        f"{plain}_next[0] = "
        f'…, or next_state["<part>.{plain}"] = …'
    )
