"""In which order workers take the files of tests: they end together when what takes long comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

LONG = (
    "tests/fmu/test_native_events.py",
    "tests/fmu/test_native_signals.py",
    "tests/examples/test_start_pages.py",
    "tests/fmu/test_export_processes.py",
    "tests/fmu/test_scenario_study.py",
    "tests/fmu/test_native_random.py",
    "tests/workbench/test_new_and_check.py",
    "tests/examples/test_third_party.py",
    "tests/kernel/test_kernel_cache.py",
    "tests/fmu/test_native_fuzz.py",
    "tests/fmu/test_event_mode.py",
    "tests/fmu/test_export_fuzz.py",
    "tests/examples/test_exports.py",
    "tests/fmu/test_ssp_lines.py",
    "tests/examples/test_native_exports.py",
)
"""Files of few tests that take seconds, or compile; the others come after, those of many tests first."""


def in_order(items: Iterable[tuple[str, Item]]) -> list[Item]:
    """Items by the file that each belongs to; those of one file stay as they are."""
    given: Sequence[tuple[str, Item]] = list(items)
    counts, places = Counter(file for file, _ in given), {file: n for n, file in enumerate(LONG)}
    found = sorted(given, key=lambda entry: (places.get(entry[0], len(LONG)), -counts[entry[0]], entry[0]))
    return [item for _, item in found]
