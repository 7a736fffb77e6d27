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
"""Which functions are called by a symbol: symbol and signature, or None where one belongs to the program."""
Key = tuple[types.FunctionType, tuple[Type, ...], tuple[type | None, ...]]
MOST_PASSES = 6
"""Types grow from true or false over whole to real: they agree before that."""


def _nothing_is_linked(_: types.FunctionType) -> None:
    return None


class Program:
    """Typed functions, in an order in which each stands behind those that it calls.

    Parameters
    ----------
    linked : callable, optional
        Which functions are compiled elsewhere, and called by a symbol.

    Attributes
    ----------
    functions : list of Function
    failures : list of (type, tuple)
        What is raised: the class of the exception and its arguments. A function that raises answers the place
        in this list, from 1 on.
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
            self._by_key[key] = None
            try:
                typed_form = self._read(function, types_)
            except NoLanesError:  # it may be asked for again, and is then refused again
                del self._by_key[key]
                raise
            self._by_key[key] = typed_form
            self.functions.append(typed_form)
        typed_before = self._by_key[key]
        if typed_before is None:
            refuse(function, None, f"{function.__name__}() calls itself: write a loop")
        return typed_before

    def root(self, function: types.FunctionType, signature: str) -> Function:
        """The typed form of a function that is called from outside, under a signature of letters."""
        argument_types, result = types_of(signature)
        typed_form = self.function(function, argument_types)
        always_raises = typed_form.raises and typed_form.result is NOTHING and ends(typed_form.body)
        if not always_raises and not _fits(typed_form.result, result):
            refuse(
                function,
                None,
                f"it returns {in_words(typed_form.result)}, and {in_words(result)} is asked of it",
            )
        return typed_form

    def failure(self, kind: type[BaseException], arguments: tuple[object, ...]) -> int:
        """The status of a failure."""
        if issubclass(kind, NumberedError):
            return NUMBERED + kind.number
        if (kind, arguments) not in self.failures:
            self.failures.append((kind, arguments))
        return self.failures.index((kind, arguments)) + 1

    def _read(self, function: types.FunctionType, types_: tuple[Type, ...]) -> Function:
        count = self._symbols.get(function.__name__, 0)
        self._symbols[function.__name__] = count + 1
        name = f"k.{in_ascii(function.__name__)}"
        symbol = f"{name}.{count}" if count else name
        variables: dict[str, Type] = {}
        result: Type | None = None
        for _ in range(MOST_PASSES):
            reader = Reader(self, Function(function, symbol, []), types_, variables, result)
            reader.read()
            if not reader.widened:
                return reader.function
            variables, result = reader.variables, reader.result
        refuse(function, None, "the types of its names do not settle")


def _fits(result: Type, wanted: Type) -> bool:
    """Whether a result can be handed over as what a signature asks for."""
    if wanted is NOTHING:
        return True
    return result == wanted or (
        isinstance(result, Number)
        and isinstance(wanted, Number)
        and NOTHING is not result
        and (wanted.rank >= result.rank or (result is TRUTH and wanted is WHOLE))
    )
