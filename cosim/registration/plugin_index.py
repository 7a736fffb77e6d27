"""An index of what installed plugins register: a start imports none of them before it is needed.

What a plugin registers is kept beside compiled kernels, with the files that decide about it: the modules of
its own package, and those of the base classes. When one of them has changed, or their packages are found at
another place, the plugin is loaded and its part is made again. A plugin that fails is loaded at each start:
its fault is reported as it is now.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import astuple, fields
from typing import Any

from cosim.registration.candidate import Candidate
from cosim.registration.file_stamps import package_place, stamp_of
from cosim.registration.listing_process import run_in_listing_process
from cosim.registration.plugin_loader import discover, load_plugin
from cosim.registration.plugin_record import PluginRecord, RegisteredClass
from cosim.registration.shipped_index import INDEX, from_shipped, to_shipped
from cosim.registration.unloaded_class import UnloadedClass
from cosim.version import __version__
from cosim_compiler import kernel_cache
from cosim_compiler.shipped import shipped_content


def installed_plugins() -> list[PluginRecord]:
    """The installed plugins, each from the index where that is still true, else loaded."""
    return discover(load=_indexed_record)


def _indexed_record(candidate: Candidate) -> PluginRecord:
    """The record of a plugin: from the index, else of the plugin, which is loaded and indexed."""
    record = _cached_record(candidate)
    if record is None and candidate.is_ours and _list_ours():
        record = _cached_record(candidate)
    return _load_and_cache(candidate) if record is None else record


def _cached_record(candidate: Candidate) -> PluginRecord | None:
    """The record of a plugin from the index, where that is still true."""
    content = kernel_cache.read_cached(_digest(candidate)) or _shipped_content(candidate)
    return None if content is None else _from_bytes(content, candidate)


def _shipped_content(candidate: Candidate) -> bytes | None:
    """The record of a plugin of ours that came with the package, kept; None where its files are others."""
    piece = shipped_content(INDEX, _shipped_key(candidate)) if candidate.is_ours else None
    content = None if piece is None else from_shipped(piece)
    if content is not None:
        kernel_cache.write_cached(_digest(candidate), content)
    return content


def index_to_ship() -> dict[str, bytes]:
    """The records of our plugins that are kept, as they are shipped."""
    candidates: list[Candidate] = []

    def collect(candidate: Candidate) -> PluginRecord:
        candidates.append(candidate)
        return _indexed_record(candidate)

    discover(load=collect)
    ours = [candidate for candidate in candidates if candidate.is_ours]
    contents = [(_shipped_key(candidate), kernel_cache.read_cached(_digest(candidate))) for candidate in ours]
    return {key: to_shipped(content) for key, content in contents if content is not None}


def _load_and_cache(candidate: Candidate) -> PluginRecord:
    """The record of a plugin that is loaded now, and kept."""
    record = load_plugin(candidate)
    if record.status == "loaded" and not record.refused:
        kernel_cache.write_cached(_digest(candidate), _to_bytes(record))
    return record


@functools.cache
def _list_ours() -> bool:
    """Keep the records of all plugins of ours that are not kept, once; True."""

    def load_missing(candidate: Candidate) -> PluginRecord:
        is_listed_now = candidate.is_ours and _cached_record(candidate) is None
        return _load_and_cache(candidate) if is_listed_now else candidate.skipped()

    run_in_listing_process(lambda: discover(load=load_missing))
    return True


def _digest(candidate: Candidate) -> str:
    """The key of the record of a plugin: a digest of its distribution and its location."""
    return _digest_of(package_place(_top(candidate.value)), sys.version, candidate)


def _shipped_key(candidate: Candidate) -> str:
    """The key of the record of a plugin of ours in the package."""
    return _digest_of("", sys.version_info[:2], candidate)


def _digest_of(place: object, python: object, candidate: Candidate) -> str:
    """A digest of an entry point, of where its package and which Python it is, and of what records have."""
    identity = (candidate.name, candidate.value, candidate.distribution, candidate.version)
    recorded_fields = [field.name for field in fields(UnloadedClass)]
    key = [__version__, python, place, identity, recorded_fields]
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()


def _to_bytes(record: PluginRecord) -> bytes:
    """A record, with the files and the places of packages on which it depends."""
    rows = [[entry.id, *astuple(entry.known)] for entry in record.entries]
    modules = sorted(_modules(record))
    files = {path: stamp_of(path) for path in sorted(set(_files(modules)))}
    places = {package: package_place(package) for package in sorted({_top(name) for name in modules})}
    document = {"files": files, "places": places, "contract": record.contract, "entries": rows}
    return json.dumps(document).encode()


def _modules(record: PluginRecord) -> set[str]:
    """The modules on which a record depends: the plugin's package, as far as imported, and all bases."""
    package = _top(record.value)
    names = {name for name in sys.modules if _top(name) == package}
    return names | {base.__module__ for entry in record.entries for base in entry.cls.__mro__}


def _files(modules: list[str]) -> Iterator[str]:
    """The files of imported modules."""
    for name in modules:
        path = getattr(sys.modules.get(name), "__file__", None)
        if path:
            yield path


def _from_bytes(content: bytes, candidate: Candidate) -> PluginRecord | None:
    """The record, None where a file has changed since, or another package would be imported."""
    document: dict[str, Any] = json.loads(content)
    if any(package_place(package) != place for package, place in document["places"].items()):
        return None
    if any(stamp_of(path) != stamp for path, stamp in document["files"].items()):
        return None
    owner = candidate.name, candidate.distribution, candidate.version
    entries = tuple(
        RegisteredClass(id, UnloadedClass(target, tuple(kinds), name, summary, *map(tuple, words)), *owner)
        for id, target, kinds, name, summary, *words in document["entries"]
    )
    return PluginRecord(*owner, candidate.value, "loaded", document["contract"], entries)


def _top(name: str) -> str:
    """The package of a module or of an entry point."""
    return name.partition(":")[0].partition(".")[0].strip()
