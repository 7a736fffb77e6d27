"""What all checks that run an FMU share: instances, and the comparison of two runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from cosim_fmi.validate.foreign_instance import STEPS, ForeignFmu, ForeignInstance, Row

HALF = STEPS // 2
"""Steps of a run that is compared with another one."""
Faults = Iterator[tuple[str, str]]
"""What a check finds: a severity and a sentence for each fault."""


@contextmanager
def instance_of(fmu: ForeignFmu, name: str = "instance") -> Iterator[ForeignInstance]:
    """An instance that is freed at the end, whatever happens."""
    instance = ForeignInstance(fmu, name)
    try:
        yield instance
    finally:
        instance.free()


def first_difference(fmu: ForeignFmu, expected: list[Row], rows: list[Row], fault: str) -> Faults:
    """An error that says `fault` and the first number that is not exactly as expected, if there is one."""
    for i, (expected_row, row) in enumerate(zip(expected, rows, strict=True)):
        for variable, wanted, value in zip(fmu.compared, expected_row, row, strict=True):
            if wanted != value and not (math.isnan(wanted) and math.isnan(value)):
                place = f" at point {i + 1}" if len(rows) > 1 else ""
                yield "error", f"{fault}: {variable['name']} is {value!r} instead of {wanted!r}{place}"
                return
