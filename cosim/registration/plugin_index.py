"""An index of what the installed plugins register: a start imports none of them before it is needed.

It is kept beside compiled kernels, under a digest of what is installed, and lists the files that were
imported when it was made: when one of them has changed, the plugins are loaded and the index is made again.
Where a plugin fails or an id is refused, all are loaded at each start: faults are told as they are now.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cosim.compiled import kernel_cache
from cosim.registration import hookspecs
from cosim.registration.plugin_record import Entry, PluginRecord
from cosim.registration.selection import selection
from cosim.registration.unloaded_class import UnloadedClass
from cosim.version import __version__


def installed_plugins() -> list[PluginRecord]:
    """The installed plugins, from the index where it is still true, else loaded."""
    points = list(entry_points(group=hookspecs.GROUP))
    digest = _digest(points)
    content = kernel_cache.kept(digest)
    records = None if content is None else _read(content)
    return records if records is not None else load_installed(points)


def load_installed(points: Iterable[EntryPoint] | None = None) -> list[PluginRecord]:
    """Load the installed plugins, whatever the index says, and make it again."""
    from cosim.registration.plugin_loader import discover

    points = list(entry_points(group=hookspecs.GROUP) if points is None else points)
    records = discover(points)
    if not any(record.status == "failed" or record.refused for record in records):
        kernel_cache.keep(_digest(points), _written(records))
    return records


def _digest(points: Iterable[EntryPoint]) -> str:
    """What the index is kept under: who is installed, where modules are looked for, and what is wanted."""
    claims = sorted(
        (p.name, p.value, p.dist.name or "", p.dist.version or "") if p.dist else (p.name, p.value)
        for p in points
    )
    wanted = selection(os.environ)
    told = [__version__, sys.version, sys.path, claims, None if wanted is None else sorted(wanted)]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def _written(records: Iterable[PluginRecord]) -> bytes:
    records = list(records)
    tops = {"cosim", *(_top(record.value) for record in records)}
    modules = [module for name, module in sorted(sys.modules.items()) if _top(name) in tops]
    files = [path for module in modules if (path := getattr(module, "__file__", None))]
    told = {
        "files": {path: _stamp(path) for path in files},
        "plugins": [_record_row(record) for record in records],
    }
    return json.dumps(told).encode()


def _read(content: bytes) -> list[PluginRecord] | None:
    """The records, None where a file has changed since."""
    told = json.loads(content)
    if any(_stamp(path) != stamp for path, stamp in told["files"].items()):
        return None
    return [_record(row) for row in told["plugins"]]


def _record_row(record: PluginRecord) -> dict[str, Any]:
    about = [record.name, record.distribution, record.version, record.value, record.status, record.contract]
    entries = [[e.id, e.known.target, e.known.kinds, e.known.name, e.known.summary] for e in record.entries]
    return {"about": about, "reason": record.reason, "entries": entries}


def _record(row: dict[str, Any]) -> PluginRecord:
    name, distribution, version, value, status, contract = row["about"]
    entries = tuple(
        Entry(id, UnloadedClass(target, tuple(kinds), word, summary), name, distribution, version)
        for id, target, kinds, word, summary in row["entries"]
    )
    about = (name, distribution, version, value, status, contract)
    return PluginRecord(*about, entries, reason=row["reason"])


def _stamp(path: str) -> list[int] | None:
    """Time and size of a file, None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def _top(name: str) -> str:
    """The package of a module or of an entry point."""
    return name.partition(":")[0].partition(".")[0].strip()
