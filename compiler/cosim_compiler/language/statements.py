"""Reading statements: from Python's syntax tree to the typed form."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple, NoReturn

from cosim_compiler.debugging import is_debugging, is_for_debugging
from cosim_compiler.errors import NumberedError
from cosim_compiler.language.constants import NoNumberError, convert, parts_of, typed
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.expressions import CaughtException, ExpressionReader
from cosim_compiler.language.operators import OPERATORS, operator_alternative
from cosim_compiler.language.refusal import refuse
from cosim_compiler.language.typed_form import (
    Assign,
    Element,
    Evaluate,
    Expression,
    Field,
    If,
    Known,
    MakeTuple,
    Member,
    Raise,
    RaiseAgain,
    Return,
    Statement,
    Store,
    Try,
    Unary,
    Variable,
    is_constant,
)
from cosim_compiler.language.typed_form import parts as form_parts
from cosim_compiler.language.types import (
    NOTHING,
    TRUTH,
    WHOLE,
    DisagreementError,
    Tuple,
    Type,
    in_words,
    is_number,
    unify,
)
from cosim_compiler.sources.tree_walk import tree_nodes

Block = tuple[Statement, ...]
TRY_REMEDY = "write try: …, and one except of a NumberedError: except StepFailure: …"


class CaughtRange(NamedTuple):
    """The numbers of the exceptions that an `except` catches: from `lowest` to `highest`, all of them."""

    lowest: int
    highest: int


class StatementReader(ExpressionReader):
    """The part of the reader that reads statements; see `function_reader.Reader`."""

    tree: ast.FunctionDef
    result: Type | None
    widened: bool
    name_count: int

    def refuse(self, node: ast.AST | None, sentence: str) -> NoReturn:
        """Refuse an expression of this function; see `refusal.refuse`."""
        refuse(self.author, node, sentence)

    def typed(self, expression: Expression, node: ast.AST) -> Expression:
        """An expression with a type: a value of Python becomes a constant."""
        try:
            return typed(expression)
        except NoNumberError as fault:
            refuse(self.author, node, str(fault))

    # names

    def _declare(self, name: str, type_: Type, node: ast.AST) -> Type:
        """The type of a variable that gets a value of this type: one that holds all its values."""
        known = self.variables.get(name)
        if known is None:
            self.variables[name] = type_
            return type_
        try:
            common = unify(known, type_)
        except DisagreementError:
            shown = name.rpartition("_")[0] if name not in self.lifetimes.local else name
            refuse(
                self.author,
                node,
                f"'{shown}' is {in_words(known)} in one branch and {in_words(type_)} in another: "
                "make it the same in all",
            )
        if common != known:
            self.variables[name] = common
            self.widened = True
        return common

    def _set(self, name: str, value: Expression, node: ast.AST) -> Assign:
        """The assignment of a value to a variable."""
        return Assign(self.line(node), name, convert(value, self._declare(name, value.type, node)))

    def new_name(self, type_: Type) -> str:
        """The name of a new variable, which no name of the author's stands for."""
        self.name_count += 1
        name = f"held.{self.name_count}"
        self.variables[name] = type_
        return name

    def is_in_loop(self, node: ast.AST) -> bool:
        """Whether an expression is computed in each turn of a loop."""
        loops = (inner for inner in tree_nodes(self.tree) if isinstance(inner, (ast.For, ast.While)))
        return any(inner is node for loop in loops for inner in tree_nodes(loop))

    def line(self, node: ast.AST) -> int:
        return getattr(node, "lineno", 0)

    def evaluate_first(self, value: Expression, node: ast.AST) -> tuple[list[Statement], Expression]:
        """Compute a value now, once: the statements that do so, and an expression for the result."""
        if is_constant(value):
            return [], value
        if isinstance(value, MakeTuple):
            before, items = self.evaluate_items_first(value, node)
            return before, MakeTuple(value.type, tuple(items))
        name = self.new_name(value.type)
        return [Assign(self.line(node), name, value)], Variable(value.type, name)

    def evaluate_items_first(
        self, value: Expression, node: ast.AST
    ) -> tuple[list[Statement], list[Expression]]:
        """Compute the items of a tuple now, once: the statements that do so, and an expression for each."""
        if not isinstance(value, MakeTuple):
            before, value = self.evaluate_first(value, node)
            return before, parts_of(value)
        computed = [self.evaluate_first(item, node) for item in value.items]
        return [statement for before, _ in computed for statement in before], [item for _, item in computed]

    # statements

    def block(self, body: Iterable[ast.stmt]) -> Block:
        """The statements, up to the first behind which the program never gets."""
        statements: list[Statement] = []
        for node in body:
            statements += self.statement(node)
            if ends(statements):
                break
        return tuple(statements)

    def statement(self, node: ast.stmt) -> Sequence[Statement]:
        """The typed form of one statement, which may be several statements."""
        if is_debugging() and is_for_debugging(node):
            return []  # while debugging, functions run as plain Python
        read = getattr(self, f"_{type(node).__name__.lower()}", None)
        if read is None:
            self.refuse(node, f"the language has no {type(node).__name__.lower()}")
        statements: Sequence[Statement] = read(node)
        return statements

    def _pass(self, node: ast.Pass) -> Sequence[Statement]:
        return []

    def _expr(self, node: ast.Expr) -> Sequence[Statement]:
        if isinstance(node.value, ast.Constant):
            return []
        return [Evaluate(node.lineno, self.typed(self.expression(node.value), node.value))]

    def _assign(self, node: ast.Assign) -> Sequence[Statement]:
        value = self.expression(node.value)
        before: list[Statement] = []
        if len(node.targets) > 1:
            before, value = self.evaluate_first(self.typed(value, node.value), node)
        return [*before, *(s for target in node.targets for s in self.assign(target, value, node.value))]

    def _annassign(self, node: ast.AnnAssign) -> Sequence[Statement]:
        return [] if node.value is None else self.assign(node.target, self.expression(node.value), node.value)

    def assign(self, target: ast.expr, value: Expression, source: ast.AST) -> list[Statement]:
        """Assign a value to a target: a name, a tuple of targets, an element or a field."""
        typed_value = self.typed(value, source)
        if typed_value.type is NOTHING:
            self.refuse(source, "a helper that returns nothing has no value: call it on a line of its own")
        if isinstance(target, ast.Name):
            return [self._set(self.lifetimes.bound[id(target)], typed_value, target)]
        if isinstance(target, (ast.Tuple, ast.List)):
            return self._unpack(target.elts, typed_value, target)
        if isinstance(target, (ast.Subscript, ast.Attribute)):
            place = self.place(target)
            if not is_number(typed_value.type):
                remedy = (
                    "write its elements one by one"
                    if isinstance(typed_value.type, Tuple)
                    else "needs a number"
                )
                self.refuse(target, f"an element is set to {in_words(typed_value.type)}: {remedy}")
            if typed_value.type.rank > place.type.rank:  # type: ignore[union-attr]
                self.refuse(target, f"a whole number is set to {in_words(typed_value.type)}: write int(…)")
            return [Store(target.lineno, place, convert(typed_value, place.type))]
        self.refuse(target, "a name or an element is set: x = …, x[0] = …")

    def _unpack(self, targets: Sequence[ast.expr], value: Expression, node: ast.AST) -> list[Statement]:
        """Assign the items of a tuple to several targets."""
        if not isinstance(value.type, Tuple):
            self.refuse(node, f"{len(targets)} names are given {in_words(value.type)}")
        if len(value.type.items) != len(targets):
            self.refuse(
                node,
                f"{len(targets)} names are given the elements of a tuple of {len(value.type.items)}",
            )
        statements, items = self.evaluate_items_first(value, node)  # as Python: before the first assignment
        for target, item in zip(targets, items, strict=True):
            statements += self.assign(target, item, target)
        return statements

    def _augassign(self, node: ast.AugAssign) -> Sequence[Statement]:
        """``x += …``: the place is computed once, then read and written."""
        operator = OPERATORS.get(type(node.op))
        if operator is None:
            self.refuse(node, operator_alternative(node.op))
        if isinstance(node.target, ast.Name):
            before = self.name(node.target)
            value = self.binary(operator, before, self.expression(node.value), node)
            return self.assign(node.target, value, node)
        if not isinstance(node.target, (ast.Subscript, ast.Attribute)):
            self.refuse(node, "a name or an element is set: x += …, x[0] += …")
        statements, place = self._evaluate_place_first(self.place(node.target), node)
        value = self.typed(self.binary(operator, place, self.expression(node.value), node), node)
        if value.type.rank > place.type.rank:  # type: ignore[union-attr]
            self.refuse(node, f"a whole number is set to {in_words(value.type)}: write int(…)")
        return [*statements, Store(node.lineno, place, convert(value, place.type))]

    def _evaluate_place_first(
        self, place: Element | Field, node: ast.AST
    ) -> tuple[list[Statement], Element | Field]:
        """Compute owner and indices of a place now, once: the statements, and the place by their results."""
        statements: list[Statement] = []
        parts: list[Expression] = []
        for part in form_parts(place):
            if isinstance(part, (Variable, Member)):
                parts.append(part)
                continue
            before, value = self.evaluate_first(part, node)
            statements += before
            parts.append(value)
        if isinstance(place, Field):
            return statements, Field(place.type, parts[0], place.name, place.offset)
        return statements, Element(place.type, parts[0], tuple(parts[1:]))

    def _return(self, node: ast.Return) -> Sequence[Statement]:
        """The end of the function; all its results become one type."""
        if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
            if self.result is not None:
                self.refuse(node, f"it returns nothing here, and {in_words(self.result)} in another branch")
            return [Return(node.lineno, None)]
        value = self.typed(self.expression(node.value), node.value)
        if value.type is NOTHING:
            return [Evaluate(node.lineno, value), Return(node.lineno, None)]
        known = self.result
        try:
            self.result = value.type if known is None else unify(known, value.type)
        except DisagreementError:
            self.refuse(
                node,
                f"it returns {in_words(known)} in one branch and {in_words(value.type)} in another: "
                "make it the same in all",
            )
        self.widened = self.widened or (known is not None and known != self.result)
        return [Return(node.lineno, convert(value, self.result))]

    def _raise(self, node: ast.Raise) -> Sequence[Statement]:
        """An exception with a constant text, or the caught one again."""
        if node.exc is None and self.caught:
            return [RaiseAgain(node.lineno, self.caught[-1].number)]
        if node.exc is None:
            self.refuse(node, 'write raise ValueError("…")')
        called = node.exc if isinstance(node.exc, ast.Call) else None
        kind = self.expression(node.exc if called is None else called.func)
        arguments = [] if called is None else [self.expression(a) for a in called.args]
        if not (
            isinstance(kind, Known) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)
        ):
            self.refuse(node, 'write raise ValueError("…")')
        if not all(isinstance(value, Known) for value in arguments):
            self.refuse(node, 'the text of an exception is constant: write raise ValueError("…")')
        return [self._failure(kind.value, tuple(v.value for v in arguments if isinstance(v, Known)), node)]

    def _try(self, node: ast.Try) -> Sequence[Statement]:
        """A ``try`` with one ``except``, which catches a range of numbers."""
        if len(node.handlers) != 1 or node.orelse or node.finalbody or node.handlers[0].type is None:
            self.refuse(node, TRY_REMEDY)
        handler = node.handlers[0]
        caught = self._caught_range(handler)
        raised_before, self.function.raises = self.function.raises, False
        body = self.block(node.body)
        if not self.function.raises:  # there is nothing to catch
            self.function.raises = raised_before
            return body
        number = self.new_name(WHOLE)
        self.caught.append(CaughtException(handler.name, number))
        handler_body = self.block(handler.body)
        self.caught.pop()
        return [Try(node.lineno, number, caught.lowest, caught.highest, body, handler_body)]

    def _caught_range(self, handler: ast.ExceptHandler) -> CaughtRange:
        """The numbers that an ``except`` catches; refuse it if a class in between is not caught."""
        assert handler.type is not None
        kind = self.expression(handler.type)
        if not (
            isinstance(kind, Known) and isinstance(kind.value, type) and issubclass(kind.value, NumberedError)
        ):
            self.refuse(handler, TRY_REMEDY)
        numbers = {number for number, cls in NumberedError.numbered.items() if issubclass(cls, kind.value)}
        caught = CaughtRange(min(numbers), max(numbers))
        uncaught = [
            cls.__name__
            for number, cls in NumberedError.numbered.items()
            if caught.lowest <= number <= caught.highest and number not in numbers
        ]
        if uncaught:
            self.refuse(handler, f"{', '.join(uncaught)} has a number between those of {kind.value.__name__}")
        return caught

    def decision(self, node: ast.expr) -> Expression:
        """A condition of a branch or a loop: one truth value, not one for each lane."""
        condition = self.condition(node)
        return condition if isinstance(condition, Known) else convert(condition, TRUTH)

    def _failure(self, kind: type[BaseException], arguments: tuple[object, ...], node: ast.stmt) -> Raise:
        """The statement that raises an exception with these arguments."""
        self.function.raises = True
        return Raise(node.lineno, self.program.failure(kind, arguments))

    def _assert(self, node: ast.Assert) -> Sequence[Statement]:
        condition = self.decision(node.test)
        text = None if node.msg is None else self.expression(node.msg)
        arguments = (text.value,) if isinstance(text, Known) else ()
        if isinstance(condition, Known):
            return [] if condition.value else [self._failure(AssertionError, arguments, node)]
        failure = self._failure(AssertionError, arguments, node)
        return [If(node.lineno, Unary(TRUTH, "not", condition), (failure,), ())]

    def _if(self, node: ast.If) -> Sequence[Statement]:
        condition = self.decision(node.test)
        if isinstance(condition, Known):
            return self.block(node.body if condition.value else node.orelse)
        return [If(node.lineno, condition, self.block(node.body), self.block(node.orelse))]
