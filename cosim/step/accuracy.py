"""Another accuracy than that of the export, before a run begins."""

from __future__ import annotations

from cosim.contracts.method_layout import TUNE_SIGNATURE
from cosim.contracts.tolerances import LOOSEST_ACCURACY, SCALE, accuracy_of_step
from cosim.step.failures import REACHED
from cosim.step.integration import method_arrays
from cosim.step.run import Run
from cosim_compiler.calls import indirect_call

call_tune = indirect_call(TUNE_SIGNATURE)
"""What of an integrator's coefficients depends on the accuracy."""


def set_accuracy(run: Run, accuracy: float) -> int:
    """Integrate, and locate events, with `accuracy`; tolerances that were given as numbers stay.

    What the host of an FMU asks for is a hint: where it is looser than any of ours, the loosest is taken.
    """
    run.options.accuracy = accuracy
    method = method_arrays(run)
    settings = method.settings
    rule = method.tolerance_rule
    settings.accuracy = min(accuracy, LOOSEST_ACCURACY)
    settings.step_accuracy = accuracy_of_step(settings.accuracy, rule.factor, rule.power)
    for m in run.relative:
        method.relative_tolerances[m] = settings.step_accuracy
    for m in run.absolute:
        size = method.state_sizes[m] if method.state_sizes[m] > 0.0 else 1.0
        method.absolute_tolerances[m] = max(SCALE * settings.step_accuracy * size, rule.least_absolute)
    if run.plan.method.tune != 0:
        call_tune(run.plan.method.tune, (run.settings, run.coefficients[: run.plan.sizes.coefficients]))
    if run.plan.method.tune != 0 and run.plan.sizes.held_coefficients != 0:
        call_tune(run.plan.method.tune, (run.settings, run.coefficients[run.plan.sizes.held_coefficients :]))
    return REACHED
