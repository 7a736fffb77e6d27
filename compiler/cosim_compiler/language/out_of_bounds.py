"""Accesses of a kernel function to elements that its views do not have, found in its typed form.

An access counts only if its index follows from constants, and if the program reaches it in every call.
`written_paths.PathWalk` walks through the function. This module keeps track of whether a statement is
certainly reached, and checks each element that is read or written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.followed_views import ViewPart, argument_views
from cosim_compiler.language.typed_form import Expression, Function, walk
from cosim_compiler.language.written_paths import (
    MOST_TURNS,
    PathWalk,
    Turn,
    Written,
    nothing_written,
)

LEAVING = (form.Break, form.Continue, form.Return, form.Raise, form.RaiseAgain)
"""Statements behind which the program goes on elsewhere."""


@dataclass(frozen=True)
class OutOfBounds:
    """An access outside of an argument: the line, and the index or, for a table, row and column."""

    line: int
    place: tuple[int, ...]


def check_bounds(function: Function, sizes: Mapping[str, int]) -> BoundsWalk:
    """A walk through a function that has recorded its accesses outside of views, and what it writes.

    Parameters
    ----------
    function : Function
    sizes : mapping of str to int
        Of the views, by the names of the arguments.
    """
    walk_through = BoundsWalk(argument_views(function, sizes), {}, sizes, 0)
    walk_through.follow(function, nothing_written(sizes))
    return walk_through


class BoundsWalk(PathWalk):
    """Walks through a function and records what it accesses outside of its views, and what it writes.

    Attributes
    ----------
    out_of_bounds : dict of str to OutOfBounds
        The first access outside of an argument that every call makes, by the name of the argument.
    written : dict of str to int
        For each argument that is written, under whatever name: the line of the first write.
    is_certain : bool
        Whether every call reaches the present statement.
    """

    def __init__(
        self, views: dict[str, ViewPart], values: dict[str, Any], sizes: Mapping[str, int], depth: int
    ) -> None:
        super().__init__(views, values, sizes, depth)
        self.out_of_bounds: dict[str, OutOfBounds] = {}
        self.written: dict[str, int] = {}
        self.is_certain = True
        self.called_at = 0  # in a helper: the line of the function that calls it; in the function itself: 0

    def into_helper(self, views: dict[str, ViewPart], values: dict[str, Any]) -> PathWalk:
        """The walk through a helper: it adds to the same results, with the line of the call."""
        helper = BoundsWalk(views, values, self.sizes, self.depth + 1)
        helper.is_certain = self.is_certain
        helper.out_of_bounds, helper.written = self.out_of_bounds, self.written
        helper.called_at = self.called_at or self.line
        return helper

    def visit_element(self, part: ViewPart, indices: tuple[Any, ...]) -> None:
        """Record an element that is read or written, if its index is known and lies outside of the view."""
        if not self.is_certain or part.first is None or part.size is None:
            return
        lengths = (part.size // part.columns, part.columns) if part.columns else (part.size,)
        for index, length in zip(indices, lengths, strict=False):
            if type(index) is int and not self.least_index(length) <= index < length:
                self.out_of_bounds.setdefault(
                    part.result,
                    OutOfBounds(self.called_at or self.line, self.place_in_argument(part, indices)),
                )

    def least_index(self, length: int) -> int:
        """The least allowed index of a view: 0 in the function itself; in helpers the first element's.

        A negative index counts from the end, as in Python. A function knows the declared lengths, so a
        negative index in it is a slip: `x[i - 1]` in the first turn of a loop would silently be the last
        element. A helper serves views of any length: there `x[-1]` says which element is meant.
        """
        return 0 if self.depth == 0 else -length

    def visit_write(self, part: ViewPart) -> None:
        """Record that an element of a part is written."""
        self.written.setdefault(part.result, self.called_at or self.line)

    @staticmethod
    def place_in_argument(part: ViewPart, indices: tuple[Any, ...]) -> tuple[int, ...]:
        """The indices of a part as those of the whole argument; an unknown index counts as 0."""
        place = tuple(index if type(index) is int else 0 for index in indices)
        return place if part.columns or part.first is None else (part.first + place[0], *place[1:])

    def branches(self, node: form.If, written: Written) -> Written | None:
        """Follow both branches, neither of which is certain.

        What follows them in a loop is not certain, either, if one of them may leave.
        """
        was_certain, self.is_certain = self.is_certain, False
        written_after = super().branches(node, written)
        may_leave = any(isinstance(statement, LEAVING) for statement in walk(node))
        self.is_certain = was_certain and not (self.loops and may_leave)
        return written_after

    def attempt(self, node: form.Try, written: Written) -> Written | None:
        """Follow a ``try``: nothing in it is certain, because a statement before it may raise."""
        was_certain, self.is_certain = self.is_certain, False
        written_after = super().attempt(node, written)
        self.is_certain = was_certain
        return written_after

    def turns(self, node: form.For) -> list[Turn]:
        """The turns of a loop between constants; of many turns the first and the last, the extreme ones."""
        bounds = [self.value(bound) for bound in (node.first, node.last, node.step)]
        if all(type(bound) is int for bound in bounds) and bounds[2] != 0:
            values = range(*bounds)
            followed = values if len(values) <= MOST_TURNS else (values[0], values[-1])
            return [Turn(i, node.body) for i in followed]
        return super().turns(node)

    def loop(
        self, node: form.For | form.While | form.Once, turns: Sequence[Turn], written: Written | None
    ) -> Written | None:
        """Follow a loop; its turns are certain only if their number is known: else there may be none."""
        was_certain = self.is_certain
        is_known = isinstance(node, form.Once) or all(turn.value is not None for turn in turns)
        self.is_certain = was_certain and is_known
        written_after = super().loop(node, turns, written)
        self.is_certain = was_certain
        return written_after

    def computed(self, node: Expression) -> Iterator[Expression]:
        """The parts of an expression that are certainly computed: not those behind an unknown condition."""
        if isinstance(node, form.Choice) and self.value(node.condition) is None:
            yield from self.computed(node.condition)
        elif isinstance(node, form.Logic) and self.value(node.left) is None:
            yield from self.computed(node.left)
        else:
            yield from super().computed(node)
