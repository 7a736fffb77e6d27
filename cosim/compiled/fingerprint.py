"""What the machine code of a function depends on, as a digest.

numba's own disk cache looks at one source file only; after a change in a helper it serves stale
kernels. Ours looks at everything that is reachable from the function.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np


def reachable_names(code: types.CodeType) -> Iterator[str]:
    """Global and free names that a code object, or one nested in it, mentions."""
    yield from code.co_names
    yield from code.co_freevars
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from reachable_names(constant)


def environment(function: types.FunctionType) -> dict[str, Any]:
    """Values of the global and closure names that the function mentions."""
    found = {}
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in dict.fromkeys(reachable_names(function.__code__)):
        if name in cells:
            found[name] = cells[name].cell_contents
        elif name in function.__globals__:
            found[name] = function.__globals__[name]
    return found


def fingerprint(function: types.FunctionType, *more: str) -> str:
    """Hexadecimal digest of bytecode, constants, globals and closures of every function reachable.

    Parameters
    ----------
    function : function
        A plain Python function.
    more : str
        Anything else that the result depends on (signature, options, versions).
    """
    digest = hashlib.sha256()
    for text in more:
        digest.update(text.encode() + b"\0")
    _feed_function(digest, function, set())
    return digest.hexdigest()[:32]


def _feed_function(digest: Any, function: types.FunctionType, seen: set[int]) -> None:
    if id(function) in seen:
        digest.update(b"again:" + function.__qualname__.encode())
        return
    seen.add(id(function))
    _feed_code(digest, function.__code__)
    digest.update(repr((function.__defaults__, function.__kwdefaults__)).encode())
    for name, value in environment(function).items():
        digest.update(name.encode() + b"=")
        if isinstance(value, types.FunctionType):
            _feed_function(digest, value, seen)
        elif isinstance(value, types.ModuleType):
            digest.update(value.__name__.encode())
        elif isinstance(value, np.ndarray):
            digest.update(repr((str(value.dtype), value.shape)).encode() + value.tobytes())
        else:
            digest.update(repr(value).encode())


def _feed_code(digest: Any, code: types.CodeType) -> None:
    digest.update(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, code.co_argcount)).encode())
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _feed_code(digest, constant)
        else:
            digest.update(type(constant).__name__.encode() + repr(constant).encode())
