"""Counts of what a simulator did."""

from __future__ import annotations

from dataclasses import dataclass

from cosim.contracts.step_statistics import StepStatistics
from cosim.preparation.compiled_step import CompiledStep
from cosim.run_data.records.clock import Counts


@dataclass(frozen=True)
class Statistics:
    """Since the last `initialize` or `reset_statistics`.

    Attributes
    ----------
    steps : int
        Initialization is not one; a step of length zero is, such as `advance_pending_events` takes. A run of
        `simulate` ends with one, so it counts one more than the times that were reached: `integrator_steps`
        are those that advance time.
    publishes, discrete_updates, unrestricted_updates : int
        Effective dispatches: one may serve many handlers; one in which all did nothing, or one failed,
        does not count.
    events : int
        Handlers that were called.
    integrator_steps, rejections : int
        Of the integrator: steps that it took, attempts that it repeated.
    evaluations : int
        Of the derivatives of the whole system, inside steps and elsewhere.
    realizations : int
        Those of them that no step asked for: where a run begins, and after writes to the State.
    partial_evaluations : int
        After updates only what depends on what they have written is computed again: so often. They are not
        among the evaluations.
    partial_share : float
        What these come to in whole evaluations: rows of kernel functions called, over the rows of the system.
    """

    steps: int = 0
    publishes: int = 0
    discrete_updates: int = 0
    unrestricted_updates: int = 0
    events: int = 0
    integrator_steps: int = 0
    rejections: int = 0
    evaluations: int = 0
    realizations: int = 0
    partial_evaluations: int = 0
    partial_share: float = 0.0


def read_statistics(step: CompiledStep, origin: StepStatistics) -> Statistics:
    """The counts of the Step, and those of its integrator since they were `origin`."""
    run, now = step.arrays, step.integrator.counts
    counts, evaluation = run.counts, run.evaluation
    share = evaluation.rows_called / max(1, step.tables.rows_of_evaluation) if len(run.nodes) else 0.0
    return Statistics(
        **{name: getattr(counts, name) for name in counts.declared},
        integrator_steps=now.steps - origin.steps,
        rejections=now.rejections - origin.rejections,
        evaluations=now.evaluations - origin.evaluations + evaluation.evaluations,
        realizations=evaluation.evaluations,
        partial_evaluations=evaluation.partial_evaluations,
        partial_share=share,
    )


def reset_counters(step: CompiledStep) -> None:
    """Set the counts of the Step to 0."""
    run, evaluation = step.arrays, step.arrays.evaluation
    run.header.counts = Counts()
    evaluation.evaluations = evaluation.partial_evaluations = evaluation.rows_called = 0
