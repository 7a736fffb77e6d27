"""Entry points of plugins: what is installed, found without reading it again while nothing has changed.

`importlib.metadata` takes longer to import, and to read what is installed, than a kept run takes to build its
model. So what it found is kept, under the names of all distributions and the times of their files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from cosim.errors import PluginError
from cosim.registration.file_stamps import stamp_of
from cosim.registration.hookspecs import GROUP
from cosim.registration.plugin_record import PluginRecord
from cosim.registration.selection import NO_AUTOLOAD, ONLY
from cosim.version import DISTRIBUTION
from cosim_compiler import kernel_cache

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

DESCRIPTIONS = (".dist-info", ".egg-info")
"""How the folders end that describe distributions."""
FILES = ("entry_points.txt", "METADATA", "PKG-INFO")
"""Files of such a folder that say what entry points there are, and of which version."""


@dataclass(frozen=True)
class Candidate:
    """An entry point with the distribution that it came from."""

    name: str
    distribution: str
    version: str
    value: str
    load: Callable[[], Any]

    @classmethod
    def of(cls, point: EntryPoint) -> Candidate:
        """The candidate of an installed entry point."""
        distribution, version = "unknown distribution", "?"
        if point.dist is not None:
            distribution, version = point.dist.name or distribution, point.dist.version or version
        return cls(point.name, distribution, version, point.value, point.load)

    @property
    def is_ours(self) -> bool:
        """Whether it comes with cosim itself: its names belong to it."""
        return re.sub(r"[-_.]+", "-", self.distribution).lower() == DISTRIBUTION

    def error(self, reason: str) -> PluginError:
        """An error that names the plugin."""
        return PluginError(self.name, self.distribution, self.version, reason)

    def failed(self, error: PluginError) -> PluginRecord:
        """The record of a plugin that could not be loaded."""
        return PluginRecord(
            self.name, self.distribution, self.version, self.value, "failed", error=error, reason=error.reason
        )

    def skipped(self) -> PluginRecord:
        """The record of a plugin that is left out."""
        reason = f"{ONLY} or {NO_AUTOLOAD} in the environment, or the program, leaves it out"
        return PluginRecord(self.name, self.distribution, self.version, self.value, "skipped", reason=reason)


def installed_candidates() -> list[Candidate]:
    """The entry points of plugins that are installed."""
    key = _key_of_installed()
    content = kernel_cache.read_cached(key) if key else None
    if content is None:
        found = _found_now()
        if key:
            rows = [(c.name, c.distribution, c.version, c.value) for c in found]
            kernel_cache.write_cached(key, json.dumps(rows).encode())
        return found
    return [
        Candidate(name, distribution, version, value, _loader(name, value))
        for name, distribution, version, value in json.loads(content)
    ]


def _found_now() -> list[Candidate]:
    from importlib.metadata import entry_points

    return [Candidate.of(point) for point in entry_points(group=GROUP)]


def _loader(name: str, value: str) -> Callable[[], Any]:
    """What imports the object of an entry point."""

    def load() -> Any:
        from importlib.metadata import EntryPoint

        return EntryPoint(name, value, GROUP).load()

    return load


def _key_of_installed() -> str:
    """A digest of all distributions on the path; empty where others than folders may hold some."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    if finders != [PathFinder]:
        return ""
    rows: list[object] = [sys.version]
    for place in sys.path:
        folder = place or os.curdir
        try:
            names = sorted(os.listdir(folder))
        except NotADirectoryError:  # an archive
            return ""
        except OSError:
            continue
        if folder.endswith(".egg") or any(name.endswith(".egg") for name in names):
            return ""
        described = [os.path.join(folder, name) for name in names if name.endswith(DESCRIPTIONS)]
        rows += [(path, *(stamp_of(os.path.join(path, file)) for file in FILES)) for path in described]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
