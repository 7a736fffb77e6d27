"""Simulator: advances a State through time, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

from cosim.attributes import ClosedAttributes
from cosim.contracts.integrator import Integrator
from cosim.errors import ModelError, SimulationError
from cosim.html_table import html_table
from cosim.options import check_callable, check_choice, check_options, check_whole, option_names, seconds
from cosim.shown import shown
from cosim.simulation.chosen_integrator import integrator_options
from cosim.simulation.event_record import Finding
from cosim.simulation.failures import NO_ACCURACY
from cosim.simulation.interrupt import interrupt_between_steps
from cosim.simulation.monitor import Monitor
from cosim.simulation.moved_start import GivenStart
from cosim.simulation.passed_timers import passed_timers
from cosim.simulation.simulated_system import SimulatedSystem
from cosim.simulation.status import Severity, SimulatorStatus, worst
from cosim.stage import Stage
from cosim.step import failures
from cosim.step.tables import POLICIES
from cosim.step.witnesses import CHARACTERISTIC_TIME
from cosim.system.state import State
from cosim.system.system import System, check_system

EVENT_LIMIT = 100_000
OF_INTEGRATORS = (
    *(
        "initial_step",
        "minimum_step",
        "maximum_step",
        "fixed_step",
        "relative_tolerance",
        "absolute_tolerance",
    ),
)


class Simulator(ClosedAttributes, SimulatedSystem):
    """Advances the trajectory of a system; only the State is changed by it.

    A step is: updates that are pending at its start (unrestricted, then discrete, inside each kind by
    cause), integration no further than the next scheduled event, publishes due at its end, the monitor.

    Parameters
    ----------
    system : System
    state : State, optional
        The default State unless given. One that was saved in the middle of a run goes on where it was.
    integrator : str, class or Integrator
        Id of an integrator plugin, its class, or one that is made already.
    accuracy : float, optional
        Of the integration; the isolation window of events follows it.
    final_time : float
        When it is reached the simulation is finished, s.
    endless_events : str
        What to do about a witness whose events chatter or pile up at an instant: "hold" it in its sliding
        mode, only "report" it, or "stop" with an error. All are told in `findings`.
    event_limit : int
        How many of the newest events `events` keeps at least; older ones are forgotten, some thousand at a
        time. With 0 none are recorded.
    **options
        For the integrator: ``fixed_step``, ``maximum_step`` …

    Raises
    ------
    LookUpError
        No such integrator.
    OptionError
        An option that neither the Simulator nor the integrator has.

    References
    ----------
    Drake C++ documentation, class ``Simulator``; Simbody, class ``Event::Cause``.
    """

    attribute_hints: ClassVar[Mapping[str, str]] = {
        "state": "call replace_state(state)",
        "integrator": "call reset_integrator('integrators.…')",
        "accuracy": "call reset_integrator('integrators.…', accuracy=…)",
        "monitor": "call set_monitor(function)",
        "endless_events": "give it to Simulator(…)",
        "event_limit": "give it to Simulator(…)",
        **{name: f"call reset_integrator('integrators.…', {name}=…)" for name in OF_INTEGRATORS},
    }

    def __init__(
        self,
        system: System,
        state: State | None = None,
        integrator: str | type[Integrator] | Integrator = "integrators.runge_kutta_merson",
        accuracy: float | None = None,
        final_time: float = math.inf,
        endless_events: str = "hold",
        event_limit: int = EVENT_LIMIT,
        **options: Any,
    ) -> None:
        if options:
            known = [name for name in option_names(Simulator) if name not in ("system", "state")]
            check_options(type(self).__name__, options, [*known, *integrator_options(integrator)])
        check_choice(endless_events, "endless_events", POLICIES)
        check_whole(event_limit, "event_limit", 0)
        check_system(system, type(self).__name__)
        super().__init__(system, state, endless_events, event_limit)
        self.final_time = final_time
        self.reset_integrator(integrator, accuracy=accuracy, **options)

    def __reduce__(self) -> Any:
        raise TypeError(
            "a Simulator is not pickled: pickle its system and simulator.state, and make another with "
            "them, or write simulator.state.to_bytes()"
        )

    def __repr__(self) -> str:
        at = f"at t = {self._state.time:.9g} s" if self._state is not None else "without a State"
        return f"<Simulator of {self._system!r} {at}, {type(self.integrator).__name__}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), [(name, value) for name, value in vars(self.statistics).items()])

    @property
    def status(self) -> SimulatorStatus:
        """How the last call ended."""
        return self._steps.status

    @property
    def final_time(self) -> float:
        """When it is reached the simulation is finished, s."""
        return self._final_time

    @final_time.setter
    def final_time(self, time: float | str) -> None:
        final = seconds(time, "final_time")
        if math.isnan(final):
            raise ModelError.of("final_time", "is nan, needs a time: 2.0 (s), or text with a unit, '2 ms'")
        self._final_time = final

    # monitor and real time

    @property
    def monitor(self) -> Monitor | None:
        """Called at the end of every step with the State; may answer an `EventStatus`."""
        return self._steps.monitor

    def set_monitor(self, monitor: Monitor) -> None:
        """Have a function called at the end of every step, after all publishes."""
        check_callable(monitor, "monitor", "the State")
        self._steps.monitor = monitor

    def clear_monitor(self) -> None:
        """Remove the monitor."""
        self._steps.monitor = None

    @property
    def target_realtime_rate(self) -> float:
        """Simulated seconds for each second, at most; 0 means as fast as possible, as a negative one does."""
        return self._steps.pace.target

    @target_realtime_rate.setter
    def target_realtime_rate(self, rate: float) -> None:
        if isinstance(rate, bool) or not isinstance(rate, Real) or math.isnan(rate):
            text = f"is {shown(rate)}, needs a number of simulated seconds for each second; 0 for no limit"
            raise ModelError.of("target_realtime_rate", text)
        self._steps.pace.target = max(0.0, float(rate))

    @property
    def actual_realtime_rate(self) -> float:
        """Simulated seconds a second since `initialize` or `reset_statistics`; NaN before the first step."""
        return self._steps.pace.actual(self.state.time)

    @property
    def witness_time_isolation(self) -> float | None:
        """Length of the window to which triggered events are located, s; None when they are not.

        Raises
        ------
        SimulationError
            Under error control without an accuracy in the State.
        """
        accuracy, fixed = self.state.accuracy, self._integrator.fixed_step
        if accuracy is None:
            if fixed is not None:
                return None
            raise SimulationError(self.state.time, NO_ACCURACY)
        shortest = max(1e-14, 1e-14 * abs(self.state.time))
        return max(shortest, 0.01 * accuracy * (CHARACTERISTIC_TIME if fixed is None else fixed))

    # advancing

    def initialize(self, *, suppress_initialization_events: bool = False) -> SimulatorStatus:
        """The 0th step: initialization events, then the publishes of this time, then the monitor."""
        self._steps.refuse_from_inside()
        state = self.state
        self._step.forget_events()
        self.findings.clear()
        self._step.bind(state, anew=True)
        self.reset_statistics()
        self._integrator_check(state)
        given = GivenStart(state)
        answer = self._steps.call(
            "initialize", state.time, state.time, suppressed=suppress_initialization_events
        )
        self.findings += given.findings(state)
        self.findings += passed_timers(state, self._step.step.tables.agenda_of.entries)
        self._look_at_start(state)
        if answer.severity < Severity.REACHED_TERMINATION:
            answer = worst([answer, self._steps.ask_monitor(state.time)])
        return self._end_if_asked(self._steps.end(answer, state.time))

    def _look_at_start(self, state: State) -> None:
        """Tell what the solver of the equations of motion has to say about the first state of a run."""
        if self._system.solver is None:
            return
        try:
            found = self._system.solver.look_at_start(state.copy().realize(Stage.ACCELERATION))
        except SimulationError as error:
            state.agenda.initialized = 0
            self._steps.note_failure(error, state.time)
            raise
        for path, message in found:
            if self._step.set_told(path):
                self.findings.append(Finding(state.time, "status", path, message))

    def _integrator_check(self, state: State) -> None:
        """Refuse systems that are not for this method."""
        if type(self._integrator).check is not Integrator.check:
            self._integrator.check(self._system, state.copy().realize(Stage.ACCELERATION))

    def advance_to(self, boundary_time: float | str, *, within: float = 0.0) -> SimulatorStatus:
        """Advance until a time is reached, exactly, or a handler asks to stop.

        Parameters
        ----------
        boundary_time : float or str
            s, or text with a unit; not before the State's time.
        within : float, s
            A scheduled event that is no further from the boundary than this is at the boundary: the step ends
            there, and its updates are pending. For hosts that compute their times by themselves.

        Raises
        ------
        SimulationError
            A handler or the integration failed; the State is the last good one.
        """
        boundary_time = seconds(boundary_time, "boundary_time")
        if (ended := self._start_if_needed()) is not None:
            return ended
        target = self._target(boundary_time)
        step = self._step.step
        step.meeting = within
        try:
            with interrupt_between_steps() as check:
                while True:
                    answer = self._steps.some(target, boundary_time)
                    if answer.severity >= Severity.REACHED_TERMINATION or self._steps.has_arrived:
                        break
                    check()
        except KeyboardInterrupt:
            self._steps.note_interrupt(boundary_time)
            raise
        finally:
            step.meeting = 0.0
        return self._end_run(self._steps.end(answer, boundary_time))

    def advance_some(self, boundary_time: float) -> SimulatorStatus:
        """Advance toward a time, for about a tenth of a second of wall-clock time (a few steps at least)."""
        if (ended := self._start_if_needed()) is not None:
            return ended
        answer = self._steps.some(self._target(boundary_time), boundary_time)
        return self._end_run(self._steps.end(answer, self.state.time))

    def step(self, boundary_time: float = math.inf) -> SimulatorStatus:
        """One step, no further than `boundary_time` (s)."""
        if (ended := self._start_if_needed()) is not None:
            return ended
        answer = self._steps.one(self._target(boundary_time), boundary_time)
        return self._end_run(self._steps.end(answer, self.state.time))

    def _target(self, boundary_time: float) -> float:
        if math.isnan(boundary_time) or boundary_time < self.state.time:
            raise SimulationError(
                self.state.time, f"cannot advance to {boundary_time:.9g} s, which is in the past"
            )
        return min(boundary_time, self.final_time)

    def _end_run(self, status: SimulatorStatus) -> SimulatorStatus:
        """Issue Termination where the run ends here: at the final time, or after a request to stop."""
        if status.succeeded and self.state.time < self.final_time:
            return status
        if status.succeeded:
            # what is pending at the final time runs first
            wanted = status.boundary_time
            status = self._steps.end(self._steps.one(self.state.time, wanted), wanted)
            while status.succeeded and self.has_pending_updates:
                status = self._steps.end(self._steps.one(self.state.time, wanted), wanted)
        self.finish()
        self._steps.status = status
        return status

    def _end_if_asked(self, status: SimulatorStatus) -> SimulatorStatus:
        """Issue Termination after a request to stop."""
        return status if status.succeeded else self._end_run(status)

    def go_on(self, code: int, boundary_time: float, within: float = 0.0) -> SimulatorStatus:
        """Go on from what the Step answered when compiled code called it; `within` as for `advance_to`."""
        self._step.explain(code, boundary_time)
        if code in (failures.GROW, failures.STEPPED):
            return self.advance_to(boundary_time, within=within)
        try:
            return self._end_if_asked(
                self._steps.end(self._steps.checked(code, boundary_time), boundary_time)
            )
        except SimulationError as error:
            self._steps.note_failure(error, boundary_time)
            raise

    def advance_pending_events(self) -> SimulatorStatus:
        """Do the updates that are pending now, without advancing time: a step of length zero."""
        self._start_if_needed()
        time = self.state.time
        return self._end_if_asked(self._steps.end(self._steps.one(time, time), time))

    def finish(self) -> SimulatorStatus:
        """Issue the cause Termination, once for each end of a run.

        Signals that its handlers raise stay set in the final State.
        """
        self._start_if_needed()
        state = self.state
        if state.agenda.finished:
            return self._steps.status
        return self._steps.end(self._steps.call("finish", state.time, state.time), state.time)

    @property
    def is_initialized(self) -> bool:
        """Whether `initialize` was called for this State, possibly in another process."""
        return bool(self.state.agenda.initialized)

    @property
    def has_pending_updates(self) -> bool:
        """Whether the next step begins with an update that is not one of every step."""
        return self._step.has_pending_updates()

    # the rest

    def _start_if_needed(self) -> SimulatorStatus | None:
        """Initialize where that was not done; the status where the run has ended with it."""
        state = self.state
        if not state.agenda.initialized:
            status = self.initialize()
            return None if status.succeeded else status
        if state.clock.stamp != state.time:
            raise SimulationError(
                state.time, "the time of the State has changed since the last step: call initialize() first"
            )
        return None
