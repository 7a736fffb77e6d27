"""The body of a loop that runs once, in place of the loop: without jumps, which belong to a loop.

`without_continue` removes `continue` from the ends of branches::

    for i in range(1):              if not x < 0.0:
        if x < 0.0:                     y = x
            continue          →
        y = x

`has_jump` says whether other jumps are left, which still need a loop around them.
"""

from __future__ import annotations

from collections.abc import Sequence

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.statement_parts import bodies_of
from cosim_compiler.language.typed_form import Statement
from cosim_compiler.language.types import TRUTH


def without_continue(body: Sequence[Statement]) -> tuple[Statement, ...]:
    """The body of a loop without `continue`, where nothing follows the body.

    What follows a branch that ends with `continue` moves into the other branch.
    """
    for i, statement in enumerate(body):
        if isinstance(statement, form.Continue):
            return tuple(body[:i])
        if isinstance(statement, form.If) and _ends_with_continue(statement.body):
            otherwise = without_continue([*statement.orelse, *body[i + 1 :]])
            taken = without_continue(statement.body)
            return (*body[:i], *branch(statement.line, statement.condition, taken, otherwise))
    return tuple(body)


def _ends_with_continue(body: Sequence[Statement]) -> bool:
    """Whether the last of these statements is `continue`."""
    return bool(body) and isinstance(body[-1], form.Continue)


def branch(
    line: int, condition: form.Expression, body: tuple[Statement, ...], orelse: tuple[Statement, ...]
) -> list[Statement]:
    """An `if` of which either branch may be empty; no statement if both are."""
    if body:
        return [form.If(line, condition, body, orelse)]
    return [form.If(line, form.Unary(TRUTH, "not", condition), orelse, ())] if orelse else []


def has_jump(body: Sequence[Statement]) -> bool:
    """Whether a `break` or a `continue` among these statements belongs to the loop around them."""
    for statement in body:
        if isinstance(statement, (form.Break, form.Continue)):
            return True
        # the jumps in the body of an inner loop are its own, but not those in its `else`
        inner_bodies = bodies_of(statement)
        if isinstance(statement, (form.For, form.While)):
            inner_bodies = iter([statement.orelse])
        if any(map(has_jump, inner_bodies)):
            return True
    return False
