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

import contextlib
import functools
import logging
import os
import shutil
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cosim.compiled import foreign, kernel_cache, lowered_calls, lowered_code, walker
from cosim.compiled.fingerprint import environment, fingerprint
from cosim.errors import ContractError

OPTIONS = {"_nrt": False, "error_model": "numpy", "nogil": True}
# A block is only ever called by its address; the wrappers for Python would be a quarter of the compile time.
BLOCK_OPTIONS = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# A call would pass each view as seven words and each tuple through memory: helpers are always inlined by the
# code generator, which takes no longer to compile.
HELPER_OPTIONS = {**OPTIONS, "forceinline": True}
INLINED_EARLY = {**OPTIONS, "inline": "always"}
# Words of a one-dimensional array in numba's calling convention.
OWNER, PARENT, ITEMS, ITEM_SIZE, DATA, SHAPE, STRIDES = range(7)
PASSED = (ITEMS, DATA, SHAPE, STRIDES)
"""Those that a call of a block hands over."""
log = logging.getLogger("cosim.native")

_compiled: dict[tuple[int, str], tuple[types.FunctionType, Callable[..., Any]]] = {}
_addresses: dict[int, int] = {}
_blocks: dict[int, tuple[types.FunctionType, Any]] = {}
_lifted: dict[int, tuple[types.FunctionType, Any]] = {}
_lifted_by_name: dict[types.FunctionType, Any] = {}
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
    key = (id(function), signature)
    if key not in _compiled:
        _compiled[key] = (function, _compile(function, signature, OPTIONS))
    return _compiled[key][1]


def block_address(block: Callable[..., None]) -> int:
    """Where the machine code of a block starts; its key among the plain blocks without numba."""
    if is_plain():
        return walker.plain_address(block)
    if not isinstance(block, types.FunctionType):
        raise ContractError(f"{block!r} is no plain function, so it cannot be compiled")
    if id(block) not in _blocks:
        _blocks[id(block)] = (block, _compile(block, walker.BLOCK_SIGNATURE, BLOCK_OPTIONS))
    return _code_address(_blocks[id(block)][1])


def function_address(function: Callable[..., Any], signature: str) -> int:
    """Where the machine code of any function starts, for `walker.call_step` and `walker.call_dense`."""
    if is_plain():
        return walker.plain_address(function)
    compiled = compile_function(function, signature)
    if id(compiled) not in _addresses:
        _addresses[id(compiled)] = _code_address(compiled)
    return _addresses[id(compiled)]


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
    digest = fingerprint(
        function, spelled(signature), versions(), repr(sorted(BLOCK_OPTIONS.items())), "lowered as text 6"
    )
    text = kernel_cache.text(digest, lambda: _lowered(function, signature))
    takes_together = "A" in signature and not set(signature) & set("FIT")
    return lowered_code.named(lowered_code.apart(text) if takes_together else text, name)


def _lowered(function: types.FunctionType, signature: str) -> str:
    # Freshly compiled: the text of what comes out of numba's cache is not that of its code.
    with _text_alone():
        dispatcher = _fresh(function, signature, BLOCK_OPTIONS, lift=_lift_by_name)
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
    """An address that compiled code can call, for a block that is plain Python.

    The block is called with NumPy views of the arrays; an exception is kept in
    `walker.last_errors` and makes the walk stop. The callback holds the interpreter's lock while it runs.
    """
    if is_plain():
        return walker.plain_address(block)
    callback = _callback(block)
    import ctypes

    address = int(ctypes.cast(callback, ctypes.c_void_p).value or 0)
    _address_keepers[address] = callback
    return address


def release_address(address: int) -> None:
    """Let a plain Python block be collected; nothing may call its address any more."""
    _address_keepers.pop(address, None)
    walker.plain_blocks.pop(address, None)


def versions() -> str:
    """What compiled code depends on besides the functions themselves."""
    import llvmlite
    import numba

    from cosim.version import __version__

    options = [*sorted(HELPER_OPTIONS.items()), PASSED]
    return f"{numba.__version__} {llvmlite.__version__} {sys.version} {__version__} {options}"


def spelled(signature: str) -> str:
    """A signature in which letters of named tuples are followed by those of their members."""
    return "".join(
        f"{letter}({walker.compounds[letter][1]})" if letter in walker.compounds else letter
        for letter in signature
    )


def part_name(function: Callable[..., Any]) -> str:
    """The symbol under which compiled code calls a function that is compiled by itself."""
    return f"part_{function.__name__}"


def _numba_type(letter: str) -> Any:
    from numba import types as nb

    if letter in walker.compounds:
        compound, letters = walker.compounds[letter]
        return nb.NamedTuple([_numba_type(inner) for inner in letters], compound)
    return {
        "f": nb.float64,
        "i": nb.int64,
        "v": nb.void,
        "F": nb.Array(nb.float64, 1, "C"),
        "I": nb.Array(nb.int64, 1, "C"),
        "T": nb.Array(nb.int64, 2, "C"),
    }[letter]


def _compile(function: types.FunctionType, signature: str, options: dict[str, Any]) -> Any:
    digest = fingerprint(function, spelled(signature), versions(), repr(sorted(options.items())))
    entry = kernel_cache.entry(digest)
    dispatcher = _fresh(function, signature, options, entry)
    if entry is None or dispatcher._cache.missed:
        log.info("compiled %s", function.__qualname__)
    return dispatcher


def _fresh(
    function: types.FunctionType,
    signature: str,
    options: dict[str, Any],
    entry: Path | None = None,
    lift: Callable[[types.FunctionType], Any] | None = None,
) -> Any:
    """The function as numba compiles it, or as `entry` keeps it."""
    import numba
    from numba.core.errors import NumbaWarning

    arguments, result = signature.split(">")
    dispatcher = numba.njit(**options)(_with_lifted_globals(function, lift or _lift))
    if entry is not None:
        dispatcher._cache = _cache_class()(dispatcher.py_func, entry)
    vectorize = numba.config.LOOP_VECTORIZE
    numba.config.LOOP_VECTORIZE = 0  # loops here are short: it gains nothing and takes a sixth of the time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NumbaWarning)
            dispatcher.compile(_numba_type(result)(*[_numba_type(a) for a in arguments]))
    finally:
        numba.config.LOOP_VECTORIZE = vectorize
    dispatcher.disable_compile()
    return dispatcher


@functools.cache
def _cache_class() -> Any:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

    class Locator(_CacheLocator):
        """Numba asks where to keep things; the answer is the folder of the digest."""

        def __init__(self, path: Path) -> None:
            self.path = path

        def get_cache_path(self) -> str:
            return str(self.path)

        def get_source_stamp(self) -> str:
            return self.path.name

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, py_func: Any, py_file: Any) -> Any:
            return cls(py_func.__cosim_entry__)

    class Impl(CompileResultCacheImpl):
        _locator_classes = [Locator]

    class KernelCache(FunctionCache):
        """Falls back to compiling when an entry is damaged, and to not saving when it cannot save."""

        _impl_class = Impl

        def __init__(self, function: Any, entry: Path) -> None:
            function.__cosim_entry__ = entry
            self.missed = False
            super().__init__(function)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                found = super().load_overload(sig, target_context)
            except Exception as error:
                log.warning("damaged kernel %s is compiled again: %r", self.cache_path, error)
                shutil.rmtree(self.cache_path, ignore_errors=True)  # numba does not save over a bad index
                found = None
            if found is None:
                if not self.missed:
                    log.info("compiling")
                self.missed = True
            return found

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            # Numba's own key has the closure in it, in which dispatchers are new in each process; the name
            # of the folder stands for everything that the code depends on.
            return sig, codegen.magic_tuple()

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except Exception as error:
                log.warning("kernel is not kept: %s: %s", self.cache_path, error)

    return KernelCache


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
        return _indirect_call()
    if function is foreign.call_with_array:
        return _foreign_calls()[0]
    if function is foreign.call_with_interval:
        return _foreign_calls()[1]
    if function in _ARRAYS_AT:
        return _array_at(*_ARRAYS_AT[function])
    if "__indirect__" in function.__dict__:
        return _indirect_call_of(function.__dict__["__indirect__"])
    if id(function) not in _lifted:
        is_part = "__part__" in function.__dict__
        _lifted[id(function)] = (function, _call_of_part(function) if is_part else _helper(function, _lift))
    return _lifted[id(function)][1]


def _lift_by_name(function: types.FunctionType) -> Any:
    """What lowered code calls: walks, blocks and methods by names that `lowered_calls` defines."""
    if function not in _lifted_by_name:
        if "__part__" in function.__dict__:
            made = _call_by_name(part_name(function), function.__dict__["__part__"])
        elif function is walker.walk:
            made = _call_by_name(lowered_calls.WALK, walker.WALK_SIGNATURE)
        elif function is walker.call_block:
            signature = walker.BLOCK_SIGNATURE
            made = _call_by_name(lowered_calls.name_of(signature), f"i{signature[:-1]}i")
        elif "__indirect__" in function.__dict__:
            signature = function.__dict__["__indirect__"]
            made = _call_of_number(lowered_calls.name_of(signature), signature)
        else:
            made = _helper(function, _lift_by_name)
        _lifted_by_name[function] = made
    return _lifted_by_name[function]


def _helper(function: types.FunctionType, lift: Callable[[types.FunctionType], Any]) -> Any:
    import numba

    options = INLINED_EARLY if getattr(function, "__inline__", False) else HELPER_OPTIONS
    return numba.njit(**options)(_with_lifted_globals(function, lift))


@functools.cache
def _indirect_call() -> Any:
    """Numba intrinsic: calls the machine code at an address and returns its status."""
    from numba import types as nb
    from numba.extending import intrinsic

    block = [_numba_type(letter) for letter in walker.BLOCK_SIGNATURE.split(">")[0]]

    @intrinsic
    def call_address(typing_context, address, t, y, p, d, k, h, c, ints, first, count):
        def generate(context, builder, signature, values):
            convention = context.call_conv
            pointer = builder.inttoptr(values[0], convention.get_function_type(nb.void, block).as_pointer())
            given = [
                _bare(builder, value) if isinstance(kind, nb.Array) else value
                for kind, value in zip(block, values[1:], strict=True)
            ]
            status, _ = convention.call_function(builder, pointer, nb.void, block, given)
            return status.code

        return nb.int32(address, *block), generate

    return call_address


def _bare(builder: Any, array: Any) -> Any:
    """An array without the words that nothing reads: undefined, so that a call need not store them.

    Blocks allocate nothing, so they have no use for the owner.
    """
    from llvmlite import ir

    bare = ir.Constant(array.type, ir.Undefined)
    for word in PASSED:
        bare = builder.insert_value(bare, builder.extract_value(array, word), word)
    return bare


@functools.cache
def _foreign_calls() -> tuple[Any, Any]:
    """Numba intrinsics in place of the functions of `cosim.compiled.foreign`."""
    from llvmlite import ir
    from numba import types as nb
    from numba.extending import intrinsic

    def caller(letters: str) -> Any:
        kinds = [_numba_type(letter) for letter in letters]
        words = [ir.DoubleType() if letter == "f" else ir.IntType(64) for letter in letters]
        function = ir.FunctionType(ir.IntType(32), words)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return builder.call(builder.inttoptr(values[0], function.as_pointer()), values[1:])

        return nb.int32(nb.int64, *kinds), generate

    @intrinsic
    def call_with_array(typing_context, address, handle, indices, count, values, size):
        return caller("iiiii")

    @intrinsic
    def call_with_interval(
        typing_context, address, handle, start, length, flag, first, second, third, fourth
    ):
        return caller("iffiiiii")

    return call_with_array, call_with_interval


_ARRAYS_AT = {foreign.reals_at: ("F", 1), foreign.integers_at: ("I", 1), foreign.table_at: ("T", 3)}
"""Letter of what is there, and how many numbers make one of the size."""


@functools.cache
def _array_at(letter: str, columns: int) -> Any:
    """Numba intrinsic: the memory at an address as an array, which somebody else owns."""
    from numba import types as nb
    from numba.extending import intrinsic
    from numba.np import arrayobj

    kind = _numba_type(letter)

    @intrinsic
    def array_at(typing_context, address, size):
        def generate(context, builder, signature, values):
            array = context.make_array(kind)(context, builder)
            word = functools.partial(context.get_constant, nb.intp)
            data = builder.inttoptr(values[0], array.data.type)
            shape, strides = [values[1]], [word(8 * columns)]
            if kind.ndim == 2:
                shape, strides = [*shape, word(columns)], [*strides, word(8)]
            arrayobj.populate_array(array, data, shape, strides, word(8), None)
            return array._getvalue()

        return kind(nb.int64, nb.int64), generate

    return array_at


@functools.cache
def _indirect_call_of(signature: str) -> Any:
    """Numba intrinsic: calls the machine code at an address with a tuple of arguments, for its result."""
    from numba.extending import intrinsic

    letters, letter = signature.split(">")
    wanted, answer = [_numba_type(letter) for letter in letters], _numba_type(letter)

    @intrinsic
    def call_address(typing_context, address, arguments):
        def generate(context, builder, typed, values):
            convention = context.call_conv
            given = [
                context.cast(builder, builder.extract_value(values[1], i), a, b)
                for i, (a, b) in enumerate(zip(typed.args[1], wanted, strict=True))
            ]
            pointer = builder.inttoptr(values[0], convention.get_function_type(answer, wanted).as_pointer())
            _, value = convention.call_function(builder, pointer, answer, wanted, given)
            return value if letter != "v" else context.get_dummy_value()

        return answer(address, arguments), generate

    return call_address


def _call_of_part(function: types.FunctionType) -> Any:
    """Numba intrinsic: calls a function that is compiled by itself, by its symbol.

    Large functions that are called from several places would otherwise be compiled again with each of them.
    """
    import llvmlite.binding as llvm

    signature, name = function.__dict__["__part__"], part_name(function)
    llvm.add_symbol(name, _code_address(_compile(function, signature, BLOCK_OPTIONS)))
    return _call_by_name(name, signature)


def _call_by_name(name: str, signature: str) -> Any:
    """Numba intrinsic: calls a function by its symbol."""
    from numba.core import cgutils
    from numba.extending import intrinsic

    letters, letter = signature.split(">")
    wanted, answer = [_numba_type(letter) for letter in letters], _numba_type(letter)

    def generate(context: Any, builder: Any, typed: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(answer, wanted)
        symbol = cgutils.get_or_insert_function(builder.module, kind, name)
        _, value = convention.call_function(builder, symbol, answer, wanted, values)
        return value if letter != "v" else context.get_dummy_value()

    given = ", ".join(f"a{i}" for i in range(len(letters)))
    namespace = {"typed": answer(*wanted), "generate": generate}
    exec(f"def call(typing_context, {given}):\n    return typed, generate\n", namespace)  # noqa: S102
    return intrinsic(namespace["call"])


def _call_of_number(name: str, signature: str) -> Any:
    """Numba intrinsic: hands a number and a tuple of arguments to a function with a symbol."""
    from numba.core import cgutils
    from numba.extending import intrinsic

    letters, letter = signature.split(">")
    wanted = [_numba_type(letter) for letter in f"i{letters}"]
    answer = _numba_type(letter)

    @intrinsic
    def call_number(typing_context, number, arguments):
        def generate(context, builder, typed, values):
            convention = context.call_conv
            kinds = [typed.args[0], *typed.args[1]]
            items = [values[0]]
            items += [builder.extract_value(values[1], i) for i in range(len(letters))]
            given = [
                context.cast(builder, item, a, b) for item, a, b in zip(items, kinds, wanted, strict=True)
            ]
            symbol = cgutils.get_or_insert_function(
                builder.module, convention.get_function_type(answer, wanted), name
            )
            _, value = convention.call_function(builder, symbol, answer, wanted, given)
            return value if letter != "v" else context.get_dummy_value()

        return answer(number, arguments), generate

    return call_number


def _callback(block: Callable[..., None]) -> Any:
    """A ctypes callback in numba's calling convention: result, exception, each array as seven words."""
    import ctypes

    import numpy as np

    pointer, word, real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
    array = [pointer, pointer, word, word, pointer, word, word]
    kinds = walker.BLOCK_SIGNATURE.split(">")[0]
    prototype: list[Any] = [pointer, pointer]
    words_of: dict[str, list[Any]] = {"f": [real], "i": [word]}
    for letter in kinds:
        prototype += words_of.get(letter, array)

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
                start = ctypes.cast(words[at + DATA], ctypes.POINTER(element))
                size = words[at + SHAPE]
                arguments.append(np.ctypeslib.as_array(start, shape=(size,)) if size else np.empty(0))
                at += 7
            block(*arguments)
        except BaseException as error:
            walker.last_errors[:] = [error]
            return 1
        return 0

    return ctypes.CFUNCTYPE(ctypes.c_int32, *prototype)(raw)
