"""LLVM's text of functions that belong to no model: it came with the package, and spares an export numba.

A function is found by the digest of all that it is made from, as in `shipped`; the parts that it calls
are called by name, so they do not count.
"""

from __future__ import annotations

import functools
import json
import types
import zlib
from collections.abc import Mapping

from cosim_compiler import shipped
from cosim_compiler.convention import spelled
from cosim_compiler.fingerprint import fingerprint

PATH = shipped.PATH.with_name(f"texts{shipped.PATH.name.removeprefix('kernels')}.z")


def key(function: types.FunctionType, signature: str) -> str:
    """Under which the text of a function is kept."""
    return fingerprint(function, spelled(signature), shipped.made_with(), "text")


def text(function: types.FunctionType, signature: str) -> str | None:
    """The text, as `fresh.text_of` makes it for `fresh.lift_by_name`; None where it did not come."""
    return _texts().get(key(function, signature))


def packed(texts: Mapping[str, str]) -> bytes:
    """The content of the file: texts by their keys."""
    return shipped.sealed(zlib.compress(json.dumps(dict(sorted(texts.items()))).encode(), 9))


@functools.cache
def _texts() -> dict[str, str]:
    content = shipped.content_of(PATH)
    return {} if content is None else json.loads(zlib.decompress(content))
