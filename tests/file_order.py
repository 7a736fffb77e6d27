"""In which order workers take the files of tests: they end together when what takes long comes first.

How long a file takes is known from the last whole run on this computer. Files that are new come before all
others, large ones first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from cosim import kit

Item = TypeVar("Item")

KEPT = "seconds-of-test-files"


def kept_seconds() -> dict[str, float]:
    """What each file took, if that is known."""
    return json.loads(kit.read_cached(KEPT) or "{}")


def keep_seconds(seconds: Mapping[str, float]) -> None:
    """Keep what each file took, beside the kernels."""
    kit.write_cached(KEPT, json.dumps(seconds).encode())


def in_order(items: Iterable[tuple[str, Item]], seconds: Mapping[str, float], folder: Path) -> list[Item]:
    """Items by the file in `folder` that each belongs to; those of one file stay as they are."""
    given = list(items)
    sizes = {file: (folder / file).stat().st_size for file in Counter(file for file, _ in given)}
    return [
        item
        for _, item in sorted(
            given, key=lambda entry: (-seconds.get(entry[0], float("inf")), -sizes[entry[0]], entry[0])
        )
    ]
