"""Exact tangents of a Model Exchange FMU that gives directional derivatives.

Its integrator is ours, so tangents go along its steps as along those of a system: the FMU gives derivatives
of its derivatives by states and inputs at each point, and of its outputs where these are read.
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

AGREES = 1e-4
"""By so much of the largest one in a column the derivatives that an FMU gives may differ from differences."""
STEP = 2.0**-17
"""Of these differences, of a state or input (at least of 1)."""


class Linearized(NamedTuple):
    """The outputs where they were read, by states and inputs."""

    discrete: NDArray[np.float64]
    scale: NDArray[np.float64]
    names: Sequence[str]
    jacobian: Jacobian


class ModelExchangeTangents(SystemParticipantTangents):
    """Those of the run of its integrator.

    Parameters
    ----------
    participant : ModelExchangeParticipant
        Of which `why_differences` says nothing.
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

    def _outputs(self, names: Sequence[str], at: Linearized) -> Reals:
        """The tangents of outputs: those of states and inputs through the jacobian, 0 of discrete ones."""
        count, inputs = at.jacobian.by_states.shape[1], at.jacobian.by_inputs.shape[1]
        paths = [*(f"fmu.z[{i}]" for i in range(count)), *(f"fmu.u[{i}]" for i in range(inputs))]
        dots: Reals = self._tangents.read(paths, at.discrete)
        self._participant.system.invalidate_outputs()
        of_states = dots[:, :count] * at.scale[:count]
        of_outputs = of_states @ at.jacobian.by_states.T + dots[:, count:] @ at.jacobian.by_inputs.T
        tangents = np.zeros((len(dots), len(names)))
        tangents[np.isnan(dots).any(axis=1)] = np.nan
        for j, name in enumerate(names):
            if name in at.names:
                tangents[:, j] = of_outputs[:, at.names.index(name)]
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
    """Why the directional derivatives of an FMU are not used; empty if they are.

    Another instance begins a run: there they are compared with differences.

    Parameters
    ----------
    participant : ModelExchangeParticipant
    begin : callable
        Initializes a participant as that one will be.
    inputs, outputs : iterable of str
        The connected ones.
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
    derivatives = np.concatenate([np.hstack(each) for each in jacobians])
    differences = _differences(trial, list(continuous))
    sizes = (np.abs(each).max(axis=0, initial=0.0) for each in (differences, derivatives))
    largest = np.maximum(*sizes)
    off = np.abs(derivatives - differences)
    if not (off <= AGREES * largest).all():
        worst = float(np.max(off / np.where(largest > 0.0, largest, 1.0)))
        return f"they differ from differences at the start, by {worst:.2g} of the largest"
    return ""


def _differences(trial: ModelExchangeParticipant, outputs: Sequence[str]) -> Reals:
    """Derivatives of rates and outputs by states and inputs, by central differences of second order."""
    state, system = trial.simulator.state, trial.system
    evaluation = system.evaluation
    known = [*states_of(state)[: evaluation.states], *np.ravel(state["fmu.u"])[: evaluation.inputs]]

    def answer(point: Sequence[float]) -> Reals:
        states, inputs = point[: evaluation.states], point[evaluation.states :]
        evaluation.move_to_point(state.time, states, inputs)
        rates, _ = evaluation.evaluate(state.time, states, inputs)
        return np.array([*rates, *map(float, trial.read_ports(outputs))])

    columns = []
    for i, value in enumerate(known):
        step = STEP * max(1.0, abs(value))
        ends = [answer([*known[:i], value + sign * step, *known[i + 1 :]]) for sign in (1.0, -1.0)]
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    system.invalidate_outputs()
    return np.array(columns).reshape(len(known), -1).T
