"""Units: functions that are compiled together, kept, and loaded.

A unit is one kernel function with its helpers, or several that belong together (`calls.compiled_together`),
which others call by their symbols. Its object file, with what its functions raise, comes with the package
(`shipped`) or is kept (`kernel_cache`). It is found by the digest of all that it is made from.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import logging
import sys
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import (
    Any,
    NamedTuple,
)

from cosim_compiler import kernel_cache, machine, shipped
from cosim_compiler.calls import TOGETHER
from cosim_compiler.code import coder
from cosim_compiler.convention import compounds, records, spelled
from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.errors import NUMBERED, NumberedError
from cosim_compiler.fingerprint import Reach, reach_of
from cosim_compiler.held_interrupts import interrupts_held
from cosim_compiler.names_at_rest import names_at_rest
from cosim_compiler.names_in_reach import Names
from cosim_compiler.record import classes_in, functions_of
from cosim_compiler.road import LLVM, road
from cosim_compiler.shipped import TEXTS, UNITS

log = logging.getLogger("cosim.native")

Wanted = tuple[types.FunctionType, str]
"""A function and its signature."""
Failure = tuple[type[BaseException], tuple[Any, ...]]
HEADER_END = b"\0"
MADE_BY = ("*.py", "language/*.py", "printers/*.py")
NOT_MADE_BY = ("native.py", "shipped.py", "ahead.py", "first_calls.py")

used: dict[str, dict[str, bytes]] = {UNITS: {}, TEXTS: {}}
"""What this process has used, by kinds and digests: what a release ships."""
_loaded: dict[str, Unit] = {}
_lock = threading.RLock()


class Member(NamedTuple):
    """A function as the member of a unit."""

    functions: tuple[Wanted, ...]  # all of the unit that others call
    place: int  # of the function among them


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
    member = _member(function, signature)
    return _unit(member.functions), member.place


def is_at_hand(function: types.FunctionType, signature: str) -> bool:
    """Whether the code of a function is loaded or stored already."""
    digest = _digest_of_unit(_member(function, signature).functions)
    return digest in _loaded or _has_come(UNITS, digest) or kernel_cache.has(_key(digest))


def one_of_each(wanted: Iterable[Wanted]) -> list[Wanted]:
    """One function of each unit that contains a wanted function or a function that one of them calls."""
    units = {_member(*item).functions: item for item in wanted}
    with names_at_rest():
        for functions in list(units):
            for item in _linked(functions):
                units.setdefault(_member(*item).functions, item)
    return list(units.values())


def compile_and_keep(function: types.FunctionType, signature: str) -> None:
    """Compile a function and store its code, which another process will load."""
    functions = _member(function, signature).functions
    digest = _digest_of_unit(functions)
    _content(UNITS, digest, lambda: _compiled(functions, digest))


def lowered_text(wanted: Sequence[Wanted]) -> str:
    """LLVM's text of functions, for no machine; see `printers.llvm_lowered`."""

    def written() -> bytes:
        from cosim_compiler.printers import llvm_lowered  # where all is kept, the compiler is not imported

        return machine.optimized(llvm_lowered.text_of(wanted)).encode()

    digest = digest_of(TEXTS, wanted)
    with _lock, interrupts_held():
        return _content(TEXTS, digest, written).decode()


def _member(function: types.FunctionType, signature: str) -> Member:
    """A function as a member of its unit; unless compiled together with others, it is the only one."""
    if TOGETHER not in function.__dict__:
        return Member(((function, signature),), 0)
    together, common_signature = function.__dict__[TOGETHER]
    return Member(tuple((other, common_signature) for other in together), together.index(function))


def _unit(wanted: tuple[Wanted, ...]) -> Unit:
    digest = _digest_of_unit(wanted)
    loaded = _loaded.get(digest)
    if loaded is not None:
        return loaded
    with _lock, interrupts_held():
        if digest not in _loaded:
            for linked in _linked(wanted):
                unit_of(*linked)
            content = _content(UNITS, digest, lambda: _compiled(wanted, digest))
            header, _, code = content.partition(HEADER_END)
            coder().machine.load(code)
            _loaded[digest] = Unit(digest, tuple(map(_failure, json.loads(header))))
    return _loaded[digest]


def _content(kind: str, digest: str, make: Callable[[], bytes]) -> bytes:
    """The shipped or cached content under a digest; otherwise it is made now and cached."""
    content = shipped.shipped_content(kind, digest) if _has_come(kind, digest) else None
    if content is None:
        key = _key(digest)
        content = kernel_cache.read_cached(key)
        if content is None:
            with kernel_cache.alone(key):  # two processes do not make the same
                content = kernel_cache.read_cached(key)
                if content is None:
                    content = make()
                    kernel_cache.write_cached(key, content)
    if machine.is_for_others():
        used[kind][digest] = content
    return content


def _has_come(kind: str, digest: str) -> bool:
    return road() == LLVM and not lines_are_shown() and shipped.has(kind, digest)


def _compiled(wanted: tuple[Wanted, ...], digest: str) -> bytes:
    """The content of a unit in the cache: the failures of its functions, and the object file."""
    from cosim_compiler.language.program import Program

    log.info("compiling: %s", wanted[0][0].__qualname__)
    own_functions = {function for function, _ in wanted}

    def linked(function: types.FunctionType) -> tuple[str, str] | None:
        if TOGETHER not in function.__dict__ or function in own_functions:
            return None
        _, signature = function.__dict__[TOGETHER]
        member = _member(function, signature)
        return symbol_in(_digest_of_unit(member.functions), member.place), signature

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


def _failure(described: Sequence[Any]) -> Failure:
    module, name, arguments = described
    try:
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
    except (ImportError, AttributeError):  # it was made inside a function
        value = RuntimeError
    return value, tuple(arguments)


# ---- digests


@functools.cache
def _made_by() -> str:
    """The compiler of this package as a digest, and the minor version of Python."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for pattern in MADE_BY for path in folder.glob(pattern)):
        if path.name not in NOT_MADE_BY:
            digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"{sys.version_info[:2]} {digest.hexdigest()}"


@functools.cache
def _key(digest: str) -> str:
    """Under which something is kept on this computer: with LLVM or the C compiler, and the processor."""
    made_with = road(), lines_are_shown(), coder().machine.versions()
    return hashlib.sha256(f"{digest} {made_with}".encode()).hexdigest()[:32]


_reaches: dict[tuple[Wanted, ...], Reach] = {}
"""By functions and what their signatures say."""


def _reach(wanted: Iterable[Wanted]) -> Reach:
    """The reach of functions; cached while every name in reach stands for the same thing."""
    wanted = tuple(wanted)
    functions = tuple((function, spelled(signature)) for function, signature in wanted)
    reach = _reaches.get(functions)
    if reach is None or reach.names is None or not reach.names.are_as_before():
        passed = dict.fromkeys(cls for _, signature in wanted for cls in _passed(signature))
        # a digest of a function does not see what the methods of its arguments do
        methods = [method for cls in passed for method in functions_of(cls)]
        reach = _reaches[functions] = reach_of(functions, methods, passed)
    return reach


def names_in_reach(wanted: Iterable[Wanted]) -> Names | None:
    """The values of all names that some functions reach; None if their machine code depends on more."""
    reached: dict[types.FunctionType, None] = {}
    classes: dict[type, None] = {}
    for item in wanted:
        names = _reach(_member(*item).functions).names
        if names is None:
            return None
        reached.update(dict.fromkeys(names.functions))
        classes.update(dict.fromkeys(names.classes))
    return Names(reached, classes)


def digest_of(kind: str, wanted: Iterable[Wanted]) -> str:
    """The digest of functions, of those of other units that they call, of the compiler, and of a kind."""
    return _joined(kind, _reach(wanted).digest)


def _digest_of_unit(wanted: tuple[Wanted, ...]) -> str:
    return digest_of(UNITS, wanted)


@functools.cache
def _joined(kind: str, of: str) -> str:
    return hashlib.sha256(f"{kind} {_made_by()} {of}".encode()).hexdigest()[:32]


def _passed(signature: str) -> list[type]:
    """The records and groups that are passed, and the records in them."""
    passed_records = [records[letter][0] for letter in signature if letter in records]
    return [
        *(cls for record in passed_records for cls in classes_in(record)),
        *(compounds[letter][0] for letter in signature if letter in compounds),
    ]


def _linked(wanted: tuple[Wanted, ...]) -> list[Wanted]:
    """One function of each other unit that the wanted functions call."""
    own_functions = {function for function, _ in wanted}
    linked_functions = [linked for linked in _reach(wanted).apart if linked not in own_functions]
    return list(
        {
            linked.__dict__[TOGETHER]: (linked, linked.__dict__[TOGETHER][1]) for linked in linked_functions
        }.values()
    )
