"""The interface of the reader of a function, as the readers of calls and of built-in functions use it."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from typing import NoReturn, Protocol

from cosim_compiler.language.typed_form import Expression, Function
from cosim_compiler.language.types import Type


class Functions(Protocol):
    """The functions of a program; see `program.Program`."""

    def linked(self, function: types.FunctionType, /) -> tuple[str, str] | None:
        """Symbol and signature of a function that is compiled elsewhere."""

    def function(self, function: types.FunctionType, types_: tuple[Type, ...]) -> Function:
        """The typed form of a function for arguments of these types."""

    def failure(self, kind: type[BaseException], arguments: tuple[object, ...]) -> int:
        """The status of an exception with these arguments."""


class Reading(Protocol):
    """One function while it is read; see `function_reader.Reader`."""

    program: Functions
    function: Function

    def refuse(self, node: ast.AST | None, sentence: str) -> NoReturn:
        """Refuse an expression; the sentence says what is wrong, and what to write."""

    def expression(self, node: ast.expr) -> Expression:
        """The typed form of an expression."""

    def typed(self, expression: Expression, node: ast.AST) -> Expression:
        """An expression with a type: a value of Python becomes a constant."""

    def as_condition(self, value: Expression, node: ast.AST) -> Expression:
        """A number as a truth value."""

    def binary(self, sign: str, left: Expression, right: Expression, node: ast.AST) -> Expression:
        """An operator of two values."""

    def new_name(self, type_: Type) -> str:
        """The name of a new variable, which no name of the author's stands for."""

    def is_in_loop(self, node: ast.AST) -> bool:
        """Whether an expression is computed in each turn of a loop."""

    def evaluate_once(self, value: Expression, build: Callable[[Expression], Expression]) -> Expression:
        """Build an expression from a value that may be read several times."""

    def with_items(
        self, nodes: Sequence[ast.expr], build: Callable[[list[Expression]], Expression]
    ) -> Expression:
        """Build an expression from several others."""


Read = Callable[[Reading, list[Expression], ast.Call], Expression]
"""Reads a call of a built-in function."""
