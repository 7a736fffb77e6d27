"""The installed distributions by the modules that they contain, their versions and licences."""

from __future__ import annotations

import csv
import functools
import importlib.metadata
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path

LICENCE = re.compile(r"(LICEN[CS]E|COPYING|NOTICE)", re.IGNORECASE)
"""The beginning of the name of a file with a licence."""


def distributions_by_module() -> dict[str, list[str]]:
    """The distributions of each top-level name.

    `importlib.metadata.packages_distributions` gives the same, but makes an object for each of 40,000 files.
    """
    distributions: dict[str, list[str]] = {}
    for entry in dict.fromkeys(sys.path):
        for name, distribution in _shipped_in(entry, _changed(Path(entry))):
            distributions.setdefault(name, []).append(distribution)
    return distributions


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


@functools.cache
def _shipped_in(entry: str, changed: int) -> list[tuple[str, str]]:
    """Top-level names and distributions in a folder of the path; `changed` outdates the cache."""
    distributions = importlib.metadata.distributions(path=[entry])
    return [
        (name, distribution.metadata["Name"])
        for distribution in distributions
        for name in _top_level(distribution)
    ]


def _top_level(distribution: importlib.metadata.Distribution) -> Iterable[str]:
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        return declared
    record = distribution.read_text("RECORD")
    lines = [str(file) for file in distribution.files or ()] if record is None else record.splitlines()
    names: set[str] = set()
    for line in lines:
        if line.partition("/")[0] in names:  # true for most files of a large package
            continue
        file = line if record is None else "".join(next(csv.reader([line]))[:1])  # lines may be empty
        top, slash, _ = file.partition("/")
        if name := inspect.getmodulename(file):
            names.add(top if slash else name)
    return names


def version_of(distribution: str) -> str:
    """The version of a distribution; empty if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def licences_of(distribution: str) -> dict[str, bytes]:
    """The files with licences that a distribution ships, by their names."""
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    licences = {}
    for file in files:
        if LICENCE.match(file.name) and (path := Path(str(file.locate()))).is_file():
            licences[file.name] = path.read_bytes()
    return licences
