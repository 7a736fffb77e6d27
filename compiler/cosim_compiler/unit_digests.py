"""Digests of units: of functions, of all that their machine code depends on, and of the compiler.

Two processes that find the same digest would make the same text of a program. Machine code is cached under a
key (`key_of`), which depends on LLVM or the C compiler and on the processor as well.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from cosim_compiler import machine
from cosim_compiler.calls import TOGETHER
from cosim_compiler.code import coder
from cosim_compiler.convention import COMPOUNDS, RECORDS, expanded
from cosim_compiler.debugging import lines_are_shown
from cosim_compiler.fingerprint import Reach, reach_of
from cosim_compiler.names_at_rest import memory_at_rest
from cosim_compiler.names_in_reach import ReachedNames
from cosim_compiler.record import classes_in, functions_of
from cosim_compiler.road import road
from cosim_compiler.shipped import UNITS

Wanted = tuple[types.FunctionType, str]
"""A function and its signature."""
COMPILER_FILES = ("*.py", "language/*.py", "printers/*.py")
"""Files whose code decides what machine code is made, except `OTHER_FILES`."""
OTHER_FILES = ("native.py", "shipped.py", "ahead.py", "first_calls.py")
"""Files that only find machine code and call it."""


class Member(NamedTuple):
    """A function as the member of a unit."""

    functions: tuple[Wanted, ...]  # all of the unit that others call
    place: int  # of the function among them


def member_of(function: types.FunctionType, signature: str) -> Member:
    """A function as a member of its unit; unless compiled together with others, it is the only one."""
    if TOGETHER not in function.__dict__:
        return Member(((function, signature),), 0)
    together, common_signature = function.__dict__[TOGETHER]
    return Member(tuple((other, common_signature) for other in together), together.index(function))


@functools.cache
def compiler_digest() -> str:
    """The digest of the files of this compiler, behind the minor version of Python."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for pattern in COMPILER_FILES for path in folder.glob(pattern)):
        if path.name not in OTHER_FILES:
            digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"{sys.version_info[:2]} {digest.hexdigest()}"


def key_of(digest: str) -> str:
    """The key in this computer's cache: the digest with LLVM or the C compiler, and the processor."""
    return _key_of(digest, machine.is_optimized())


@functools.cache
def _key_of(digest: str, is_optimized: bool) -> str:
    made_with = road(), lines_are_shown(), is_optimized, coder().machine.versions()
    return hashlib.sha256(f"{digest} {made_with}".encode()).hexdigest()[:32]


_reaches: dict[tuple[Wanted, ...], Reach] = {}
"""By functions and their expanded signatures."""


def _reach(wanted: Iterable[Wanted]) -> Reach:
    """The reach of functions; cached while every name in reach stands for the same thing."""
    wanted = tuple(wanted)
    functions = tuple((function, expanded(signature)) for function, signature in wanted)
    memory, key = memory_at_rest(), (_reach, functions)
    if memory is not None and key in memory:
        known: Reach = memory[key]
        return known
    reach = _reaches.get(functions)
    if reach is None or reach.names is None or not reach.names.are_as_before():
        passed = dict.fromkeys(cls for _, signature in wanted for cls in _passed(signature))
        # the digest of a function does not reach the methods of its arguments
        methods = [method for cls in passed for method in functions_of(cls)]
        reach = _reaches[functions] = reach_of(functions, methods, passed)
    if memory is not None and reach.names is not None:
        memory[key] = reach
    return reach


def names_in_reach(wanted: Iterable[Wanted]) -> ReachedNames | None:
    """The values of all names that some functions reach; None if their machine code depends on more."""
    reached: dict[types.FunctionType, None] = {}
    classes: dict[type, None] = {}
    for item in wanted:
        names = _reach(member_of(*item).functions).names
        if names is None:
            return None
        reached.update(dict.fromkeys(names.functions))
        classes.update(dict.fromkeys(names.classes))
    return ReachedNames(reached, classes)


def digest_of(kind: str, wanted: Iterable[Wanted]) -> str:
    """The digest of functions, of those of other units that they call, of the compiler, and of a kind."""
    return _joined(kind, _reach(wanted).digest)


def digest_of_unit(wanted: tuple[Wanted, ...]) -> str:
    """The digest of a unit of these functions."""
    return digest_of(UNITS, wanted)


@functools.cache
def _joined(kind: str, reach_digest: str) -> str:
    return hashlib.sha256(f"{kind} {compiler_digest()} {reach_digest}".encode()).hexdigest()[:32]


def _passed(signature: str) -> list[type]:
    """The records and groups that are passed, and the records in them."""
    passed_records = [RECORDS[letter][0] for letter in signature if letter in RECORDS]
    return [
        *(cls for record in passed_records for cls in classes_in(record)),
        *(COMPOUNDS[letter][0] for letter in signature if letter in COMPOUNDS),
    ]


def linked_functions(wanted: tuple[Wanted, ...]) -> list[Wanted]:
    """One function of each other unit that the wanted functions call."""
    own_functions = {function for function, _ in wanted}
    one_of_each: dict[Any, Wanted] = {}
    for function in _reach(wanted).apart:
        if function not in own_functions:
            _, signature = unit = function.__dict__[TOGETHER]
            one_of_each[unit] = function, signature
    return list(one_of_each.values())
