"""Kernel functions that broke no rule, kept from one process to the next.

One entry beside compiled kernels for each text of a file, under a digest of the text and of the rules. In it
is a digest for each function: where it begins, what it may ask for, and what kind of thing each name of its
module stands for, which is all that the rules look at. Faults are not kept: they are found again, with their
lines. A digest may have a value beside it: what was read from a function that is clean (`kept_reading`). A
damaged entry counts as none (`kernel_cache`), and so does one in another form.
"""

from __future__ import annotations

import atexit
import enum
import functools
import hashlib
import json
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cosim_compiler import kernel_cache, shipped
from cosim_compiler.debugging import is_debugging
from cosim_compiler.shipped import FACTS
from cosim_compiler.sources.kernel_source import FLAT

READERS = ("*.py", "sources/*.py", "language/*.py")
"""The modules that read functions and decide what is a fault."""
LARGEST = 1 << 20
"""Bytes of an entry; a larger one begins anew."""


class _Source:
    """The facts of the functions of one text that have no faults, by their keys."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        self.kept_facts = _read_facts(digest)
        self.facts = dict(self.kept_facts)
        """Also those of this process."""


_sources: dict[str, _Source] = {}


def is_known_clean(source: str, key: str) -> bool:
    """Whether a function of this text was found without faults before."""
    return key in _source_of(source).facts


def remember_clean(source: str, key: str, fact: Any = None) -> None:
    """The function has no faults, and `fact`, which JSON can show, was read from it; written at the end."""
    _source_of(source).facts[key] = fact


def cached_fact(source: str, key: str) -> Any:
    """The fact that was read from a function of this text before; None if there is none."""
    return _source_of(source).facts.get(key)


def key_of(function: types.FunctionType, declared: frozenset[str], names: Mapping[str, Any]) -> str:
    """The digest of all that the verdict on a function depends on besides its text."""
    code = function.__code__
    content = [code.co_firstlineno, code.co_qualname, code.co_freevars, sorted(declared)]
    if FLAT in function.__dict__:  # one text, and a function for each use of it
        content.append([code.co_code.hex(), code.co_names, code.co_varnames])
    kinds = sorted((name, _kind(value)) for name, value in names.items())
    return hashlib.sha256(json.dumps([content, kinds, is_debugging()]).encode()).hexdigest()


def _kind(value: Any) -> str:
    """The part of a value that the rules can see."""
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, type):
        return f"class {[issubclass(value, base) for base in (enum.Enum, BaseException)]}"
    if isinstance(value, types.BuiltinFunctionType):
        return f"builtin {value.__module__}.{value.__name__}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype.kind}"
    shown = f"{type(value).__module__}.{type(value).__qualname__}"
    return f"{shown} of {sorted(set(map(_kind, value)))}" if isinstance(value, tuple) else shown


def _source_of(source: str) -> _Source:
    kept_source = _sources.get(source)
    if kept_source is None:
        if not _sources:
            atexit.register(_write)
        hashed_text = f"rules {_rules()}\0{source}"
        digest = hashlib.sha256(hashed_text.encode("utf-8", "surrogatepass")).hexdigest()
        kept_source = _sources[source] = _Source(digest)
    return kept_source


@functools.cache
def _rules() -> str:
    """The rules as a digest: ours, and those of the Python that reads the source and of NumPy."""
    folder = Path(__file__).parent.parent
    digest = hashlib.sha256(f"{sys.version} {np.__version__}".encode())
    for path in sorted(path for pattern in READERS for path in folder.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def facts_of_sources() -> dict[str, bytes]:
    """The facts of this process about the functions of each text, by digests: an installation ships them."""
    return {source.digest: _as_bytes(source.facts) for source in _sources.values() if source.facts}


def _as_bytes(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True).encode()


def _read_facts(digest: str) -> dict[str, Any]:
    """The facts of the package, and those that are stored on this computer."""
    brought = shipped.shipped_content(FACTS, digest) if shipped.has(FACTS, digest) else None
    return {**_facts_in(brought), **_facts_in(kernel_cache.read_cached(digest))}


def _facts_in(content: bytes | None) -> dict[str, Any]:
    try:
        facts = {} if content is None else json.loads(content)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _write() -> None:
    """Store new facts, with those that other processes have stored meanwhile."""
    for source in _sources.values():
        if new_facts := {key: source.facts[key] for key in source.facts.keys() - source.kept_facts.keys()}:
            content = _as_bytes({**_read_facts(source.digest), **new_facts})
            if len(content) > LARGEST:  # most of it is of helpers and values that are no more
                content = _as_bytes(new_facts)
            kernel_cache.write_cached(source.digest, content)
