"""Units: functions that are compiled, stored and loaded together.

A unit is one kernel function with its helpers, or several functions that belong together
(`calls.compiled_together`), which others call by their symbols. Its object file and what its functions raise
come with the package (`shipped`) or from the cache (`kernel_cache`); there they are found by the digest of
all that the unit is made from (`unit_digests`).
"""

from __future__ import annotations

import importlib
import json
import logging
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cosim_compiler import kernel_cache, machine, shipped
from cosim_compiler.calls import TOGETHER
from cosim_compiler.code import coder
from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.errors import NUMBERED, NumberedError
from cosim_compiler.held_interrupts import interrupts_held
from cosim_compiler.road import LLVM, road
from cosim_compiler.shipped import TEXTS, UNITS
from cosim_compiler.unit_digests import Wanted, digest_of, digest_of_unit, key_of, linked_functions, member_of

log = logging.getLogger("cosim.native")

Failure = tuple[type[BaseException], tuple[Any, ...]]
HEADER_END = b"\0"
"""Between the failures of a unit, as JSON, and its object file."""

used: dict[str, dict[str, bytes]] = {UNITS: {}, TEXTS: {}}
"""What this process has used, by kinds and digests; a release ships it."""
_loaded: dict[str, Unit] = {}
"""By digest."""
_lock = threading.RLock()


@dataclass(frozen=True)
class Unit:
    """Functions whose code is in this process.

    Attributes
    ----------
    digest : str
    failures : tuple of (type, tuple)
        What its functions raise: the class of the exception and its arguments, by status from 1 on.
    """

    digest: str
    failures: tuple[Failure, ...]

    def symbol(self, index: int) -> str:
        """The symbol of the function at a place of the unit."""
        return symbol_in(self.digest, index)

    def exception(self, status: int) -> BaseException:
        """The exception that a status stands for."""
        if status - NUMBERED in NumberedError.numbered:
            return NumberedError.numbered[status - NUMBERED]()
        if 1 <= status <= len(self.failures):
            kind, arguments = self.failures[status - 1]
            return kind(*arguments)
        return RuntimeError("machine code has raised an exception")


def symbol_in(digest: str, index: int) -> str:
    """The symbol of a function of a unit."""
    return f"cosim_{digest}_{index}"


def unit_of(function: types.FunctionType, signature: str) -> tuple[Unit, int]:
    """The unit that a function belongs to, loaded, and its place there.

    Raises
    ------
    ContractError
        It is not of the kernel language.
    """
    member = member_of(function, signature)
    return _loaded_unit(member.functions), member.place


def is_at_hand(function: types.FunctionType, signature: str) -> bool:
    """Whether the code of a function is loaded or stored already."""
    digest = digest_of_unit(member_of(function, signature).functions)
    return digest in _loaded or _is_shipped(UNITS, digest) or kernel_cache.has(key_of(digest))


def one_of_each(wanted: Iterable[Wanted]) -> list[Wanted]:
    """One function of each unit that contains a wanted function or a function that one of them calls."""
    units = {member_of(*item).functions: item for item in wanted}
    for functions in list(units):
        for item in linked_functions(functions):
            units.setdefault(member_of(*item).functions, item)
    return list(units.values())


def compile_and_keep(function: types.FunctionType, signature: str) -> None:
    """Compile a function and store its code, which another process will load."""
    functions = member_of(function, signature).functions
    digest = digest_of_unit(functions)
    _shipped_or_cached(UNITS, digest, lambda: _compile(functions, digest))


def lowered_text(wanted: Sequence[Wanted]) -> str:
    """LLVM's text of functions, for no machine; see `printers.llvm_lowered`."""

    def written() -> bytes:
        # imported here, since the compiler is not needed where everything is in the cache
        from cosim_compiler.printers import llvm_lowered

        return machine.optimized(llvm_lowered.text_of(wanted)).encode()

    digest = digest_of(TEXTS, wanted)
    with _lock, interrupts_held():
        return _shipped_or_cached(TEXTS, digest, written).decode()


def _loaded_unit(wanted: tuple[Wanted, ...]) -> Unit:
    """The unit of these functions, loaded after the units that it calls."""
    digest = digest_of_unit(wanted)
    loaded = _loaded.get(digest)
    if loaded is not None:
        return loaded
    with _lock, interrupts_held():
        if digest not in _loaded:
            for linked in linked_functions(wanted):
                unit_of(*linked)
            content = _shipped_or_cached(UNITS, digest, lambda: _compile(wanted, digest))
            header, _, code = content.partition(HEADER_END)
            coder().machine.load(code)
            _loaded[digest] = Unit(digest, tuple(map(_read_failure, json.loads(header))))
    return _loaded[digest]


def _shipped_or_cached(kind: str, digest: str, make: Callable[[], bytes]) -> bytes:
    """The shipped or cached content under a digest; otherwise it is made now and cached."""
    content = shipped.shipped_content(kind, digest) if _is_shipped(kind, digest) else None
    if content is None:
        key = key_of(digest)
        content = kernel_cache.read_cached(key)
        if content is None:
            with kernel_cache.alone(key):  # so that two processes do not make the same
                content = kernel_cache.read_cached(key)
                if content is None:
                    content = make()
                    kernel_cache.write_cached(key, content)
    if machine.is_for_others():
        used[kind][digest] = content
    return content


def _is_shipped(kind: str, digest: str) -> bool:
    """Whether the package brings what is wanted, and this process may use it."""
    return road() == LLVM and not lines_are_shown() and shipped.has(kind, digest)


def _compile(wanted: tuple[Wanted, ...], digest: str) -> bytes:
    """The content of a unit in the cache: the failures of its functions, and the object file."""
    from cosim_compiler.language.program import Program

    log.info("compiling: %s", wanted[0][0].__qualname__)
    own_functions = {function for function, _ in wanted}

    def linked(function: types.FunctionType) -> tuple[str, str] | None:
        if TOGETHER not in function.__dict__ or function in own_functions:
            return None
        _, signature = function.__dict__[TOGETHER]
        member = member_of(function, signature)
        return symbol_in(digest_of_unit(member.functions), member.place), signature

    program = Program(linked)
    entries = [
        (symbol_in(digest, index), program.root(function, signature), signature)
        for index, (function, signature) in enumerate(wanted)
    ]
    code: bytes = coder().code(coder().text(program, entries))
    header = json.dumps([_as_json(*failure) for failure in program.failures]).encode()
    log.info("compiled %s", wanted[0][0].__qualname__)
    return header + HEADER_END + code


def _as_json(kind: type[BaseException], arguments: tuple[Any, ...]) -> list[Any]:
    return [kind.__module__, kind.__qualname__, list(map(str, arguments))]


def _read_failure(described: Sequence[Any]) -> Failure:
    module, name, arguments = described
    try:
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):  # the class was made inside a function
        value = RuntimeError
    return value, tuple(arguments)
