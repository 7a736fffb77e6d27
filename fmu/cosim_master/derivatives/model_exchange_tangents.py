"""Exact tangents of a Model Exchange FMU that gives directional derivatives.

The tangents follow the steps of our integrator, as those of a system do. The FMU gives the derivatives of its
state derivatives by states and inputs at each point, and those of its outputs where these are read.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_master.derivatives.participant_tangents import ReadRecord, Reals, StepRecord
from cosim_master.derivatives.system_participant_tangents import SystemParticipantTangents
from cosim_master.model_exchange.directional_derivatives import Jacobian
from cosim_master.model_exchange.model_exchange_system import states_of
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

LARGEST_DEVIATION = 1e-4
"""The allowed deviation of an FMU's derivatives from differences, relative to the largest one in a column."""
INCREMENT = 2.0**-17
"""The increment of these differences, relative to a state or input (at least to 1)."""


class Linearized(NamedTuple):
    """The outputs that were read at a point, linearized in states and inputs."""

    discrete: NDArray[np.float64]
    scale: NDArray[np.float64]
    names: Sequence[str]
    jacobian: Jacobian


class ModelExchangeTangents(SystemParticipantTangents):
    """Tangents of the run of the integrator.

    Parameters
    ----------
    participant : ModelExchangeParticipant
        One for which `why_differences` returns "".
    directions : int
    reads : sequence of str
        The outputs that are read.
    """

    def __init__(self, participant: ModelExchangeParticipant, directions: int, reads: Sequence[str]) -> None:
        super().__init__(participant, directions, {})
        self._reads = list(reads)

    def start(self, names: Sequence[str]) -> Reals:
        if self._initialization is None:
            self._participant.exit_initialization()
            self._participant.simulator.read_tape()
            self._initialization = self._tangents.end_piece()
            self._first = self._linearize(names)
        return self._outputs(names, self._first)

    def at_read(self) -> Linearized:
        return self._linearize(self._reads)

    def _linearize(self, names: Sequence[str]) -> Linearized:
        participant = self._participant
        state = participant.simulator.state
        participant.system.move_to_point()
        continuous = participant.continuous_outputs(names)
        jacobian = participant.derivatives.jacobian(list(continuous.values()))
        scale = np.array(state["fmu.scale"], dtype=float)
        return Linearized(state.arrays["d"].copy(), scale, list(continuous), jacobian)

    def read(self, names: Sequence[str], record: ReadRecord) -> Reals:
        return self._outputs(names, record.piece)

    def _outputs(self, names: Sequence[str], point: Linearized) -> Reals:
        """The tangents of outputs: those of states and inputs through the jacobian, 0 of discrete ones."""
        count, inputs = point.jacobian.by_states.shape[1], point.jacobian.by_inputs.shape[1]
        paths = [*(f"fmu.z[{i}]" for i in range(count)), *(f"fmu.u[{i}]" for i in range(inputs))]
        dots: Reals = self._tangents.read(paths, point.discrete)
        self._participant.system.invalidate_outputs()
        of_states = dots[:, :count] * point.scale[:count]
        of_outputs = of_states @ point.jacobian.by_states.T + dots[:, count:] @ point.jacobian.by_inputs.T
        tangents = np.zeros((len(dots), len(names)))
        tangents[np.isnan(dots).any(axis=1)] = np.nan
        for j, name in enumerate(names):
            if name in point.names:
                tangents[:, j] = of_outputs[:, point.names.index(name)]
        return tangents

    def exit_initialization(self) -> None:
        super().exit_initialization()
        self._participant.system.invalidate_outputs()

    def follow(self, step: StepRecord) -> None:
        super().follow(step)
        self._participant.system.invalidate_outputs()


def why_differences(
    participant: ModelExchangeParticipant,
    begin: Callable[[cosim.Participant], None],
    inputs: Iterable[str],
    outputs: Sequence[str],
) -> str:
    """Why the directional derivatives of an FMU are not used; "" if they are.

    They are compared with differences in a second instance, at the start of a run.

    Parameters
    ----------
    participant : ModelExchangeParticipant
    begin : callable
        Initializes a participant with the values of the run.
    inputs, outputs : iterable of str
        Names of the connected ones.
    """
    reason = _why_not_declared(participant, inputs)
    if reason:
        return reason
    trial = copy.deepcopy(participant)
    try:
        trial.couple_tangents(1, {})
        begin(trial)
        trial.exit_initialization()
        return _why_not_at_start(trial, outputs)
    except Exception as error:
        return f"they cannot be used: {error}"
    finally:
        trial.close()


def _why_not_declared(participant: ModelExchangeParticipant, inputs: Iterable[str]) -> str:
    description = participant.describe()
    initial: Mapping[str, Any] = description.initial_feedthrough or {}
    if any(name not in participant.continuous_inputs() for name in inputs):
        return "it has connected inputs that change at events alone"
    if any(initial.get(name) for name in description.states):
        return "its initial states depend on inputs"
    if not participant.has_rates:
        return "its description does not name its states and their derivatives one by one"
    return ""


def _why_not_at_start(trial: ModelExchangeParticipant, outputs: Sequence[str]) -> str:
    model, simulator = trial.model, trial.simulator
    assert model is not None
    if model.indicators or trial.has_clocks or simulator.state["fmu.next_event"] < math.inf:
        return "it may have events"
    trial.system.move_to_point()
    assert trial.derivatives is not None
    continuous = trial.continuous_outputs(outputs)
    jacobians = trial.derivatives.rate_jacobian(), trial.derivatives.jacobian(list(continuous.values()))
    derivatives = np.concatenate([np.hstack(jacobian) for jacobian in jacobians])
    differences = _differences(trial, list(continuous))
    largest = np.maximum(*(np.abs(matrix).max(axis=0, initial=0.0) for matrix in (differences, derivatives)))
    deviations = np.abs(derivatives - differences)
    if not (deviations <= LARGEST_DEVIATION * largest).all():
        worst = float(np.max(deviations / np.where(largest > 0.0, largest, 1.0)))
        return f"they differ from differences at the start, by {worst:.2g} of the largest"
    return ""


def _differences(trial: ModelExchangeParticipant, outputs: Sequence[str]) -> Reals:
    """Derivatives of rates and outputs by states and inputs, by central differences of second order."""
    state, system = trial.simulator.state, trial.system
    evaluation = system.evaluation
    point = [*states_of(state)[: evaluation.states], *np.ravel(state["fmu.u"])[: evaluation.inputs]]

    def evaluate(point: Sequence[float]) -> Reals:
        states, inputs = point[: evaluation.states], point[evaluation.states :]
        evaluation.move_to_point(state.time, states, inputs)
        rates, _ = evaluation.evaluate(state.time, states, inputs)
        return np.array([*rates, *map(float, trial.read_ports(outputs))])

    columns = []
    for i, value in enumerate(point):
        increment = INCREMENT * max(1.0, abs(value))
        above, below = (
            evaluate([*point[:i], value + change, *point[i + 1 :]]) for change in (increment, -increment)
        )
        columns.append((above - below) / (2.0 * increment))
    system.invalidate_outputs()
    return np.array(columns).reshape(len(point), -1).T
