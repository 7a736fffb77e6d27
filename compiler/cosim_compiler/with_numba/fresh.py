"""Compiling a function anew with numba: as a process calls it, and as LLVM's text.

A function reaches others by its globals. `lift` says what the compiler finds in place of each: another
compiled function, a call of an address, a call of a symbol.
"""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from cosim_compiler import foreign, lowered_code, tables
from cosim_compiler.calls import BY_NAME, INDIRECT, STATUS, name_of
from cosim_compiler.collection import without_collection
from cosim_compiler.fingerprint import REPLACED, environment, fingerprint
from cosim_compiler.with_numba import intrinsics
from cosim_compiler.with_numba.compiler_errors import explained
from cosim_compiler.with_numba.front_end import for_any_number
from cosim_compiler.with_numba.numba_target import numba_target
from cosim_compiler.with_numba.whole_module import as_one_module, finish

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


def compiled_anew(
    function: types.FunctionType,
    signature: str,
    options: dict[str, Any],
    lift: Lift,
) -> Any:
    """The function as numba compiles it."""
    with _without_vectors():
        return with_code(function, options, finish(_compiled(function, signature, options, lift)))


def with_code(function: types.FunctionType, options: dict[str, Any], result: Any) -> Any:
    """The function with what numba has made of it."""
    import numba

    dispatcher = numba.njit(**options)(function)
    dispatcher.add_overload(result)
    dispatcher.disable_compile()
    return dispatcher


def _compiled(function: types.FunctionType, signature: str, options: dict[str, Any], lift: Lift) -> Any:
    """What numba makes of a function: one module with its helpers, see `as_one_module`."""
    import numba
    from numba.core.errors import NumbaError, NumbaWarning

    numba_target()
    arguments, result = signature.split(">")
    dispatcher = numba.njit(**options)(_with_lifted_globals(function, lift))
    try:  # looking for garbage would take a seventh of the compiler's time
        with warnings.catch_warnings(), without_collection(), as_one_module(), _without_vectors():
            warnings.simplefilter("ignore", NumbaWarning)
            dispatcher.compile(intrinsics.numba_type(result)(*[intrinsics.numba_type(a) for a in arguments]))
    except NumbaError as error:
        raise explained(error, function, _files_of(function)) from error
    return next(iter(dispatcher.overloads.values()))


@contextlib.contextmanager
def _without_vectors() -> Iterator[None]:
    """Loops here are short: making vectors of them gains nothing, and takes a sixth of the time."""
    import numba

    before, numba.config.LOOP_VECTORIZE = numba.config.LOOP_VECTORIZE, 0
    try:
        yield
    finally:
        numba.config.LOOP_VECTORIZE = before


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
    return for_any_number(numba.njit(**options)(_with_lifted_globals(function, lift)))


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
    if STATUS in function.__dict__:
        return intrinsics.status_call(function.__dict__[STATUS])
    if INDIRECT in function.__dict__:
        return intrinsics.indirect_call_of(function.__dict__[INDIRECT])
    if function in REPLACED:
        return _in_place_of(function)
    digest = fingerprint(function)
    if digest not in known:
        known[digest] = call_of_part(function) if "__part__" in function.__dict__ else _helper(function, lift)
    return known[digest]


def _in_place_of(function: types.FunctionType) -> Any:
    """What stands in place of a function of `cosim_compiler.foreign`, or of `cosim_compiler.tables`."""
    if function is tables.as_table:
        return intrinsics.as_table()
    if function is tables.zeros:
        return intrinsics.zeros()
    if function in foreign.ARRAYS_AT:
        return intrinsics.array_at(*foreign.ARRAYS_AT[function])
    return intrinsics.foreign_calls()[function is foreign.call_with_interval]


def call_by_address(function: types.FunctionType, address: int) -> Any:
    """As `call_by_symbol`, where the symbol is to be found in this process."""
    import llvmlite.binding as llvm

    llvm.add_symbol(part_name(function), address)
    return call_by_symbol(function)


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
    result = _compiled(function, signature, BLOCK_OPTIONS, lift)
    with _without_vectors():
        result.library.optimize()
    return _text(result)


def draft_of(function: types.FunctionType, signature: str, lift: Lift) -> str:
    """As `text_of`, for whoever optimizes it."""
    return _text(_compiled(function, signature, BLOCK_OPTIONS, lift))


def _text(result: Any) -> str:
    return lowered_code.without_target(str(result.library._final_module), result.fndesc.llvm_func_name)


def lift_by_name(function: types.FunctionType) -> Any:
    """What lowered code calls: by names, which whoever links it defines."""
    if function in REPLACED:
        return _in_place_of(function)
    digest = fingerprint(function)
    if digest not in _by_name:
        if "__part__" in function.__dict__:
            made = intrinsics.call_by_name(part_name(function), function.__dict__["__part__"])
        elif BY_NAME in function.__dict__:
            made = intrinsics.call_by_name(*function.__dict__[BY_NAME])
        elif STATUS in function.__dict__:
            signature = function.__dict__[STATUS]
            made = intrinsics.call_by_name(name_of(signature), f"i{signature[:-1]}i")
        elif INDIRECT in function.__dict__:
            signature = function.__dict__[INDIRECT]
            made = intrinsics.call_of_number(name_of(signature), signature)
        else:
            made = _helper(function, lift_by_name)
        _by_name[digest] = made
    return _by_name[digest]
