"""Instances of Model Exchange FMUs as one instance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim_master.joint.joint_wiring import JointWiring
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.fmu_model import MOST_EVENT_ITERATIONS, AfterEvent, FmuModel


class JointPart:
    """A member of the joint system.

    Parameters
    ----------
    name : str
        The name of the participant.
    model : FmuModel
    """

    def __init__(self, name: str, model: FmuModel) -> None:
        self.name, self.model = name, model
        self.states, self.indicators = slice(0, 0), slice(0, 0)
        self.state_values: Sequence[float] = []
        self.next_event = math.inf


class JointModel:
    """The instances of the members in continuous-time mode as one (`ModelExchangeInstance`).

    Their states and indicators are concatenated. At an event all of them pass through event mode; those whose
    inputs change by it do so again, until nothing changes.

    Parameters
    ----------
    parts : sequence of JointPart
    wiring : JointWiring

    Attributes
    ----------
    evaluation : Evaluation
        The evaluation of all members, by which compiled code calls them.
    count, indicators : int
        The numbers of continuous states and event indicators of all members.
    at : str
        The participant that was called last.
    stop_requested : bool
        Whether one of them has asked for the end of the simulation.
    before_event : callable
        Called before all members pass through event mode inside a step.
    due : dict of float to list of str
        The participants that requested a time event, by its time.
    """

    def __init__(self, parts: Sequence[JointPart], wiring: JointWiring) -> None:
        self.parts, self._wiring = list(parts), wiring
        self.count = self.indicators = 0
        for part in parts:
            part.states = slice(self.count, self.count + part.model.count)
            part.indicators = slice(self.indicators, self.indicators + part.model.indicators)
            self.count, self.indicators = part.states.stop, part.indicators.stop
        self.at = ""
        self.evaluation = Evaluation([part.model for part in self.parts], wiring.program)
        wiring.attach(self.evaluation)
        self.due: dict[float, list[str]] = {}
        self.store_values: Callable[[float], None] = lambda time: None
        self.before_event: Callable[[], None] = lambda: None

    @property
    def stop_requested(self) -> bool:
        """Whether a member has asked for the end of the run."""
        return any(part.model.stop_requested for part in self.parts)

    @stop_requested.setter
    def stop_requested(self, value: bool) -> None:
        for part in self.parts:
            part.model.stop_requested = value

    def forget(self) -> None:
        """Forget the evaluated points, which may be later than a restored state."""
        for part in self.parts:
            part.model.forget()

    @property
    def lost(self) -> str:
        """The time and reason of the last failure to determine inputs since `clear_lost`."""
        time = self.evaluation.lost_at
        return "" if time is None else f"at t = {time:.9g} s {self.evaluation.why()}"

    def clear_lost(self) -> None:
        """Forget earlier failures to determine inputs, at the begin of a step."""
        self.evaluation.clear_lost()

    def move_to_point(self, time: float, states: Any, inputs: Any) -> None:
        """Move all members to a point, for reading variables."""
        for part in self.parts:
            part.state_values = list(states[part.states])
        self._do(lambda: self.evaluation.move_to_point(time, states, inputs))

    def check_settled(self, code: int) -> None:
        """Raise the error of a search by compiled code."""
        self._do(lambda: self.evaluation.check(code))

    def compute_all(self) -> None:
        """Compute all values that depend on the present point."""
        self._do(self.evaluation.compute_all)

    def failure(self) -> Exception | None:
        """The error of the last evaluation, or of a value that is not defined; the part is `at`."""
        reason = self.evaluation.failure()
        if reason is not None:
            self.at = self.parts[self.evaluation.place].name
        return reason

    def _do(self, action: Callable[[], bool | None]) -> None:
        """Call the instances; `UnsolvedError` if inputs cannot be determined."""
        try:
            is_solved = action()
        except Exception:
            self.at = self.parts[self.evaluation.place].name
            raise
        if is_solved is False:
            raise UnsolvedError(self.evaluation.why())

    def handle_event(
        self, time: float, states: Any, inputs: Any, changes: Mapping[str, Any] | None = None
    ) -> AfterEvent:
        """Pass all members through event mode, the first one with changed discrete inputs."""
        self.before_event()
        self.move_to_point(time, states, inputs)
        self.due[time] = [part.name for part in self.parts if part.next_event <= time]
        self.store_values(time)
        inputs_of: dict[str, Mapping[str, Any]] = {part.name: {} for part in self.parts}
        inputs_of[self.parts[0].name] = changes or {}
        after = self.pass_events(time, inputs_of)
        self.compute_all()
        self.store_values(time)
        return after

    def pass_events(self, time: float, inputs_of: Mapping[str, Mapping[str, Any]]) -> AfterEvent:
        """Pass some members from continuous-time mode through event mode and back.

        Parameters
        ----------
        time : float
            s; all members are at this point.
        inputs_of : mapping of str to mapping
            By member, the discrete inputs that are set in event mode.
        """
        for part in self.parts:
            part.model.start_instant()
        self._enter(inputs_of)
        after = self.leave_event_mode(time, list(inputs_of))
        for part in self.parts:
            part.model.end_instant()
        return after

    def _enter(self, inputs_of: Mapping[str, Mapping[str, Any]]) -> None:
        for part in self.parts:
            if part.name in inputs_of:
                self.at = part.name
                part.model.enter_event_mode(inputs_of[part.name])

    def leave_event_mode(self, time: float, names: Sequence[str]) -> AfterEvent:
        """Pass from event mode of these members to continuous-time mode of all."""
        nominals_changed = False
        for _ in range(MOST_EVENT_ITERATIONS):
            before = dict(self._wiring.given)
            for part in self.parts:
                if part.name in names:
                    self.at = part.name
                    after = part.model.leave_event_mode(time)
                    part.state_values, part.next_event = after.states, after.next_event
                    nominals_changed = nominals_changed or after.nominals_changed
            if self.stop_requested:
                break
            self._do(lambda: self.evaluation.exchange(time))
            changed: dict[str, dict[str, Any]] = {
                target: {}
                for (target, name), value in self._wiring.given.items()
                if _has_jumped(before.get((target, name), value), value)
            }
            changed |= self._wiring.changes_at_events()
            if not changed:
                break
            self._enter(changed)
            names = list(changed)
        else:
            raise RuntimeError(
                f"inputs still change after {MOST_EVENT_ITERATIONS} passes through event mode at one "
                f"instant, t = {time:.9g} s: those of {', '.join(names)}"
            )
        next_event = min((part.next_event for part in self.parts), default=math.inf)
        return AfterEvent([x for part in self.parts for x in part.state_values], next_event, nominals_changed)

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states."""
        sizes: list[float] = []
        for part in self.parts:
            self.at = part.name
            sizes += part.model.nominals()
        return sizes


def _has_jumped(before: Any, after: Any) -> bool:
    """Whether a value has changed by more than rounding."""
    if isinstance(before, float) and isinstance(after, float):
        return not math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
    return bool(before != after)


class UnsolvedError(RuntimeError):
    """The inputs of a joint system cannot be determined at a point where they are needed."""
