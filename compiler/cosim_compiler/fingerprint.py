"""The digest of all that the machine code of a function depends on.

Everything counts that is reachable from the function, values by their bytes. The digest is the same in every
process: it uses no addresses, no hash() and no names of variables.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cosim_compiler import foreign, tables
from cosim_compiler.calls import GROUP_AT, INDIRECT, STATUS, TOGETHER, is_call
from cosim_compiler.convention import COMPOUNDS
from cosim_compiler.names_at_rest import memory_at_rest
from cosim_compiler.names_in_reach import ReachedNames, is_library
from cosim_compiler.record import rows_of
from cosim_compiler.value_digest import ValueDigest

REPLACED: tuple[Any, ...] = (
    foreign.call_with_array,
    foreign.call_with_interval,
    *foreign.ARRAYS_AT,
    rows_of,
    tables.as_table,
    tables.zeros,
)
"""Functions that the compiler replaces by code of its own: their Python code does not count."""


class _StoredDigest(NamedTuple):
    """The digest of a function, and the names on which it depends."""

    digest: bytes
    names: ReachedNames


class _StoredPart(NamedTuple):
    """A function without the functions that it names, and the names on which that depends."""

    part: _OwnPart
    names: ReachedNames


_digests: dict[types.FunctionType, _StoredDigest] = {}
_own_parts: dict[types.FunctionType, _StoredPart] = {}


def is_replaced(function: types.FunctionType) -> bool:
    """Whether the Python code of a function does not count, since the compiler replaces it."""
    return function in REPLACED or is_call(function)


def fingerprint(function: types.FunctionType, *more: str) -> str:
    """Hexadecimal digest of bytecode, constants, globals and closures of every function reachable.

    Parameters
    ----------
    function : function
        A plain Python function.
    more : str
        Anything else that the result depends on (signature, options, versions).
    """
    return _joined(_known_digest(function), more)


@functools.cache
def _joined(function_digest: bytes, more: tuple[str, ...]) -> str:
    """The digest of a function alone and of what else counts, joined to one."""
    digest = _ReachDigest()
    for text in more:
        digest.feed(text)
    digest.put("of", function_digest)
    return digest.hash.hexdigest()[:32]


@functools.cache
def digest_of_module(module: types.ModuleType) -> str:
    """The digest of the source of a module."""
    return hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()


def _known_digest(function: types.FunctionType) -> bytes:
    """The digest of a function alone; cached while every name in reach stands for the same thing."""
    stored = _digests.get(function)
    if stored is not None and stored.names.are_as_before():
        return stored.digest
    digest = _ReachDigest()
    digest.root(function)
    function_digest = digest.hash.digest()
    if digest.is_lasting:
        _digests[function] = _StoredDigest(function_digest, ReachedNames(digest.functions, digest.classes))
    else:
        _digests.pop(function, None)
    return function_digest


@dataclass(frozen=True)
class Reach:
    """All that the machine code of some functions depends on.

    Attributes
    ----------
    digest : str
        Of all that they reach, and that the functions in `apart` reach.
    names : ReachedNames or None
        While they are as before, so is the digest. None where it depends on more than names.
    apart : tuple of function
        Functions in reach that are compiled by themselves.
    """

    digest: str
    names: ReachedNames | None
    apart: tuple[types.FunctionType, ...]


def reach_of(
    functions: Iterable[tuple[types.FunctionType, str]],
    methods: Iterable[types.FunctionType],
    classes: Iterable[type],
) -> Reach:
    """The reach of functions with their signatures; each function is read once, however many reach it.

    Parameters
    ----------
    functions : iterable of (function, str)
    methods : iterable of function
        Of what is passed to them.
    classes : iterable of type
        What is passed: their attributes count.
    """
    digest = _digest_of_reach(functions, methods)
    names = ReachedNames(digest.functions, [*digest.classes, *classes]) if digest.is_lasting else None
    return Reach(_hexadecimal(digest), names, tuple(digest.apart))


class ReachNow(NamedTuple):
    """What functions reach now; whether names stand for the same later is not remembered.

    Attributes
    ----------
    digest : str
        As that of `Reach`.
    functions : tuple of function
    classes : tuple of type
        Records, named tuples and failures.
    """

    digest: str
    functions: tuple[types.FunctionType, ...]
    classes: tuple[type, ...]


def reach_now(
    functions: Iterable[tuple[types.FunctionType, str]], methods: Iterable[types.FunctionType]
) -> ReachNow | None:
    """What functions reach, as `reach_of`; None where something may change while names stay."""
    digest = _digest_of_reach(functions, methods)
    if not digest.is_lasting:
        return None
    classes = tuple(dict.fromkeys(digest.classes))
    return ReachNow(_hexadecimal(digest), tuple(digest.functions), classes)


def _digest_of_reach(
    functions: Iterable[tuple[types.FunctionType, str]], methods: Iterable[types.FunctionType]
) -> _ReachDigest:
    digest = _ReachDigest()
    for function, signature in functions:
        digest.root(function)
        digest.feed(signature)
    for method in methods:
        digest.root(method)
    for function in digest.apart:  # the list grows during the loop
        digest.root(function)
    return digest


def _hexadecimal(digest: _ReachDigest) -> str:
    text: str = digest.hash.hexdigest()
    return text[:32]


class _ReachDigest(ValueDigest):
    """Digests functions with all that they reach; one that comes a second time counts as its number."""

    def __init__(self, numbers: dict[types.FunctionType, int] | None = None) -> None:
        super().__init__()
        self._numbers = {} if numbers is None else numbers
        self.functions: list[types.FunctionType] = []
        self.apart: list[types.FunctionType] = []  # functions that are compiled by themselves
        self._fed: set[types.FunctionType] = set()

    def new_digest(self) -> _ReachDigest:
        return _ReachDigest(dict(self._numbers))

    def merge(self, other: _ReachDigest) -> None:
        """Add the functions, too, that another digest has met."""
        super().merge(other)
        self.functions += other.functions
        self.apart += other.apart

    def root(self, function: types.FunctionType) -> None:
        """Feed a function with all that it reaches, also one that is compiled by itself."""
        number = self._numbers.setdefault(function, len(self._numbers))
        self.put("root", str(number).encode())
        if function not in self._fed:
            self._content(function)

    def feed_function(self, function: types.FunctionType) -> None:
        number = self._numbers.get(function)
        if number is not None:
            self.put("again", str(number).encode())
            return
        self._numbers[function] = len(self._numbers)
        if TOGETHER in function.__dict__:
            # it is compiled by itself: what it does is not in its callers
            self.put_name("apart", function)
            self.feed(function.__dict__[TOGETHER][1])
            self.apart.append(function)
        else:
            self._content(function)

    def _content(self, function: types.FunctionType) -> None:
        """Feed what a function is made of, and the functions that it names."""
        self._fed.add(function)
        if is_replaced(function):
            self.put_name("replaced", function)
            self.feed_all(map(function.__dict__.get, (INDIRECT, STATUS)))
        elif GROUP_AT in function.__dict__:
            self.put_name("group", function)
            self.feed(COMPOUNDS[function.__dict__[GROUP_AT]])
        elif is_library(function.__globals__.get("__name__")):
            self.put_name("library", function)
        else:
            self.functions.append(function)
            own_part = _own_part(function)
            if own_part is None:
                self.feed_whole_function(function)
            else:
                self.put("function", own_part.digest)
                self.classes += own_part.classes
                for called in own_part.functions:
                    self.feed_function(called)
                self.put("end")


@dataclass(frozen=True)
class _OwnPart:
    """What a function is made of, without the functions that it names; these are listed in order."""

    digest: bytes
    functions: tuple[types.FunctionType, ...]
    classes: tuple[type, ...]


class _OwnDigest(ValueDigest):
    """Digests what one function is made of; other functions count as their number in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: list[types.FunctionType] = []
        self.is_whole = True  # False once the place of a function in the list depends on an order that varies

    def feed_function(self, function: types.FunctionType) -> None:
        self.put("calls", str(len(self.functions)).encode())
        self.functions.append(function)

    def new_digest(self) -> _OwnDigest:
        return _OwnDigest()

    def merge(self, other: _OwnDigest) -> None:
        """Add what another digest has met; functions in it have no settled place in the list."""
        super().merge(other)
        self.is_whole = self.is_whole and other.is_whole and not other.functions


def _own_part(function: types.FunctionType) -> _OwnPart | None:
    """A function's own part; None if it may change although its names stand for the same objects."""
    memory, key = memory_at_rest(), (_own_part, function)
    if memory is None:
        return _stored_part(function)
    if key not in memory:
        memory[key] = _lasting_part(_own_digest(function))
    part: _OwnPart | None = memory[key]
    return part


def _own_digest(function: types.FunctionType) -> _OwnDigest:
    """The digest of what a function is made of, read now."""
    digest = _OwnDigest()
    digest.feed_whole_function(function)
    return digest


def _lasting_part(digest: _OwnDigest) -> _OwnPart | None:
    """The own part that was read, if it stays the same while the names stand for the same objects."""
    if not (digest.is_whole and digest.is_lasting):
        return None
    return _OwnPart(digest.hash.digest(), tuple(digest.functions), tuple(digest.classes))


def _stored_part(function: types.FunctionType) -> _OwnPart | None:
    """The part from the last reading, if its names still stand for the same objects."""
    stored = _own_parts.get(function)
    if stored is not None and stored.names.are_as_before():
        return stored.part
    digest = _own_digest(function)
    part = _lasting_part(digest)
    if part is None:
        _own_parts.pop(function, None)
    else:
        _own_parts[function] = _StoredPart(part, ReachedNames([function], digest.classes))
    return part
