"""An instance of a Model Exchange FMU in continuous-time mode."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance, Update
from cosim_fmi.binding.fmu_library import FmiError
from cosim_fmi.binding.statuses import DISCARD, ERROR, FATAL
from cosim_fmi.event_inputs import EventInputs
from cosim_fmi.model_exchange.instance_block import InstanceBlock
from cosim_fmi.variables.variable_access import Access

INDICATOR = "fmu.indicator_"
"""The name of a witness, before its number."""


class AfterEvent(NamedTuple):
    """An FMU, or several, after event mode.

    Attributes
    ----------
    states : sequence of float
        The continuous states.
    next_event : float
        The time of the next time event, s; infinite if there is none.
    nominals_changed : bool
        Whether the nominal values of the states have changed.
    """

    states: Sequence[float]
    next_event: float
    nominals_changed: bool


def indicator_findings(findings: Sequence[Any], first: int = 0, count: float = math.inf) -> list[str]:
    """The findings about some of the event indicators, as sentences; the indicators are counted from 1."""
    texts = []
    for finding in findings:
        _, _, number = finding.witness.partition(INDICATOR)
        if number and 0 <= int(number) - first < count:
            texts.append(
                f"event indicator {int(number) - first + 1}, at t = {finding.time:.9g} s: {finding.message}"
            )
    return texts


def find_feedthrough(
    answers: Callable[[Mapping[str, Any]], Sequence[Any]],
    outputs: Sequence[str],
    inputs: Mapping[str, Any],
    alternatives: Callable[[str, Any], Iterable[Any]],
) -> dict[str, frozenset[str]]:
    """For each output the inputs that change it.

    Parameters
    ----------
    answers : callable
        Returns the outputs for these values of the inputs.
    outputs : sequence of str
    inputs : mapping of str to object
        Their present values.
    alternatives : callable
        Returns other values of an input, from its name and its present value.
    """
    inputs_of: dict[str, set[str]] = {output: set() for output in outputs}
    present_values = answers(inputs)
    for name, value in inputs.items():
        for alternative in alternatives(name, value):
            values = answers({**inputs, name: alternative})
            changes = map(_differ, present_values, values)
            for output, has_changed in zip(outputs, changes, strict=True):
                if has_changed:
                    inputs_of[output].add(name)
    return {output: frozenset(names) for output, names in inputs_of.items()}


def moved_a_little(name: str, value: float) -> list[float]:
    """One value of a real input, so close to the present value that no event is between them."""
    return [value + max(1.0, abs(value)) * 2.0**-10]


def _differ(first: Any, second: Any) -> bool:
    """Whether two values differ; NaN equals NaN."""
    if isinstance(first, float) and isinstance(second, float) and math.isnan(first) and math.isnan(second):
        return False
    return bool(first != second)


MOST_EVENT_ITERATIONS = 100
LEAST_INTERVAL = 1e-12
"""The smallest interval between time events, s, for times up to 1 s; relative to later times."""


class FmuModel:
    """An instance in continuous-time mode: its event mode, and the block by which compiled code calls it.

    Its methods raise the errors of calls (`FmiError`).

    Parameters
    ----------
    instance : FmuInstance
        Instantiated.
    states, indicators : int
        The numbers of continuous states and event indicators.
    inputs : Access or None
        Writes the continuous inputs that are given from outside.
    event_inputs : EventInputs
        Its discrete inputs and clocks.
    wants_steps : bool
        Whether it is notified when an integrator step has ended.

    Attributes
    ----------
    block : InstanceBlock
        The memory by which compiled code calls it.
    """

    def __init__(
        self,
        instance: FmuInstance,
        states: int,
        indicators: int,
        inputs: Access | None,
        event_inputs: EventInputs,
        wants_steps: bool = False,
    ) -> None:
        self.instance, self.count, self.indicators = instance, states, indicators
        self.inputs, self.wants_steps = inputs, wants_steps
        self._event_inputs, self._clocks = event_inputs, event_inputs.clocks
        self._states = (ctypes.c_double * states)()
        self.block = InstanceBlock(instance, states, indicators, wants_steps)
        self._crowded_events = 0

    @property
    def stop_requested(self) -> bool:
        """Whether the FMU has asked for the end of the run; it stays in event mode then."""
        return self.block.stopped

    @stop_requested.setter
    def stop_requested(self, value: bool) -> None:
        self.block.stopped = value

    def forget(self) -> None:
        """Forget the evaluated points, which may be later than a restored state."""
        self.block.forget()
        self._crowded_events = 0

    def compute_all(self) -> None:
        """Compute all values that depend on the present point."""
        if self.count and not self.stop_requested:
            self._compute()

    def _compute(self) -> None:
        rates = (ctypes.c_double * self.count)()
        try:
            self.instance.get_derivatives(rates)
        except FmiError as error:
            if error.status != DISCARD:  # a discard means that they are not defined at this point
                raise

    def outputs_lag(self, read: Callable[[], Any]) -> bool:
        """Whether variables follow the states only after the derivatives are computed."""
        if not self.count or self.stop_requested:
            return False
        states, moved = ((ctypes.c_double * self.count)() for _ in range(2))
        self.instance.get_continuous_states(states)
        moved[:] = [x + max(1.0, abs(x)) * 2.0**-10 for x in states]
        self.instance.set_continuous_states(moved)
        before = np.array(read(), dtype=float)
        self.compute_all()
        after = np.array(read(), dtype=float)
        self.instance.set_continuous_states(states)
        self.compute_all()
        return not np.array_equal(before, after, equal_nan=True)

    def enter_event_mode(self, changes: Mapping[str, Any]) -> None:
        """Enter event mode from continuous-time mode, and set discrete inputs there."""
        self.instance.enter_event_mode()
        if changes:
            self._event_inputs.write(changes)

    def start_instant(self) -> None:
        """Begin an event: ticks count as new from now on."""
        self._clocks.start_instant()

    def end_instant(self) -> None:
        """End an event: all ticks since the begin of the step count from now on."""
        self._clocks.end_instant()

    def leave_event_mode(self, time: float) -> AfterEvent:
        """Update the discrete states until nothing changes, then enter continuous-time mode.

        Returns
        -------
        AfterEvent
            A next time event in the past becomes one at the present time.

        Raises
        ------
        FmiError
            A call fails, the updates do not end, the next time event is not a time, or a state is not finite.
        """
        nominals_changed = False
        for _ in range(MOST_EVENT_ITERATIONS):
            update = self._update(time)
            nominals_changed = nominals_changed or update.nominals_changed
            if update.next_event is not None and math.isnan(update.next_event):
                raise self._fault("the time of the next event is nan", time)
            next_event = max(update.next_event, time) if update.next_event is not None else math.inf
            is_crowded = next_event - time <= LEAST_INTERVAL * max(1.0, abs(time))
            if update.terminate:
                self.stop_requested = True
                break
            if not update.again and not self._clocks.due_clocks(time):
                self.instance.enter_continuous_time_mode()
                break
        else:
            raise self._fault(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates", time)
        self._crowded_events = self._crowded_events + 1 if is_crowded else 0
        if self._crowded_events > MOST_EVENT_ITERATIONS:
            count = self._crowded_events
            raise self._fault(
                f"{count} time events within {LEAST_INTERVAL:g} s of each other, in a row", time
            )
        if self.count:
            self.instance.get_continuous_states(self._states)
        for i, state in enumerate(self._states):
            if not math.isfinite(state):
                raise self._fault(f"continuous state {i + 1} is {state} after event mode", time)
        return AfterEvent(list(self._states), min(next_event, self._clocks.next_time), nominals_changed)

    def _fault(self, text: str, time: float) -> FmiError:
        """The error for wrong behavior at an event without a failed call."""
        self.instance.mode = modes.FAILED
        return FmiError(f"at t = {time:.9g} s {text}")

    def _update(self, time: float) -> Update:
        """Update the discrete states once, with the clocks that are due."""
        self._event_inputs.tick(self._clocks.due_clocks(time))
        self._clocks.listen()
        answer = self.instance.update_discrete_states()
        self._clocks.read_intervals(time)
        return answer

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states; 1 for missing or invalid ones."""
        sizes = (ctypes.c_double * self.count)(*[1.0] * self.count)
        if self.count:
            try:
                self.instance.get_nominals(sizes)
            except FmiError as error:
                if error.status in (ERROR, FATAL):
                    raise
                return [1.0] * self.count  # there is no such function, or no value at present
        return [abs(x) if math.isfinite(x) and x != 0.0 else 1.0 for x in sizes]
