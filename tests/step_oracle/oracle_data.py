"""The file of expected outcomes, and the first difference of another outcome."""

from __future__ import annotations

import functools
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from oracle_run import places

import cosim

FILE = Path(__file__).parents[1] / "data" / "step_oracle" / "outcomes.json.gz"
COLUMNS = ("time", "cause", "handler", "does", "severity", "window", "witness", "witness values", "changed")


@functools.cache
def written_outcomes() -> dict[int, dict[str, Any]]:
    """The outcomes of the file, by seed, in its order."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return {int(seed): outcome for seed, outcome in json.load(file).items()}


def write_outcomes(outcomes: dict[int, dict[str, Any]]) -> None:
    """Write the file; the same outcomes give the same bytes."""
    text = json.dumps({str(seed): outcome for seed, outcome in outcomes.items()}, separators=(",", ":"))
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def first_difference(expected: dict[str, Any], actual: dict[str, Any], system: cosim.System) -> str:
    """Describe the first difference, in events before that in the State; an empty text if there is none."""
    for name in ("events", "findings"):
        if expected[name] != actual[name]:
            return _difference_of_rows(name, expected[name], actual[name])
    for name in ("statuses", "time"):
        if expected[name] != actual[name]:
            return f"{name}: {actual[name]}, expected {expected[name]}"
    for name in ("y", "p", "d", "k", "histories"):
        if expected[name] != actual[name]:
            return _difference_of_numbers(name, expected[name], actual[name], system)
    return ""


def _difference_of_rows(name: str, expected: list[Any], actual: list[Any]) -> str:
    """The first of two lists of events or findings that differ."""
    for i, (row, actual_row) in enumerate(zip(expected, actual, strict=False)):
        if row != actual_row and name == "events":
            column = next(j for j in range(len(COLUMNS)) if row[j] != actual_row[j])
            where = f"event {i}, {row[2]} at {float.fromhex(row[0])!r}: {COLUMNS[column]}"
            return f"{where} is {actual_row[column]}, expected {row[column]}"
        if row != actual_row:
            return f"{name}, row {i}: {actual_row}, expected {row}"
    return f"{len(actual)} {name}, expected {len(expected)}: the shorter list is right so far"


def _difference_of_numbers(name: str, expected: str, actual: str, system: cosim.System) -> str:
    """The first number that differs in two arrays, which are written as hexadecimal text."""
    kind = "<i8" if name == "k" else "<f8"
    numbers, actual_numbers = (np.frombuffer(bytes.fromhex(text), kind) for text in (expected, actual))
    if numbers.size != actual_numbers.size:
        return f"{name} has {actual_numbers.size} numbers, expected {numbers.size}"
    index = int(np.flatnonzero(numbers.view("<i8") != actual_numbers.view("<i8"))[0])
    path = ", ".join(system.paths_at(name, [places(system, name)[index]])) if name in "ypd" else ""
    return f"{name}[{index}] {path} is {actual_numbers[index]!r}, expected {numbers[index]!r}"
