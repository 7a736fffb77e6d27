"""Kernel functions become machine code.

What touches numba's private parts stands here, in `intrinsics` and in `numba_cache`.

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

import contextlib
import ctypes
import functools
import gc
import hashlib
import logging
import os
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cosim.compiled import foreign, intrinsics, kernel_cache, lowered_calls, lowered_code, walker
from cosim.compiled.callback import callback_of
from cosim.compiled.fingerprint import REPLACED, environment, fingerprint
from cosim.compiled.numba_cache import keep_code, kept_code
from cosim.errors import ContractError

OPTIONS = {"_nrt": False, "error_model": "numpy", "nogil": True}
# A block is only ever called by its address; the wrappers for Python would be a quarter of the compile time.
BLOCK_OPTIONS = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# A call would pass each view as seven words and each tuple through memory: helpers are always inlined by the
# code generator, which takes no longer to compile.
HELPER_OPTIONS = {**BLOCK_OPTIONS, "forceinline": True}
INLINED_EARLY = {**BLOCK_OPTIONS, "inline": "always"}
log = logging.getLogger("cosim.native")

# By digests: a function whose globals changed is another one.
_compiled: dict[str, Any] = {}
_lifted: dict[str, Any] = {}
_lifted_by_name: dict[str, Any] = {}
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
    if not isinstance(function, types.FunctionType):
        raise ContractError(f"{function!r} is no plain function, so it cannot be compiled")
    compiled: Callable[..., Any] = _compile(function, signature, OPTIONS)
    return compiled


def block_address(block: Callable[..., None]) -> int:
    """Where the machine code of a block starts; its key among the plain blocks without numba."""
    if is_plain():
        return walker.plain_address(block)
    if not isinstance(block, types.FunctionType):
        raise ContractError(f"{block!r} is no plain function, so it cannot be compiled")
    return _code_address(_compile(block, walker.BLOCK_SIGNATURE, BLOCK_OPTIONS))


def function_address(function: Callable[..., Any], signature: str) -> int:
    """Where the machine code of any function starts, for `walker.call_step` and `walker.call_dense`."""
    if is_plain():
        return walker.plain_address(function)
    return _code_address(compile_function(function, signature))


def c_address(function: Callable[..., Any], signature: str) -> int:
    """Where others find a function that they call as C does; all its arguments are numbers.

    Raises
    ------
    ContractError
        Nothing is compiled here.
    """
    if is_plain():
        raise ContractError("machine code is made by numba, which is missing or off (NUMBA_DISABLE_JIT)")
    dispatcher: Any = compile_function(function, signature)
    result = next(iter(dispatcher.overloads.values()))
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


@functools.cache
def part_address(function: types.FunctionType) -> int:
    """Where the machine code of a part of the Step starts; see `cosim.step.arrays.part`."""
    if is_plain():
        return walker.plain_address(function)
    signature = "i" + function.__dict__["__part__"][1:]
    return _code_address(_compile(function.__dict__["__by_address__"], signature, BLOCK_OPTIONS))


@functools.cache
def _code_address(dispatcher: Any) -> int:
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
    if is_plain():
        raise ContractError("machine code is made by numba, which is missing or off (NUMBA_DISABLE_JIT)")
    if not isinstance(function, types.FunctionType):
        raise ContractError(f"{function!r} is no plain function, so it cannot be compiled")
    digest = _digest(function, signature, BLOCK_OPTIONS, _digest_of_module(lowered_code))
    kept = kernel_cache.kept(digest)
    text = _lowered(function, signature) if kept is None else kept.decode()
    if kept is None:
        kernel_cache.keep(digest, text.encode())
    takes_together = "A" in signature and not set(signature) & set("FIT")
    return lowered_code.named(lowered_code.apart(text) if takes_together else text, name)


def _lowered(function: types.FunctionType, signature: str) -> str:
    # Freshly compiled: the text of what comes out of numba's cache is not that of its code.
    with _text_alone():
        dispatcher = _fresh(function, signature, BLOCK_OPTIONS, _lift_by_name)
    result = next(iter(dispatcher.overloads.values()))
    return lowered_code.without_target(
        str(next(iter(dispatcher.inspect_llvm().values()))), result.fndesc.llvm_func_name
    )


@contextlib.contextmanager
def _text_alone() -> Iterator[None]:
    """Numba stops at LLVM's text, before it makes machine code, which nothing here would run."""
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import cpu_target

    class TextLibrary(JITCodeLibrary):
        def get_pointer_to_function(self, name: str) -> int:
            self._ensure_finalized()
            return 0

        def _finalize_specific(self) -> None:
            pass

    def nothing(*_: Any) -> None:
        pass

    codegen = cpu_target.target_context.codegen()
    with global_compiler_lock:
        changes = {"_library_class": TextLibrary, "_add_module": nothing, "set_env": nothing}
        codegen.__dict__.update(changes)
        try:
            yield
        finally:
            for name in changes:
                del codegen.__dict__[name]


def python_block_address(block: Callable[..., None]) -> int:
    """An address that compiled code can call, for a block that is plain Python; see `python_address`."""
    return python_address(block, walker.BLOCK_SIGNATURE)


def python_address(function: Callable[..., Any], signature: str) -> int:
    """An address that compiled code can call, for a function that is plain Python.

    It is called with NumPy views of the arrays (but for tables: None); an exception is kept in
    `walker.last_errors`, and a block that raises makes the walk stop. The callback holds the
    interpreter's lock while it runs.
    """
    if is_plain():
        return walker.plain_address(function)
    callback = callback_of(function, signature)
    address = int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
    _address_keepers[address] = callback
    return address


def release_address(address: int) -> None:
    """Let a plain Python block be collected; nothing may call its address any more."""
    _address_keepers.pop(address, None)
    walker.plain_blocks.pop(address, None)


@functools.cache
def versions() -> str:
    """What compiled code depends on besides the functions themselves."""
    import llvmlite
    import numba
    import numpy
    from numba.core.registry import cpu_target

    from cosim.version import __version__

    programs = [numba.__version__, llvmlite.__version__, numpy.__version__, sys.version, __version__]
    processor = cpu_target.target_context.codegen().magic_tuple()
    return repr((programs, processor, sorted(HELPER_OPTIONS.items()), _digest_of_module(intrinsics)))


@functools.cache
def _digest_of_module(module: types.ModuleType) -> str:
    """Of its source: what it makes is kept, and changes with it."""
    return hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()


def spelled(signature: str) -> str:
    """A signature in which letters of named tuples are followed by those of their members."""
    return "".join(
        f"{letter}({walker.compounds[letter][1]})" if letter in walker.compounds else letter
        for letter in signature
    )


def part_name(function: Callable[..., Any]) -> str:
    """The symbol under which compiled code calls a function that is compiled by itself."""
    return f"part_{function.__name__}"


def _digest(function: types.FunctionType, signature: str, options: dict[str, Any], *more: str) -> str:
    return fingerprint(function, spelled(signature), versions(), repr(sorted(options.items())), *more)


def _compile(function: types.FunctionType, signature: str, options: dict[str, Any]) -> Any:
    digest = _digest(function, signature, options)
    if digest not in _compiled:
        _compiled[digest] = _loaded(digest, function, options) or _fresh_and_kept(
            digest, function, signature, options
        )
    return _compiled[digest]


def _loaded(digest: str, function: types.FunctionType, options: dict[str, Any]) -> Any:
    """The function with the code that is kept, or None."""
    import numba

    for part in _parts(function):
        _call_of_part(part)
    result = kept_code(digest)
    if result is None:
        return None
    dispatcher = numba.njit(**options)(function)
    dispatcher.add_overload(result)
    dispatcher.disable_compile()
    return dispatcher


def _fresh_and_kept(
    digest: str, function: types.FunctionType, signature: str, options: dict[str, Any]
) -> Any:
    log.info("compiling")
    dispatcher = _fresh(function, signature, options, _lift)
    keep_code(digest, next(iter(dispatcher.overloads.values())))
    log.info("compiled %s", function.__qualname__)
    return dispatcher


def _parts(function: types.FunctionType) -> Iterator[types.FunctionType]:
    """The functions compiled by themselves that a function calls, itself or in helpers."""
    found, at = [function], 0
    while at < len(found):
        for value in environment(found[at]).values():
            if not isinstance(value, types.FunctionType) or value in found or value in REPLACED:
                continue
            if "__optional__" in value.__dict__:
                continue
            if "__part__" in value.__dict__:
                yield value
            else:
                found.append(value)
        at += 1


def _fresh(
    function: types.FunctionType,
    signature: str,
    options: dict[str, Any],
    lift: Callable[[types.FunctionType], Any],
) -> Any:
    """The function as numba compiles it."""
    import numba
    from numba.core.errors import NumbaWarning

    arguments, result = signature.split(">")
    dispatcher = numba.njit(**options)(_with_lifted_globals(function, lift))
    vectorize, collects = numba.config.LOOP_VECTORIZE, gc.isenabled()
    gc.disable()  # the compiler makes much that lives long: looking for garbage takes a seventh of its time
    numba.config.LOOP_VECTORIZE = 0  # loops here are short: it gains nothing and takes a sixth of the time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            dispatcher.compile(intrinsics.numba_type(result)(*[intrinsics.numba_type(a) for a in arguments]))
    finally:
        numba.config.LOOP_VECTORIZE = vectorize
        if collects:
            gc.enable()
    dispatcher.disable_compile()
    return dispatcher


def _with_lifted_globals(
    function: types.FunctionType, lift: Callable[[types.FunctionType], Any]
) -> types.FunctionType:
    """A copy of the function in which every reachable plain function is what `lift` makes of it."""
    replaced = dict(function.__globals__)
    for name, value in environment(function).items():
        if isinstance(value, types.FunctionType):
            replaced[name] = lift(value)
    cells = function.__closure__
    if cells:
        cells = tuple(
            types.CellType(
                lift(c.cell_contents) if isinstance(c.cell_contents, types.FunctionType) else c.cell_contents
            )
            for c in cells
        )
    copy = types.FunctionType(function.__code__, replaced, function.__name__, function.__defaults__, cells)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _lift(function: types.FunctionType) -> Any:
    """What compiled code in this process calls in place of a plain function."""
    if function is walker.call_block:
        return intrinsics.indirect_call()
    if function is foreign.call_with_array:
        return intrinsics.foreign_calls()[0]
    if function is foreign.call_with_interval:
        return intrinsics.foreign_calls()[1]
    if function in intrinsics.ARRAYS_AT:
        return intrinsics.array_at(*intrinsics.ARRAYS_AT[function])
    if "__indirect__" in function.__dict__:
        return intrinsics.indirect_call_of(function.__dict__["__indirect__"])
    digest = fingerprint(function)
    if digest not in _lifted:
        made = _call_of_part(function) if "__part__" in function.__dict__ else _helper(function, _lift)
        _lifted[digest] = made
    return _lifted[digest]


def _lift_by_name(function: types.FunctionType) -> Any:
    """What lowered code calls: walks, blocks and methods by names that `lowered_calls` defines."""
    digest = fingerprint(function)
    if digest not in _lifted_by_name:
        if "__part__" in function.__dict__:
            made = intrinsics.call_by_name(part_name(function), function.__dict__["__part__"])
        elif function is walker.walk:
            made = intrinsics.call_by_name(lowered_calls.WALK, walker.WALK_SIGNATURE)
        elif function is walker.call_block:
            signature = walker.BLOCK_SIGNATURE
            made = intrinsics.call_by_name(lowered_calls.name_of(signature), f"i{signature[:-1]}i")
        elif "__indirect__" in function.__dict__:
            signature = function.__dict__["__indirect__"]
            made = intrinsics.call_of_number(lowered_calls.name_of(signature), signature)
        else:
            made = _helper(function, _lift_by_name)
        _lifted_by_name[digest] = made
    return _lifted_by_name[digest]


def _helper(function: types.FunctionType, lift: Callable[[types.FunctionType], Any]) -> Any:
    import numba

    options = INLINED_EARLY if getattr(function, "__inline__", False) else HELPER_OPTIONS
    return numba.njit(**options)(_with_lifted_globals(function, lift))


def _call_of_part(function: types.FunctionType) -> Any:
    """Numba intrinsic: calls a function that is compiled by itself, by its symbol or through a table.

    Large functions that are called from several places would otherwise be compiled again with each of them.
    """
    import llvmlite.binding as llvm

    name, optional = part_name(function), function.__dict__.get("__optional__")
    if optional is None:
        llvm.add_symbol(name, part_address(function))
    return intrinsics.call_of_part(
        function.__dict__["__part__"],
        function.__dict__["__head__"],
        name if optional is None else optional[1],
    )
