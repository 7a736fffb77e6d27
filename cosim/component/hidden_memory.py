"""Python methods of a component that remember something outside the State: found when the class is made."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cosim.component.kernel_function import Handler
from cosim.errors import ContractError
from cosim_compiler.sources.kernel_source import definition_of, where

if TYPE_CHECKING:
    Component = Any

CHANGES = frozenset(
    [
        *("append", "appendleft", "extend", "insert", "pop", "popitem", "popleft", "remove", "discard"),
        *("add", "clear", "update", "setdefault", "sort", "reverse", "fill"),
    ]
)
"""Methods of lists, dicts, sets and arrays that change them."""


def hidden_memories(cls: type[Component]) -> list[str]:
    """A sentence for each attribute of the part that a law or a handler in the body of a class assigns.

    The next run would go on from it. A list, dict, set or array that these change counts where one of them
    reads it: a log that is only written is no memory. A class that says why no State of it is saved
    (`Component.not_saved`) holds something outside of the State on purpose.
    """
    if cls.not_saved:
        return []
    faults = []
    laws = [law for law, _ in _laws_of(cls)]
    read = {name for law in laws for name in _read(law)}
    for name, value in vars(cls).items():
        if value is None or name not in (*cls.kernels, *cls.handlers):
            continue
        for law, publishes in _laws_of(cls, name):
            faults += [_sentence(law, *found) for found in _assigned(law, publishes, read)]
            faults += [_sentence_of_global(law, *found) for found in _rebound(law)]
    return faults


def _laws_of(cls: type[Component], name: str = "") -> Iterator[tuple[types.FunctionType, bool]]:
    """The laws and handlers of a class in Python, or that of one name; whether it publishes."""
    for own, value in {**cls.kernels, **cls.handlers}.items():
        law, publishes = value, False
        if isinstance(value, Handler):
            law, publishes = value.function, value.does == "publish"
        if law.is_python and name in ("", own):
            yield law.function, publishes


def _read(function: types.FunctionType) -> Iterator[str]:
    """Attributes of the part that a function reads; to change what lies in one reads nothing."""
    try:
        tree = definition_of(function)
    except ContractError:  # no source
        return
    changed = {
        id(node.value.func.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if isinstance(node.value.func, ast.Attribute) and node.value.func.attr in CHANGES
    }
    for node in ast.walk(tree):
        is_own = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and _is_self(node.value)
        if is_own and id(node) not in changed:
            yield node.attr  # type: ignore[attr-defined]


def _rebound(function: types.FunctionType) -> Iterator[tuple[int, str]]:
    """Line and name of each variable outside that is declared to be assigned."""
    try:
        tree = definition_of(function)
    except ContractError:  # no source
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            yield from ((node.lineno, name) for name in node.names)


def _assigned(function: types.FunctionType, publishes: bool, read: set[str]) -> Iterator[tuple[int, str]]:
    """Line and name of each attribute that is assigned; elements of it too, but for a publish."""
    try:
        tree = definition_of(function)
    except ContractError:  # no source
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            if node.args and _is_self(node.args[0]):
                yield node.lineno, ast.unparse(node.args[1]) if len(node.args) > 1 else "…"
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not publishes:
            held = node.func.value
            own = held.attr if isinstance(held, ast.Attribute) and _is_self(held.value) else "__dict__"
            if node.func.attr in CHANGES and own != "__dict__" and own in read:
                yield node.lineno, own
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
    return (
        f"{where(function, line)}: {name} is no part of the State, so the next run goes on from it, and no "
        f"save holds it: declare {name} = cosim.discrete(), and write it in a handler: {name}_next[0] = …, "
        f'or next_state["<part>.{name}"] = …'
    )


def _sentence(function: types.FunctionType, line: int, name: str) -> str:
    plain = name.strip("_'\"")
    return (
        f"{where(function, line)}: self.{name} is no part of the State, so the next run goes on from it, and "
        f"no save holds it: declare {plain} = cosim.discrete(), and write it in a handler: {plain}_next[0] = "
        f'…, or next_state["<part>.{plain}"] = …'
    )
