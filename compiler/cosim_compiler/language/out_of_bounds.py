"""BoundsWalk outside of the views that a kernel function is given, by its typed form.

Only places that follow from constants are checked, and only where no condition may keep the program from
reaching them. `written_paths.PathWalk` goes through the function; this module says when it is certain that a
statement is reached, and what to do at each place that it reads or writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, walk
from cosim_compiler.language.written_paths import (
    MOST_TURNS,
    PathWalk,
    Turns,
    ViewPart,
    Written,
    argument_views,
    nothing_written,
)

LEAVES = (form.Break, form.Continue, form.Return, form.Raise, form.RaiseAgain)


@dataclass(frozen=True)
class OutOfBounds:
    """A place outside of an argument: the line, and the index or, for a table, row and column."""

    line: int
    place: tuple[int, ...]


def places_in_views(function: Function, sizes: Mapping[str, int]) -> BoundsWalk:
    """The places that a function reads and writes in the views among its arguments.

    Parameters
    ----------
    function : Function
    sizes : mapping of str to int
        Of the views, by the names of the arguments.
    """
    walker = BoundsWalk(argument_views(function, sizes), {}, sizes, 0)
    walker.follow(function, nothing_written(sizes))
    return walker


class BoundsWalk(PathWalk):
    """Records places outside while it is certain that the program reaches them.

    Attributes
    ----------
    found : dict of str to OutOfBounds
        For each argument of which an element outside is reached in any case: the first place.
    written : dict of str to int
        For each argument that is written, under whatever name: the line of the first write.
    is_certain : bool
        Whether the statement that is walked through is reached in every call.
    """

    def __init__(
        self, views: dict[str, ViewPart], values: dict[str, Any], sizes: Mapping[str, int], depth: int
    ) -> None:
        super().__init__(views, values, sizes, depth)
        self.found: dict[str, OutOfBounds] = {}
        self.written: dict[str, int] = {}
        self.is_certain = True
        self.called_at = 0  # in a helper the line in the function itself from which it is called

    def into_helper(self, views: dict[str, ViewPart], values: dict[str, Any]) -> PathWalk:
        """The walk through a helper: it adds to the same results, with the line of the call."""
        inner = BoundsWalk(views, values, self.sizes, self.depth + 1)
        inner.is_certain, inner.found, inner.written = self.is_certain, self.found, self.written
        inner.called_at = self.called_at or self.line
        return inner

    def visit_element(self, part: ViewPart, places: tuple[Any, ...]) -> None:
        """Record an element that is read or written, where its place is known and lies outside."""
        if not self.is_certain or part.first is None or part.size is None:
            return
        lengths = (part.size // part.columns, part.columns) if part.columns else (part.size,)
        for place, length in zip(places, lengths, strict=False):
            if type(place) is int and not self.least_place(length) <= place < length:
                self.found.setdefault(
                    part.result, OutOfBounds(self.called_at or self.line, self.shown(part, places))
                )

    def least_place(self, length: int) -> int:
        """The least place inside a view: 0 in the function itself, that of the first element in helpers.

        Negative places count from the end, as in Python. A function knows the declared lengths, so that a
        negative place in it is a slip: `x[i - 1]` in the first turn of a loop would silently be the last
        element. A helper serves views of any length: there `x[-1]` says which element is meant.
        """
        return 0 if self.depth == 0 else -length

    def visit_write(self, part: ViewPart) -> None:
        """Record that an element of a part is written."""
        self.written.setdefault(part.result, self.called_at or self.line)

    @staticmethod
    def shown(part: ViewPart, places: tuple[Any, ...]) -> tuple[int, ...]:
        """A place of a part as a place of the whole argument; an unknown index counts as 0."""
        indices = tuple(place if type(place) is int else 0 for place in places)
        return indices if part.columns or part.first is None else (part.first + indices[0], *indices[1:])

    def branches(self, node: form.If, written: Written) -> Written | None:
        """Neither branch is certain; in a loop nothing behind them is where one of them may leave."""
        was_certain, self.is_certain = self.is_certain, False
        written_after = super().branches(node, written)
        leaves = any(isinstance(statement, LEAVES) for statement in walk(node))
        self.is_certain = was_certain and not (self.loops and leaves)
        return written_after

    def attempt(self, node: form.Try, written: Written) -> Written | None:
        """Follow a ``try``: nothing in it is certain, because a statement before it may raise."""
        was_certain, self.is_certain = self.is_certain, False
        written_after = super().attempt(node, written)
        self.is_certain = was_certain
        return written_after

    def turns(self, node: form.For) -> Turns:
        """The turns of a loop between constants; of many only the first and the last, where indices end."""
        bounds = [self.value(bound) for bound in (node.first, node.last, node.step)]
        if all(type(bound) is int for bound in bounds) and bounds[2] != 0:
            values = range(*bounds)
            return [
                (i, node.body) for i in (values if len(values) <= MOST_TURNS else (values[0], values[-1]))
            ]
        return super().turns(node)

    def loop(
        self, node: form.For | form.While | form.Once, turns: Turns, written: Written | None
    ) -> Written | None:
        """Turns are certain where their number is known: others may be none."""
        was_certain = self.is_certain
        is_known = isinstance(node, form.Once) or all(value is not None for value, _ in turns)
        self.is_certain = was_certain and is_known
        written_after = super().loop(node, turns, written)
        self.is_certain = was_certain
        return written_after

    def computed(self, node: Expression) -> Iterator[Expression]:
        """The parts of an expression that are computed, without those that a condition may leave out."""
        if isinstance(node, form.Choice) and self.value(node.condition) is None:
            yield from self.computed(node.condition)
        elif isinstance(node, form.Logic) and self.value(node.left) is None:
            yield from self.computed(node.left)
        else:
            yield from super().computed(node)
