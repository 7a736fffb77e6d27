"""The elements of results that a typed function writes, and reads, on each path through it.

Loops between constants are followed turn by turn, helpers with the parts and values that they are called
with. Where an index or a number of turns is computed, all elements count as written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.known_values import value_of
from cosim_compiler.language.tables import has_view
from cosim_compiler.language.typed_form import Expression, Function, Statement, walk
from cosim_compiler.language.types import View
from cosim_compiler.sources.kernel_source import definition_of

MOST_TURNS = 64
"""Turns of a loop that are followed one by one; more count as one whose places are not known."""
MOST_DEPTH = 12
"""Helpers inside helpers that are followed; deeper ones count as writing all that they are given."""

Elements = frozenset[int]
Written = dict[str, Elements]
Turns = Sequence[tuple[int | None, tuple[Statement, ...]]]


@dataclass(frozen=True)
class ViewPart:
    """A view of some elements of a result: where it begins, and how many it has (None: not known).

    `columns` is 0 where it has one axis.
    """

    result: str
    first: int | None
    size: int | None
    columns: int = 0


@dataclass
class WrittenPaths:
    """What a function reads and writes on each path through it.

    Attributes
    ----------
    exits : list of (int, dict)
        Where it is left: the line, and the elements of each result that are written.
    early : dict of str to (int, int)
        An element of a result that is read before it is written, and the line.
    """

    exits: list[tuple[int, Written]] = field(default_factory=list)
    early: dict[str, tuple[int, int]] = field(default_factory=dict)

    def everywhere(self, result: str, all_elements: Elements) -> Elements:
        """The elements of a result that are written on every path."""
        elements = all_elements
        for _, written in self.exits:
            elements &= written[result]
        return elements


def argument_views(function: Function, sizes: Mapping[str, int]) -> dict[str, ViewPart]:
    """The views among the arguments of a function, by the names of its parameters, each as a whole."""
    names = [argument.arg for argument in definition_of(function.author).args.args]
    views = {}
    for name, (variable, kind) in zip(names, function.parameters, strict=True):
        if name in sizes:
            columns = kind.shape[1] if isinstance(kind, View) and kind.axes == 2 and kind.shape else 0
            views[variable] = ViewPart(name, 0, sizes[name], columns)
    return views


def nothing_written(sizes: Mapping[str, int]) -> Written:
    """No element of them."""
    return {name: frozenset() for name in sizes}


class PathWalk:
    """Goes through a function with the elements that are written; None where nothing is reached.

    Parameters
    ----------
    views : dict of str to ViewPart
        The names of views of results, as they are where the walk begins.
    values : dict of str to number
        The names whose values are known.
    sizes : mapping of str to int
        The length of each result.
    depth : int
        Helpers around this function.
    """

    def __init__(
        self, views: dict[str, ViewPart], values: dict[str, Any], sizes: Mapping[str, int], depth: int
    ) -> None:
        self.views, self.values, self.sizes, self.depth = views, values, sizes, depth
        self.paths = WrittenPaths()
        self.line = 0
        self.loops: list[tuple[list[Written], list[Written]]] = []  # where breaks and continues leave

    def into_helper(self, views: dict[str, ViewPart], values: dict[str, Any]) -> PathWalk:
        """The walk through a helper that is called with these views and values."""
        return PathWalk(views, values, self.sizes, self.depth + 1)

    def follow(self, function: Function, written: Written) -> WrittenPaths:
        """Follow a function that begins with these elements written; all paths through it."""
        end = self.block(function.body, written)
        if end is not None:
            tree = definition_of(function.author)
            self.paths.exits.append((tree.body[-1].end_lineno or tree.lineno, end))
        return self.paths

    def block(self, body: Iterable[Statement], written: Written | None) -> Written | None:
        """Follow statements, up to one behind which nothing is reached."""
        for statement in body:
            if written is None:
                return None
            written = self.statement(statement, written)
        return written

    def statement(self, node: Statement, written: Written) -> Written | None:
        """Follow a statement. Returns the elements that are written behind it."""
        self.line = node.line
        if isinstance(node, form.If):
            written = self.calls(node.condition, written)
            value = self.value(node.condition)
            if value is not None:
                return self.block(node.body if value else node.orelse, written)
            return self.branches(node, written)
        if isinstance(node, form.For):
            for bound in (node.first, node.last, node.step):
                written = self.calls(bound, written)
            return self.loop(node, self.turns(node), written)
        if isinstance(node, form.While):
            return self.loop(node, [(None, node.body)], self.calls(node.condition, written))
        if isinstance(node, form.Once):
            return self.loop(node, [(None, turn) for turn in node.turns], written)
        if isinstance(node, (form.Break, form.Continue)):
            if self.loops:
                self.loops[-1][isinstance(node, form.Continue)].append(written)
            return None
        if isinstance(node, (form.Raise, form.RaiseAgain)):
            return None
        if isinstance(node, form.Try):
            return self.attempt(node, written)
        for part in _computed_in(node):
            written = self.calls(part, written)
        if isinstance(node, form.Return):
            self.paths.exits.append((node.line, written))
            return None
        if isinstance(node, form.Assign):
            written = self.assign(node.name, node.value, written)
        elif isinstance(node, form.Store) and isinstance(node.place, form.Element):
            owner, places = self.view_of(node.place.view), tuple(map(self.value, node.place.indices))
            if owner is not None:
                self.visit_element(owner, places)
                self.visit_write(owner)
                written = self.add(owner, places, written)
        return written

    def branches(self, node: form.If, written: Written) -> Written | None:
        """Follow both branches of an `if`; a value stays known where both branches agree on it."""
        begin = dict(self.values), dict(self.views)
        yes = self.block(node.body, dict(written))
        values, views = self.values, self.views
        self.values, self.views = begin
        no = self.block(node.orelse, dict(written))
        if no is None:
            self.values, self.views = values, views
        elif yes is not None:
            self.values = {name: value for name, value in self.values.items() if values.get(name) == value}
            self.views = {name: self.views.get(name, part) for name, part in {**views, **self.views}.items()}
        return _intersection(yes, no)

    def attempt(self, node: form.Try, written: Written) -> Written | None:
        """Whatever the body has written before it raised: nothing that is relied on."""
        end = self.block(node.body, dict(written))
        self.forget(_names_set_in(node))
        return _intersection(end, self.block(node.handler, dict(written)))

    # loops

    def turns(self, node: form.For) -> Turns:
        """The turns of a loop between constants: the value of its name, and what is done; else one."""
        bounds = [self.value(bound) for bound in (node.first, node.last, node.step)]
        if not all(type(bound) is int for bound in bounds) or bounds[2] == 0:
            return [(None, node.body)]
        values = range(*bounds)
        return [(i, node.body) for i in values] if len(values) <= MOST_TURNS else [(None, node.body)]

    def loop(
        self, node: form.For | form.While | form.Once, turns: Turns, written: Written | None
    ) -> Written | None:
        """Follow the turns of a loop; what is written behind it is written on every way out of it."""
        broken: list[Written] = []
        names = _names_set_in(node)
        for value, body in turns:
            if written is None:
                break
            self.forget(names)
            if value is not None and isinstance(node, form.For):
                self.values[node.name] = value
            self.loops.append(([], []))
            written = self.block(body, dict(written))
            breaks, continues = self.loops.pop()
            for at_continue in continues:
                written = _intersection(written, at_continue)
            broken += breaks
        self.forget(names)
        if written is not None:
            written = self.block(node.orelse, written)
        for at_break in broken:
            written = _intersection(written, at_break)
        return written

    def forget(self, names: Iterable[str]) -> None:
        """Remove the known values of these names."""
        for name in names:
            self.values.pop(name, None)

    # what is written

    def assign(self, name: str, value: Expression, written: Written) -> Written:
        """Assign a value to a name; a view that is not followed may be written anywhere."""
        part, constant = self.view_of(value), self.value(value)
        self.values.pop(name, None)
        self.views.pop(name, None)
        if part is not None:
            self.views[name] = part
            return written
        if constant is not None:
            self.values[name] = constant
        return self.add_mentioned_results(value, written) if has_view(value.type) else written

    def add(self, part: ViewPart, places: tuple[Any, ...], written: Written) -> Written:
        """An element of a part is written."""
        return {**written, part.result: written[part.result] | self.places(part, places)}

    def places(self, part: ViewPart, places: tuple[Any, ...]) -> Elements:
        """The element at a place of a part; all of the result, where it is not known which."""
        if part.first is not None and places and all(type(place) is int for place in places):
            place: int | None = places[-1]
            if len(places) == 2:
                place = places[0] * part.columns + places[1] if min(places) >= 0 and part.columns else None
            elif places[0] < 0:
                place = None if part.size is None else places[0] + part.size
            if place is not None:
                return frozenset({part.first + place})
        return frozenset(range(self.sizes[part.result]))

    def view_of(self, node: Expression) -> ViewPart | None:
        """The elements of a result that an expression is a view of."""
        if isinstance(node, form.Variable):
            return self.views.get(node.name)
        if isinstance(node, form.Convert):
            return self.view_of(node.operand)
        if isinstance(node, form.Row):
            table, index = self.view_of(node.view), self.value(node.index)
            if table is None or not table.columns:
                return table
            is_known = table.first is not None and type(index) is int and index >= 0
            first = (table.first or 0) + index * table.columns if is_known else None
            return ViewPart(table.result, first, table.columns)
        if isinstance(node, form.Section):
            return self.section(node)
        if isinstance(node, form.RowsIn) and (whole_part := self.view_of(node.view)) is not None:
            return ViewPart(whole_part.result, None, None)
        if isinstance(node, form.AsTable) and (whole_part := self.view_of(node.view)) is not None:
            columns = self.value(node.columns)
            return ViewPart(
                whole_part.result, whole_part.first if columns else None, whole_part.size, columns or 0
            )
        return None

    def section(self, node: form.Section) -> ViewPart | None:
        """The part of a view between two places, the first of which is known."""
        whole_part = self.view_of(node.view)
        if whole_part is None:
            return None
        first = 0 if node.first is None else self.value(node.first)
        last = whole_part.size if node.last is None else self.value(node.last)
        if whole_part.first is None or type(first) is not int or first < 0:
            return ViewPart(whole_part.result, None, None)
        size = last - first if type(last) is int and last >= 0 else None
        return ViewPart(whole_part.result, whole_part.first + first, size)

    def calls(self, node: Any, written: Written) -> Written:
        """The arguments that the calls in an expression write."""
        for expression in self.computed(node):
            if isinstance(expression, form.Let):
                written = self.assign(expression.name, expression.value, written)
            if isinstance(expression, form.Element):
                self.read(expression, written)
            if isinstance(expression, form.Call):
                written = self.call(expression, written)
            elif isinstance(expression, (form.CallLinked, form.CallAddress, form.MakeGroup)):
                written = self.add_mentioned_results(expression, written)
        return written

    def computed(self, node: Expression) -> Iterator[Expression]:
        """The expressions in one, without those that a known condition leaves out."""
        yield node
        if isinstance(node, form.Choice) and (condition := self.value(node.condition)) is not None:
            yield from self.computed(node.condition)
            yield from self.computed(node.yes if condition else node.no)
        elif isinstance(node, form.Logic) and self.value(node.left) is (node.operator == "or"):
            yield from self.computed(node.left)
        else:
            for part in form.parts(node):
                yield from self.computed(part)

    def call(self, node: form.Call, written: Written) -> Written:
        """Follow a call of a helper. Returns the elements that are written behind it."""
        views_passed = [self.view_of(argument) for argument in node.arguments]
        if self.depth > MOST_DEPTH:
            return self.add_mentioned_results(node, written)
        views: dict[str, ViewPart] = {}
        values: dict[str, Any] = {}
        for (name, _), part, argument in zip(
            node.function.parameters, views_passed, node.arguments, strict=True
        ):
            if part is not None:
                if part.first is None:
                    written = self.add(part, (), written)
                views[name] = part
            elif has_view(argument.type):
                written = self.add_mentioned_results(argument, written)
            elif (value := self.value(argument)) is not None:
                values[name] = value
        if not views:
            return written
        walker = self.into_helper(views, values)
        paths = walker.follow(node.function, dict(written))
        for name, (index, _) in paths.early.items():
            self.paths.early.setdefault(name, (index, self.line))
        return {
            name: before | paths.everywhere(name, frozenset(range(self.sizes[name])))
            for name, before in written.items()
        }

    def visit_element(self, part: ViewPart, places: tuple[Any, ...]) -> None:
        """An element is read or written."""

    def visit_write(self, part: ViewPart) -> None:
        """An element is written."""

    def read(self, node: form.Element, written: Written) -> None:
        """Note an element that is read, where it is known which, and that nothing has written it yet."""
        part, places = self.view_of(node.view), tuple(map(self.value, node.indices))
        if part is not None:
            self.visit_element(part, places)
        if part is None or part.first is None or not all(type(place) is int for place in places):
            return
        elements = self.places(part, places)
        if len(elements) == 1 and not elements <= written[part.result]:
            self.paths.early.setdefault(part.result, (min(elements), self.line))

    def add_mentioned_results(self, node: Expression, written: Written) -> Written:
        """Add all results that an expression mentions to the written elements."""
        for expression in walk(node):
            part = self.views.get(expression.name) if isinstance(expression, form.Variable) else None
            if part is not None:
                written = self.add(part, (), written)
        return written

    def value(self, node: Expression) -> Any:
        """The value of an expression, where it is known; None of others."""
        return value_of(node, self.values, self.length)

    def length(self, node: form.Length) -> int | None:
        """The length of a view along an axis, where it is known."""
        part = self.view_of(node.view)
        if part is None or part.size is None:
            return None
        if not part.columns:
            return part.size
        return part.columns if node.axis else part.size // part.columns


def _names_set_in(node: Statement) -> set[str]:
    """The names that a statement gives values, or one inside it."""
    return {statement.name for statement in walk(node) if isinstance(statement, (form.Assign, form.For))}


def _computed_in(node: Statement) -> Iterator[Expression]:
    """The expressions of a statement, without the place that it writes to."""
    for part in form.parts(node):
        if isinstance(node, form.Store) and part is node.place:
            yield from form.parts(part)
        else:
            yield part


def _intersection(left: Written | None, right: Written | None) -> Written | None:
    """The elements that are written on both ways; a way on which nothing is reached does not count."""
    if left is None or right is None:
        return right if left is None else left
    return {name: elements & right[name] for name, elements in left.items()}
