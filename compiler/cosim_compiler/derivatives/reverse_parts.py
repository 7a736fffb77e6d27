"""Adjoints of values in the text of a reverse function: their places, and how they are passed on.

An adjoint is a number for each real: by how much the result of everything changes with it. One of a local
name is a local name of the reverse function, one of an element of a view an element of another view, the
*root*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class NameLeaf:
    """The adjoint of a local real: the name that it has in the reverse function."""

    name: str


@dataclass(frozen=True)
class Place:
    """The place of a view, a record or an element in its root: `shift` numbers behind `base`, a name."""

    root: str
    base: str = ""
    shift: int = 0

    def plus(self, shift: int) -> Place:
        """A place further behind."""
        return Place(self.root, self.base, self.shift + shift)

    @property
    def text(self) -> str:
        """The number of the place, as text."""
        if not self.base:
            return str(self.shift)
        return f"{self.base} + {self.shift}" if self.shift else self.base


@dataclass(frozen=True)
class Spread:
    """An operation: of the adjoint of its result, a text, those of what varies among its operands.

    Attributes
    ----------
    children : tuple of (Slope, callable)
        How each operand goes on, and what makes the text of its adjoint.
    is_singular : bool
        Whether a slope may be infinite.
    """

    children: tuple[tuple[Slope, Callable[[str], str]], ...]
    is_singular: bool = False


Slope = NameLeaf | Place | Spread


class Rate(str):
    """The text of a tangent, and where the adjoint of the same value is."""

    slope: Slope

    def __new__(cls, text: str, slope: Slope) -> Rate:
        rate = super().__new__(cls, text)
        rate.slope = slope
        return rate


def slope_of(tangents: Any) -> Any:
    """The name of the adjoint of a real, or of the elements of a view."""
    return tangents[0].slope


class Segment:
    """Statements without a branch between them, while they are written: what they put on the tape.

    Attributes
    ----------
    pushed : dict of str to int
        The texts on the tape, and the place of each.
    steps : list of list of str
        Lines of the reverse function for each statement.
    read : dict of str to str
        Names in these lines, and what they are on the tape.
    called : list of str
        Lines for the call that stands before these statements.
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
        """A name gets another value: what was pushed of it is not that."""
        self.pushed.pop(name, None)

    def reverse_lines(self) -> list[str]:
        """The lines of the reverse function; `_top` is then where the segment begins."""
        lines = [f"_top -= {self.count}"] if self.count else []
        lines += [f"{name} = {text}" for name, text in self.read.items()]
        for step in reversed(self.steps):
            lines += step
        return lines + self.called
