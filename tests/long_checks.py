"""Long checks of the kits: a short run makes them for a few classes, a thorough one for all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

LONG = {
    "test_force_contracts.py": {"test_compiled_is_plain_python", "test_runs_in_an_fmu"},
    "test_measure_contracts.py": {"test_compiled_is_plain_python"},
    "test_gallery.py": {"test_compiled_is_plain_python", "test_runs_in_an_fmu"},
}
"""Names of long checks, by the files of their tests."""
ALWAYS = {"TestDelay", "TestLinearBushing", "TestPlainSpring", "TestLeadScrew"}


def is_thorough(collector: pytest.Collector, obj: object) -> bool:
    """Whether a test function, its class or its module is marked as thorough."""
    marks = [*getattr(obj, "pytestmark", ()), *collector.iter_markers()]
    return any(mark.name == "thorough" for mark in marks)


def mark_long_checks(items: Iterable[Any]) -> None:
    """Mark long checks as thorough, except those of the classes in `ALWAYS`."""
    for item in items:
        names = LONG.get(item.path.name, ())
        if item.name in names and item.cls is not None and item.cls.__name__ not in ALWAYS:
            item.add_marker(pytest.mark.thorough)
