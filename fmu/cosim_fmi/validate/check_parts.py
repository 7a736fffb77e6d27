"""What all checks that run an FMU are made of: instances, and the comparison of two runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from cosim_fmi.validate.foreign_instance import STEPS, ForeignFmu, ForeignInstance, Row

HALF = STEPS // 2
"""Steps of a run that is compared with another one."""
Found = Iterator[tuple[str, str]]
"""Severity and sentence of each finding."""


@contextmanager
def instance_of(fmu: ForeignFmu, name: str = "instance") -> Iterator[ForeignInstance]:
    """An instance that is freed at the end, whatever happens."""
    instance = ForeignInstance(fmu, name)
    try:
        yield instance
    finally:
        instance.free()


def compared(fmu: ForeignFmu, expected: list[Row], rows: list[Row], fault: str) -> Found:
    """A sentence about the first number that differs in its last bit, if there is one."""
    for i, (a, b) in enumerate(zip(expected, rows, strict=True)):
        for variable, x, y in zip(fmu.compared, a, b, strict=True):
            if x != y and not (math.isnan(x) and math.isnan(y)):
                at = f" at point {i + 1}" if len(rows) > 1 else ""
                yield "error", f"{fault}: {variable['name']} is {y!r} instead of {x!r}{at}"
                return
