"""The values of `element_flows`: what real numbers are computed from, views, and states that hold them.

A real number is a set of elements (`Sources`), a whole number or a truth value itself, or None where it is
not known; a view is a `ViewSection`, a tuple a tuple of such values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import REAL, WHOLE, Number, Tuple, Type

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
