"""The values with which `element_flows` runs a function, and the states of such a run.

In place of a real number stands the set of elements that it is computed from (`Sources`). An integer or a
truth value stands for itself; None if it is not known. A view is a `ViewSection`, a tuple a tuple of such
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from cosim_compiler.language.typed_form import Function
from cosim_compiler.language.types import REAL, WHOLE, Number, Tuple, Type

NORMAL, BREAK, CONTINUE, RETURN = "normal", "break", "continue", "return"
"""How a statement may end."""
RESULT = "return"
"""The key of a function's result among local names, none of which can be this keyword."""

Sources = int
"""The elements that a real number is computed from, as a set of bits: one for each element."""


class UnclearError(Exception):
    """The elements that a function reads for a result cannot be determined."""


@dataclass(frozen=True)
class ViewSection:
    """A view of consecutive elements of an array.

    Attributes
    ----------
    array : object
        The name of an argument; of an array of the function's own, what tells it from others.
    first, size : int
        Where the view begins in the array, and how many elements it has.
    columns : int
        Of a table; 0 for a view with one axis.
    is_anywhere : bool
        Whether an index may mean any of its elements.
    numbers : tuple, optional
        The elements, if the array is a constant of the module.
    has_integers : bool
        Whether its elements are integers, which are not followed.
    """

    array: object
    first: int
    size: int
    columns: int = 0
    is_anywhere: bool = False
    numbers: tuple[Any, ...] | None = None
    has_integers: bool = False

    def offsets(self, index: int | None) -> range:
        """The possible offsets of an element in the array; of one with an unknown index (None) all."""
        if index is None or self.is_anywhere:
            return range(self.first, self.first + self.size)
        from_start = index + self.size if index < 0 else index
        if not 0 <= from_start < self.size:
            raise UnclearError("a place beyond the end of a view")
        return range(self.first + from_start, self.first + from_start + 1)

    def part(self, first: int | None, last: int | None) -> ViewSection:
        """The section between two indices; None stands for one that is not known."""
        if first is None or last is None or self.is_anywhere:
            return replace(self, columns=0, is_anywhere=True)
        first, last, _ = slice(first, last).indices(self.size)
        return replace(self, first=self.first + first, size=max(last - first, 0), columns=0)


@dataclass
class FlowState:
    """The values of local names, and the sources of written elements, on one path through a function."""

    function: Function
    names: dict[str, Any]
    written: dict[tuple[object, int], Sources]

    def fork(self) -> FlowState:
        """A copy, for one of two branches."""
        return FlowState(self.function, dict(self.names), dict(self.written))

    def kind(self, name: str) -> Type | None:
        """The type of a local name; None of a name that only one expression knows."""
        return self.function.result if name == RESULT else self.function.variables.get(name)


Outcomes = dict[str, FlowState]
"""The states in which statements may end, joined over all paths that end in the same way (`NORMAL` …)."""


def joined(left: Any, right: Any, kind: Type) -> Any:
    """The value of a name that has one of two values."""
    if isinstance(kind, Tuple):
        return tuple([joined(x, y, item) for x, y, item in zip(left, right, kind.items, strict=True)])
    if kind is REAL:
        return left | right
    if left == right:
        return left
    if isinstance(left, ViewSection) and isinstance(right, ViewSection):
        if left.array != right.array or left.numbers is not right.numbers:
            raise UnclearError("a name is a view of one array or of another")
        first = min(left.first, right.first)
        last = max(left.first + left.size, right.first + right.size)
        return replace(left, first=first, size=last - first, columns=0, is_anywhere=True)
    return None


def converted(value: Any, kind: Type, wanted: Type) -> Any:
    """A value of one type as one of another; a tuple is converted item by item."""
    if isinstance(wanted, Tuple) and isinstance(kind, Tuple):
        return tuple(map(converted, value, kind.items, wanted.items))
    if kind == wanted or not isinstance(wanted, Number):
        return value
    if wanted is REAL:
        return 0  # no source: a derivative does not see how an integer came about
    if kind is REAL or value is None:
        return None
    return int(value) if wanted is WHOLE else bool(value)


def union(values: Sequence[Any], kinds: Sequence[Type]) -> Sources:
    """The sources of a number that is computed from these values."""
    sources = 0
    for value, kind in zip(values, kinds, strict=True):
        if kind is REAL:
            sources |= value
    return sources
