"""Another accuracy than that of the export, before a run begins."""

from __future__ import annotations

from cosim.contracts.integrator import LOOSEST_ACCURACY
from cosim.contracts.method_layout import ACCURACY as METHOD_ACCURACY
from cosim.contracts.method_layout import SETTINGS_HEADER
from cosim.contracts.tolerances import SCALE
from cosim.step.arrays import Arrays
from cosim.step.calls import call_tune
from cosim.step.codes import REACHED
from cosim.step.layout import (
    ABSOLUTE,
    ABSOLUTE_AT,
    ACCURACY,
    COEFFICIENTS,
    HELD_COEFFICIENTS,
    RELATIVE,
    RELATIVE_AT,
    TUNE,
)


def set_accuracy(a: Arrays, accuracy: float) -> int:
    """Integrate, and locate events, with `accuracy`; tolerances that were given as numbers stay."""
    a.numbers[ACCURACY] = accuracy
    kept = min(accuracy, LOOSEST_ACCURACY)
    a.settings[METHOD_ACCURACY] = kept
    for i in range(a.program[RELATIVE]):
        a.settings[SETTINGS_HEADER + a.program[a.program[RELATIVE_AT] + i]] = kept
    at = SETTINGS_HEADER + a.y.shape[0]
    for i in range(a.program[ABSOLUTE]):
        a.settings[at + a.program[a.program[ABSOLUTE_AT] + i]] = SCALE * kept
    if a.program[TUNE] != 0:
        call_tune(a.program[TUNE], (a.settings, a.coefficients[: a.program[COEFFICIENTS]]))
    if a.program[TUNE] != 0 and a.program[HELD_COEFFICIENTS] != 0:
        call_tune(a.program[TUNE], (a.settings, a.coefficients[a.program[HELD_COEFFICIENTS] :]))
    return REACHED
