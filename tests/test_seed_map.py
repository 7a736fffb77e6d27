"""The names of cosim in the table of docs/seed-map.md exist, and each row has a name or a reason."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

MAP = Path(__file__).parents[1] / "docs" / "seed-map.md"
NAME = re.compile(r"`(cosim[\w.]*)(?:\[(\w+)\])?`")


def names_in_table() -> list[tuple[str, str]]:
    """The dotted names of the second column, each with the declaration that follows it in brackets."""
    names = []
    for line in MAP.read_text(encoding="utf-8").splitlines():
        cells = line.split("|")
        if len(cells) == 5 and not cells[1].startswith("---"):
            names += [(m[1], m[2] or "") for m in NAME.finditer(cells[2])]
    return sorted(set(names))


def rows() -> list[list[str]]:
    """The cells of each row of the table."""
    lines = MAP.read_text(encoding="utf-8").splitlines()
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    return [c for c in cells if c[0] not in ("original", "---")]


def test_the_map_is_not_empty() -> None:
    assert len(names_in_table()) > 50
    assert len(rows()) > 80


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:40])
def test_a_row_has_a_name_or_a_reason(row: list[str]) -> None:
    assert len(row) == 3
    assert row[1] or row[2], "neither a name nor a reason"


@pytest.mark.parametrize(("dotted", "declared"), names_in_table())
def test_a_name_exists(dotted: str, declared: str) -> None:
    parts = dotted.split(".")
    # the longest part of the name that is a module, then its attributes
    for length in range(len(parts), 0, -1):
        try:
            member = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        break
    for name in parts[length:]:
        if name in getattr(member, "__annotations__", {}) and not hasattr(member, name):
            return
        member = getattr(member, name)
    if declared:
        assert declared in member.declarations
