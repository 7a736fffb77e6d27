"""The outcomes that were written down, and where another one differs first."""

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
    """By seed, in the order of the file."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return {int(seed): outcome for seed, outcome in json.load(file).items()}


def write_outcomes(outcomes: dict[int, dict[str, Any]]) -> None:
    """Write the file; the same outcomes give the same bytes."""
    text = json.dumps({str(seed): outcome for seed, outcome in outcomes.items()}, separators=(",", ":"))
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def first_difference(expected: dict[str, Any], found: dict[str, Any], system: cosim.System) -> str:
    """Where two outcomes differ first, events before the State; empty where they are the same."""
    for i, (one, other) in enumerate(zip(expected["events"], found["events"], strict=False)):
        if one != other:
            column = next(j for j in range(len(COLUMNS)) if one[j] != other[j])
            where = f"event {i}, {one[2]} at {float.fromhex(one[0])!r}: {COLUMNS[column]}"
            return f"{where} is {other[column]}, expected {one[column]}"
    for name in ("events", "findings"):
        if expected[name] != found[name]:
            one, other = (len(each[name]) for each in (expected, found))
            rows = zip(expected[name], found[name], strict=False)
            first = next((pair for pair in rows if pair[0] != pair[1]), "the shorter list is right so far")
            return f"{other} {name}, expected {one}: {first}"
    for name in ("statuses", "time"):
        if expected[name] != found[name]:
            return f"{name}: {found[name]}, expected {expected[name]}"
    for name, kind in (("y", "<f8"), ("p", "<f8"), ("d", "<f8"), ("k", "<i8"), ("histories", "<f8")):
        if expected[name] != found[name]:
            one, other = (np.frombuffer(bytes.fromhex(each[name]), kind) for each in (expected, found))
            if one.size != other.size:
                return f"{name} has {other.size} numbers, expected {one.size}"
            at = int(np.flatnonzero(one.view("<i8") != other.view("<i8"))[0])
            path = ", ".join(system.paths_at(name, [places(system, name)[at]])) if name in "ypd" else ""
            return f"{name}[{at}] {path} is {other[at]!r}, expected {one[at]!r}"
    return ""
