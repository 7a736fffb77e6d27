"""A loop of one turn without the loop: what its body becomes."""

from __future__ import annotations

from collections.abc import Sequence

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.statement_parts import bodies_of
from cosim_compiler.language.typed_form import Statement
from cosim_compiler.language.types import TRUTH


def without_continue(turn: Sequence[Statement]) -> tuple[Statement, ...]:
    """A turn that nothing follows: what stands behind a branch that ends it belongs to the other branch."""
    for i, statement in enumerate(turn):
        if isinstance(statement, form.Continue):
            return tuple(turn[:i])
        if isinstance(statement, form.If) and _ends_turn(statement.body):
            following = without_continue([*statement.orelse, *turn[i + 1 :]])
            body = without_continue(statement.body)
            return (*turn[:i], *branch(statement.line, statement.condition, body, following))
    return tuple(turn)


def _ends_turn(body: Sequence[Statement]) -> bool:
    return bool(body) and isinstance(body[-1], form.Continue)


def branch(
    line: int, condition: form.Expression, body: tuple[Statement, ...], orelse: tuple[Statement, ...]
) -> list[Statement]:
    """The statement that goes one of two ways, of which none, one or both do something."""
    if body:
        return [form.If(line, condition, body, orelse)]
    return [form.If(line, form.Unary(TRUTH, "not", condition), orelse, ())] if orelse else []


def ends_turn(body: Sequence[Statement]) -> bool:
    """Whether a break or a continue among these statements belongs to the loop around them."""
    for statement in body:
        if isinstance(statement, (form.Break, form.Continue)):
            return True
        # a loop inside has breaks of its own, but for those behind its end
        inner = [statement.orelse] if isinstance(statement, (form.For, form.While)) else bodies_of(statement)
        if any(map(ends_turn, inner)):
            return True
    return False
