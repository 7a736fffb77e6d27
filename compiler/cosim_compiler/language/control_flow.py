"""Where a program goes on behind statements of the typed form, and whether a loop can be left."""

from __future__ import annotations

from collections.abc import Sequence

from cosim_compiler.language.typed_form import (
    Break,
    Call,
    CallAddress,
    CallLinked,
    Constant,
    Continue,
    If,
    Raise,
    RaiseAgain,
    Return,
    Statement,
    Try,
    While,
    walk,
)


def ends(body: Sequence[Statement]) -> bool:
    """Whether the program never gets behind these statements."""
    last = body[-1] if body else None
    if isinstance(last, If):
        return ends(last.body) and ends(last.orelse)
    if isinstance(last, Try):
        return ends(last.body) and ends(last.handler)
    if isinstance(last, While):
        return isinstance(last.condition, Constant) and not has_break(last.body)
    return isinstance(last, (Return, Raise, RaiseAgain, Break, Continue))


def has_break(body: Sequence[Statement]) -> bool:
    """Whether a break among these statements leaves the loop around them."""
    return any(
        isinstance(statement, Break)
        or (isinstance(statement, If) and (has_break(statement.body) or has_break(statement.orelse)))
        or (isinstance(statement, Try) and (has_break(statement.body) or has_break(statement.handler)))
        for statement in body
    )


def may_leave(body: Sequence[Statement]) -> bool:
    """Whether a loop of these statements can be left: by a break, a return, or what is raised."""
    return has_break(body) or any(
        isinstance(node, (Return, Raise, RaiseAgain, CallLinked, CallAddress))
        or (isinstance(node, Call) and node.function.raises)
        for node in walk(*body)
    )
