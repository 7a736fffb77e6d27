"""Every name that docs/seed-map.md claims exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

MAP = Path(__file__).parents[1] / "docs" / "seed-map.md"
NAME = re.compile(r"`(cosim[\w.]*)(?:\[(\w+)\])?`")


def claims() -> list[tuple[str, str]]:
    found = []
    for line in MAP.read_text(encoding="utf-8").splitlines():
        cells = line.split("|")
        if len(cells) == 5 and not cells[1].startswith("---"):
            found += [(m[1], m[2] or "") for m in NAME.finditer(cells[2])]
    return sorted(set(found))


def rows() -> list[list[str]]:
    lines = MAP.read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    return [c for c in cells if c[0] not in ("original", "---")]


def test_the_map_is_not_empty() -> None:
    assert len(claims()) > 50
    assert len(rows()) > 80


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_each_member_has_a_counterpart_or_a_reason(row: list[str]) -> None:
    assert len(row) == 3
    assert row[1] or row[2], "neither a name nor a reason"


@pytest.mark.parametrize(("dotted", "declared"), claims())
def test_the_name_exists(dotted: str, declared: str) -> None:
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        break
    for name in parts[cut:]:
        if name in getattr(found, "__annotations__", {}) and not hasattr(found, name):
            return
        found = getattr(found, name)
    if declared:
        assert declared in found.declarations
