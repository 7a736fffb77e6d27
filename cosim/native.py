"""Everything that touches numba, and all of its private parts, stands in this file.

A kernel function is a plain Python function. `compile_function` compiles it, with every plain helper
that it reaches by global name, under a signature of letters:

==== =================== ==== =================
``f`` float64             ``F`` float64[::1]
``i`` int64               ``I`` int64[::1]
``v`` nothing (result)    ``T`` int64[:, ::1]
==== =================== ==== =================

``_nrt=False`` makes the compiler refuse every allocation, so compiled code is free of Python.
With ``NUMBA_DISABLE_JIT=1`` functions run as they are, with the same results to the last bit when
authors follow the rules for kernel functions.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from cosim import kernel_cache, walker
from cosim.fingerprint import environment, fingerprint

OPTIONS = {"_nrt": False, "error_model": "numpy", "nogil": True}
log = logging.getLogger("cosim.native")

_compiled: dict[tuple[int, str], tuple[types.FunctionType, Callable[..., Any]]] = {}
_lifted: dict[int, tuple[types.FunctionType, Any]] = {}
_address_keepers: dict[int, Any] = {}


@functools.cache
def is_plain() -> bool:
    """Whether kernel functions run as plain Python (``NUMBA_DISABLE_JIT=1``, or no numba here)."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return True
    try:
        import numba  # noqa: F401
    except ImportError:
        log.warning("numba is not installed: the same results, computed much slower")
        return True
    return False


def compile_function(function: types.FunctionType, signature: str) -> Callable[..., Any]:
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
    key = (id(function), signature)
    if key not in _compiled:
        _compiled[key] = (function, _compile(function, signature))
    return _compiled[key][1]


def block_address(block: types.FunctionType) -> int:
    """Where the machine code of a block starts; an index into the list of plain blocks without numba."""
    if is_plain():
        return walker.plain_address(block)
    dispatcher: Any = compile_function(block, walker.BLOCK_SIGNATURE)
    result = next(iter(dispatcher.overloads.values()))
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def python_block_address(block: Callable[..., None], failures: list[BaseException]) -> int:
    """An address that compiled code can call, for a block that is plain Python.

    The block is called with NumPy views of the arrays; an exception is kept in `failures` and
    makes the walk stop. The callback holds the interpreter's lock while it runs.
    """
    if is_plain():
        return walker.plain_address(block)
    callback = _callback(block, failures)
    import ctypes

    address = int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
    _address_keepers[address] = callback
    return address


def release_address(address: int) -> None:
    """Let a plain Python block be collected; nothing may call its address any more."""
    _address_keepers.pop(address, None)


def versions() -> str:
    """What compiled code depends on besides the functions themselves."""
    import llvmlite
    import numba

    from cosim.version import __version__

    return f"{numba.__version__} {llvmlite.__version__} {sys.version} {__version__} {sorted(OPTIONS.items())}"


def _numba_type(letter: str) -> Any:
    from numba import types as nb

    return {
        "f": nb.float64,
        "i": nb.int64,
        "v": nb.void,
        "F": nb.Array(nb.float64, 1, "C"),
        "I": nb.Array(nb.int64, 1, "C"),
        "T": nb.Array(nb.int64, 2, "C"),
    }[letter]


def _compile(function: types.FunctionType, signature: str) -> Any:
    import numba

    arguments, result = signature.split(">")
    digest = fingerprint(function, signature, versions())
    dispatcher = numba.njit(**OPTIONS)(_with_lifted_globals(function))
    cache = kernel_cache.for_function(dispatcher.py_func, digest)
    if cache is not None:
        dispatcher._cache = cache
    for warn in _silence_numba():
        with warn:
            dispatcher.compile(_numba_type(result)(*[_numba_type(a) for a in arguments]))
    dispatcher.disable_compile()
    if cache is None or cache.missed:
        log.info("compiled %s", function.__qualname__)
    return dispatcher


def _silence_numba() -> Any:
    import warnings

    from numba.core.errors import NumbaWarning

    manager = warnings.catch_warnings()

    class Quiet:
        def __enter__(self) -> None:
            manager.__enter__()
            warnings.simplefilter("ignore", NumbaWarning)

        def __exit__(self, *details: Any) -> None:
            manager.__exit__(*details)

    return [Quiet()]


def _with_lifted_globals(function: types.FunctionType) -> types.FunctionType:
    """A copy of the function in which every reachable plain function is a compiled one."""
    replaced = dict(function.__globals__)
    for name, value in environment(function).items():
        if isinstance(value, types.FunctionType):
            replaced[name] = _lift(value)
    cells = function.__closure__
    if cells:
        cells = tuple(
            types.CellType(_lift(c.cell_contents) if isinstance(c.cell_contents, types.FunctionType) else c.cell_contents)
            for c in cells
        )
    copy = types.FunctionType(function.__code__, replaced, function.__name__, function.__defaults__, cells)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy


def _lift(function: types.FunctionType) -> Any:
    import numba

    if function is walker.call_block:
        return _indirect_call()
    if id(function) not in _lifted:
        inline = {"inline": "always"} if getattr(function, "__inline__", False) else {}
        _lifted[id(function)] = (function, numba.njit(**OPTIONS, **inline)(_with_lifted_globals(function)))
    return _lifted[id(function)][1]


@functools.cache
def _indirect_call() -> Any:
    """Numba intrinsic: calls the machine code at an address and returns its status."""
    from numba import types as nb
    from numba.extending import intrinsic

    block = [_numba_type(letter) for letter in walker.BLOCK_SIGNATURE.split(">")[0]]

    @intrinsic
    def call_address(typing_context, address, t, y, p, d, k, h, c, ints, first, count):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, values):  # type: ignore[no-untyped-def]
            convention = context.call_conv
            pointer = builder.inttoptr(values[0], convention.get_function_type(nb.void, block).as_pointer())
            status, _ = convention.call_function(builder, pointer, nb.void, block, values[1:])
            return status.code

        return nb.int32(address, *block), generate

    return call_address


def _callback(block: Callable[..., None], failures: list[BaseException]) -> Any:
    """A ctypes callback in numba's calling convention: result, exception, each array as seven words."""
    import ctypes

    import numpy as np

    pointer, word, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    array = [pointer, pointer, word, word, pointer, word, word]
    kinds = walker.BLOCK_SIGNATURE.split(">")[0]
    prototype: list[Any] = [pointer, pointer]
    for letter in kinds:
        prototype += {"f": [real], "i": [word]}.get(letter, array)

    def raw(result: Any, exception: Any, *words: Any) -> int:
        try:
            arguments: list[Any] = []
            at = 0
            for letter in kinds:
                if letter in "fi":
                    arguments.append(words[at])
                    at += 1
                    continue
                element = ctypes.c_double if letter == "F" else ctypes.c_int64
                start = ctypes.cast(words[at + 4], ctypes.POINTER(element))
                size = words[at + 2]
                arguments.append(np.ctypeslib.as_array(start, shape=(size,)) if size else np.empty(0))
                at += 7
            block(*arguments)
        except BaseException as error:
            failures[:] = [error]
            return 1
        return 0

    return ctypes.CFUNCTYPE(ctypes.c_int32, *prototype)(raw)
