"""Which elements each element of a result is computed from: a kernel function run on sets of elements.

Whole numbers keep their values, so loops run and indices are found as in the function itself: ``x[i - 1]``
is one element in each turn. A real number is what it was computed from. Where a condition depends on real
numbers both branches are followed, and what they leave is joined; what decides between them counts as no
source, since a derivative does not see it. A whole number that depends on real ones is not known: as an index
it stands for all elements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, Statement
from cosim_compiler.language.types import REAL, WHOLE, Number, Tuple, Type, View

MOST_NODES = 1_000_000
"""Expressions that are followed at most: a function that takes more is not clear."""
MOST_TURNS = 100
"""Of a loop whose end is not known, until nothing changes."""
NORMAL, BREAK, CONTINUE, RETURN = "normal", "break", "continue", "return"
RESULT = "return"  # in place of a local name: no name of Python's

Sources = int
"""What a real number is computed from: a bit for each element."""


class UnclearError(Exception):
    """The elements that a function reads for a result cannot be determined."""


@dataclass(frozen=True)
class ViewSection:
    """A view: elements of an array, of an argument or of the function's own."""

    array: object
    first: int
    size: int
    columns: int = 0  # of a table
    is_anywhere: bool = False  # whether an index may mean any of its elements
    numbers: tuple[Any, ...] | None = None  # of an array of the module
    is_whole: bool = False

    def offsets(self, index: int | None) -> range:
        """The possible offsets of an element."""
        if index is None or self.is_anywhere:
            return range(self.first, self.first + self.size)
        at = index + self.size if index < 0 else index
        if not 0 <= at < self.size:
            raise UnclearError("a place beyond the end of a view")
        return range(self.first + at, self.first + at + 1)

    def part(self, first: int | None, last: int | None) -> ViewSection:
        """A part of it; None: an end that is not known."""
        if first is None or last is None or self.is_anywhere:
            return ViewSection(self.array, self.first, self.size, 0, True, self.numbers, self.is_whole)
        first, last, _ = slice(first, last).indices(self.size)
        size = max(last - first, 0)
        return ViewSection(self.array, self.first + first, size, 0, False, self.numbers, self.is_whole)


@dataclass
class FlowState:
    """Local names, and written elements, on one way through a function."""

    function: Function
    names: dict[str, Any]
    written: dict[tuple[object, int], Sources]

    def fork(self) -> FlowState:
        """A copy, for one of two branches."""
        return FlowState(self.function, dict(self.names), dict(self.written))

    def kind(self, name: str) -> Type | None:
        """The type of a local name; None: it is known in one expression alone."""
        return self.function.result if name == RESULT else self.function.variables.get(name)


Outcomes = dict[str, FlowState]
"""How statements end: the joined states of all ways that end so."""


def element_flows(
    function: Function, sizes: Mapping[str, int], sources: Sequence[str]
) -> dict[tuple[str, int], Sources]:
    """The sources of each written element of a function's arguments.

    Parameters
    ----------
    function : Function
        In typed form.
    sizes : mapping of str to int
        The length of each parameter that is a view; of a table that of all rows together.
    sources : sequence of str
        The parameters that count as sources. Their elements have the bits 0, 1 … in this order.

    Raises
    ------
    UnclearError
        It cannot be followed: it calls what is compiled elsewhere, or takes too long.
    """
    first, bit = {}, 0
    for name in sources:
        first[name] = bit
        bit += sizes.get(name, 1)
    follower = _Follower(first)
    names: dict[str, Any] = {}
    for name, kind in function.parameters:
        names[name] = follower.argument(name, kind, sizes)
    outcomes = follower.block(function.body, FlowState(function, names, {}))
    ends = [state for kind, state in outcomes.items() if kind in (NORMAL, RETURN)]
    if not ends:
        raise UnclearError("it always raises")
    written = follower.join_all(ends).written
    return {place: flows for place, flows in written.items() if place[0] in sizes}  # type: ignore[misc]


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


class _Follower:
    """Follows one function and all that it calls."""

    def __init__(self, first: Mapping[str, int]) -> None:
        self._first = first
        self._nodes = 0
        self._calls = 0

    def argument(self, name: str, kind: Type, sizes: Mapping[str, int]) -> Any:
        """The value of a parameter."""
        if isinstance(kind, View):
            columns = kind.shape[1] if kind.axes == 2 and kind.shape else 0
            return ViewSection(name, 0, sizes[name], columns, is_whole=kind.item is not REAL)
        if kind is REAL:
            return 1 << self._first[name] if name in self._first else 0
        if isinstance(kind, Number):
            return None
        raise UnclearError("an argument that is neither a number nor a view")

    # states

    def before(self, place: tuple[object, int]) -> Sources:
        """The sources of an element before it is written."""
        array, offset = place
        return 1 << self._first[array] + offset if array in self._first else 0  # type: ignore[index]

    def join(self, one: FlowState, other: FlowState) -> FlowState:
        names = dict(other.names)
        for name, value in one.names.items():
            kind = one.kind(name)
            if name not in names:
                names[name] = value
            elif kind is not None:
                names[name] = joined(value, names[name], kind)
        written = dict(other.written)
        for place, sources in one.written.items():
            written[place] = sources | (written[place] if place in written else self.before(place))
        for place in other.written.keys() - one.written.keys():
            written[place] |= self.before(place)
        self._nodes += len(written) // 16
        return FlowState(one.function, names, written)

    def join_all(self, states: Sequence[FlowState]) -> FlowState:
        joined_state = states[0]
        for state in states[1:]:
            joined_state = self.join(joined_state, state)
        return joined_state

    def add(self, outcomes: Outcomes, kind: str, state: FlowState) -> None:
        outcomes[kind] = self.join(outcomes[kind], state) if kind in outcomes else state

    # statements

    def block(self, statements: Sequence[Statement], state: FlowState) -> Outcomes:
        outcomes: Outcomes = {}
        for statement in statements:
            states = self.statement(statement, state)
            following = states.pop(NORMAL, None)
            for kind, left in states.items():
                self.add(outcomes, kind, left)
            if following is None:
                return outcomes
            state = following
        self.add(outcomes, NORMAL, state)
        return outcomes

    def statement(self, node: Statement, state: Any) -> Outcomes:
        if isinstance(node, form.Assign):
            state.names[node.name] = self.value(node.value, state)
            return {NORMAL: state}
        if isinstance(node, form.Store):
            self.store(node, state)
            return {NORMAL: state}
        if isinstance(node, form.Evaluate):
            self.value(node.value, state)
            return {NORMAL: state}
        if isinstance(node, form.If):
            return self.branches(node, state)
        if isinstance(node, form.For):
            return self.count(node, state)
        if isinstance(node, form.While):
            return self.repeat(node, state)
        if isinstance(node, form.Once):
            return self.turns(node, state)
        if isinstance(node, form.Return):
            state.names[RESULT] = None if node.value is None else self.value(node.value, state)
            return {RETURN: state}
        if isinstance(node, form.Break):
            return {BREAK: state}
        if isinstance(node, form.Continue):
            return {CONTINUE: state}
        if isinstance(node, form.Raise):
            return {}  # no derivative comes of this way
        raise UnclearError(f"a statement: {type(node).__name__}")

    def store(self, node: form.Store, state: FlowState) -> None:
        sources = self.value(node.value, state)
        place = node.place
        if not isinstance(place, form.Element):
            raise UnclearError("a field of a record is written")
        view, index = self.element(place, state)
        offsets = view.offsets(index)
        if view.is_whole:
            return  # whole numbers in arrays are not followed
        if len(offsets) == 1:
            state.written[view.array, offsets[0]] = sources
            return
        for offset in offsets:
            key = view.array, offset
            state.written[key] = sources | (state.written[key] if key in state.written else self.before(key))

    def branches(self, node: form.If, state: FlowState) -> Outcomes:
        condition = self.value(node.condition, state)
        if condition is not None:
            return self.block(node.body if condition else node.orelse, state)
        outcomes = self.block(node.body, state.fork())
        for kind, left in self.block(node.orelse, state).items():
            self.add(outcomes, kind, left)
        return outcomes

    def count(self, node: form.For, state: FlowState) -> Outcomes:
        first, last, step = (self.value(x, state) for x in (node.first, node.last, node.step))
        if first is None or last is None or not step:
            return self.unknown_turns(node, state)
        outcomes: Outcomes = {}
        current: FlowState | None = state
        for i in range(first, last, step):
            current.names[node.name] = i  # type: ignore[union-attr]
            current = self.turn(node.body, current, outcomes)
            if current is None:
                break
        return self.end_loop(node.orelse, current, outcomes)

    def repeat(self, node: form.While, state: FlowState) -> Outcomes:
        outcomes: Outcomes = {}
        current: FlowState | None = state
        while current is not None:
            condition = self.value(node.condition, current)
            if condition is None:
                return self.unknown_turns(node, current, outcomes)
            if not condition:
                break
            current = self.turn(node.body, current, outcomes)
        return self.end_loop(node.orelse, current, outcomes)

    def unknown_turns(
        self, node: form.For | form.While, state: FlowState, outcomes: Outcomes | None = None
    ) -> Outcomes:
        """Any number of turns: until one more changes nothing."""
        outcomes = {} if outcomes is None else outcomes
        for _ in range(MOST_TURNS):
            before = state.fork()
            if isinstance(node, form.For):
                state.names[node.name] = None
            else:
                self.value(node.condition, state)
            left = self.turn(node.body, state, outcomes)
            state = before if left is None else self.join(left, before.fork())
            if (state.names, state.written) == (before.names, before.written):
                return self.end_loop(node.orelse, state, outcomes)
        raise UnclearError("a loop does not settle")

    def turn(self, body: Sequence[Statement], state: Any, outcomes: Outcomes) -> FlowState | None:
        """Follow one turn of a loop; the state in which the next turn begins, None where none does."""
        states = self.block(body, state)
        going_on = [states[kind] for kind in (NORMAL, CONTINUE) if kind in states]
        for kind in (BREAK, RETURN):
            if kind in states:
                self.add(outcomes, kind, states[kind].fork())
        return self.join_all(going_on) if going_on else None

    def end_loop(self, orelse: Sequence[Statement], state: FlowState | None, outcomes: Outcomes) -> Outcomes:
        """Behind a loop: its `else` where it ended by itself."""
        left = outcomes.pop(BREAK, None)
        if state is not None:
            for kind, end in self.block(orelse, state).items():
                self.add(outcomes, kind, end)
        if left is not None:
            self.add(outcomes, NORMAL, left)
        return outcomes

    def turns(self, node: form.Once, state: FlowState) -> Outcomes:
        outcomes: Outcomes = {}
        current: FlowState | None = state
        for body in node.turns:
            current = self.turn(body, current, outcomes)
            if current is None:
                break
        return self.end_loop(node.orelse, current, outcomes)

    # expressions

    def value(self, node: Expression, state: FlowState) -> Any:
        self._nodes += 1
        if self._nodes > MOST_NODES:
            raise UnclearError("too many turns")
        follow = FOLLOW.get(type(node))
        if follow is None:
            raise UnclearError(f"an expression: {type(node).__name__}")
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
        decides = node.operator == "or"
        if left is not None and bool(left) == decides:
            return left
        right = self.value(node.right, state)
        if left is None and not (right is not None and bool(right) == decides):
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
        view = self.value(node.view, state)
        indices = [self.value(x, state) for x in node.indices]
        if len(indices) == 1:
            return view, indices[0]
        row, column = indices
        if row is None or column is None or not view.columns:
            return view, None
        rows = view.size // view.columns
        if not (-rows <= row < rows and -view.columns <= column < view.columns):
            raise UnclearError("a place beyond the end of a table")
        return view, row % rows * view.columns + column % view.columns

    def read(self, node: form.Element, state: FlowState) -> Any:
        view, index = self.element(node, state)
        offsets = view.offsets(index)
        if view.is_whole:
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
        is_whole = form.view_type(node).item is not REAL
        return ViewSection(None, 0, len(node.numbers), columns, False, node.numbers, is_whole)

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
        anywhere = view.is_anywhere or not columns
        return ViewSection(
            view.array, view.first, view.size, columns or 0, anywhere, view.numbers, view.is_whole
        )

    def rows_in(self, node: form.RowsIn, state: FlowState) -> ViewSection:
        if not isinstance(node.type, View):
            raise UnclearError("records")
        view = self.value(node.view, state)
        first, count = self.value(node.first, state), self.value(node.count, state)
        return view.part(first, None if first is None or count is None else first + count)

    def zeros(self, node: form.Zeros, state: FlowState) -> ViewSection:
        kind = form.view_type(node)
        if kind.shape is None:
            raise UnclearError("an array of a length that is not known")
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
        either = items[0]
        for item in items[1:]:
            either = joined(either, item, node.type)
        return either

    def call(self, node: form.Call, state: FlowState) -> Any:
        function = node.function
        self._calls += 1
        values = [self.value(x, state) for x in node.arguments]
        names = {}
        for (name, passed), value in zip(function.parameters, values, strict=True):
            names[name] = converted(value, passed, function.variables.get(name, passed))
        outcomes = self.block(function.body, FlowState(function, names, state.written))
        ends = [end for kind, end in outcomes.items() if kind in (NORMAL, RETURN)]
        if not ends:
            raise UnclearError("a helper that always raises")
        end = self.join_all(ends)
        state.written = end.written
        return end.names.get(RESULT)


FOLLOW: dict[type, Callable[[Any, Any, FlowState], Any]] = {
    form.Constant: _Follower.constant,
    form.Variable: _Follower.variable,
    form.Binary: _Follower.binary,
    form.Unary: _Follower.unary,
    form.Compare: _Follower.compare,
    form.Logic: _Follower.logic,
    form.Choice: _Follower.choice,
    form.Convert: _Follower.convert,
    form.Let: _Follower.let,
    form.Mathematics: _Follower.mathematics,
    form.Element: _Follower.read,
    form.ConstantView: _Follower.constant_view,
    form.Length: _Follower.length,
    form.Section: _Follower.section,
    form.Row: _Follower.row,
    form.AsTable: _Follower.as_table,
    form.RowsIn: _Follower.rows_in,
    form.Zeros: _Follower.zeros,
    form.MakeTuple: _Follower.make_tuple,
    form.Item: _Follower.item,
    form.Pick: _Follower.pick,
    form.Call: _Follower.call,
}


def joined(one: Any, other: Any, kind: Type) -> Any:
    """The sources of a name that holds one of two values."""
    if isinstance(kind, Tuple):
        return tuple([joined(x, y, item) for x, y, item in zip(one, other, kind.items, strict=True)])
    if kind is REAL:
        return one | other
    if one == other:
        return one
    if isinstance(one, ViewSection) and isinstance(other, ViewSection):
        if one.array != other.array or one.numbers is not other.numbers:
            raise UnclearError("a name is a view of one array or of another")
        first = min(one.first, other.first)
        last = max(one.first + one.size, other.first + other.size)
        return ViewSection(one.array, first, last - first, 0, True, one.numbers, one.is_whole)
    return None


def converted(value: Any, kind: Type, wanted: Type) -> Any:
    """A number of one type as one of another, or a tuple item by item."""
    if isinstance(wanted, Tuple) and isinstance(kind, Tuple):
        return tuple(map(converted, value, kind.items, wanted.items))
    if kind == wanted or not isinstance(wanted, Number):
        return value
    if wanted is REAL:
        return 0
    return None if kind is REAL or value is None else int(value) if wanted is WHOLE else bool(value)


def union(values: Sequence[Any], kinds: Sequence[Type]) -> Sources:
    """The sources of a function of these numbers."""
    sources = 0
    for value, kind in zip(values, kinds, strict=True):
        if kind is REAL:
            sources |= value
    return sources
