"""Expressions of C that are computed in Python's order.

C leaves open which of two operands is computed first. If that makes a difference, operands are computed in
lines of their own, before the expression that reads them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NoReturn

from cosim_compiler.language import typed_form as form
from cosim_compiler.language.typed_form import Expression, Function, is_pure
from cosim_compiler.language.types import Group, Number, Record, Type
from cosim_compiler.printers.c_declarations import Declarations
from cosim_compiler.printers.c_names import CNames, Types

TERM_TEXT = re.compile(r"[\w.]+(\([\w, ]*\))?((->|\.)\w+)*")
"""A name, a number or a call with names as arguments, and members of it."""


class OrderedWriter(ABC):
    """Writes the lines of a function; for each class of expression there is a method that is named after it.

    Attributes
    ----------
    lines : list of str
        The lines so far.
    room : list of str
        Declarations for the beginning of the function.
    declared : dict of str to str
        By name the declarations outside of functions.
    status : str or None
        The variable for the status of calls that may raise, once there is one.
    """

    function: Function
    declares: Declarations

    def __init__(self, types: Types, names: CNames, declared: dict[str, str]) -> None:
        self.types, self.names, self.declared = types, names, declared
        self.local = CNames(types.structures, names.taken)
        self.lines: list[str] = []
        self.room: list[str] = []
        self.status: str | None = None
        self.indent = 1
        self.count = 0

    def line(self, text: str) -> None:
        """Append a line at the present indentation."""
        self.lines.append("    " * self.indent + text)

    def zero(self, kind: Type) -> str:
        """The initializer of a variable: without one, compilers warn."""
        if isinstance(kind, Number):
            return " = 0"
        return " = 0" if isinstance(kind, (Group, Record)) else " = {0}"

    @abstractmethod
    def assign(self, name: str, value: Expression, is_declared: bool) -> None:
        """Write an assignment, which also declares the name or does not."""

    def reads_memory(self, node: Expression) -> bool:
        """Whether the value of an expression depends on memory that later expressions may change."""
        return form.reads_elements(node)

    def is_short(self, node: Expression, text: str) -> bool:
        """Whether the text of an expression may be repeated: it is a name, or only an address."""
        return is_term(text)

    def is_pure(self, node: Expression) -> bool:
        """Whether an expression has no effects: it may be computed twice, or not at all."""
        return is_pure(node)

    def in_order(self, nodes: Sequence[Expression]) -> list[str]:
        """The texts of several expressions; elements are read before the calls in later ones."""
        texts = []
        for i, node in enumerate(nodes):
            text = self.of(node)
            is_fixed = text.isidentifier() or not self.reads_memory(node)
            if not is_fixed and not all(map(self.is_pure, nodes[i + 1 :])):
                text = self.named(node.type, text)
            texts.append(text)
        return texts

    def new(self, word: str) -> str:
        """A new local name: a word with a number, which no variable of the author has."""
        self.count += 1
        return self.local[f"{word}.{self.count}"]

    def named(self, kind: Type, text: str) -> str:
        """Compute a value in a line of its own; the name of the new variable."""
        name = self.new("value")
        self.line(f"{self.types[kind]} {name} = {text};")
        return name

    def with_lines(self, node: Expression) -> tuple[list[str], str]:
        """The lines that have to stand before an expression, and its text."""
        lines_before, self.lines = self.lines, []
        self.indent += 1
        text = self.of(node)
        self.indent -= 1
        before, self.lines = self.lines, lines_before
        return before, text

    def of(self, node: Expression) -> str:
        """The text of an expression."""
        text: str = getattr(self, f"_{type(node).__name__.lower()}", self._unknown)(node)
        return text

    def _unknown(self, node: Expression) -> NoReturn:
        raise TypeError(node)


def bracketed(text: str) -> str:
    """The text of an expression, in brackets unless it is a single term."""
    return text if is_term(text) else f"({text})"


def is_term(text: str) -> bool:
    """Whether a text is a name, a number or a call of names, and what is read of it."""
    return TERM_TEXT.fullmatch(text) is not None
