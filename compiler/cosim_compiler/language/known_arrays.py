"""A program whose arrays are known in part: what follows from them is computed, what is not reached goes.

A library of one model has tables that no run changes. Reading such a number is that number; a branch that it
decides is the statements of that branch.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.known_values import OPERATIONS, SIGNS
from cosim_compiler.language.statement_parts import bodies_of, called_by, nodes_in, statements_in
from cosim_compiler.language.typed_form import Constant, Expression, Function, Statement, is_pure
from cosim_compiler.language.types import NOTHING, REAL, TRUTH, Group, Number, Record, RecordRows
from cosim_compiler.record import width_of

DEEPEST = 12
"""Calls inside each other that are followed for a value."""
LARGEST = 1 << 62
Values = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class KnownArray:
    """An array of a group.

    Attributes
    ----------
    length : int or None
        None where it grows.
    columns : int
    numbers : sequence of int or float, optional
        Its elements, where no run changes them.
    fixed : mapping of int to int or float
        Single elements of another array that no run changes.
    """

    length: int | None
    columns: int = 1
    numbers: Sequence[Any] | None = None
    fixed: Mapping[int, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Part:
    """Elements of an array, as far as they are known: which, and how many."""

    array: str
    first: int | None
    count: int | None


class _Group:
    """Stands for the group itself."""


GROUP = _Group()


class Simplifier:
    """Simplifies functions, of which those that are called come first.

    Parameters
    ----------
    group : str
        Name of the class of the group whose arrays are known.
    arrays : mapping of str to KnownArray

    Attributes
    ----------
    functions : dict of str to Function
        The simplified ones, by their symbols.
    unchanging : set of str
        Symbols of those that write nowhere and raise nothing: they compute a result.
    """

    def __init__(self, group: str, arrays: Mapping[str, KnownArray]) -> None:
        self.group, self.arrays = group, arrays
        self.functions: dict[str, Function] = {}
        self.unchanging: set[str] = set()

    def simplify(self, functions: Iterable[Function]) -> None:
        """Take all functions in."""
        for function in functions:
            self.functions[function.symbol] = self._function(function)

    def reached(self, functions: Iterable[Function], roots: Sequence[Function]) -> list[Function]:
        """The simplified functions that are reached from some, in their order."""
        listed = list(functions)
        reached: set[str] = set()
        left = [root.symbol for root in roots]
        while left:
            symbol = left.pop()
            if symbol not in reached:
                reached.add(symbol)
                left += [f.symbol for f in called_by(self.functions[symbol])]
        return [self.functions[f.symbol] for f in listed if f.symbol in reached]

    def specialized(self, function: Function, symbol: str, given: Mapping[str, Any]) -> Function:
        """A function, simplified before, for arguments that are known: numbers, and arrays by their names.

        Arguments that are not read any more are left out.
        """
        values = {
            name: self._part(value) if isinstance(value, str) else value for name, value in given.items()
        }
        new = self._function(function, values, symbol)
        read = {node.name for node in nodes_in(new.body) if isinstance(node, form.Variable)}
        new.parameters = [(name, kind) for name, kind in new.parameters if name in read]
        names = {name for name, _ in new.parameters} | _names_in(new.body)
        new.variables = {name: kind for name, kind in new.variables.items() if name in names}
        self.functions[symbol] = new
        return new

    def _part(self, array: str) -> Part:
        known = self.arrays[array]
        return Part(array, 0, None if known.length is None else known.length * known.columns)

    def _function(
        self, function: Function, given: Mapping[str, Any] | None = None, symbol: str | None = None
    ) -> Function:
        new = dataclasses.replace(function, symbol=symbol or function.symbol)
        values: dict[str, Any] = {name: GROUP for name, kind in function.parameters if self._is_group(kind)}
        values |= given or {}
        once = set(_given_once(new))
        new.body = tuple(self._block(new.body, values, once))
        while (
            not (found := set(_given_once(new))) <= once
        ):  # where an assignment went, another is the only one
            once = found
            new.body = tuple(self._block(new.body, values, once))
        body: tuple[Statement, ...] = ()
        while body != new.body:
            body = new.body
            read = {node.name for node in nodes_in(body) if isinstance(node, form.Variable)}
            new.body = self._without_unread(body, read)
        names = {name for name, _ in function.parameters} | _names_in(new.body)
        new.variables = {name: kind for name, kind in function.variables.items() if name in names}
        new.raises = function.raises and _can_raise(new.body)
        stores = any(isinstance(statement, form.Store) for statement in statements_in(new.body))
        if not (new.raises or stores) and all(map(self._changes_nothing, nodes_in(new.body))):
            self.unchanging.add(new.symbol)
        return new

    def _changes_nothing(self, node: Expression) -> bool:
        """Whether an expression, apart from its parts, only computes."""
        if isinstance(node, form.Call):
            return node.function.symbol in self.unchanging
        return not isinstance(node, (form.CallLinked, form.CallAddress))

    def _is_dispensable(self, value: Expression) -> bool:
        return all(self._changes_nothing(node) for node in form.walk(value) if isinstance(node, Expression))

    def _is_group(self, kind: Any) -> bool:
        return isinstance(kind, Group) and kind.of.__name__ == self.group

    # statements

    def _block(self, body: Sequence[Statement], values: dict[str, Any], own: set[str]) -> list[Statement]:
        simplified: list[Statement] = []
        for statement in body:
            simplified += self._statement(statement, values, own)
            if form.ends(simplified):
                break
        return simplified

    def _statement(self, statement: Statement, values: dict[str, Any], own: set[str]) -> list[Statement]:
        if isinstance(statement, form.Once):
            turns = tuple(tuple(self._block(turn, values, own)) for turn in statement.turns)
            return [
                dataclasses.replace(
                    statement, turns=turns, orelse=tuple(self._block(statement.orelse, values, own))
                )
            ]
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(statement):
            value = getattr(statement, field.name)
            if isinstance(value, Expression):
                changes[field.name] = self._expression(value, values)
        if isinstance(statement, form.Store):
            changes["place"] = self._place(statement.place, values)
        new: Any = dataclasses.replace(statement, **changes) if changes else statement
        if isinstance(new, form.Assign):
            if new.name in own:
                known = self._value(new.value, values, 0)
                if known is not None:
                    values[new.name] = known
            return [new]
        if isinstance(new, form.Evaluate):
            return [] if self._is_dispensable(new.value) else [new]
        if isinstance(new, form.If):
            if isinstance(new.condition, Constant):
                return self._block(new.body if new.condition.value else new.orelse, values, own)
            body, orelse = (tuple(self._block(part, values, own)) for part in (new.body, new.orelse))
            if not body and not orelse:
                return [] if is_pure(new.condition) else [form.Evaluate(new.line, new.condition)]
            if not body:
                return [form.If(new.line, form.Unary(TRUTH, "not", new.condition), orelse, ())]
            return [form.If(new.line, new.condition, body, orelse)]
        if isinstance(new, form.While) and isinstance(new.condition, Constant) and not new.condition.value:
            return self._block(new.orelse, values, own)
        if isinstance(new, form.For):
            bounds = [self._value(part, values, 0) for part in (new.first, new.last, new.step)]
            if None not in bounds and not range(*bounds):
                return self._block(new.orelse, values, own)
            if None not in bounds and len(range(*bounds)) == 1 and new.name in own:
                values[new.name] = bounds[0]
                turn = _without_continue(self._block(new.body, values, own))
                orelse = tuple(self._block(new.orelse, values, own))
                if _leaves_turn(turn):
                    return [form.Once(new.line, (turn,), orelse)]
                return [*turn] if form.ends(turn) else [*turn, *orelse]
        for name in ("body", "orelse", "handler"):
            if hasattr(new, name):
                new = dataclasses.replace(new, **{name: tuple(self._block(getattr(new, name), values, own))})
        return [new]

    def _without_unread(self, body: Sequence[Statement], read: set[str]) -> tuple[Statement, ...]:
        """Without assignments that nothing reads and that do nothing else; the same object where all stay."""
        kept: list[Statement] = []
        for statement in body:
            is_unread = isinstance(statement, form.Assign) and statement.name not in read
            if is_unread and self._is_dispensable(statement.value):  # type: ignore[attr-defined]
                continue
            changes: dict[str, Any] = {}
            for name in ("body", "orelse", "handler"):
                before = getattr(statement, name, None)
                after = None if before is None else self._without_unread(before, read)
                if after is not before:
                    changes[name] = after
            if isinstance(statement, form.Once):
                turns = tuple(self._without_unread(turn, read) for turn in statement.turns)
                if any(new is not old for new, old in zip(turns, statement.turns, strict=True)):
                    changes["turns"] = turns
            kept.append(dataclasses.replace(statement, **changes) if changes else statement)
        return body if tuple(kept) == tuple(body) and isinstance(body, tuple) else tuple(kept)

    def _place(self, place: Any, values: Values) -> Any:
        """The place of a store keeps its form."""
        if isinstance(place, form.Field):
            return dataclasses.replace(place, record=self._expression(place.record, values))
        indices = tuple(self._expression(index, values) for index in place.indices)
        return dataclasses.replace(place, view=self._expression(place.view, values), indices=indices)

    # expressions

    def _expression(self, node: Expression, values: Values) -> Expression:
        if isinstance(node, Constant):
            return node
        if isinstance(node.type, Number) and node.type is not NOTHING:
            known = self._value(node, values, 0)
            if type(known) in (int, float, bool):
                return self._constant(node.type, known)
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(node):
            value = getattr(node, field.name)
            if isinstance(value, Expression):
                changes[field.name] = self._expression(value, values)
            elif isinstance(value, tuple) and value and isinstance(value[0], Expression):
                changes[field.name] = tuple(self._expression(part, values) for part in value)
            elif isinstance(value, Function):
                changes[field.name] = self.functions[value.symbol]
        new: Any = dataclasses.replace(node, **changes) if changes else node
        if isinstance(new, form.Choice) and isinstance(new.condition, Constant):
            chosen: Expression = new.yes if new.condition.value else new.no
            return chosen
        if isinstance(new, form.Logic):
            return _decided(new)
        simplified: Expression = new
        return simplified

    @staticmethod
    def _constant(kind: Any, value: Any) -> Constant:
        return Constant(kind, float(value) if kind is REAL else bool(value) if kind is TRUTH else int(value))

    # values

    def _value(self, node: Expression | None, values: Values, depth: int) -> Any:
        """What an expression stands for: a number, a part of an array, a tuple; None if it is not known."""
        if isinstance(node, Constant):
            return node.value
        if isinstance(node, form.Variable):
            return values.get(node.name)
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        return None if method is None else method(node, values, depth)

    def _of_member(self, node: form.Member, values: Values, depth: int) -> Any:
        if self._value(node.group, values, depth) is not GROUP:
            return None
        return self._part(node.name)

    def _of_rowsin(self, node: form.RowsIn, values: Values, depth: int) -> Any:
        view = self._value(node.view, values, depth)
        if not isinstance(view, Part) or view.first is None:
            return None
        first, count = self._value(node.first, values, depth), self._value(node.count, values, depth)
        if (first is None and not is_pure(node.first)) or (count is None and not is_pure(node.count)):
            return None
        at = view.first + first if isinstance(first, int) else None
        return Part(view.array, at, count if isinstance(count, int) else None)

    def _of_recordat(self, node: form.RecordAt, values: Values, depth: int) -> Any:
        rows, index = self._value(node.rows, values, depth), self._value(node.index, values, depth)
        kind = node.rows.type
        if not isinstance(rows, Part) or rows.first is None or not isinstance(index, int) or index < 0:
            return None
        assert isinstance(kind, RecordRows)
        return Part(rows.array, rows.first + width_of(kind.of) * index, 1)

    def _of_field(self, node: form.Field, values: Values, depth: int) -> Any:
        record = self._value(node.record, values, depth)
        if not isinstance(record, Part) or record.first is None:
            return None
        at = record.first + node.offset // 8
        return Part(record.array, at, 1) if isinstance(node.type, Record) else self._number(record.array, at)

    def _of_element(self, node: form.Element, values: Values, depth: int) -> Any:
        view = self._value(node.view, values, depth)
        indices = [self._value(index, values, depth) for index in node.indices]
        if (
            not isinstance(view, Part)
            or view.first is None
            or not all(type(i) is int and i >= 0 for i in indices)
        ):
            return None
        at = indices[0]
        if len(indices) == 2:
            at = at * self.arrays[view.array].columns + indices[1]
        return self._number(view.array, view.first + at)

    def _number(self, array: str, at: int) -> Any:
        known = self.arrays[array]
        if known.numbers is None:
            return known.fixed.get(at)
        return known.numbers[at] if 0 <= at < len(known.numbers) else None

    def _of_length(self, node: form.Length, values: Values, depth: int) -> Any:
        view = self._value(node.view, values, depth)
        if not isinstance(view, Part) or node.axis or view.count is None:
            return None
        columns = self.arrays[view.array].columns
        return view.count // columns if isinstance(node.view, form.Member) else view.count

    def _of_maketuple(self, node: form.MakeTuple, values: Values, depth: int) -> Any:
        items = tuple(self._value(item, values, depth) for item in node.items)
        is_lost = (known is None and not is_pure(item) for known, item in zip(items, node.items, strict=True))
        return None if any(is_lost) else items

    def _of_item(self, node: form.Item, values: Values, depth: int) -> Any:
        items = self._value(node.tuple, values, depth)
        return items[node.index] if isinstance(items, tuple) else None

    def _of_let(self, node: form.Let, values: Values, depth: int) -> Any:
        known = self._value(node.value, values, depth)
        return None if known is None else self._value(node.body, {**values, node.name: known}, depth)

    def _of_convert(self, node: form.Convert, values: Values, depth: int) -> Any:
        known = self._value(node.operand, values, depth)
        if type(known) not in (int, bool):
            return known if node.type is REAL and type(known) is float else None
        if not isinstance(node.type, Number):
            return None
        return self._constant(node.type, known).value

    def _of_unary(self, node: form.Unary, values: Values, depth: int) -> Any:
        known = self._value(node.operand, values, depth)
        return SIGNS[node.operator](known) if type(known) in (int, bool) else None

    def _of_binary(self, node: form.Binary | form.Compare, values: Values, depth: int) -> Any:
        left, right = (self._value(part, values, depth) for part in (node.left, node.right))
        kinds = {type(left), type(right)}
        operation = OPERATIONS.get(node.operator)
        is_compared = isinstance(node, form.Compare) and kinds <= {int, bool, float}
        if operation is None or not (kinds <= {int, bool} or is_compared):
            return None
        if node.operator in ("//", "%") and right == 0:
            return None
        result = operation(left, right)
        return result if isinstance(result, bool) or abs(result) < LARGEST else None

    _of_compare = _of_binary

    def _of_logic(self, node: form.Logic, values: Values, depth: int) -> Any:
        left = self._value(node.left, values, depth)
        if not isinstance(left, (bool, int)):
            return None
        return left if bool(left) is (node.operator == "or") else self._value(node.right, values, depth)

    def _of_choice(self, node: form.Choice, values: Values, depth: int) -> Any:
        condition = self._value(node.condition, values, depth)
        if not isinstance(condition, (bool, int)):
            return None
        return self._value(node.yes if condition else node.no, values, depth)

    def _of_mathematics(self, node: form.Mathematics, values: Values, depth: int) -> Any:
        known = [self._value(part, values, depth) for part in node.arguments]
        if node.name not in ("min", "max") or not all(type(each) in (int, bool) for each in known):
            return None
        return OPERATIONS[node.name](*known)

    def _of_call(self, node: form.Call, values: Values, depth: int) -> Any:
        """The result of a function that only computes it."""
        function = self.functions.get(node.function.symbol)
        if function is None or depth == DEEPEST or function.raises:
            return None
        inside: dict[str, Any] = {}
        for (name, kind), argument in zip(function.parameters, node.arguments, strict=True):
            inside[name] = self._value(argument, values, depth)
            if function.variables[name] != kind or not (is_pure(argument) or inside[name] is not None):
                return None
        own = set(_given_once(function))
        for statement in function.body:
            if isinstance(statement, form.Return) and statement.value is not None:
                return self._value(statement.value, inside, depth + 1)
            if not isinstance(statement, form.Assign) or statement.name not in own:
                return None
            known = self._value(statement.value, inside, depth + 1)
            if known is None and not is_pure(statement.value):
                return None
            inside[statement.name] = known
        return None


def _decided(node: form.Logic) -> Expression:
    """``and`` and ``or`` of which one side is known."""
    keeps = node.operator == "and"  # what leaves the other side as it is
    if isinstance(node.left, Constant):
        return node.right if bool(node.left.value) is keeps else node.left
    if isinstance(node.right, Constant):
        if bool(node.right.value) is keeps:
            return node.left
        if is_pure(node.left):
            return node.right
    return node


def _given_once(function: Function) -> list[str]:
    """Local names with one assignment, which all their reads come after."""
    given = Counter(name for name, _ in function.parameters)
    assigned = []
    for statement in statements_in(function.body):
        if isinstance(statement, (form.Assign, form.For, form.Try)):
            given[statement.name] += 1
            assigned += [statement.name] if isinstance(statement, (form.Assign, form.For)) else []
    given.update(node.name for node in nodes_in(function.body) if isinstance(node, form.Let))
    return [name for name in assigned if given[name] == 1]


def _without_continue(turn: Sequence[Statement]) -> tuple[Statement, ...]:
    """A turn that nothing follows: what stands behind a branch that ends it belongs to the other branch."""
    for i, statement in enumerate(turn):
        if isinstance(statement, form.Continue):
            return tuple(turn[:i])
        if (
            isinstance(statement, form.If)
            and statement.body
            and isinstance(statement.body[-1], form.Continue)
        ):
            rest = _without_continue([*statement.orelse, *turn[i + 1 :]])
            body = _without_continue(statement.body)
            if not body:
                condition = form.Unary(TRUTH, "not", statement.condition)
                return (*turn[:i], form.If(statement.line, condition, rest, ())) if rest else tuple(turn[:i])
            return (*turn[:i], form.If(statement.line, statement.condition, body, rest))
    return tuple(turn)


def _leaves_turn(body: Sequence[Statement]) -> bool:
    """Whether a break or a continue among these statements belongs to the loop around them."""
    return any(
        isinstance(statement, (form.Break, form.Continue))
        or (
            not isinstance(statement, (form.For, form.While)) and any(map(_leaves_turn, bodies_of(statement)))
        )
        or (isinstance(statement, (form.For, form.While)) and _leaves_turn(statement.orelse))
        for statement in body
    )


def _names_in(body: Sequence[Statement]) -> set[str]:
    names = {node.name for node in nodes_in(body) if isinstance(node, (form.Variable, form.Let, form.Zeros))}
    given = (form.Assign, form.For, form.Try, form.RaiseAgain)
    return names | {statement.name for statement in statements_in(body) if isinstance(statement, given)}


def _can_raise(body: Sequence[Statement]) -> bool:
    if any(isinstance(statement, (form.Raise, form.RaiseAgain)) for statement in statements_in(body)):
        return True
    return any(isinstance(node, form.Call) and node.function.raises for node in nodes_in(body))
