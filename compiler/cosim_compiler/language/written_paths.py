"""The elements of results that a typed function writes, and reads, on each path through it.

A loop whose bounds are constants is followed turn by turn. A helper is followed with the views and values
that it is called with. Where an index or the number of turns is computed, all elements count as written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.followed_views import Elements, ViewFollower, ViewPart
from cosim_compiler.language.tables import has_view
from cosim_compiler.language.typed_form import Expression, Function, Statement, walk
from cosim_compiler.sources.kernel_source import definition_of

MOST_TURNS = 64
"""A loop with more turns is followed through one turn, in which the value of its name is not known."""
MOST_DEPTH = 12
"""Helpers inside helpers that are followed; a deeper one counts as writing every view that it is passed."""

Written = dict[str, Elements]
"""The elements of each result that are written up to a place."""


class Turn(NamedTuple):
    """One turn of a loop: the value of the loop's name, None if it is not known, and the statements."""

    value: int | None
    body: tuple[Statement, ...]


class LoopEnds(NamedTuple):
    """What is written where `break` leaves a loop, and where `continue` ends a turn, one entry for each."""

    breaks: list[Written]
    continues: list[Written]


class Exit(NamedTuple):
    """A place where a function is left: its line, and what is written there."""

    line: int
    written: Written


class ElementAtLine(NamedTuple):
    """An element of a result, and the line that reads it, or behind which it is not written."""

    element: int
    line: int


@dataclass
class WrittenPaths:
    """What a function reads and writes on each path through it.

    Attributes
    ----------
    exits : list of Exit
    read_before_written : dict of str to ElementAtLine
        For a result: the first element that is read before it is written, with the line that reads it.
    """

    exits: list[Exit] = field(default_factory=list)
    read_before_written: dict[str, ElementAtLine] = field(default_factory=dict)

    def everywhere(self, result: str, all_elements: Elements) -> Elements:
        """The elements of a result that are written on every path."""
        elements = all_elements
        for path_end in self.exits:
            elements &= path_end.written[result]
        return elements


def nothing_written(sizes: Mapping[str, int]) -> Written:
    """No written element of any of these results."""
    return {name: frozenset() for name in sizes}


class PathWalk(ViewFollower):
    """Walks through a function and keeps track of the elements that are written.

    The methods that follow statements take what is written before them, and return what is written behind
    them; None if the program never gets behind them.

    Parameters
    ----------
    views, values, sizes
        As of `ViewFollower`, where the walk begins.
    depth : int
        The number of helpers around this function.
    """

    def __init__(
        self, views: dict[str, ViewPart], values: dict[str, Any], sizes: Mapping[str, int], depth: int
    ) -> None:
        super().__init__(views, values, sizes)
        self.depth = depth
        self.paths = WrittenPaths()
        self.line = 0
        self.loops: list[LoopEnds] = []  # of the loops around the present statement, the innermost last

    def into_helper(self, views: dict[str, ViewPart], values: dict[str, Any]) -> PathWalk:
        """The walk through a helper that is called with these views and values."""
        return PathWalk(views, values, self.sizes, self.depth + 1)

    def follow(self, function: Function, written: Written) -> WrittenPaths:
        """Follow a function that begins with these elements written; all paths through it."""
        end = self.block(function.body, written)
        if end is not None:
            tree = definition_of(function.author)
            self.paths.exits.append(Exit(tree.body[-1].end_lineno or tree.lineno, end))
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
            return self.loop(node, [Turn(None, node.body)], self.calls(node.condition, written))
        if isinstance(node, form.Once):
            return self.loop(node, [Turn(None, turn) for turn in node.turns], written)
        if isinstance(node, (form.Break, form.Continue)):
            if self.loops:
                ends = self.loops[-1]
                (ends.breaks if isinstance(node, form.Break) else ends.continues).append(written)
            return None
        if isinstance(node, (form.Raise, form.RaiseAgain)):
            return None
        if isinstance(node, form.Try):
            return self.attempt(node, written)
        for part in _computed_in(node):
            written = self.calls(part, written)
        if isinstance(node, form.Return):
            self.paths.exits.append(Exit(node.line, written))
            return None
        if isinstance(node, form.Assign):
            written = self.assign(node.name, node.value, written)
        elif isinstance(node, form.Store) and isinstance(node.place, form.Element):
            view, indices = self.view_of(node.place.view), tuple(map(self.value, node.place.indices))
            if view is not None:
                self.visit_element(view, indices)
                self.visit_write(view)
                written = self.add(view, indices, written)
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
        """Follow a ``try``: the handler relies on nothing that the body has written before it raised."""
        end = self.block(node.body, dict(written))
        self.forget(_names_set_in(node))
        return _intersection(end, self.block(node.handler, dict(written)))

    # loops

    def turns(self, node: form.For) -> list[Turn]:
        """The turns of a loop between constants; of any other loop one turn, with an unknown value."""
        bounds = [self.value(bound) for bound in (node.first, node.last, node.step)]
        if not all(type(bound) is int for bound in bounds) or bounds[2] == 0:
            return [Turn(None, node.body)]
        values = range(*bounds)
        return [Turn(i, node.body) for i in values] if len(values) <= MOST_TURNS else [Turn(None, node.body)]

    def loop(
        self, node: form.For | form.While | form.Once, turns: Sequence[Turn], written: Written | None
    ) -> Written | None:
        """Follow the turns of a loop; what is written behind it is written on every way out of it."""
        at_breaks: list[Written] = []
        names = _names_set_in(node)
        for value, body in turns:
            if written is None:
                break
            self.forget(names)
            if value is not None and isinstance(node, form.For):
                self.values[node.name] = value
            self.loops.append(LoopEnds([], []))
            written = self.block(body, dict(written))
            ends = self.loops.pop()
            for at_continue in ends.continues:
                written = _intersection(written, at_continue)
            at_breaks += ends.breaks
        self.forget(names)
        if written is not None:
            written = self.block(node.orelse, written)
        for at_break in at_breaks:
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

    def add(self, part: ViewPart, indices: tuple[Any, ...], written: Written) -> Written:
        """Add an element of a view to what is written; without known indices, all elements of the result."""
        return {**written, part.result: written[part.result] | self.elements_at(part, indices)}

    def calls(self, node: Any, written: Written) -> Written:
        """Follow the calls in an expression; what is written behind it."""
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
        for name, early in paths.read_before_written.items():
            self.paths.read_before_written.setdefault(name, ElementAtLine(early.element, self.line))
        return {
            name: before | paths.everywhere(name, frozenset(range(self.sizes[name])))
            for name, before in written.items()
        }

    def visit_element(self, part: ViewPart, indices: tuple[Any, ...]) -> None:
        """Do nothing; a subclass is told here of each element that is read or written."""

    def visit_write(self, part: ViewPart) -> None:
        """Do nothing; a subclass is told here of each view in which an element is written."""

    def read(self, node: form.Element, written: Written) -> None:
        """Record an element that is read before it is written, if it is known which one that is."""
        part, indices = self.view_of(node.view), tuple(map(self.value, node.indices))
        if part is not None:
            self.visit_element(part, indices)
        if part is None or part.first is None or not all(type(index) is int for index in indices):
            return
        elements = self.elements_at(part, indices)
        if len(elements) == 1 and not elements <= written[part.result]:
            early = ElementAtLine(min(elements), self.line)
            self.paths.read_before_written.setdefault(part.result, early)

    def add_mentioned_results(self, node: Expression, written: Written) -> Written:
        """Add all results that an expression mentions to the written elements."""
        for expression in walk(node):
            part = self.views.get(expression.name) if isinstance(expression, form.Variable) else None
            if part is not None:
                written = self.add(part, (), written)
        return written


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
