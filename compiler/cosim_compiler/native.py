"""Kernel functions become machine code.

A kernel function is a plain Python function. `compile_function` compiles it, with every plain helper
that it reaches by global name, under a signature of letters:

==== =================== ==== =================
``f`` float64             ``F`` float64[::1]
``i`` int64               ``I`` int64[::1]
``v`` nothing (result)    ``T`` int64[:, ::1]
==== =================== ==== =================

The compiler of the kernel language (`language`, `printers`, `units`) makes machine code, or with
``COSIM_COMPILER=numba`` numba does, of the same functions, which compute the same. With ``COSIM_PLAIN=1``
functions run as they are, with the same results to the last bit when authors follow the rules for kernel
functions.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import logging
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from cosim_compiler import kernel_cache, lowered_code, shipped, shipped_texts, units
from cosim_compiler.callback import callback_of
from cosim_compiler.called import Called
from cosim_compiler.calls import plain_address, plain_functions
from cosim_compiler.code import coder
from cosim_compiler.convention import FOR_C, OF_NUMBA, OWN, spelled
from cosim_compiler.debugging import is_debugging
from cosim_compiler.errors import ContractError
from cosim_compiler.fingerprint import Names, digest_of_compiler, fingerprint, names_in_reach
from cosim_compiler.held_interrupts import interrupts_held
from cosim_compiler.parts import in_process, parts_called
from cosim_compiler.road import NUMBA, OWN_ROADS, PLAIN, C, road
from cosim_compiler.with_numba import fresh, numba_target
from cosim_compiler.with_numba.numba_cache import keep_code, kept_code

log = logging.getLogger("cosim.native")

# By digests: a function whose globals changed is another one.
_compiled: dict[str, Any] = {}
_lifted: dict[str, Any] = {}
_addresses: dict[Any, tuple[Names, Sequence[int]]] = {}
_address_keepers: dict[int, Any] = {}


@functools.cache
def is_plain() -> bool:
    """Whether kernel functions run as plain Python.

    ``NUMBA_DISABLE_JIT=1``, ``COSIM_PLAIN=1``, ``COSIM_COMPILER=plain``, ``COSIM_DEBUG=1``, or no compiler.
    """
    if is_debugging() or road() == PLAIN or any(map(_is_on, ("NUMBA_DISABLE_JIT", "COSIM_PLAIN"))):
        return True
    if road() == C:
        return False
    needed = "numba" if road() == NUMBA else "llvmlite"
    try:
        is_there = importlib.util.find_spec(needed) is not None
    except ImportError:
        is_there = False
    if not is_there:
        log.warning("%s is not installed: the same results, computed much slower", needed)
        return True
    return False


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


def is_own() -> bool:
    """Whether machine code is made by the compiler of the kernel language."""
    return road() in OWN_ROADS and not is_plain()


asked: list[tuple[types.FunctionType, str, str]] | None = None
"""What is asked for, while a release collects it: function, signature, form ("here", "c" or "text")."""


def _ask(function: Any, signature: str, form: str = "here") -> None:
    if asked is not None:
        asked.append((function, signature, form))


def _checked(function: Any) -> types.FunctionType:
    """The function, where it can be compiled."""
    if is_plain():
        raise ContractError("nothing is compiled here: the compiler is missing, or off (COSIM_PLAIN)")
    if not isinstance(function, types.FunctionType):
        raise ContractError(f"{function!r} is no plain function, so it cannot be compiled")
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
    _ask(function, signature)
    if is_plain():
        return function
    if is_own():
        return _called(_checked(function), signature)
    compiled: Callable[..., Any] = _compile(_checked(function), signature, fresh.OPTIONS)
    return compiled


def function_address(function: Callable[..., Any], signature: str) -> int:
    """Where the machine code of a function starts, for `calls.indirect_call` and others."""
    _ask(function, signature)
    if is_plain():
        return plain_address(function)
    if is_own():
        return _own_address(_checked(function), signature)
    return _code_address(_compile(_checked(function), signature, fresh.BLOCK_OPTIONS))


def _own_address(function: types.FunctionType, signature: str, ending: str = "") -> int:
    unit, index = units.unit_of(function, signature)
    return int(coder().machine.address_of(unit.symbol(index) + ending))


def _called(function: types.FunctionType, signature: str) -> Called:
    unit, index = units.unit_of(function, signature)
    symbol = unit.symbol(index)
    if symbol not in _compiled:
        _compiled[symbol] = Called(function, signature, unit, index, coder())
    called: Called = _compiled[symbol]
    return called


def function_addresses(wanted: tuple[tuple[Callable[..., Any], str], ...]) -> Sequence[int]:
    """As `function_address` for each function and signature; names that several reach are looked at once."""
    known = _addresses.get(wanted)
    if known is not None and asked is None and known[0].are_as_before():
        return known[1]
    found = [function_address(*item) for item in wanted]
    names = None if is_plain() else names_in_reach(function for function, _ in wanted)  # type: ignore[misc]
    if names is not None:
        _addresses[wanted] = names, found
    return found


def is_at_hand(function: types.FunctionType, signature: str) -> bool:
    """Whether the address of a function can be had without compiling it."""
    if is_own():
        return units.is_at_hand(function, signature)
    if shipped.address(function, signature):
        return True
    digest = _digest(function, signature, fresh.BLOCK_OPTIONS)
    return digest in _compiled or kernel_cache.has(digest)


def compile_and_keep(function: types.FunctionType, signature: str) -> None:
    """Compile what will be asked for by its address, perhaps by another process."""
    if is_own():
        units.compile_and_keep(function, signature)
        return
    _compile(function, signature, fresh.BLOCK_OPTIONS)


def c_address(function: Callable[..., Any], signature: str) -> int:
    """Where others find a function that they call as C does; all its arguments are numbers.

    Raises
    ------
    ContractError
        Nothing is compiled here.
    """
    _ask(function, signature, "c")
    plain = _checked(function)
    if is_own():
        return _own_address(plain, signature, FOR_C)
    came = shipped.address(plain, signature, shipped.FOR_C)
    if came:
        return came
    dispatcher = _compiled_here(plain, signature, fresh.OPTIONS)
    result = next(iter(dispatcher.overloads.values()))
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


@functools.cache
def part_address(function: types.FunctionType) -> int:
    """Where the machine code of a part starts."""
    by_address, signature = in_process(function)
    _ask(by_address, signature)
    if is_plain():
        return plain_address(function)
    if is_own():
        # an optional part is called directly there, as any other: only that its place is not 0 counts
        return 1 if "__optional__" in function.__dict__ else _own_address(by_address, signature)
    return _code_address(_compile(by_address, signature, fresh.BLOCK_OPTIONS))


@functools.cache
@interrupts_held()
def _code_address(dispatcher: Any) -> int:
    if isinstance(dispatcher, shipped.Shipped):
        return dispatcher.address
    result = next(iter(dispatcher.overloads.values()))
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def lower(function: Callable[..., Any], signature: str, name: str) -> str:
    """The code of a function and of all helpers that it reaches, as LLVM's text, for no machine.

    Parameters
    ----------
    function : function
        As for `compile_function`.
    signature : str
    name : str
        What the function is called in the text: its one symbol that others see. Its calling convention is
        numba's: a place for the result, a place for an exception, the arguments; a status is returned.

    Returns
    -------
    str
        Without a target. The symbols that it leaves open are those of the C library's mathematics.

    Raises
    ------
    ContractError
        It is no plain function; numba is switched off or missing; it needs what only Python has.
    """
    _ask(function, signature, "text")
    plain = _checked(function)
    if is_own():
        text = units.lowered_text(plain, signature, lowered_code.PLACEHOLDER)
        return lowered_code.named(text, name)
    text = shipped_texts.text(plain, signature) or _text_made_here(plain, signature)
    takes_together = "A" in signature and not set(signature) & set("FIT")
    return lowered_code.named(lowered_code.apart(text) if takes_together else text, name)


def _text_made_here(function: types.FunctionType, signature: str) -> str:
    digest = _digest(function, signature, fresh.BLOCK_OPTIONS, "text")
    kept = kernel_cache.kept(digest)
    if kept is not None:
        return kept.decode()
    with interrupts_held():
        text = fresh.text_of(function, signature, fresh.lift_by_name)
        kernel_cache.keep(digest, text.encode())
    return text


def python_address(function: Callable[..., Any], signature: str) -> int:
    """An address that compiled code can call, for a function that is plain Python.

    It is called with NumPy views of the arrays (but for tables: None); an exception is kept in
    `calls.last_errors`. The callback holds the interpreter's lock while it runs.
    """
    if is_plain():
        return plain_address(function)
    callback = callback_of(function, signature, OWN if is_own() else OF_NUMBA)
    address = int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
    _address_keepers[address] = callback
    return address


def release_address(address: int) -> None:
    """Let a plain Python function be collected; nothing may call its address any more."""
    _address_keepers.pop(address, None)
    plain_functions.pop(address, None)


@functools.cache
@interrupts_held()
def versions() -> str:
    """What compiled code depends on besides the functions themselves."""
    return repr((sys.version, *numba_target.versions(), digest_of_compiler()))


def _digest(function: types.FunctionType, signature: str, options: dict[str, Any], *more: str) -> str:
    return fingerprint(function, spelled(signature), versions(), repr(sorted(options.items())), *more)


def _compile(function: types.FunctionType, signature: str, options: dict[str, Any]) -> Any:
    came = shipped.address(function, signature)
    if came:
        return _shipped(function, signature, came)
    return _compiled_here(function, signature, options)


@functools.cache
def _shipped(function: types.FunctionType, signature: str, address: int) -> shipped.Shipped:
    return shipped.Shipped(function, signature, address)


def _compiled_here(function: types.FunctionType, signature: str, options: dict[str, Any]) -> Any:
    digest = _digest(function, signature, options)
    if digest not in _compiled:
        found = _loaded(digest, function, options)
        if found is None:
            with kernel_cache.alone(digest):  # two processes do not compile the same
                found = _loaded(digest, function, options)
                found = found or _fresh_and_kept(digest, function, signature, options)
        _compiled[digest] = found
    return _compiled[digest]


def _loaded(digest: str, function: types.FunctionType, options: dict[str, Any]) -> Any:
    """The function with the code that is kept, or None."""
    for part in parts_called(function):
        _call_of_part(part)
    with interrupts_held():
        result = kept_code(digest)
        return None if result is None else fresh.with_code(function, options, result)


@interrupts_held()
def _fresh_and_kept(
    digest: str, function: types.FunctionType, signature: str, options: dict[str, Any]
) -> Any:
    log.info("compiling: %s", function.__qualname__)
    dispatcher = fresh.compiled_anew(function, signature, options, _lift)
    keep_code(digest, next(iter(dispatcher.overloads.values())))
    log.info("compiled %s", function.__qualname__)
    return dispatcher


def _lift(function: types.FunctionType) -> Any:
    """What compiled code in this process calls in place of a plain function."""
    return fresh.lifted_with(function, _lift, _call_of_part, _lifted)


def _call_of_part(function: types.FunctionType) -> Any:
    """Numba intrinsic: calls a function that is compiled by itself, by its symbol or through a table.

    Large functions that are called from several places would otherwise be compiled again with each of them.
    """
    if "__optional__" in function.__dict__:
        return fresh.call_by_symbol(function)
    return fresh.call_by_address(function, part_address(function))
