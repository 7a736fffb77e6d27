"""An instance of a Model Exchange FMU as the system that integrates it sees it."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

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
    others: Callable[[str, Any], Iterable[Any]],
) -> dict[str, frozenset[str]]:
    """For each output the inputs that change it.

    Parameters
    ----------
    answers : callable
        Gives the outputs where the inputs have these values.
    outputs : sequence of str
    inputs : mapping of str to object
        Their present values.
    others : callable
        Gives other values of an input, of its name and its present value.
    """
    inputs_of: dict[str, set[str]] = {output: set() for output in outputs}
    before = answers(inputs)
    for name, value in inputs.items():
        for other in others(name, value):
            after = answers({**inputs, name: other})
            for output, one, another in zip(outputs, before, after, strict=True):
                if _differ(one, another):
                    inputs_of[output].add(name)
    return {output: frozenset(names) for output, names in inputs_of.items()}


def moved_a_little(name: str, value: float) -> list[float]:
    """Values of a real input so close that no event lies between."""
    return [value + max(1.0, abs(value)) * 2.0**-10]


def _differ(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return False
    return bool(one != other)


MOST_EVENT_ITERATIONS = 100
LEAST_INTERVAL = 1e-12
"""Between time events, s, for times up to 1 s; for later ones relative to them."""


class FmuModel:
    """An instance in continuous-time mode: its event mode, and the block by which compiled code calls it.

    Its methods let the errors of calls (`FmiError`) through.

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
        By which compiled code calls it.
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
        self._x = (ctypes.c_double * states)()
        self.block = InstanceBlock(instance, states, indicators, wants_steps)
        self._crowded = 0

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
        self._crowded = 0

    def compute_all(self) -> None:
        """Compute all values that depend on the present point."""
        if self.count and not self.stop_requested:
            self._compute()

    def _compute(self) -> None:
        rates = (ctypes.c_double * self.count)()
        try:
            self.instance.get_derivatives(rates)
        except FmiError as error:
            if error.status != DISCARD:  # they are not defined there
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
        """Note that the event mode of an instant has ended: clocks have ticked."""
        self._clocks.end_instant()

    def leave_event_mode(self, time: float) -> tuple[Sequence[float], float, bool]:
        """Update the discrete states until nothing changes, then enter continuous-time mode.

        Returns
        -------
        (sequence of float, float, bool)
            The continuous states after it, the time of the next time event (s; infinite when there is
            none; now for one that should have been before), and whether the nominal values of the states
            have changed.

        Raises
        ------
        FmiError
            A call fails, there is no end of it, the next time event is not a time, or a state is not finite.
        """
        nominals_changed = False
        for _ in range(MOST_EVENT_ITERATIONS):
            update = self._update(time)
            nominals_changed = nominals_changed or update.nominals_changed
            if update.next_event is not None and math.isnan(update.next_event):
                raise self._fault("the time of the next event is nan", time)
            following = max(update.next_event, time) if update.next_event is not None else math.inf
            crowded = following - time <= LEAST_INTERVAL * max(1.0, abs(time))
            if update.terminate:
                self.stop_requested = True
                break
            if not update.again and not self._clocks.due_clocks(time):
                self.instance.enter_continuous_time_mode()
                break
        else:
            raise self._fault(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates", time)
        self._crowded = self._crowded + 1 if crowded else 0
        if self._crowded > MOST_EVENT_ITERATIONS:
            raise self._fault(
                f"{self._crowded} time events within {LEAST_INTERVAL:g} s of each other, in a row", time
            )
        if self.count:
            self.instance.get_continuous_states(self._x)
        for i, state in enumerate(self._x):
            if not math.isfinite(state):
                raise self._fault(f"continuous state {i + 1} is {state} after event mode", time)
        return list(self._x), min(following, self._clocks.next_time), nominals_changed

    def _fault(self, text: str, time: float) -> FmiError:
        """The error for what an instance does at an event, though no call has failed."""
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
                return [1.0] * self.count  # no such function, or nothing is known now
        return [abs(x) if math.isfinite(x) and x != 0.0 else 1.0 for x in sizes]
