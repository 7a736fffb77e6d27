"""Units: functions that are compiled together by the compiler of the kernel language, kept, and loaded.

A unit is one kernel function with its helpers, or the parts that belong together (`calls.TOGETHER`), which
others call by their symbols. It is kept as an object file under the digest of all that it is made from, with
what its functions raise.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosim_compiler import kernel_cache, machine, shipped_units
from cosim_compiler.calls import TOGETHER
from cosim_compiler.code import coder
from cosim_compiler.convention import records, spelled
from cosim_compiler.fingerprint import environment, fingerprint, is_replaced
from cosim_compiler.held_interrupts import interrupts_held
from cosim_compiler.language.program import Program
from cosim_compiler.printers import llvm_lowered
from cosim_compiler.printers.llvm_lines import are_shown
from cosim_compiler.record import methods_of
from cosim_compiler.road import road

log = logging.getLogger("cosim.native")

Wanted = tuple[types.FunctionType, str]
Failure = tuple[type[BaseException], tuple[Any, ...]]
HEADER_END = b"\0"
MADE_BY = ("*.py", "language/*.py", "printers/*.py")
NOT_MADE_BY = (
    *("native.py", "ahead.py", "kernel_cache.py", "shipped_units.py"),
    *("shipped.py", "shipped_texts.py", "lowered_code.py"),
)

_loaded: dict[str, Unit] = {}
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
        """Of the function that was asked for at this place."""
        return symbol_in(self.digest, index)

    def exception(self, status: int) -> BaseException:
        """What a status stands for."""
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
    wanted, index = _roots(function, signature)
    return _unit(wanted), index


def is_at_hand(function: types.FunctionType, signature: str) -> bool:
    """Whether a function can be had without compiling it."""
    digest = _digest(_roots(function, signature)[0])
    return digest in _loaded or shipped_units.has(digest) or kernel_cache.has(_here(digest))


def one_of_each(wanted: Iterable[Wanted]) -> list[Wanted]:
    """One function of each unit that has these, or that these call."""
    needed = [item for item in wanted if "__optional__" not in item[0].__dict__]
    units = {_roots(*item)[0]: item for item in needed}
    for roots in list(units):
        for part in _linked_parts(roots):
            item = part, part.__dict__["__part__"]
            units.setdefault(_roots(*item)[0], item)
    return list(units.values())


def lowered_text(function: types.FunctionType, signature: str, name: str) -> str:
    """LLVM's text of a function in which others are called by names, kept; see `printers.llvm_lowered`."""
    digest = digest_of_text(function, signature, name)
    kept = shipped_units.kept(digest) or kernel_cache.kept(_here(digest))
    if kept is not None:
        return kept.decode()
    text = text_anew(function, signature, name)
    kernel_cache.keep(_here(digest), text.encode())
    return text


def digest_of_text(function: types.FunctionType, signature: str, name: str) -> str:
    """Of all that the text of a function is made from."""
    return _joined((("text", fingerprint(function), spelled(signature), name),))


def text_anew(function: types.FunctionType, signature: str, name: str) -> str:
    """The text of a function, compiled."""
    with _lock, interrupts_held():
        return machine.optimized(llvm_lowered.lowered_text(function, signature, name))


def digest_of_unit(function: types.FunctionType, signature: str) -> str:
    """Of all that the unit which a function belongs to is made from."""
    return _digest(_roots(function, signature)[0])


def unit_for_all(function: types.FunctionType, signature: str) -> bytes:
    """The unit that a function belongs to, compiled for the plainest processor of this platform."""
    wanted, _ = _roots(function, signature)
    return _compiled(wanted, _digest(wanted), functools.partial(machine.object_of, is_for_all=True))


def compile_and_keep(function: types.FunctionType, signature: str) -> None:
    """Compile what another process will load."""
    wanted, _ = _roots(function, signature)
    digest = _digest(wanted)
    with kernel_cache.alone(_here(digest)):
        if not kernel_cache.has(_here(digest)):
            kernel_cache.keep(_here(digest), _compiled(wanted, digest, coder().code))


def _roots(function: types.FunctionType, signature: str) -> tuple[tuple[Wanted, ...], int]:
    """The functions of a unit that others call, and the place of one of them."""
    together: Sequence[types.FunctionType] = function.__dict__.get(TOGETHER, ())
    if not together:
        return ((function, signature),), 0
    return tuple((part, part.__dict__["__part__"]) for part in together), together.index(function)


def _unit(wanted: tuple[Wanted, ...]) -> Unit:
    digest = _digest(wanted)
    known = _loaded.get(digest)
    if known is not None:
        return known
    with _lock, interrupts_held():
        if digest not in _loaded:
            for part in _linked_parts(wanted):
                unit_of(part, part.__dict__["__part__"])
            header, _, code = _content(wanted, digest).partition(HEADER_END)
            coder().machine.load(code)
            _loaded[digest] = Unit(digest, tuple(map(_failure, json.loads(header))))
    return _loaded[digest]


def _content(wanted: tuple[Wanted, ...], digest: str) -> bytes:
    """What came with the package, or is kept, or is compiled now."""
    content = shipped_units.kept(digest) or kernel_cache.kept(_here(digest))
    if content is None:
        with kernel_cache.alone(_here(digest)):  # two processes do not compile the same
            content = kernel_cache.kept(_here(digest))
            if content is None:
                content = _compiled(wanted, digest, coder().code)
                kernel_cache.keep(_here(digest), content)
    return content


def _compiled(wanted: tuple[Wanted, ...], digest: str, code_of: Callable[[str, int], bytes]) -> bytes:
    """What is kept: what the functions raise, and the object file that `code_of` makes of a text."""
    log.info("compiling: %s", wanted[0][0].__qualname__)
    own = {function for function, _ in wanted}

    def linked(function: types.FunctionType) -> tuple[str, str] | None:
        together = function.__dict__.get(TOGETHER, ())
        if not together or function in own:
            return None
        signature = function.__dict__["__part__"]
        parts, index = _roots(function, signature)
        return symbol_in(_digest(parts), index), signature

    program = Program(linked)
    entries = [
        (symbol_in(digest, index), program.root(function, signature), signature)
        for index, (function, signature) in enumerate(wanted)
    ]
    is_small = len(wanted) == 1
    passes = 2 if is_small and any(function.picks for function in program.functions) else 1
    code = code_of(coder().text(program, entries), passes)
    header = json.dumps([_told(*failure) for failure in program.failures]).encode()
    log.info("compiled %s", wanted[0][0].__qualname__)
    return header + HEADER_END + code


def _told(kind: type[BaseException], arguments: tuple[Any, ...]) -> list[Any]:
    return [kind.__module__, kind.__qualname__, list(map(str, arguments))]


def _failure(told: Sequence[Any]) -> Failure:
    module, name, arguments = told
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):  # it was made inside a function
        found = RuntimeError
    return found, tuple(arguments)


# ---- digests


@functools.cache
def _versions() -> str:
    """What code depends on besides the functions: Python, and what makes it here."""
    here = Path(__file__).parent
    made_by = hashlib.sha256()
    for path in sorted(path for pattern in MADE_BY for path in here.glob(pattern)):
        if path.name not in NOT_MADE_BY:
            made_by.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return repr((road(), are_shown(), sys.version_info[:2], made_by.hexdigest()))


@functools.cache
def _here(digest: str) -> str:
    """Under which code is kept: that of one computer does not run on each other one."""
    return hashlib.sha256(f"{coder().machine.versions()} {digest}".encode()).hexdigest()[:32]


def _digest(wanted: tuple[Wanted, ...]) -> str:
    """Of the functions, of the parts that they call, and of all that makes code of them."""
    return _joined(
        tuple(
            (
                *(fingerprint(function), spelled(signature)),
                *map(fingerprint, (*_parts(function), *_methods(signature))),
            )
            for function, signature in wanted
        )
    )


@functools.cache
def _joined(of: tuple[tuple[str, ...], ...]) -> str:
    return hashlib.sha256(f"own {_versions()} {of}".encode()).hexdigest()[:32]


def _methods(signature: str) -> list[types.FunctionType]:
    """Of the records that are passed: a digest of a function does not see what a method does."""
    passed = [records[letter][0] for letter in signature if letter in records]
    return [method for cls in passed for method in methods_of(cls)]


_parts_by_digest: dict[str, tuple[types.FunctionType, ...]] = {}


def _parts(function: types.FunctionType) -> tuple[types.FunctionType, ...]:
    """All parts that a function reaches; a digest stops at them."""
    digest = fingerprint(function)
    if digest not in _parts_by_digest:
        _parts_by_digest[digest] = tuple(_parts_reached(function))
    return _parts_by_digest[digest]


def _parts_reached(function: types.FunctionType) -> Iterator[types.FunctionType]:
    found, at = [function], 0
    while at < len(found):
        for value in environment(found[at]).values():
            if isinstance(value, types.FunctionType) and value not in found and not is_replaced(value):
                found.append(value)
                if "__part__" in value.__dict__:
                    yield value
        at += 1


def _linked_parts(wanted: tuple[Wanted, ...]) -> list[types.FunctionType]:
    """One part of each other unit whose functions these call."""
    own = {function for function, _ in wanted}
    reached = (part for function, _ in wanted for part in _parts(function))
    others = (part for part in reached if part not in own and part.__dict__.get(TOGETHER))
    return list({part.__dict__[TOGETHER][0]: part for part in others}.values())
