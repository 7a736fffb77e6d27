"""The experiment that a description suggests, and the communication step that follows from it."""

from __future__ import annotations

from collections.abc import Mapping

from cosim.kit import DefaultExperiment, ParticipantDescription

STEPS = 1000
"""Steps of a default experiment that does not say how long they are."""
STEP = 1e-3
"""s, where nothing says it."""


def only_experiment(descriptions: Mapping[str, ParticipantDescription]) -> DefaultExperiment:
    """The default experiment of the only participant that has one; an empty one where there are several.

    Values over time take part in the run of another participant and do not count.
    """
    experiments = [
        d.default_experiment
        for d in descriptions.values()
        if d.default_experiment.count(None) < 4 and not d.over_time
    ]
    others = [d for d in descriptions.values() if not d.over_time]
    return experiments[0] if len(experiments) == 1 == len(others) else DefaultExperiment()


def step_of(experiment: DefaultExperiment) -> float:
    """The communication step, s."""
    if experiment.step is not None:
        return experiment.step
    if experiment.stop is None:
        return STEP
    return (experiment.stop - (experiment.start or 0.0)) / STEPS
