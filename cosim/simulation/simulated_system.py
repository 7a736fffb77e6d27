"""What a simulator works on: a system, a State, an integrator, and the Step that is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError, StateError
from cosim.shown import shown
from cosim.simulation.bound_step import BoundStep
from cosim.simulation.chosen_integrator import chosen_integrator
from cosim.simulation.event_log import EventLog
from cosim.simulation.event_record import Finding
from cosim.simulation.statistics import Statistics
from cosim.simulation.steps import Steps
from cosim.step.compiled_step import CompiledStep
from cosim.step.recording import SLACK
from cosim.system.state import State
from cosim.system.system import System


class SimulatedSystem:
    """A system with a State and an integrator, each of which can be replaced; what was recorded and counted.

    Parameters
    ----------
    system : System
    state : State or None
        The default State unless given.
    policy : str
        About witnesses whose events do not end.
    event_limit : int
        How many events are kept; with 0 none are recorded.

    Attributes
    ----------
    findings : list of Finding
        What was noticed, without being an error.
    """

    def __init__(self, system: System, state: State | None, policy: str, event_limit: int) -> None:
        self._system, self._policy, self._limit = system, policy, event_limit
        self._state: State | None = system.default_state() if state is None else self._of_this_system(state)
        self.findings: list[Finding] = []
        self._steps = Steps(self.state.time)

    @property
    def system(self) -> System:
        """The system; it is never changed."""
        return self._system

    @property
    def state(self) -> State:
        """The State at the end of the last step; `SimulationError` when it was released."""
        if self._state is None:
            raise SimulationError(math.nan, "the simulator has no State: give it one with replace_state()")
        return self._state

    @property
    def has_state(self) -> bool:
        """Whether there is a State."""
        return self._state is not None

    def replace_state(self, state: State | None) -> None:
        """Take another State of the same system; call `initialize` before going on.

        Raises
        ------
        StateError
            It belongs to another system.
        """
        self._steps.refuse_from_inside()
        accuracy = None if self._state is None else self._state.accuracy
        self._state = None if state is None else self._of_this_system(state)
        if state is not None:
            if state.accuracy is None:
                state.accuracy = accuracy
            self._bind(state)

    def _of_this_system(self, state: State) -> State:
        if not isinstance(state, State):
            raise ModelError.of("state", f"is {shown(state)}, needs a State: system.default_state()")
        if state.system is not self._system and state.system.digest != self._system.digest:
            raise StateError("this State belongs to another system: its parts, connections or options differ")
        return state

    def release_state(self) -> State:
        """Give the State away; the simulator cannot go on without one."""
        self._steps.refuse_from_inside()
        state, self._state = self.state, None
        return state

    @property
    def integrator(self) -> Integrator:
        """The integrator in use."""
        return self._integrator

    def reset_integrator(
        self,
        integrator: str | type[Integrator] | Integrator,
        *,
        accuracy: float | None = None,
        **options: Any,
    ) -> Integrator:
        """Replace the integrator; what the old one kept in the State is dropped.

        The next step initializes again; triggered events that are pending stay pending.
        """
        self._steps.refuse_from_inside()
        chosen = chosen_integrator(integrator, self._system, accuracy, options)
        replaced: BoundStep | None = getattr(self, "_step", None)
        self._integrator: Integrator = chosen
        if self._state is not None:
            if replaced is not None:
                self._state._arrays["memory"] = np.zeros(0)
                self._state.agenda.initialized = 0
            if accuracy is not None:
                self._state.accuracy = accuracy
        accuracy = None if self._state is None else self._state.accuracy
        self._step = self._steps.bound = BoundStep(self._system, chosen, self._policy, accuracy, self._limit)
        if replaced is not None:
            self._step.go_on_from(replaced)
        self._step.findings = self.findings
        if self._state is not None:
            self._bind(self._state)
        self._origin = chosen.statistics
        return chosen

    def _bind(self, state: State) -> None:
        """Work on this State; one that was saved is realized as it was where its last step ended."""
        self._step.bind(state)
        if state.agenda.initialized and state.clock.stamp == state.time:
            self._step.call("evaluate", state.time)

    @property
    def events(self) -> EventLog:
        """What has happened: the newest events, `event_limit` of them at least."""
        self._step.take_log()
        return self._step.events

    @property
    def statistics(self) -> Statistics:
        """Counts since `initialize` or `reset_statistics`."""
        now, counts = self._integrator.statistics, self._step.statistics()
        return replace(
            counts,
            integrator_steps=now.steps - self._origin.steps,
            rejections=now.rejections - self._origin.rejections,
            evaluations=now.evaluations - self._origin.evaluations + counts.realizations,
        )

    def reset_statistics(self) -> None:
        """Forget the counts, and where the actual real-time rate is measured from."""
        self._origin = self._integrator.statistics
        self._step.reset_statistics()
        self._steps.pace.begin(self.state.time)

    @property
    def compiled_step(self) -> CompiledStep:
        """The Step that this simulator calls, for compiled code that calls it as well."""
        return self._step.step

    def record(self, paths: Sequence[str], where: str = "events", **grid: float) -> None:
        """Record variables from here on; `take_rows` gives what was recorded.

        Parameters
        ----------
        paths : sequence of str
        where : str
            "events": both sides of events; "steps": also the ends of integrator steps; "grid": both sides of
            events and the times ``origin + i * interval``, from ``point`` on, and the end at ``until``;
            "grid alone": these times without the events, after those of the instant.
        **grid : float
            ``origin``, ``interval``, ``point``, ``until``. Without `point` it is the first one from now on.
        """
        if "interval" in grid and "point" not in grid:
            passed = (self.state.time - grid.get("origin", 0.0)) / grid["interval"]
            grid["point"] = float(max(0, math.ceil(passed - SLACK)))
        self._step.record(paths, where, **grid)

    def take_rows(self) -> NDArray[np.float64]:
        """What was recorded since the last call, shape (rows, 1 + values): times, then the values."""
        return self._step.take_rows()

    def stop_recording(self) -> None:
        """Record no more; what was recorded can still be taken."""
        self._step.stop_recording()

    def record_now(self) -> None:
        """Record the present State as well."""
        self._steps.checked(self._step.call("record"), self.state.time)
