"""Compiling a function anew with numba: as a process calls it, and as LLVM's text.

A function reaches others by its globals. `lift` says what the compiler finds in place of each: another
compiled function, a call of an address, a call of a symbol.
"""

from __future__ import annotations

import contextlib
import gc
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from cosim.compiled import foreign, intrinsics, lowered_calls, lowered_code, walker
from cosim.compiled.compiler_errors import explained
from cosim.compiled.fingerprint import REPLACED, environment, fingerprint
from cosim.compiled.numba_target import numba_target

Lift = Callable[[types.FunctionType], Any]

OPTIONS = {"_nrt": False, "error_model": "numpy", "nogil": True}
# A block is only ever called by its address; the wrappers for Python would be a quarter of the compile time.
BLOCK_OPTIONS = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# A call would pass each view as seven words and each tuple through memory: helpers are always inlined by the
# code generator, which takes no longer to compile.
HELPER_OPTIONS = {**BLOCK_OPTIONS, "forceinline": True}
INLINED_EARLY = {**BLOCK_OPTIONS, "inline": "always"}

# By digests: a function whose globals changed is another one.
_by_name: dict[str, Any] = {}
_to_ship: dict[str, Any] = {}


def compiled_anew(
    function: types.FunctionType,
    signature: str,
    options: dict[str, Any],
    lift: Lift,
) -> Any:
    """The function as numba compiles it."""
    import numba
    from numba.core.errors import NumbaError, NumbaWarning

    numba_target()
    arguments, result = signature.split(">")
    dispatcher = numba.njit(**options)(_with_lifted_globals(function, lift))
    vectorize, collects = numba.config.LOOP_VECTORIZE, gc.isenabled()
    gc.disable()  # the compiler makes much that lives long: looking for garbage takes a seventh of its time
    numba.config.LOOP_VECTORIZE = 0  # loops here are short: it gains nothing and takes a sixth of the time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            dispatcher.compile(intrinsics.numba_type(result)(*[intrinsics.numba_type(a) for a in arguments]))
    except NumbaError as error:
        raise explained(error, function, _files_of(function)) from error
    finally:
        numba.config.LOOP_VECTORIZE = vectorize
        if collects:
            gc.enable()
    dispatcher.disable_compile()
    return dispatcher


def _files_of(function: types.FunctionType) -> set[str]:
    """The files of a function and of all that it reaches."""
    files: set[str] = set()
    todo, seen = [function], {function}
    while todo:
        one = todo.pop()
        files.add(one.__code__.co_filename)
        reached = {v for v in environment(one).values() if isinstance(v, types.FunctionType)} - seen
        todo += reached
        seen |= reached
    return files


def _with_lifted_globals(function: types.FunctionType, lift: Lift) -> types.FunctionType:
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


def _helper(function: types.FunctionType, lift: Lift) -> Any:
    import numba

    options = INLINED_EARLY if getattr(function, "__inline__", False) else HELPER_OPTIONS
    return numba.njit(**options)(_with_lifted_globals(function, lift))


def part_name(function: Callable[..., Any]) -> str:
    """The symbol under which compiled code calls a function that is compiled by itself."""
    return f"part_{function.__name__}"


def lifted_with(
    function: types.FunctionType,
    lift: Lift,
    call_of_part: Lift,
    known: dict[str, Any],
) -> Any:
    """What stands in place of a function where tables of addresses are walked; `known` are made already."""
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
    if digest not in known:
        known[digest] = call_of_part(function) if "__part__" in function.__dict__ else _helper(function, lift)
    return known[digest]


def call_by_symbol(function: types.FunctionType) -> Any:
    """Numba intrinsic: calls a part by its `part_name`, or an optional one by its address in a table."""
    name, optional = part_name(function), function.__dict__.get("__optional__")
    return intrinsics.call_of_part(
        function.__dict__["__part__"],
        function.__dict__["__head__"],
        name if optional is None else optional[1],
    )


def text_of(function: types.FunctionType, signature: str, lift: Lift) -> str:
    """LLVM's text of a function, for no machine, under a name that `lowered_code.named` replaces."""
    # Freshly compiled: the text of what comes out of numba's cache is not that of its code.
    with _text_alone():
        dispatcher = compiled_anew(function, signature, BLOCK_OPTIONS, lift)
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


def lift_by_name(function: types.FunctionType) -> Any:
    """What lowered code calls: walks, blocks and methods by names that `lowered_calls` defines."""
    digest = fingerprint(function)
    if digest not in _by_name:
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
        elif function not in REPLACED and is_the_same_by_name(function):
            made = lift_to_ship(function)
        else:
            made = _helper(function, lift_by_name)
        _by_name[digest] = made
    return _by_name[digest]


def is_the_same_by_name(function: types.FunctionType) -> bool:
    """Whether `lift_by_name` and `lift_to_ship` make the same text of it: it calls nothing through tables."""
    found, at = [function], 0
    while at < len(found):
        for value in environment(found[at]).values():
            if not isinstance(value, types.FunctionType) or value in found:
                continue
            if (
                value in REPLACED
                or value is walker.walk
                or {"__part__", "__indirect__"} & set(value.__dict__)
            ):
                return False
            found.append(value)
        at += 1
    return True


def lift_to_ship(function: types.FunctionType) -> Any:
    """As `_lift`, where the parts that it calls are not there yet."""
    return lifted_with(function, lift_to_ship, call_by_symbol, _to_ship)
