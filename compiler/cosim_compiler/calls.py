"""Calls by an address or a name: marks that the compiler knows, with functions for plain Python.

In compiled code an address is that of machine code. In plain Python it is the key of a function in
`plain_functions`.

In a program that is lowered as a whole, numbers of functions stand in place of addresses. Whoever links such
a program writes the functions that call by a number (`name_of`) and those that are `called_by_name`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

# names of attributes by which the compiler knows functions, with who sets each and what it holds
INDIRECT = "__indirect__"  # `indirect_call`: the signature of what it calls
STATUS = "__status_of__"  # `status_call`: the signature of what it calls
BY_NAME = "__by_name__"  # `called_by_name`: the name in lowered code, and the signature
GATHERS = "__gathers__"  # `gathering`: names of its ``*arguments``
GROUP_AT = "__group_at__"  # `array_groups.address_reader`: the letter of the named tuple
TOGETHER = "__together__"  # `compiled_together`: the functions of its unit, and their signature
RARE = "__rare__"  # `rarely`: True
APART = "__apart__"  # `never_inlined`: True
PLACEHOLDER = "cosim_lowered_function"
"""With a number behind, the name of a function in a text of lowered functions until it gets its own."""
plain_functions: dict[int, Callable[..., Any]] = {}
"""Functions by their addresses in plain Python."""
last_errors: list[BaseException] = []
"""The last exception of plain Python that compiled code has called."""


def plain_address(function: Any) -> int:
    """The address of a function when nothing is compiled."""
    plain_functions[id(function)] = function
    return id(function)


def indirect_call(signature: str) -> Callable[[int, Any], Any]:
    """A function *(address, arguments)*, which calls a function of this signature with a tuple."""

    def call(address, arguments):
        return plain_functions[address](*arguments)

    call.__doc__ = (
        f"Call the function with the signature {signature!r} at an address with a tuple, for its result."
    )
    call.__dict__[INDIRECT] = signature
    return call


def status_call(signature: str) -> Callable[..., int]:
    """A function of an address, a number and more arguments, which calls a function of this signature.

    It returns 0 when that function returned, and 1 when it raised (the exception is in `last_errors`).
    """

    def call(address, first, *more):
        try:
            # a number of NumPy, so that 1 / 0 is infinite as in compiled code
            plain_functions[address](np.float64(first), *more)
        except Exception as error:
            last_errors[:] = [error]
            return 1
        return 0

    call.__doc__ = (
        f"Call the function with the signature {signature!r} at an address: 0, or 1 where it raised."
    )
    call.__dict__[STATUS] = signature
    return call


def called_by_name(name: str, signature: str) -> Callable[[Function], Function]:
    """Mark a function that lowered code calls by a name, and whose own code is not lowered."""

    def mark(function: Function) -> Function:
        function.__dict__[BY_NAME] = (name, signature)
        return function

    return mark


def gathering(names: Iterable[str]) -> Callable[[Function], Function]:
    """Mark a function of ``*arguments`` with their names in the order of the arguments, for readers of C."""

    def mark(function: Function) -> Function:
        function.__dict__[GATHERS] = tuple(names)
        return function

    return mark


def compiled_together(functions: Iterable[Callable[..., Any]], signature: str) -> None:
    """Have functions of one signature compiled as one unit, which others call by symbols."""
    unit = tuple(functions)
    for function in unit:
        function.__dict__[TOGETHER] = unit, signature


def rarely(function: Function) -> Function:
    """Mark a function that seldom runs: its machine code stands once, apart from its callers."""
    function.__dict__[RARE] = True
    return function


def never_inlined(function: Function) -> Function:
    """Mark a large function: its machine code stands once, so that what calls it stays small.

    LLVM's passes take longer for each line of code in a larger function.
    """
    function.__dict__[APART] = True
    return function


def name_of(signature: str) -> str:
    """The name, in lowered code, of the function that calls a function of this signature by its number."""
    return f"cosim_call_{signature.replace('>', '_')}"


def data_of(group: type, array: str) -> str:
    """Name of the function that finds the numbers of an array of a group."""
    return f"cosim_data_{group.__name__}_{array}"


def length_of(group: type, array: str) -> str:
    """Name of the function that tells how many rows an array of a group has."""
    return f"cosim_length_{group.__name__}_{array}"


def is_call(function: types.FunctionType) -> bool:
    """Whether the compiler replaces a function by the call of an address."""
    return INDIRECT in function.__dict__ or STATUS in function.__dict__
