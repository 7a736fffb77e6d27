"""The texts of tangents and adjoints, stored on this computer for other processes.

A text is stored under a digest of all that it depends on: the function, the derivatives that authors have
written for functions that it calls, and the compiler.
"""

from __future__ import annotations

import functools
import hashlib
import json
import types
from collections.abc import Callable
from pathlib import Path

from cosim_compiler import kernel_cache, unit_digests
from cosim_compiler.derivatives.derivative_text import DerivativeText
from cosim_compiler.derivatives.text_places import TextPlaces


def kept_text(
    function: types.FunctionType, signature: str, options: str, write: Callable[[], DerivativeText]
) -> DerivativeText:
    """The text that `write` returns for a function; the stored one if an earlier process has written it.

    Parameters
    ----------
    function : function
    signature : str
        Of this function.
    options : str
        What else the text depends on.
    write : callable
    """
    names = unit_digests.names_in_reach([(function, signature)])
    if names is None:
        return write()
    places = TextPlaces(names)
    key = _key(function, signature, options, places)
    stored = kernel_cache.read_cached(key)
    if stored is not None:
        return _from_bytes(stored, places)
    derivative = write()
    content = _to_bytes(derivative, places)
    if content is not None:
        kernel_cache.write_cached(key, content)
    return derivative


def _to_bytes(derivative: DerivativeText, places: TextPlaces) -> bytes | None:
    """The stored form of a text; None if another process could not find a value that it names."""
    named = {name: places.place_of(value) for name, value in derivative.values.items()}
    if None in named.values():
        return None
    return json.dumps(derivative._replace(values=named)).encode()


def _from_bytes(stored: bytes, places: TextPlaces) -> DerivativeText:
    """The text that `_to_bytes` stored."""
    text, named, signatures = json.loads(stored)
    return DerivativeText(text, {name: places.value_at(place) for name, place in named.items()}, signatures)


def _key(function: types.FunctionType, signature: str, options: str, places: TextPlaces) -> str:
    """The name under which a text is stored."""
    digest = unit_digests.digest_of("derivatives", [(function, signature)])
    content = "\0".join((digest, _digest_of_writers(), options, *places.author_digests()))
    return hashlib.sha256(content.encode()).hexdigest()[:32]


@functools.cache
def _digest_of_writers() -> str:
    """A digest of this package, which writes texts; the rest of the compiler is in the function's digest."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
