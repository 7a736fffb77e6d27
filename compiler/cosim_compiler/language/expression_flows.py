"""The values of expressions for `element_flows`: a method for each class of `typed_form`.

The values, typed `Any`, are those of `flow_values`: of a real its sources, of an integer the number or None,
of a view its section.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.flow_values import (
    FlowState,
    Sources,
    UnclearError,
    ViewSection,
    converted,
    joined,
    union,
)
from cosim_compiler.language.typed_form import Expression, Function
from cosim_compiler.language.types import REAL, Number, Type, View

MOST_NODES = 1_000_000
"""A function that takes more evaluations of expressions than this counts as unclear."""

WHOLE_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class ExpressionFollower(ABC):
    """Finds the values of expressions in a state; a subclass follows statements.

    Parameters
    ----------
    first : mapping of str to int
        The bit of the first element of each parameter that counts as a source.
    """

    def __init__(self, first: Mapping[str, int]) -> None:
        self._first = first
        self._nodes = 0  # expressions evaluated so far
        self._calls = 0  # calls followed so far

    def argument(self, name: str, kind: Type, sizes: Mapping[str, int]) -> Any:
        """The value of a parameter."""
        if isinstance(kind, View):
            columns = kind.shape[1] if kind.axes == 2 and kind.shape else 0
            return ViewSection(name, 0, sizes[name], columns, has_integers=kind.item is not REAL)
        if kind is REAL:
            return 1 << self._first[name] if name in self._first else 0
        if isinstance(kind, Number):
            return None
        raise UnclearError(f"its argument {name} is neither a number nor a view")

    def before(self, place: tuple[object, int]) -> Sources:
        """The sources of an element before it is written."""
        array, offset = place
        return 1 << self._first[array] + offset if array in self._first else 0  # type: ignore[index]

    def value(self, node: Expression, state: FlowState) -> Any:
        """The value of an expression in a state, see `flow_values`."""
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise UnclearError(f"it takes more than {MOST_NODES} expressions")
        follow = FOLLOW.get(type(node))
        if follow is None:
            raise UnclearError(f"it has an expression that is not followed: {type(node).__name__}")
        return follow(self, node, state)

    def constant(self, node: form.Constant, state: FlowState) -> Any:
        return 0 if node.type is REAL else node.value

    def variable(self, node: form.Variable, state: FlowState) -> Any:
        return state.names[node.name]

    def binary(self, node: form.Binary, state: FlowState) -> Any:
        left, right = self.value(node.left, state), self.value(node.right, state)
        if node.type is REAL:
            return left | right
        if left is None or right is None or (node.operator in ("//", "%") and not right):
            return None
        return WHOLE_OPERATORS[node.operator](left, right)

    def unary(self, node: form.Unary, state: FlowState) -> Any:
        x = self.value(node.operand, state)
        if node.type is REAL or x is None:
            return x
        return not x if node.operator == "not" else -x if node.operator == "-" else ~x

    def compare(self, node: form.Compare, state: FlowState) -> Any:
        left, right = self.value(node.left, state), self.value(node.right, state)
        if node.left.type is REAL or left is None or right is None:
            return None
        return COMPARISONS[node.operator](left, right)

    def logic(self, node: form.Logic, state: FlowState) -> Any:
        left = self.value(node.left, state)
        deciding = node.operator == "or"  # the truth value that decides alone
        if left is not None and bool(left) == deciding:
            return left
        right = self.value(node.right, state)
        if left is None and not (right is not None and bool(right) == deciding):
            return None
        return right

    def choice(self, node: form.Choice, state: FlowState) -> Any:
        condition = self.value(node.condition, state)
        if condition is None:
            return joined(self.value(node.yes, state), self.value(node.no, state), node.type)
        return self.value(node.yes if condition else node.no, state)

    def convert(self, node: form.Convert, state: FlowState) -> Any:
        return converted(self.value(node.operand, state), node.operand.type, node.type)

    def let(self, node: form.Let, state: FlowState) -> Any:
        state.names[node.name] = self.value(node.value, state)
        return self.value(node.body, state)

    def mathematics(self, node: form.Mathematics, state: FlowState) -> Any:
        sources = [self.value(x, state) for x in node.arguments]
        return union(sources, [x.type for x in node.arguments]) if node.type is REAL else None

    def element(self, node: form.Element, state: FlowState) -> tuple[ViewSection, int | None]:
        """The view of an element, and its offset there; None if the offset is not known."""
        view = self.value(node.view, state)
        indices = [self.value(x, state) for x in node.indices]
        if len(indices) == 1:
            return view, indices[0]
        row, column = indices
        if row is None or column is None or not view.columns:
            return view, None
        rows = view.size // view.columns
        if not (-rows <= row < rows and -view.columns <= column < view.columns):
            raise UnclearError("it reads beyond the end of a table")
        return view, row % rows * view.columns + column % view.columns

    def read(self, node: form.Element, state: FlowState) -> Any:
        view, index = self.element(node, state)
        offsets = view.offsets(index)
        if view.has_integers:
            is_one_number = view.numbers is not None and len(offsets) == 1
            return view.numbers[offsets[0]] if is_one_number else None  # type: ignore[index]
        if view.numbers is not None:
            return 0
        sources = 0
        for offset in offsets:
            key = view.array, offset
            sources |= state.written[key] if key in state.written else self.before(key)
        return sources

    def constant_view(self, node: form.ConstantView, state: FlowState) -> ViewSection:
        columns = node.shape[1] if len(node.shape) == 2 else 0
        has_integers = form.view_type(node).item is not REAL
        return ViewSection(None, 0, len(node.numbers), columns, False, node.numbers, has_integers)

    def length(self, node: form.Length, state: FlowState) -> int | None:
        view = self.value(node.view, state)
        if view.is_anywhere:
            return None
        if view.columns:
            return view.columns if node.axis else view.size // view.columns
        return view.size if form.view_type(node.view).axes == 1 else None

    def section(self, node: form.Section, state: FlowState) -> ViewSection:
        view = self.value(node.view, state)
        first = 0 if node.first is None else self.value(node.first, state)
        last = view.size if node.last is None else self.value(node.last, state)
        return view.part(first, last)

    def row(self, node: form.Row, state: FlowState) -> ViewSection:
        view, index = self.value(node.view, state), self.value(node.index, state)
        if index is None or not view.columns or view.is_anywhere:
            return view.part(None, None)
        index %= view.size // view.columns
        return view.part(index * view.columns, (index + 1) * view.columns)

    def as_table(self, node: form.AsTable, state: FlowState) -> ViewSection:
        view = self.value(node.view, state)
        columns = self.value(node.columns, state)
        return replace(view, columns=columns or 0, is_anywhere=view.is_anywhere or not columns)

    def rows_in(self, node: form.RowsIn, state: FlowState) -> ViewSection:
        if not isinstance(node.type, View):
            raise UnclearError("it reads records")
        view = self.value(node.view, state)
        first, count = self.value(node.first, state), self.value(node.count, state)
        return view.part(first, None if first is None or count is None else first + count)

    def zeros(self, node: form.Zeros, state: FlowState) -> ViewSection:
        kind = form.view_type(node)
        if kind.shape is None:
            raise UnclearError("it makes an array of unknown length")
        size = kind.shape[0] * (kind.shape[1] if kind.axes == 2 else 1)
        array = node.name, self._calls
        for i in range(size):
            state.written[array, i] = 0
        return ViewSection(array, 0, size, kind.shape[1] if kind.axes == 2 else 0)

    def make_tuple(self, node: form.MakeTuple, state: FlowState) -> Any:
        return tuple([self.value(x, state) for x in node.items])

    def item(self, node: form.Item, state: FlowState) -> Any:
        return self.value(node.tuple, state)[node.index]

    def pick(self, node: form.Pick, state: FlowState) -> Any:
        items, index = self.value(node.tuple, state), self.value(node.index, state)
        if index is not None:
            return items[index]
        any_item = items[0]
        for item in items[1:]:
            any_item = joined(any_item, item, node.type)
        return any_item

    def call(self, node: form.Call, state: FlowState) -> Any:
        function = node.function
        self._calls += 1  # tells the arrays that this call makes from those of other calls
        values = [self.value(x, state) for x in node.arguments]
        names = {}
        for (name, passed), value in zip(function.parameters, values, strict=True):
            names[name] = converted(value, passed, function.variables.get(name, passed))
        return self.follow_call(function, names, state)

    @abstractmethod
    def follow_call(self, function: Function, names: dict[str, Any], state: FlowState) -> Any:
        """Follow a helper: its result; its writes are entered in `state`."""


FOLLOW: dict[type, Callable[[Any, Any, FlowState], Any]] = {
    form.Constant: ExpressionFollower.constant,
    form.Variable: ExpressionFollower.variable,
    form.Binary: ExpressionFollower.binary,
    form.Unary: ExpressionFollower.unary,
    form.Compare: ExpressionFollower.compare,
    form.Logic: ExpressionFollower.logic,
    form.Choice: ExpressionFollower.choice,
    form.Convert: ExpressionFollower.convert,
    form.Let: ExpressionFollower.let,
    form.Mathematics: ExpressionFollower.mathematics,
    form.Element: ExpressionFollower.read,
    form.ConstantView: ExpressionFollower.constant_view,
    form.Length: ExpressionFollower.length,
    form.Section: ExpressionFollower.section,
    form.Row: ExpressionFollower.row,
    form.AsTable: ExpressionFollower.as_table,
    form.RowsIn: ExpressionFollower.rows_in,
    form.Zeros: ExpressionFollower.zeros,
    form.MakeTuple: ExpressionFollower.make_tuple,
    form.Item: ExpressionFollower.item,
    form.Pick: ExpressionFollower.pick,
    form.Call: ExpressionFollower.call,
}
