"""Another accuracy than that of the export, before a run begins."""

from __future__ import annotations

from cosim.contracts.method_layout import ACCURACY as METHOD_ACCURACY
from cosim.contracts.method_layout import SETTINGS_HEADER, STEP_ACCURACY, TUNE_SIGNATURE
from cosim.contracts.tolerances import LOOSEST_ACCURACY, SCALE, accuracy_of_step
from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import REACHED
from cosim_compiler.calls import indirect_call

call_tune = indirect_call(TUNE_SIGNATURE)
"""What of an integrator's coefficients depends on the accuracy."""


def set_accuracy(a: Arrays, accuracy: float) -> int:
    """Integrate, and locate events, with `accuracy`; tolerances that were given as numbers stay.

    What the host of an FMU asks for is a hint: where it is looser than any of ours, the loosest is taken.
    """
    a.numbers[ix.ACCURACY] = accuracy
    kept = min(accuracy, LOOSEST_ACCURACY)
    a.settings[METHOD_ACCURACY] = kept
    share = SETTINGS_HEADER + 2 * a.y.shape[0]
    step = accuracy_of_step(kept, a.settings[share], a.settings[share + 1])
    a.settings[STEP_ACCURACY] = step
    for i in range(a.program[ix.RELATIVE]):
        a.settings[SETTINGS_HEADER + a.program[a.program[ix.RELATIVE_AT] + i]] = step
    least = a.settings[share + 2]
    at = SETTINGS_HEADER + a.y.shape[0]
    for i in range(a.program[ix.ABSOLUTE]):
        m = a.program[a.program[ix.ABSOLUTE_AT] + i]
        held = a.settings[share + 3 + m]
        a.settings[at + m] = max(SCALE * step * (held if held > 0.0 else 1.0), least)
    if a.program[ix.TUNE] != 0:
        call_tune(a.program[ix.TUNE], (a.settings, a.coefficients[: a.program[ix.COEFFICIENTS]]))
    if a.program[ix.TUNE] != 0 and a.program[ix.HELD_COEFFICIENTS] != 0:
        call_tune(a.program[ix.TUNE], (a.settings, a.coefficients[a.program[ix.HELD_COEFFICIENTS] :]))
    return REACHED
