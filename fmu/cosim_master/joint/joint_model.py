"""Instances of Model Exchange FMUs that are solved as one."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cosim_master.joint.joint_wiring import JointWiring
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.fmu_model import MOST_EVENT_ITERATIONS, FmuModel


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
        self.now: Sequence[float] = []
        self.next_event = math.inf


class JointModel:
    """The instances of the members in continuous-time mode as one (`ModelExchangeInstance`).

    Their states and indicators follow each other. At an event all of them go through event mode; those whose
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
        Continuous states and event indicators of all.
    at : str
        The participant that is or was called last.
    stop_requested : bool
        Whether one of them has asked for the end of the simulation.
    before_event : callable
        Called before all go through event mode inside a step.
    due : dict of float to list of str
        For instants with a time event the participants that wanted it.
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
        """Whether one of them has."""
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
        """The time and reason of the last failure to find inputs since `clear_lost`."""
        time = self.evaluation.lost_at
        return "" if time is None else f"at t = {time:.9g} s {self.evaluation.why()}"

    def clear_lost(self) -> None:
        """A step begins: forget why inputs were not found."""
        self.evaluation.clear_lost()

    def move_to_point(self, time: float, states: Any, inputs: Any) -> None:
        """Make this the present point, at which variables are read."""
        for part in self.parts:
            part.now = list(states[part.states])
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
        """Carry out calls of the instances; `UnsolvedError` if inputs cannot be found."""
        try:
            answer = action()
        except Exception:
            self.at = self.parts[self.evaluation.place].name
            raise
        if answer is False:
            raise UnsolvedError(self.evaluation.why())

    def handle_event(
        self, time: float, states: Any, inputs: Any, changes: Mapping[str, Any] | None = None
    ) -> tuple[Sequence[float], float, bool]:
        """Event mode of all, with discrete inputs of the first; see `pass_events`."""
        self.before_event()
        self.move_to_point(time, states, inputs)
        self.due[time] = [part.name for part in self.parts if part.next_event <= time]
        self.store_values(time)
        first, *others = (part.name for part in self.parts)
        answer = self.pass_events(time, {first: changes or {}, **{name: {} for name in others}})
        self.compute_all()
        self.store_values(time)
        return answer

    def pass_events(
        self, time: float, going: Mapping[str, Mapping[str, Any]]
    ) -> tuple[list[float], float, bool]:
        """Pass through event mode from continuous-time mode and back.

        Parameters
        ----------
        time : float
            s; all are at this point.
        going : mapping of str to mapping
            The members, and the discrete inputs that are set there.

        Returns
        -------
        (list of float, float, bool)
            The continuous states after it, the time of the next time event (s), and whether nominal values
            have changed.
        """
        for part in self.parts:
            part.model.start_instant()
        self._enter(going)
        answer = self.leave_event_mode(time, list(going))
        for part in self.parts:
            part.model.end_instant()
        return answer

    def _enter(self, going: Mapping[str, Mapping[str, Any]]) -> None:
        for part in self.parts:
            if part.name in going:
                self.at = part.name
                part.model.enter_event_mode(going[part.name])

    def leave_event_mode(self, time: float, going: Sequence[str]) -> tuple[list[float], float, bool]:
        """Pass from event mode of these members to continuous-time mode of all; see `pass_events`."""
        rescale = False
        for _ in range(MOST_EVENT_ITERATIONS):
            before = dict(self._wiring.given)
            for part in self.parts:
                if part.name in going:
                    self.at = part.name
                    part.now, part.next_event, changed = part.model.leave_event_mode(time)
                    rescale = rescale or changed
            if self.stop_requested:
                break
            self._do(lambda: self.evaluation.exchange(time))
            reached: dict[str, dict[str, Any]] = {
                target: {}
                for (target, name), value in self._wiring.given.items()
                if _has_jumped(before.get((target, name), value), value)
            }
            reached |= self._wiring.changes_at_events()
            if not reached:
                break
            self._enter(reached)
            going = list(reached)
        else:
            names = ", ".join(going)
            raise RuntimeError(
                f"inputs still change after {MOST_EVENT_ITERATIONS} passes through event mode at one "
                f"instant, t = {time:.9g} s: those of {names}"
            )
        following = min((part.next_event for part in self.parts), default=math.inf)
        return [x for part in self.parts for x in part.now], following, rescale

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states."""
        sizes: list[float] = []
        for part in self.parts:
            self.at = part.name
            sizes += part.model.nominals()
        return sizes


def _has_jumped(before: Any, after: Any) -> bool:
    """Whether it is more than rounding."""
    if isinstance(before, float) and isinstance(after, float):
        return not math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
    return bool(before != after)


class UnsolvedError(RuntimeError):
    """Inputs cannot be found at a point where they have to be."""
