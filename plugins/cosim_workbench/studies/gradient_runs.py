"""Runs of a model with the gradient of an objective, back along their steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import NoTangentError, reduced_by
from cosim_ensembles.kit import named_reduction

OF_ENSEMBLES = ("threads", "state", "reduce", "signals")
"""Settings that no single run has."""


class GradientRuns:
    """The objective and its gradient at each point, from one run.

    Parameters
    ----------
    system : System
    state : State
        With which runs begin.
    objective : str, tuple or callable
        A reduction, as ``"rms(engine.z)"`` or a kernel function with its signals; or a function of a `Result`
        that returns a number and its cotangents, as `cosim.objectives.integral_of_square` makes one.
    settings : mapping
        The settings of each run.

    Attributes
    ----------
    refusal : str
        Why there are no gradients; empty as long as there are.
    """

    def __init__(
        self, system: cosim.System, state: cosim.State, objective: Any, settings: Mapping[str, Any]
    ) -> None:
        self._system, self._state, self.refusal = system, state, ""
        self._settings = {key: value for key, value in settings.items() if key not in OF_ENSEMBLES}
        self._signals: list[str] | None = None
        self._evaluate: Callable[[cosim.Result], Any] = objective
        if not callable(objective):
            function, self._signals = named_reduction(str(objective), objective)
            try:
                self._evaluate = reduced_by(function, self._signals)
            except (NoTangentError, cosim.ContractError) as fault:
                self.refusal = str(fault)

    def at(self, values: Mapping[str, float]) -> tuple[float, NDArray[np.float64]] | None:
        """The objective and its gradient; None if there is none, for this and all further points.

        Raises
        ------
        SimulationError
            The run has failed, or the objective.
        """
        if self.refusal:
            return None
        state = self._state.copy()
        for path, value in values.items():
            state[path] = value
        settings = {**self._settings, "signals": self._signals, "gradient": list(values)}
        try:
            result = cosim.simulate(self._system, state=state, **settings)
        except cosim.ModelError as error:
            self.refusal = "; ".join(str(problem) for problem in error.problems)
            return None
        try:
            value_and_cotangents = self._evaluate(result)
        except Exception as error:
            raise cosim.SimulationError(
                result.time[-1], f"objective: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(value_and_cotangents, tuple):
            self.refusal = "the objective is a number without its cotangents"
            return None
        gradient = result.gradient(lambda _: value_and_cotangents)
        if not np.isfinite(gradient.vector).all():
            lost = [finding for finding in result.findings if finding.kind == "no derivative"]
            reasons = [f"{finding.witness}: {finding.message}" for finding in lost]
            self.refusal = next(iter(reasons), "a derivative along the run is infinite")
            return None
        return gradient.value, gradient.vector
