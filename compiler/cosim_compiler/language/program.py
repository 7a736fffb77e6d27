"""A program: kernel functions in typed form, each with all that it calls."""

from __future__ import annotations

import types
from collections.abc import Callable

from cosim_compiler.errors import NUMBERED, NumberedError
from cosim_compiler.language.constants import NoLanesError
from cosim_compiler.language.control_flow import ends
from cosim_compiler.language.function_reader import Reader
from cosim_compiler.language.refusal import refuse
from cosim_compiler.language.typed_form import Function, in_ascii
from cosim_compiler.language.types import (
    NOTHING,
    TRUTH,
    WHOLE,
    Number,
    Type,
    classes_in,
    in_words,
    types_of,
)

Linked = Callable[[types.FunctionType], tuple[str, str] | None]
"""Returns symbol and signature of a function that is compiled elsewhere; None if the program contains it."""
Key = tuple[types.FunctionType, tuple[Type, ...], tuple[type | None, ...]]
"""A function, and the types of its arguments, with the classes that equal types differ in."""
MOST_PASSES = 6
"""Readings of a function until its types agree: they only grow, from truth values over integers to reals."""


def _nothing_is_linked(_: types.FunctionType) -> None:
    return None


class Program:
    """Typed functions, with all that they call.

    Parameters
    ----------
    linked : callable, optional
        Says which functions are compiled elsewhere, and called by a symbol.

    Attributes
    ----------
    functions : list of Function
        In an order in which each stands behind those that it calls.
    failures : list of (type, tuple)
        The exceptions that the functions raise: class and arguments. The status of a function that raises is
        the place of the exception in this list, from 1 on.
    """

    def __init__(self, linked: Linked = _nothing_is_linked) -> None:
        self.linked = linked
        self.functions: list[Function] = []
        self.failures: list[tuple[type[BaseException], tuple[object, ...]]] = []
        self._by_key: dict[Key, Function | None] = {}
        self._symbols: dict[str, int] = {}

    def function(self, function: types.FunctionType, types_: tuple[Type, ...]) -> Function:
        """The typed form of a function for arguments of these types.

        Raises
        ------
        ContractError
            It is not of the language.
        """
        key = function, types_, classes_in(types_)
        if key not in self._by_key:
            self._by_key[key] = None  # while it is read
            try:
                typed = self._read(function, types_)
            except NoLanesError:  # a later request for it has to be refused, too
                del self._by_key[key]
                raise
            self._by_key[key] = typed
            self.functions.append(typed)
        known = self._by_key[key]
        if known is None:
            refuse(function, None, f"{function.__name__}() calls itself: write a loop")
        return known

    def root(self, function: types.FunctionType, signature: str) -> Function:
        """The typed form of a function that is called from outside, under a signature of letters."""
        argument_types, result = types_of(signature)
        typed = self.function(function, argument_types)
        always_raises = typed.raises and typed.result is NOTHING and ends(typed.body)
        if not always_raises and not _fits(typed.result, result):
            refuse(
                function, None, f"it returns {in_words(typed.result)}, and {in_words(result)} is asked of it"
            )
        return typed

    def failure(self, kind: type[BaseException], arguments: tuple[object, ...]) -> int:
        """The status of an exception with these arguments; a new one is added to `failures`."""
        if issubclass(kind, NumberedError):
            return NUMBERED + kind.number
        if (kind, arguments) not in self.failures:
            self.failures.append((kind, arguments))
        return self.failures.index((kind, arguments)) + 1

    def _read(self, function: types.FunctionType, types_: tuple[Type, ...]) -> Function:
        """The typed form of a function; it is read again until the types of its names agree."""
        symbol = self._new_symbol(function.__name__)
        variables: dict[str, Type] = {}
        result: Type | None = None
        for _ in range(MOST_PASSES):
            reader = Reader(self, Function(function, symbol, []), types_, variables, result)
            reader.read()
            if not reader.widened:
                return reader.function
            variables, result = reader.variables, reader.result
        refuse(function, None, "the types of its names do not settle")

    def _new_symbol(self, name: str) -> str:
        """A symbol for a function of this name: the second one of a name has a number behind it."""
        count = self._symbols.get(name, 0)
        self._symbols[name] = count + 1
        symbol = f"k.{in_ascii(name)}"
        return f"{symbol}.{count}" if count else symbol


def _fits(result: Type, wanted: Type) -> bool:
    """Whether a result can be returned as the type that a signature asks for."""
    if wanted is NOTHING:
        return True
    return result == wanted or (
        isinstance(result, Number)
        and isinstance(wanted, Number)
        and NOTHING is not result
        and (wanted.rank >= result.rank or (result is TRUTH and wanted is WHOLE))
    )
