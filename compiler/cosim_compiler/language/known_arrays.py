"""Values of expressions in programs whose arrays are known in part.

A library of one model has tables that no run changes, so an element of such a table is a known number. What
integer operations compute from known numbers is known, too. Sums and products of reals are left to the run,
which rounds them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.known_values import OPERATIONS, SIGNS
from cosim_compiler.language.statement_parts import nodes_in, statements_in
from cosim_compiler.language.typed_form import Constant, Expression, Function, is_pure
from cosim_compiler.language.types import REAL, TRUTH, Number, Record, RecordRows
from cosim_compiler.record import width_of

DEEPEST = 12
"""Calls inside each other that are evaluated."""
LARGEST = 1 << 62
"""An integer result of this size or more counts as unknown: the run computes it with 64 bits."""


@dataclasses.dataclass(frozen=True)
class KnownArray:
    """What is known of an array of a group before a run.

    Attributes
    ----------
    length : int or None
        None if the array grows.
    columns : int
    numbers : sequence of int or float, optional
        All elements, if no run changes any of them.
    fixed : mapping of int to int or float
        Else the elements that no run changes, by their indices.
    """

    length: int | None
    columns: int = 1
    numbers: Sequence[Any] | None = None
    fixed: Mapping[int, Any] = dataclasses.field(default_factory=dict)

    def element(self, place: int) -> Any:
        """The element at a place; None if it is not known."""
        if self.numbers is None:
            return self.fixed.get(place)
        return self.numbers[place] if 0 <= place < len(self.numbers) else None


@dataclasses.dataclass(frozen=True)
class KnownPart:
    """The value of a view: some elements of an array.

    Attributes
    ----------
    array : str
    first : int or None
        The index of the first one; None if it is not known.
    count : int or None
        How many there are; None if that is not known.
    """

    array: str
    first: int | None
    count: int | None


class _Group:
    """The class of `GROUP`."""


GROUP = _Group()
"""The value of an expression that is the group itself."""


class Evaluation:
    """Evaluates the expressions of a function.

    A value is a number, a `KnownPart`, `GROUP`, or a tuple of values; None if it is not known.

    Parameters
    ----------
    arrays : mapping of str to KnownArray
    functions : mapping of str to Function
        Those that may be called, by their symbols.
    values : mapping of str to object
        The values of local names.
    depth : int
        The number of calls around this function.
    """

    def __init__(
        self,
        arrays: Mapping[str, KnownArray],
        functions: Mapping[str, Function],
        values: Mapping[str, Any],
        depth: int = 0,
    ) -> None:
        self.arrays, self.functions, self.values, self.depth = arrays, functions, values, depth

    def value(self, node: Expression | None) -> Any:
        """The value of an expression; None if it is not known."""
        evaluate = EVALUATORS.get(type(node))
        return None if evaluate is None else evaluate(self, node)

    def whole_array(self, name: str) -> KnownPart:
        """All elements of an array."""
        array = self.arrays[name]
        return KnownPart(name, 0, None if array.length is None else array.length * array.columns)

    def _with_values(self, values: Mapping[str, Any], depth: int) -> Evaluation:
        return Evaluation(self.arrays, self.functions, values, depth)

    # names and arrays

    def constant(self, node: form.Constant) -> Any:
        return node.value

    def variable(self, node: form.Variable) -> Any:
        return self.values.get(node.name)

    def member(self, node: form.Member) -> Any:
        return self.whole_array(node.name) if self.value(node.group) is GROUP else None

    def rows_in(self, node: form.RowsIn) -> Any:
        view = self.value(node.view)
        if not isinstance(view, KnownPart) or view.first is None:
            return None
        first, count = self.value(node.first), self.value(node.count)
        if (first is None and not is_pure(node.first)) or (count is None and not is_pure(node.count)):
            return None
        place = view.first + first if isinstance(first, int) else None
        return KnownPart(view.array, place, count if isinstance(count, int) else None)

    def record_at(self, node: form.RecordAt) -> Any:
        rows, index = self.value(node.rows), self.value(node.index)
        if not isinstance(rows, KnownPart) or rows.first is None or not isinstance(index, int) or index < 0:
            return None
        kind = node.rows.type
        assert isinstance(kind, RecordRows)
        return KnownPart(rows.array, rows.first + width_of(kind.of) * index, 1)

    def field(self, node: form.Field) -> Any:
        record = self.value(node.record)
        if not isinstance(record, KnownPart) or record.first is None:
            return None
        place = record.first + node.offset // 8
        if isinstance(node.type, Record):
            return KnownPart(record.array, place, 1)
        return self.arrays[record.array].element(place)

    def element(self, node: form.Element) -> Any:
        view = self.value(node.view)
        indices = [self.value(index) for index in node.indices]
        are_known = all(type(index) is int and index >= 0 for index in indices)
        if not isinstance(view, KnownPart) or view.first is None or not are_known:
            return None
        array = self.arrays[view.array]
        place = indices[0] if len(indices) == 1 else indices[0] * array.columns + indices[1]
        return array.element(view.first + place)

    def length(self, node: form.Length) -> Any:
        view = self.value(node.view)
        if not isinstance(view, KnownPart) or node.axis or view.count is None:
            return None
        columns = self.arrays[view.array].columns
        return view.count // columns if isinstance(node.view, form.Member) else view.count

    # tuples and numbers

    def make_tuple(self, node: form.MakeTuple) -> Any:
        items = tuple(map(self.value, node.items))
        # an unknown item with an effect has to be computed, so the tuple must not be replaced by its value
        has_effect = (
            value is None and not is_pure(item) for value, item in zip(items, node.items, strict=True)
        )
        return None if any(has_effect) else items

    def item(self, node: form.Item) -> Any:
        items = self.value(node.tuple)
        return items[node.index] if isinstance(items, tuple) else None

    def let(self, node: form.Let) -> Any:
        value = self.value(node.value)
        if value is None:
            return None
        return self._with_values({**self.values, node.name: value}, self.depth).value(node.body)

    def convert(self, node: form.Convert) -> Any:
        number = self.value(node.operand)
        if type(number) not in (int, bool):
            return number if node.type is REAL and type(number) is float else None
        return constant_of(node.type, number).value if isinstance(node.type, Number) else None

    def unary(self, node: form.Unary) -> Any:
        number = self.value(node.operand)
        return SIGNS[node.operator](number) if type(number) in (int, bool) else None

    def binary(self, node: form.Binary | form.Compare) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        kinds = {type(left), type(right)}
        operation = OPERATIONS.get(node.operator)
        is_compared = isinstance(node, form.Compare) and kinds <= {int, bool, float}
        if operation is None or not (kinds <= {int, bool} or is_compared):
            return None
        if node.operator in ("//", "%") and right == 0:
            return None
        result = operation(left, right)
        return result if isinstance(result, bool) or abs(result) < LARGEST else None

    def logic(self, node: form.Logic) -> Any:
        left = self.value(node.left)
        if not isinstance(left, (bool, int)):
            return None
        return left if bool(left) is (node.operator == "or") else self.value(node.right)

    def choice(self, node: form.Choice) -> Any:
        condition = self.value(node.condition)
        if not isinstance(condition, (bool, int)):
            return None
        return self.value(node.yes if condition else node.no)

    def mathematics(self, node: form.Mathematics) -> Any:
        numbers = list(map(self.value, node.arguments))
        if node.name not in ("min", "max") or not all(type(each) in (int, bool) for each in numbers):
            return None
        return OPERATIONS[node.name](*numbers)

    # calls

    def call(self, node: form.Call) -> Any:
        """The result of a function whose body is assignments and one `return`; None of any other function."""
        function = self.functions.get(node.function.symbol)
        if function is None or self.depth == DEEPEST or function.raises:
            return None
        arguments: dict[str, Any] = {}
        for (name, kind), argument in zip(function.parameters, node.arguments, strict=True):
            arguments[name] = self.value(argument)
            has_effect = arguments[name] is None and not is_pure(argument)
            if has_effect or function.variables[name] != kind:
                return None
        return self._with_values(arguments, self.depth + 1)._returned(function, arguments)

    def _returned(self, function: Function, arguments: dict[str, Any]) -> Any:
        """The value that a function body returns; its assignments are added to `arguments`."""
        names_followed = assigned_once(function)
        for statement in function.body:
            if isinstance(statement, form.Return) and statement.value is not None:
                return self.value(statement.value)
            if not isinstance(statement, form.Assign) or statement.name not in names_followed:
                return None
            value = self.value(statement.value)
            if value is None and not is_pure(statement.value):
                return None
            arguments[statement.name] = value
        return None


EVALUATORS: dict[type, Callable[[Evaluation, Any], Any]] = {
    form.Constant: Evaluation.constant,
    form.Variable: Evaluation.variable,
    form.Member: Evaluation.member,
    form.RowsIn: Evaluation.rows_in,
    form.RecordAt: Evaluation.record_at,
    form.Field: Evaluation.field,
    form.Element: Evaluation.element,
    form.Length: Evaluation.length,
    form.MakeTuple: Evaluation.make_tuple,
    form.Item: Evaluation.item,
    form.Let: Evaluation.let,
    form.Convert: Evaluation.convert,
    form.Unary: Evaluation.unary,
    form.Binary: Evaluation.binary,
    form.Compare: Evaluation.binary,
    form.Logic: Evaluation.logic,
    form.Choice: Evaluation.choice,
    form.Mathematics: Evaluation.mathematics,
    form.Call: Evaluation.call,
}


def constant_of(kind: Any, value: Any) -> Constant:
    """A number as a constant of a type."""
    return Constant(kind, float(value) if kind is REAL else bool(value) if kind is TRUTH else int(value))


def assigned_once(function: Function) -> set[str]:
    """Local names with one assignment: all reads of them come after it."""
    counts = Counter(name for name, _ in function.parameters)
    assigned = []
    for statement in statements_in(function.body):
        if isinstance(statement, (form.Assign, form.For, form.Try)):
            counts[statement.name] += 1
            assigned += [statement.name] if isinstance(statement, (form.Assign, form.For)) else []
    counts.update(node.name for node in nodes_in(function.body) if isinstance(node, form.Let))
    return {name for name in assigned if counts[name] == 1}
