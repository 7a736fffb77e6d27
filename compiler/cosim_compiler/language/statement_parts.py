"""The parts of statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, Statement


def bodies_of(statement: Statement) -> Iterator[Sequence[Statement]]:
    """The blocks inside a statement."""
    if isinstance(statement, (form.If, form.While, form.For)):
        yield statement.body
        yield statement.orelse
    elif isinstance(statement, form.Try):
        yield statement.body
        yield statement.handler
    elif isinstance(statement, form.Once):
        yield from statement.turns
        yield statement.orelse


def expressions_of(statement: Statement) -> Iterator[Expression]:
    """The expressions that a statement computes itself, but for those of the blocks inside."""
    for part in form.parts(statement):
        if isinstance(part, Expression):
            yield part


def statements_in(body: Sequence[Statement]) -> Iterator[Statement]:
    """Statements, and those of the blocks inside them."""
    for statement in body:
        yield statement
        for inner in bodies_of(statement):
            yield from statements_in(inner)


def nodes_in(body: Sequence[Statement]) -> Iterator[Expression]:
    """All expressions in statements."""
    for statement in statements_in(body):
        for expression in expressions_of(statement):
            for node in form.walk(expression):
                assert isinstance(node, Expression)
                yield node


def called_by(function: Function) -> list[Function]:
    """The functions that a function calls."""
    return [node.function for node in nodes_in(function.body) if isinstance(node, form.Call)]
