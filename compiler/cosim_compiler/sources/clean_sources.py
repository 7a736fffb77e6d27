"""Kernel functions without faults, stored for other processes so that they are not checked again.

The cache of compiled kernels has an entry for each text of a file, under a digest of the text and of the
rules. The entry lists keys of functions. A key is a digest of all that the rules look at: where the function
begins, what it may ask for, and of what kind the value of each name is. A function with faults is not stored:
each process finds its faults again, with their lines.

A key may have a value: a fact that was read from the function (`kept_reading`). A damaged entry, and one in
another form, counts as none.
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
"""The modules that read functions and decide what is a fault: the digest of the rules is theirs."""
LARGEST = 1 << 20
"""Bytes of an entry; a larger one is replaced by the new facts alone."""


class _Source:
    """The facts of the functions of one text that have no faults, by their keys."""

    def __init__(self, digest: str) -> None:
        self.digest = digest
        self.stored_facts = _read_facts(digest)
        self.facts = dict(self.stored_facts)  # with those of this process


_sources: dict[str, _Source] = {}


def is_known_clean(source: str, key: str) -> bool:
    """Whether a function of this text, by its key, is known to have no faults."""
    return key in _source_of(source).facts


def remember_clean(source: str, key: str, fact: Any = None) -> None:
    """Record that a function has no faults, with a fact for JSON; it is stored when the process ends."""
    _source_of(source).facts[key] = fact


def cached_fact(source: str, key: str) -> Any:
    """The fact of a function of this text, by its key; None if there is none."""
    return _source_of(source).facts.get(key)


def key_of(function: types.FunctionType, declared: frozenset[str], names: Mapping[str, Any]) -> str:
    """The key of a function: a digest of all that its faults depend on besides the text of the file."""
    code = function.__code__
    content = [code.co_firstlineno, code.co_qualname, code.co_freevars, sorted(declared)]
    if FLAT in function.__dict__:  # several flat functions may come from one definition
        content.append([code.co_code.hex(), code.co_names, code.co_varnames])
    kinds = sorted((name, _kind(value)) for name, value in names.items())
    return hashlib.sha256(json.dumps([content, kinds, is_debugging()]).encode()).hexdigest()


def _kind(value: Any) -> str:
    """The kind of a value, as far as the rules tell kinds apart."""
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
    known = _sources.get(source)
    if known is None:
        if not _sources:
            atexit.register(_write)
        hashed_text = f"rules {_rules()}\0{source}"
        digest = hashlib.sha256(hashed_text.encode("utf-8", "surrogatepass")).hexdigest()
        known = _sources[source] = _Source(digest)
    return known


@functools.cache
def _rules() -> str:
    """A digest of the rules: of our modules, and of the versions of Python and NumPy."""
    folder = Path(__file__).parent.parent
    digest = hashlib.sha256(f"{sys.version} {np.__version__}".encode())
    for path in sorted(path for pattern in READERS for path in folder.glob(pattern)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def facts_of_sources() -> dict[str, bytes]:
    """The facts about the functions of each text, by its digest, as an installation ships them."""
    return {source.digest: _as_bytes(source.facts) for source in _sources.values() if source.facts}


def _as_bytes(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, sort_keys=True).encode()


def _read_facts(digest: str) -> dict[str, Any]:
    """The facts that the package ships, and those that are stored on this computer."""
    shipped_facts = shipped.shipped_content(FACTS, digest) if shipped.has(FACTS, digest) else None
    return {**_facts_in(shipped_facts), **_facts_in(kernel_cache.read_cached(digest))}


def _facts_in(content: bytes | None) -> dict[str, Any]:
    try:
        facts = {} if content is None else json.loads(content)
    except ValueError:
        return {}
    return facts if isinstance(facts, dict) else {}


def _write() -> None:
    """Store new facts, with those that other processes have stored meanwhile."""
    for source in _sources.values():
        if new_facts := {key: source.facts[key] for key in source.facts.keys() - source.stored_facts.keys()}:
            content = _as_bytes({**_read_facts(source.digest), **new_facts})
            if len(content) > LARGEST:  # most of its keys are outdated
                content = _as_bytes(new_facts)
            kernel_cache.write_cached(source.digest, content)
