"""Simplifies the functions of a program whose arrays are known in part (`known_arrays`).

An element whose number is known is replaced by the number. An `if` whose condition is then known is replaced
by one of its branches, and a loop of one turn by that turn. Assignments that nothing reads are removed.

`Simplifier` takes functions in an order in which each stands behind those that it calls: a call then finds
its function simplified. `BodySimplifier` does the statements of one function.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.known_arrays import GROUP, Evaluation, KnownArray, assigned_once, constant_of
from cosim_compiler.language.single_turn import branch, has_jump, without_continue
from cosim_compiler.language.statement_parts import called_by, nodes_in, statements_in
from cosim_compiler.language.typed_form import Constant, Expression, Function, Statement, is_pure
from cosim_compiler.language.types import NOTHING, Group, Number

BLOCKS = ("body", "orelse", "handler")
"""Fields of statements that hold blocks."""


class Simplifier:
    """Simplifies the functions of a program.

    Parameters
    ----------
    group : str
        Name of the class of the group whose arrays are known.
    arrays : mapping of str to KnownArray

    Attributes
    ----------
    functions : dict of str to Function
        The simplified functions, by their symbols.
    unchanging : set of str
        Symbols of functions that write nothing and raise nothing: they only compute a result.
    """

    def __init__(self, group: str, arrays: Mapping[str, KnownArray]) -> None:
        self.group, self.arrays = group, arrays
        self.functions: dict[str, Function] = {}
        self.unchanging: set[str] = set()

    def simplify(self, functions: Iterable[Function]) -> None:
        """Simplify functions, and enter them into `functions`."""
        for function in functions:
            self.functions[function.symbol] = self._simplified(function, {}, function.symbol)

    def reached(self, functions: Iterable[Function], roots: Sequence[Function]) -> list[Function]:
        """The simplified functions that calls reach from `roots`, in the order of `functions`."""
        reached: set[str] = set()
        unvisited = [root.symbol for root in roots]
        while unvisited:
            symbol = unvisited.pop()
            if symbol not in reached:
                reached.add(symbol)
                unvisited += [f.symbol for f in called_by(self.functions[symbol])]
        return [self.functions[f.symbol] for f in functions if f.symbol in reached]

    def specialized(self, function: Function, symbol: str, arguments: Mapping[str, Any]) -> Function:
        """A copy of a simplified function for known arguments: numbers, and arrays by their names.

        It has no parameters that nothing reads.
        """
        whole_array = Evaluation(self.arrays, self.functions, {}).whole_array
        values = {
            name: whole_array(value) if isinstance(value, str) else value for name, value in arguments.items()
        }
        new = self._simplified(function, values, symbol)
        new.parameters = [(name, kind) for name, kind in new.parameters if name in _names_read(new.body)]
        new.variables = _variables_used(new)
        self.functions[symbol] = new
        return new

    def _simplified(self, function: Function, arguments: Mapping[str, Any], symbol: str) -> Function:
        """A function with a simplified body, under a symbol; it is added to `unchanging` if it is that."""
        new = dataclasses.replace(function, symbol=symbol)
        groups = {name: GROUP for name, kind in function.parameters if self._is_group(kind)}
        self._simplify_body(new, {**groups, **arguments})
        self._remove_unread(new)
        new.variables = _variables_used(new)
        new.raises = function.raises and _can_raise(new.body)
        stores = any(isinstance(statement, form.Store) for statement in statements_in(new.body))
        if not (new.raises or stores) and all(map(self._changes_nothing, nodes_in(new.body))):
            self.unchanging.add(new.symbol)
        return new

    def _simplify_body(self, function: Function, values: dict[str, Any]) -> None:
        body_pass = BodySimplifier(self, values, assigned_once(function))
        function.body = tuple(body_pass.block(function.body))
        while not (once := assigned_once(function)) <= body_pass.followed:
            # an assignment was removed, so that another one of the same name is now the only one
            body_pass.followed = once
            function.body = tuple(body_pass.block(function.body))

    def _remove_unread(self, function: Function) -> None:
        """Remove assignments that nothing reads, until none is left: one may be read by another alone."""
        body: tuple[Statement, ...] = ()
        while body != function.body:
            body = function.body
            function.body = self._without_unread(body, _names_read(body))

    def _is_group(self, kind: Any) -> bool:
        return isinstance(kind, Group) and kind.of.__name__ == self.group

    def _changes_nothing(self, node: Expression) -> bool:
        """Whether an expression itself, apart from its parts, has no effect."""
        if isinstance(node, form.Call):
            return node.function.symbol in self.unchanging
        return not isinstance(node, (form.CallLinked, form.CallAddress))

    def is_dispensable(self, value: Expression) -> bool:
        """Whether an expression may be left out: neither it nor one of its parts has an effect."""
        return all(self._changes_nothing(node) for node in form.walk(value) if isinstance(node, Expression))

    def _without_unread(self, body: Sequence[Statement], read: set[str]) -> tuple[Statement, ...]:
        """The statements without assignments that nothing reads; the same object if all of them stay."""
        statements: list[Statement] = []
        for statement in body:
            is_unread = isinstance(statement, form.Assign) and statement.name not in read
            if is_unread and self.is_dispensable(statement.value):  # type: ignore[attr-defined]
                continue
            changes: dict[str, Any] = {}
            for name in BLOCKS:
                before = getattr(statement, name, None)
                after = None if before is None else self._without_unread(before, read)
                if after is not before:
                    changes[name] = after
            if isinstance(statement, form.Once):
                turns = tuple(self._without_unread(turn, read) for turn in statement.turns)
                if any(new is not old for new, old in zip(turns, statement.turns, strict=True)):
                    changes["turns"] = turns
            statements.append(dataclasses.replace(statement, **changes) if changes else statement)
        if isinstance(body, tuple) and tuple(statements) == body:
            return body
        return tuple(statements)


class BodySimplifier:
    """Simplifies the statements of one function.

    Parameters
    ----------
    program : Simplifier
    values : dict of str to object
        Known values of local names, as `Evaluation` takes them; those of assignments are added.
    followed : set of str
        Local names whose one assignment is followed.
    """

    def __init__(self, program: Simplifier, values: dict[str, Any], followed: set[str]) -> None:
        self.program, self.values, self.followed = program, values, followed
        self.value = Evaluation(program.arrays, program.functions, values).value

    def block(self, body: Sequence[Statement]) -> list[Statement]:
        """The simplified statements, up to the first behind which the program never gets."""
        simplified: list[Statement] = []
        for statement in body:
            simplified += self.statement(statement)
            if ends(simplified):
                break
        return simplified

    def statement(self, statement: Statement) -> list[Statement]:
        """The simplified statements of a statement."""
        if isinstance(statement, form.Once):
            turns = tuple(tuple(self.block(turn)) for turn in statement.turns)
            orelse = tuple(self.block(statement.orelse))
            return [dataclasses.replace(statement, turns=turns, orelse=orelse)]
        new = self._with_simple_expressions(statement)
        simplify = STATEMENTS.get(type(new), BodySimplifier.simplify_blocks)
        return simplify(self, new)

    def _with_simple_expressions(self, statement: Statement) -> Any:
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(statement):
            value = getattr(statement, field.name)
            if isinstance(value, Expression):
                changes[field.name] = self.expression(value)
        if isinstance(statement, form.Store):
            changes["place"] = self._place(statement.place)
        return dataclasses.replace(statement, **changes) if changes else statement

    def _place(self, place: Any) -> Any:
        """The place of a store with simplified indices: it stays a place, even if its value is known."""
        if isinstance(place, form.Field):
            return dataclasses.replace(place, record=self.expression(place.record))
        indices = tuple(self.expression(index) for index in place.indices)
        return dataclasses.replace(place, view=self.expression(place.view), indices=indices)

    def simplify_assign(self, statement: form.Assign) -> list[Statement]:
        if statement.name in self.followed and (value := self.value(statement.value)) is not None:
            self.values[statement.name] = value
        return [statement]

    def simplify_evaluate(self, statement: form.Evaluate) -> list[Statement]:
        return [] if self.program.is_dispensable(statement.value) else [statement]

    def simplify_if(self, statement: form.If) -> list[Statement]:
        condition = statement.condition
        if isinstance(condition, Constant):
            return self.block(statement.body if condition.value else statement.orelse)
        body, orelse = tuple(self.block(statement.body)), tuple(self.block(statement.orelse))
        if body or orelse:
            return branch(statement.line, condition, body, orelse)
        return [] if self.program.is_dispensable(condition) else [form.Evaluate(statement.line, condition)]

    def simplify_while(self, statement: form.While) -> list[Statement]:
        if isinstance(statement.condition, Constant) and not statement.condition.value:
            return self.block(statement.orelse)
        return self.simplify_blocks(statement)

    def simplify_for(self, statement: form.For) -> list[Statement]:
        """Replace a loop without a turn by its `else`, and a loop of one turn by that turn and its `else`."""
        bounds = [self.value(part) for part in (statement.first, statement.last, statement.step)]
        turns = None if None in bounds else range(*bounds)
        if turns is not None and not turns:
            return self.block(statement.orelse)
        if turns is None or len(turns) > 1 or statement.name not in self.followed:
            return self.simplify_blocks(statement)
        self.values[statement.name] = turns[0]
        turn = without_continue(self.block(statement.body))
        orelse = tuple(self.block(statement.orelse))
        if has_jump(turn):
            return [form.Once(statement.line, (turn,), orelse)]
        return [*turn] if ends(turn) else [*turn, *orelse]

    def simplify_blocks(self, statement: Any) -> list[Statement]:
        """Keep a statement, and simplify the blocks in it."""
        blocks = {
            name: tuple(self.block(getattr(statement, name))) for name in BLOCKS if hasattr(statement, name)
        }
        return [dataclasses.replace(statement, **blocks) if blocks else statement]

    def expression(self, node: Expression) -> Expression:
        """The simplified expression: a constant, or the operation with simplified parts."""
        if isinstance(node, Constant):
            return node
        if isinstance(node.type, Number) and node.type is not NOTHING:
            value = self.value(node)
            if type(value) in (int, float, bool):
                return constant_of(node.type, value)
        new = self._with_simple_parts(node)
        if isinstance(new, form.Choice) and isinstance(new.condition, Constant):
            return new.yes if new.condition.value else new.no
        return _decided(new) if isinstance(new, form.Logic) else new

    def _with_simple_parts(self, node: Expression) -> Expression:
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(node):
            value = getattr(node, field.name)
            if isinstance(value, Expression):
                changes[field.name] = self.expression(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Expression):
                changes[field.name] = tuple(map(self.expression, value))
            elif isinstance(value, Function):
                changes[field.name] = self.program.functions[value.symbol]
        return dataclasses.replace(node, **changes) if changes else node


STATEMENTS: dict[type, Callable[[BodySimplifier, Any], list[Statement]]] = {
    form.Assign: BodySimplifier.simplify_assign,
    form.Evaluate: BodySimplifier.simplify_evaluate,
    form.If: BodySimplifier.simplify_if,
    form.While: BodySimplifier.simplify_while,
    form.For: BodySimplifier.simplify_for,
}


def _decided(node: form.Logic) -> Expression:
    """Decide ``and`` or ``or`` if one side is known."""
    neutral = node.operator == "and"  # the truth value that leaves the decision to the other side
    if isinstance(node.left, Constant):
        return node.right if bool(node.left.value) is neutral else node.left
    if isinstance(node.right, Constant):
        if bool(node.right.value) is neutral:
            return node.left
        if is_pure(node.left):
            return node.right
    return node


def _names_read(body: Sequence[Statement]) -> set[str]:
    return {node.name for node in nodes_in(body) if isinstance(node, form.Variable)}


def _variables_used(function: Function) -> dict[str, Any]:
    """The variables of a function that its arguments and its body name."""
    body = function.body
    named = {node.name for node in nodes_in(body) if isinstance(node, (form.Variable, form.Let, form.Zeros))}
    assigning = (form.Assign, form.For, form.Try, form.RaiseAgain)
    named |= {statement.name for statement in statements_in(body) if isinstance(statement, assigning)}
    named |= {name for name, _ in function.parameters}
    return {name: kind for name, kind in function.variables.items() if name in named}


def _can_raise(body: Sequence[Statement]) -> bool:
    if any(isinstance(statement, (form.Raise, form.RaiseAgain)) for statement in statements_in(body)):
        return True
    return any(isinstance(node, form.Call) and node.function.raises for node in nodes_in(body))
