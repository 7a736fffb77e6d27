"""The text of a tangent while it is written: its lines, its names and their tangents, and notes."""

from __future__ import annotations

import builtins
import keyword
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cosim_compiler.derivatives.notes import Note
from cosim_compiler.derivatives.pure_text import PureText
from cosim_compiler.derivatives.tangent_values import (
    Dual,
    Tangents,
    Varying,
    joined,
    leaf_kinds,
    leaves,
    tangent_leaves,
)
from cosim_compiler.errors import NoTangentError
from cosim_compiler.language.typed_form import Expression, Function
from cosim_compiler.language.types import REAL, Type

RESERVED = frozenset(dir(builtins)) | {
    *("math", "rows_of", "as_table", "zeros", "zeros_in_lanes", "in_lanes", "agreed"),
}


class TangentText(ABC):
    """The text of one tangent, to which subclasses add expressions and statements.

    A local name ``x`` of the function is called ``x`` in the text, too. The tangent of its leaf 0 along
    direction 0 is ``_x_0_d0``.

    Attributes
    ----------
    varying : dict of str to Varying
        What varies of each local name; it grows until it holds on all paths through the function.
    notes : list of Note
    """

    def __init__(self, writer: Any, function: Function, varying: dict[str, Varying]) -> None:
        self.writer, self.function = writer, function
        self.varying = dict(varying)
        self.notes: list[Note] = []
        self._lines: list[str] = []
        self._indent = 1
        self._count = 0
        self._choices = 0
        self._identifiers: dict[str, str] = {}
        self._taken: set[str] = set(RESERVED)
        self._line = 0
        self.pure = PureText(self.writer.names, self.identifier, self.refuse)

    def identifier(self, name: str) -> str:
        """The name in the text that stands for a local name of the typed form alone."""
        if name not in self._identifiers:
            text = as_identifier(name)
            while text in self._taken or keyword.iskeyword(text):
                text += "_"
            self._taken.add(text)
            self._identifiers[name] = text
        return self._identifiers[name]

    def new(self) -> str:
        """A new name."""
        self._count += 1
        return f"_v{self._count}"

    def emit(self, text: str) -> None:
        """Add a line."""
        self._lines.append("    " * self._indent + text)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Indent the lines emitted inside the context: they are a block of the statement before it."""
        self._indent += 1
        yield
        self._indent -= 1

    def refuse(self, reason: str) -> NoTangentError:
        """The error of a function without a tangent, with file and line."""
        line = self._line or self.function.author.__code__.co_firstlineno
        return NoTangentError(f"{self.function.file}:{line}: {self.function.author.__qualname__}: {reason}")

    def note(self, text: str) -> None:
        """Add a note on the line that is written."""
        line = self._line or self.function.author.__code__.co_firstlineno
        self.notes.append(Note(self.function.file, line, self.function.author.__name__, text))

    def leaf_names(self, name: str, varying: Varying) -> list[list[str]]:
        """The names of the tangents of a local name: for each leaf that varies, one for each direction."""
        stem = self.identifier(name)
        n = self.writer.directions
        return [[f"_{stem}_{place}_d{k}" for k in range(n)] for place, is_on in leaves(varying) if is_on]

    def grow(self, name: str, varying: Varying, kind: Type) -> Varying:
        """Add to what varies of a local name; all that varies of it."""
        known = self.varying.get(name)
        self.varying[name] = varying if known is None else joined(known, varying)
        return self.varying[name]

    def set_tangents(self, name: str, varying: Varying, tangents: Tangents, kind: Type) -> None:
        """Assign the tangents of a local name; zeros to those of leaves that do not vary here."""
        targets = [target for names in self.leaf_names(name, varying) for target in names]
        values = [value for leaf in self.filled(varying, tangents, kind) for value in leaf]
        if len(targets) == 1:
            self.emit(f"{targets[0]} = {values[0]}")
        elif targets:
            self.emit(f"{', '.join(targets)} = {', '.join(values)}")

    def filled(self, varying: Varying, tangents: Tangents, kind: Type) -> list[list[str]]:
        """The tangents of each leaf that varies; zeros for a leaf that does not vary in this value."""
        dots_at = dict(tangent_leaves(tangents))
        kinds = dict(leaf_kinds(kind))
        filled = []
        for place, is_on in leaves(varying):
            if is_on:
                dots = dots_at.get(place)
                if dots is None and kinds.get(place, REAL) is not REAL:
                    raise self.refuse(
                        "a name is a view that varies in one branch and one that does not in another"
                    )
                filled.append(["0.0"] * self.writer.directions if dots is None else dots)
        return filled

    def held(self, text: str) -> str:
        """A name for a value, so that it is computed once; a value that is a name or a number stays."""
        if text.isidentifier() or is_number(text):
            return text
        name = self.new()
        self.emit(f"{name} = {text}")
        return name

    def held_tangents(self, tangents: Tangents) -> Tangents:
        """The tangents of a value, each under a name as of `held`."""
        if isinstance(tangents, tuple):
            return tuple(map(self.held_tangents, tangents))
        return None if tangents is None else [self.held(text) for text in tangents]

    @abstractmethod
    def duals(self, nodes: Sequence[Expression]) -> list[Dual]:
        """Several expressions, computed one after the other."""


def as_identifier(name: str) -> str:
    """A name in which each letter that Python does not take is replaced."""
    text = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
    return f"n{text}" if not text or text[0].isdigit() or text.startswith("_") else text


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
