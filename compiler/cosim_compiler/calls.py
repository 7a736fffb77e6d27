"""Calls by an address or a name: marks that the compiler knows, with functions for plain Python.

In compiled code an address is that of machine code. In plain Python it is the key of a function in
`plain_functions`.

A program that is lowered as a whole knows what is at its addresses: numbers of functions stand in their
place. The functions that call by such a number, and those `called_by_name`, are written by whoever links the
program.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

# attributes of functions, by which the compiler knows them; what each holds
INDIRECT = "__indirect__"  # `indirect_call`: the signature of what it calls
STATUS = "__status_of__"  # `status_call`: the same
BY_NAME = "__by_name__"  # `called_by_name`: the name in lowered code, and the signature
GATHERS = "__gathers__"  # `gathering`: names of its ``*arguments``
GROUP_AT = "__group_at__"  # it finds the arrays of a named tuple by an address: the letter of the tuple
TOGETHER = "__together__"  # `compiled_together`: the functions of its unit, and their signature
RARE = "__rare__"  # `rarely`
APART = "__apart__"  # `never_inlined`
PLACEHOLDER = "cosim_lowered_function"
"""What the functions of a text are called, with their numbers behind, until they get their names."""
plain_functions: dict[int, Callable[..., Any]] = {}
last_errors: list[BaseException] = []


def plain_address(function: Any) -> int:
    """The address of a function when nothing is compiled."""
    plain_functions[id(function)] = function
    return id(function)


def indirect_call(signature: str) -> Callable[[int, Any], Any]:
    """A function *(address, arguments)* that calls what has this signature with a tuple, for its result."""

    def call(address, arguments):
        return plain_functions[address](*arguments)

    call.__doc__ = (
        f"Call the function with the signature {signature!r} at an address with a tuple, for its result."
    )
    call.__dict__[INDIRECT] = signature
    return call


def status_call(signature: str) -> Callable[..., int]:
    """A function of an address and arguments, the first of them a number, that calls what has this signature.

    It answers 0 when that returned, 1 when it raised (kept in `last_errors`).
    """

    def call(address, first, *more):
        try:
            # as numpy's number: in plain Python too, 1 / 0 is infinite
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
    """Mark a function that lowered code calls by a name, and that is not lowered with it."""

    def mark(function: Function) -> Function:
        function.__dict__[BY_NAME] = (name, signature)
        return function

    return mark


def gathering(names: Iterable[str]) -> Callable[[Function], Function]:
    """Mark a function of ``*arguments`` with what these are called, first to last, for readers of C."""

    def mark(function: Function) -> Function:
        function.__dict__[GATHERS] = tuple(names)
        return function

    return mark


def compiled_together(functions: Iterable[Callable[..., Any]], signature: str) -> None:
    """Have functions of one signature compiled as one piece, which others call by symbols."""
    listed = tuple(functions)
    for function in listed:
        function.__dict__[TOGETHER] = listed, signature


def rarely(function: Function) -> Function:
    """Mark a function that seldom runs: its machine code stands once, apart from its callers."""
    function.__dict__[RARE] = True
    return function


def never_inlined(function: Function) -> Function:
    """Mark a large function: its machine code stands once, so that what calls it stays small.

    LLVM's passes take the longer for a line of code, the larger the function in which it is.
    """
    function.__dict__[APART] = True
    return function


def name_of(signature: str) -> str:
    """The name of the function in lowered code that calls a function of this signature by its number."""
    return f"cosim_call_{signature.replace('>', '_')}"


def data_of(group: type, array: str) -> str:
    """Name of the function that finds the numbers of an array of a group."""
    return f"cosim_data_{group.__name__}_{array}"


def length_of(group: type, array: str) -> str:
    """Name of the function that tells how many rows an array of a group has."""
    return f"cosim_length_{group.__name__}_{array}"


def is_call(function: types.FunctionType) -> bool:
    """Whether the compiler puts the call of an address in place of a function."""
    return INDIRECT in function.__dict__ or STATUS in function.__dict__
