"""Where adjoints lie in the text of a reverse function, and how they go from results to operands.

The adjoint of a local real is a local name of the reverse function. The adjoint of an element of a view is an
element of another array, the *root* of the view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from cosim_compiler.derivatives.tangent_values import Varying


class AdjointNames(NamedTuple):
    """The two functions in the text that are the adjoint of a function, and facts about its result.

    Attributes
    ----------
    record, reverse : str
        Their names in the text. There is no reverse function if nothing is recorded.
    result : Varying
        What varies of the result.
    result_roots : dict of str to str
        For each view in the result, by its place: the root that has its adjoints.
    is_silent : bool
        Whether nothing is recorded.
    """

    record: str
    reverse: str
    result: Varying
    result_roots: dict[str, str]
    is_silent: bool


@dataclass(frozen=True)
class NameLeaf:
    """The adjoint of a local real: the name that it has in the reverse function."""

    name: str


@dataclass(frozen=True)
class Place:
    """The place in its root at which a view, a record or an element begins.

    Attributes
    ----------
    root : str
        The name of the root in the reverse function.
    base : str
        A name whose value is a place in the root; empty for its beginning.
    shift : int
        How many numbers behind `base` the place is.
    """

    root: str
    base: str = ""
    shift: int = 0

    def plus(self, shift: int) -> Place:
        """The place that lies so many numbers behind this one."""
        return Place(self.root, self.base, self.shift + shift)

    @property
    def text(self) -> str:
        """The index of the place, as text."""
        if not self.base:
            return str(self.shift)
        return f"{self.base} + {self.shift}" if self.shift else self.base


@dataclass(frozen=True)
class Spread:
    """An operation, by which the adjoint of its result goes on to its operands.

    Attributes
    ----------
    children : tuple of (Slope, callable)
        For each operand that varies: where its adjoint lies or goes on to, and a function that makes the text
        of what is added there from the text of the result's adjoint.
    is_singular : bool
        Whether a slope may be infinite.
    """

    children: tuple[tuple[Slope, Callable[[str], str]], ...]
    is_singular: bool = False


Slope = NameLeaf | Place | Spread
"""Where the adjoint of a value lies, or where it goes on to."""


class Rate(str):
    """The text of a tangent, with the `Slope` of the same value."""

    slope: Slope

    def __new__(cls, text: str, slope: Slope) -> Rate:
        rate = super().__new__(cls, text)
        rate.slope = slope
        return rate


def slope_of(tangents: Any) -> Any:
    """The `Slope` of a real or a view, from its tangents."""
    return tangents[0].slope


class Segment:
    """A run of statements without a branch between them, while it is written; see `segments`.

    Attributes
    ----------
    line, indent : int
        The line that is kept free for the check of the room on the tape, and its indentation.
    pushed : dict of str to int
        The texts of the numbers that were put on the tape, and the place of each from the segment's start.
    count : int
        How many numbers the segment has put on the tape.
    steps : list of list of str
        For each statement the lines of the reverse function that undo it.
    read : dict of str to str
        Names in these lines, and the texts that read their values from the tape.
    called : list of str
        The lines of the reverse function for the call that ended the segment before.
    """

    def __init__(self, line: int, indent: int) -> None:
        self.line, self.indent = line, indent
        self.called: list[str] = []
        self.pushed: dict[str, int] = {}
        self.count = 0
        self.steps: list[list[str]] = []
        self.read: dict[str, str] = {}

    def push(self, text: str) -> int:
        """The place of a number on the tape, from the start of the segment."""
        if text not in self.pushed:
            self.pushed[text] = self.count
            self.count += 1
        return self.pushed[text]

    def forget(self, name: str) -> None:
        """Forget that the value of a name is on the tape, since the name gets another value."""
        self.pushed.pop(name, None)

    def reverse_lines(self) -> list[str]:
        """The lines that undo the segment; in them, `_top` is where it begins on the tape."""
        lines = [f"_top -= {self.count}"] if self.count else []
        lines += [f"{name} = {text}" for name, text in self.read.items()]
        for step in reversed(self.steps):
            lines += step
        return lines + self.called
