"""The texts of tangents and adjoints, stored on this computer so that another process need not write them.

A text is found by the digest of all that it follows from: the function, tangents that authors have written
for what it calls, and the compiler. A name in it stands for a function, a class or an array. Functions and
classes are stored as the place at which a walk through all that the function reaches meets them.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import math
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cosim_compiler import kernel_cache, unit_digests
from cosim_compiler.derivatives.own_tangents import (
    LEAVES_FIXED,
    RECORDED,
    WITH_VALUES,
    in_lanes_of,
    own_tangent,
)
from cosim_compiler.fingerprint import fingerprint
from cosim_compiler.names_in_reach import ReachedNames, environment
from cosim_compiler.record import rows_of
from cosim_compiler.sources.run_source import run_source
from cosim_compiler.tables import agreed, as_table, in_lanes, zeros, zeros_in_lanes

KNOWN = {
    "math": math, "rows_of": rows_of, "as_table": as_table, "zeros": zeros, "agreed": agreed,
    "in_lanes": in_lanes, "zeros_in_lanes": zeros_in_lanes, "__name__": "cosim_compiler.derivatives",
}  # fmt: skip
"""What stands for itself in each text."""
OURS = "cosim_compiler", "builtins"

Made = tuple[types.FunctionType, str]
"""A function and its signature."""


class Written(NamedTuple):
    """A text.

    Attributes
    ----------
    text : str
    space : dict of str to object
        What its names stand for.
    wanted : dict of str to str
        The signatures of the functions that are wanted of it, by their names in it.
    """

    text: str
    space: dict[str, Any]
    wanted: dict[str, str]

    def functions(self, of: types.FunctionType, what: str) -> list[Made]:
        """The functions, ready to run; they are what (a word) of a function."""
        space = run_source(self.text, {**KNOWN, **self.space}, f"{what} of {of.__qualname__}")
        for name in self.wanted:
            space[name].__qualname__ = space[name].__name__ = f"{of.__name__}_{name}"
            space[name].__dict__["__text__"] = self.text
        return [(space[name], signature) for name, signature in self.wanted.items()]


def kept_text(of: types.FunctionType, signature: str, options: str, write: Callable[[], Written]) -> Written:
    """The text that `write` gives for a function, or gave in an earlier process.

    Parameters
    ----------
    of : function
    signature : str
        Of this function.
    options : str
        What else the text depends on.
    write : callable
    """
    names = unit_digests.names_in_reach([(of, signature)])
    if names is None:
        return write()
    places = _Places(names)
    key = _key(of, signature, options, places)
    stored = kernel_cache.read_cached(key)
    if stored is not None:
        facts = json.loads(stored)
        space = {name: places.value(place) for name, place in facts["space"].items()}
        return Written(facts["text"], space, facts["wanted"])
    written = write()
    found = {name: places.place_of(value) for name, value in written.space.items()}
    if None not in found.values():
        facts = {"text": written.text, "space": found, "wanted": written.wanted}
        kernel_cache.write_cached(key, json.dumps(facts).encode())
    return written


class _Places:
    """The functions and classes that a function reaches, by the place at which a walk meets them first.

    A place is the number in this walk, or the module and the name of something of this package, or an array.
    """

    def __init__(self, names: ReachedNames) -> None:
        self._values = list(dict.fromkeys(_met(names)))
        self._numbers = {id(value): number for number, value in enumerate(self._values)}

    def value(self, place: Any) -> Any:
        """What is at a place."""
        match place:
            case int():
                return self._values[place]
            case ["array", kind, shape, numbers]:
                return np.frombuffer(base64.b64decode(numbers), kind).reshape(shape).copy()
            case [module, name]:
                return _ours(module, name)
        raise ValueError(f"{place} is not a place")

    def place_of(self, value: Any) -> Any:
        """The place at which something is; None if there is none."""
        if id(value) in self._numbers:
            return self._numbers[id(value)]
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            return ["array", value.dtype.str, value.shape, base64.b64encode(value.tobytes()).decode()]
        module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
        return [module, name] if module and _ours(module, name) is value else None

    def own(self) -> Iterator[str]:
        """Digests of the tangents and adjoints that authors have written for the functions."""
        for number, value in enumerate(self._values):
            tangent = own_tangent(value) if isinstance(value, types.FunctionType) else None
            if tangent is not None:
                marks = [tangent.__dict__.get(mark) for mark in (WITH_VALUES, LEAVES_FIXED)]
                yield f"{number} {marks} {fingerprint(tangent)} {fingerprint(in_lanes_of(tangent))}"
            if isinstance(value, types.FunctionType) and value in RECORDED:
                yield f"{number} {[fingerprint(function) for function in RECORDED[value]]}"


def _met(names: ReachedNames) -> Iterator[Any]:
    """The functions and classes in reach, and the derivatives of functions that authors have written."""
    for function in names.functions:
        for value in (function, *environment(function).values()):
            if isinstance(value, (types.FunctionType, type)):
                yield value
            if isinstance(value, types.FunctionType):
                tangent = own_tangent(value)
                if tangent is not None:
                    yield tangent
                    yield in_lanes_of(tangent)
                yield from RECORDED.get(value, ())
    yield from names.classes


def _ours(module: str, name: str) -> Any:
    """What has a name in a module of this package, or is built in; None if nothing has."""
    if module.partition(".")[0] not in OURS or module not in sys.modules:
        return None
    value: Any = sys.modules[module]
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _key(of: types.FunctionType, signature: str, options: str, places: _Places) -> str:
    digest = unit_digests.digest_of("derivatives", [(of, signature)])
    content = "\0".join((digest, _made_by(), options, *places.own()))
    return hashlib.sha256(content.encode()).hexdigest()[:32]


@functools.cache
def _made_by() -> str:
    """What writes texts as a digest; the rest of the compiler is in the digest of the function."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
