"""Kernel functions become machine code.

A kernel function is a plain Python function. `compile_function` compiles it, with every plain helper
that it reaches by global name, under a signature of letters:

==== =================== ==== =================
``f`` float64             ``F`` float64[::1]
``i`` int64               ``I`` int64[::1]
``v`` nothing (result)    ``T`` int64[:, ::1]
==== =================== ==== =================

Compiled code is free of Python. With ``COSIM_PLAIN=1`` functions run as they are, with the same results to
the last bit.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import logging
import os
import re
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cosim_compiler import unit_digests, units
from cosim_compiler.callback import callback_of
from cosim_compiler.called import Called
from cosim_compiler.calls import PLACEHOLDER, plain_address, plain_functions
from cosim_compiler.code import coder
from cosim_compiler.convention import FOR_C
from cosim_compiler.debugging import is_debugging
from cosim_compiler.errors import ContractError
from cosim_compiler.names_in_reach import ReachedNames
from cosim_compiler.road import LLVM, PLAIN, C, road

if TYPE_CHECKING:
    from cosim_compiler.language.known_arrays import KnownArray
    from cosim_compiler.printers.c_lowered import LoweredC

log = logging.getLogger("cosim.native")

NUMBERED = re.compile(rf"@{PLACEHOLDER}_(\d+)\b")
"""The name of a function by its number in a text."""


class _StoredAddresses(NamedTuple):
    """Addresses of functions, which hold while the names in reach stand for the same things."""

    names: ReachedNames
    addresses: Sequence[int]


_called: dict[str, Called] = {}
"""By symbols, which change with the globals of a function."""
_addresses: dict[Any, _StoredAddresses] = {}
_callbacks: dict[int, Any] = {}
"""Callbacks by their addresses, held so that they can be called."""


def has_lanes() -> bool:
    """Whether what is compiled may compute in lanes: only LLVM's text has them."""
    return not is_plain() and road() == LLVM


@functools.cache
def is_plain() -> bool:
    """Whether kernel functions run as plain Python.

    ``COSIM_PLAIN=1``, ``COSIM_COMPILER=plain``, ``COSIM_DEBUG=1``, or no LLVM.
    """
    if is_debugging() or road() == PLAIN or os.environ.get("COSIM_PLAIN", "0") not in ("", "0"):
        return True
    if road() == C:
        return False
    try:
        is_there = importlib.util.find_spec("llvmlite") is not None
    except ImportError:
        is_there = False
    if not is_there:
        log.warning("llvmlite is not installed: the same results, computed much slower")
    return not is_there


def _checked(function: Any) -> types.FunctionType:
    """The function, where it can be compiled."""
    if is_plain():
        raise ContractError("nothing is compiled here: llvmlite is missing, or COSIM_PLAIN is set")
    if not isinstance(function, types.FunctionType):
        raise ContractError(f"{function!r} is not a plain function, so it cannot be compiled")
    return function


def compile_function(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """The compiled form of a plain function, or the function itself where nothing is compiled.

    Parameters
    ----------
    function : function
        Obeys the rules for kernel functions; helpers are reached by global name.
    signature : str
        A letter for each argument, ``>``, the letter of the result.

    Returns
    -------
    callable
        Compiled once for each machine (the code is kept in the user's cache folder).
    """
    if is_plain():
        return function
    plain = _checked(function)
    unit, index = units.unit_of(plain, signature)
    symbol = unit.symbol(index)
    if symbol not in _called:
        _called[symbol] = Called(plain, signature, unit, index, coder())
    return _called[symbol]


def function_address(function: Callable[..., Any], signature: str) -> int:
    """The address of the machine code of a function, for `calls.indirect_call` and others."""
    return plain_address(function) if is_plain() else _code_address(_checked(function), signature)


def c_address(function: Callable[..., Any], signature: str) -> int:
    """The address of a function for callers in C; all its arguments are numbers.

    Raises
    ------
    ContractError
        Nothing is compiled here.
    """
    return _code_address(_checked(function), signature, FOR_C)


def _code_address(function: types.FunctionType, signature: str, ending: str = "") -> int:
    unit, index = units.unit_of(function, signature)
    return int(coder().machine.address_of(unit.symbol(index) + ending))


def function_addresses(wanted: tuple[tuple[Callable[..., Any], str], ...]) -> Sequence[int]:
    """The addresses of several functions; names that several of them reach are read once."""
    stored = _addresses.get(wanted)
    if stored is not None and stored.names.are_as_before():
        return stored.addresses
    addresses = [function_address(*item) for item in wanted]
    names = None if is_plain() else unit_digests.names_in_reach(wanted)  # type: ignore[arg-type]
    if names is not None:
        _addresses[wanted] = _StoredAddresses(names, addresses)
    return addresses


def lower(functions: Mapping[str, tuple[Callable[..., Any], str]]) -> str:
    """The code of functions and of all helpers that they reach, as LLVM's text for any machine.

    Parameters
    ----------
    functions : mapping of str to (function, str)
        As for `compile_function`, by the names by which others call them. `printers.llvm_lowered` says which
        functions the text calls and leaves for others to define.

    Returns
    -------
    str
        It names no target.

    Raises
    ------
    ContractError
        One is not a plain function; nothing is compiled here; one needs what only Python has.
    """
    text = units.lowered_text([(_checked(function), letters) for function, letters in functions.values()])
    names = list(functions)
    return NUMBERED.sub(lambda match: f"@{names[int(match[1])]}", text)


def lower_to_c(
    functions: Mapping[str, tuple[Callable[..., Any], str]],
    group: str,
    arrays: Mapping[str, KnownArray],
    numbers: Mapping[str, int],
    rows: Mapping[str, tuple[str, Mapping[str, Any]]],
    sizes: Mapping[str, int],
    keeps_all: bool,
) -> LoweredC:
    """Functions as C99, for readers and for other compilers.

    Parameters
    ----------
    functions : mapping of str to (function, str)
        As for `lower`.
    group : str
        Name of the named tuple that holds the arrays of a run.
    arrays : mapping of str to KnownArray
        What is known of each of them.
    numbers : mapping of str to int
        Functions by the numbers by which others call them.
    rows, sizes, keeps_all
        Functions for arguments that are known; see `printers.c_lowered`.

    Raises
    ------
    ContractError
        As `lower`.
    """
    from cosim_compiler.printers import c_lowered

    wanted = {name: (_checked(function), letters) for name, (function, letters) in functions.items()}
    return c_lowered.lowered(wanted, group, arrays, numbers, _place_of, rows, sizes, keeps_all)


def _place_of(function: types.FunctionType) -> str:
    """File and line of a function, for readers: the file without folders that only this machine has."""
    code = function.__code__
    if not code.co_filename.endswith(".py"):
        # `run_source` numbers its texts, and the number depends on what else this process has run
        return re.sub(r" \d+$", "", code.co_filename.strip("<>"))
    inside = (function.__module__ or "").split(".")[:-1]
    return f"{'/'.join([*inside, Path(code.co_filename).name])}:{code.co_firstlineno}"


def python_address(function: Callable[..., Any], signature: str) -> int:
    """An address that compiled code can call, for a function that is plain Python.

    It is called with NumPy views of the arrays and with None for each table; an exception is stored in
    `calls.last_errors`. The callback holds the interpreter's lock while it runs.
    """
    if is_plain():
        return plain_address(function)
    return callback_address(callback_of(function, signature))


def callback_address(callback: Any) -> int:
    """The address of a ctypes callback, which is held until `release_address`."""
    address = int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
    _callbacks[address] = callback
    return address


def release_address(address: int) -> None:
    """Hold the function at an address no longer; nothing may call the address any more."""
    _callbacks.pop(address, None)
    plain_functions.pop(address, None)
