"""Another accuracy than that of the export, before a run begins."""

from __future__ import annotations

from cosim.contracts.method_layout import ACCURACY as METHOD_ACCURACY
from cosim.contracts.method_layout import SETTINGS_HEADER, STEP_ACCURACY, TUNE_SIGNATURE
from cosim.contracts.tolerances import LOOSEST_ACCURACY, SCALE, accuracy_of_step
from cosim.step.failures import REACHED
from cosim.step.run import Run
from cosim_compiler.calls import indirect_call

call_tune = indirect_call(TUNE_SIGNATURE)
"""What of an integrator's coefficients depends on the accuracy."""


def set_accuracy(run: Run, accuracy: float) -> int:
    """Integrate, and locate events, with `accuracy`; tolerances that were given as numbers stay.

    What the host of an FMU asks for is a hint: where it is looser than any of ours, the loosest is taken.
    """
    run.options.accuracy = accuracy
    kept = min(accuracy, LOOSEST_ACCURACY)
    run.settings[METHOD_ACCURACY] = kept
    share = SETTINGS_HEADER + 2 * run.y.shape[0]
    step = accuracy_of_step(kept, run.settings[share], run.settings[share + 1])
    run.settings[STEP_ACCURACY] = step
    for i in range(len(run.relative)):
        run.settings[SETTINGS_HEADER + run.relative[i]] = step
    least = run.settings[share + 2]
    at = SETTINGS_HEADER + run.y.shape[0]
    for i in range(len(run.absolute)):
        m = run.absolute[i]
        held = run.settings[share + 3 + m]
        run.settings[at + m] = max(SCALE * step * (held if held > 0.0 else 1.0), least)
    if run.plan.method.tune != 0:
        call_tune(run.plan.method.tune, (run.settings, run.coefficients[: run.plan.sizes.coefficients]))
    if run.plan.method.tune != 0 and run.plan.sizes.held_coefficients != 0:
        call_tune(run.plan.method.tune, (run.settings, run.coefficients[run.plan.sizes.held_coefficients :]))
    return REACHED
