"""The order in which workers take the files of tests: the longest first, so that all workers end together.

The times are those of the last complete run on this computer. New files come before all others, large ones
first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from cosim import kit

Item = TypeVar("Item")

STORED = "seconds-of-test-files"


def stored_seconds() -> dict[str, float]:
    """The stored time of each file, s; empty if there is none."""
    return json.loads(kit.read_cached(STORED) or "{}")


def store_seconds(seconds: Mapping[str, float]) -> None:
    """Store the time of each file (s), in the folder of compiled kernels."""
    kit.write_cached(STORED, json.dumps(seconds).encode())


def in_order(items: Iterable[tuple[str, Item]], seconds: Mapping[str, float], folder: Path) -> list[Item]:
    """Items ordered by their files in `folder`; items of one file keep their order."""
    entries = list(items)
    sizes = {file: (folder / file).stat().st_size for file in {file for file, _ in entries}}

    def rank(file: str) -> tuple[float, int, str]:
        return -seconds.get(file, float("inf")), -sizes[file], file

    return [item for _, item in sorted(entries, key=lambda entry: rank(entry[0]))]
