"""An instance of a Model Exchange FMU as the system that integrates it sees it."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any

from cosim_fmu.binding.fmi_error import DISCARD, FmiError
from cosim_fmu.binding.fmu_instance import FmuInstance, Update
from cosim_fmu.master.participants.fmu_clocks import FmuClocks

MOST_EVENT_ITERATIONS = 100
LEAST_INTERVAL = 1e-12
"""Between time events, s, for times up to 1 s; for later ones relative to them."""


class FmuModel:
    """What a system needs of an instance in continuous-time mode (`ModelExchangeInstance`).

    Its methods let the errors of calls (`FmiError`) through, but for a *discard* of the derivatives or
    event indicators: they
    are not defined there, which is what NaN says. Where an event indicator is NaN that was a number before,
    an event could be missed, so the derivatives are NaN there, too: steps end before.

    Parameters
    ----------
    instance : FmuInstance
        Instantiated.
    states, indicators : int
        How many continuous states and event indicators it has.
    write_inputs : callable
        Writes the continuous inputs.
    clocks : FmuClocks
    tick : callable
        Activates clocks and writes the inputs that belong to them.

    Attributes
    ----------
    note : callable
        Called with the time before and after event mode.
    asked_to_stop : bool
        Whether it has asked for the end of the simulation; it stays in event mode then.
    undefined : str
        Which event indicators are NaN at the last point, "" when none is that was a number before.
    """

    def __init__(
        self,
        instance: FmuInstance,
        states: int,
        indicators: int,
        write_inputs: Callable[[Sequence[float]], None],
        clocks: FmuClocks,
        tick: Callable[[Sequence[str]], None],
    ) -> None:
        self.instance, self.count, self.indicators = instance, states, indicators
        self._clocks, self._tick = clocks, tick
        self._x, self._rates = (ctypes.c_double * states)(), (ctypes.c_double * states)()
        self._crossings = (ctypes.c_double * indicators)()
        self.forget()
        self._write_inputs = write_inputs
        self.asked_to_stop = False
        self.note: Callable[[float], None] = lambda time: None

    def forget(self) -> None:
        """What has been seen, which may be later than a restored state."""
        self._numbers: dict[int, float] = {}  # first times at which event indicators were numbers
        self._crowded = 0
        self.undefined = ""

    def put(self, time: float, states: Any, inputs: Any) -> None:
        """Make this the present point of the instance."""
        if self.asked_to_stop:
            return
        self.instance.set_time(time)
        if self.count:
            self._x[:] = list(states)[: self.count]
            self.instance.set_continuous_states(self._x)
        self._write_inputs(inputs)

    def settle(self, time: float, states: Any, inputs: Any) -> None:
        """Make this the present point, at which variables are read.

        Some FMUs compute variables that are derivatives, and others, only when the derivatives are asked
        for: else these would be those of the last stage of the integrator.
        """
        self.put(time, states, inputs)
        self.compute_all()

    def compute_all(self) -> None:
        """Have everything computed that depends on the present point."""
        if self.count and not self.asked_to_stop:
            self._read(self.instance.get_derivatives, self._rates)

    def evaluate(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], Sequence[float]]:
        """Derivatives and event indicators at a point."""
        self.put(time, states, inputs)
        return self.answers(time)

    def answers(self, time: float) -> tuple[Sequence[float], Sequence[float]]:
        """Derivatives and event indicators at the present point, that of `time` (s)."""
        if self.count:
            self._read(self.instance.get_derivatives, self._rates)
        self.undefined = ""
        if self.indicators:
            self._read(self.instance.get_event_indicators, self._crossings)
            lost = []
            for i, x in enumerate(self._crossings):
                since = self._numbers.get(i, math.inf)  # later than now where a step was tried and given up
                if x != x and since < time:
                    lost.append(f"event indicator {i + 1}")
                elif x == x and time < since:
                    self._numbers[i] = time
            self.undefined = ", ".join(lost)
        if self.undefined:
            return [math.nan] * self.count, list(self._crossings)
        return list(self._rates), list(self._crossings)

    def handle_event(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], float, bool]:
        """Event mode until nothing changes; see `leave_event_mode`."""
        self.settle(time, states, inputs)
        self.note(time)
        self.instance.enter_event_mode()
        found = self.leave_event_mode(time)
        self.compute_all()
        self.note(time)
        return found

    def leave_event_mode(self, time: float) -> tuple[Sequence[float], float, bool]:
        """Update the discrete states until nothing changes, then go on in continuous time.

        Returns
        -------
        (sequence of float, float, bool)
            The continuous states after it, the time of the next time event (s; infinite when there is
            none; now for one that should have been before), and whether the nominal values of the states
            have changed.

        Raises
        ------
        RuntimeError
            There is no end of it, or the next time event is no time.
        """
        nominals_changed = False
        for _ in range(MOST_EVENT_ITERATIONS):
            update = self._update(time)
            nominals_changed = nominals_changed or update.nominals_changed
            if update.next_event is not None and math.isnan(update.next_event):
                raise RuntimeError("the time of the next event is nan")
            following = max(update.next_event, time) if update.next_event is not None else math.inf
            crowded = following - time <= LEAST_INTERVAL * max(1.0, abs(time))
            if update.terminate:
                self.asked_to_stop = True
                break
            if not update.again and not self._clocks.due(time):
                self.instance.enter_continuous_time_mode()
                break
        else:
            raise RuntimeError(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates")
        self._crowded = self._crowded + 1 if crowded else 0
        if self._crowded > MOST_EVENT_ITERATIONS:
            raise RuntimeError(
                f"{self._crowded} time events within {LEAST_INTERVAL:g} s of each other, in a row"
            )
        if self.count:
            self.instance.get_continuous_states(self._x)
        return list(self._x), min(following, self._clocks.next_time), nominals_changed

    def _update(self, time: float) -> Update:
        """One update of the discrete states, with the clocks that are due."""
        self._tick(self._clocks.due(time))
        self._clocks.listen()
        answer = self.instance.update_discrete_states()
        self._clocks.ask(time)
        return answer

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states; 1 for what is not told or makes no sense."""
        found = (ctypes.c_double * self.count)(*[1.0] * self.count)
        if self.count:
            try:
                self.instance.get_nominals(found)
            except FmiError:  # no such function, or a status: then nothing is known
                return [1.0] * self.count
        return [abs(x) if math.isfinite(x) and x != 0.0 else 1.0 for x in found]

    def completed_step(self, time: float, states: Any, inputs: Any) -> bool:
        """Tell that an integrator step has ended; whether the FMU wants an event."""
        self.put(time, states, inputs)
        return self.complete()

    def complete(self) -> bool:
        """Tell that an integrator step has ended at the present point; whether the FMU wants an event."""
        event, self.asked_to_stop = self.instance.completed_step()
        return event and not self.asked_to_stop

    def _read(self, function: Callable[[Any], None], into: Any) -> None:
        try:
            function(into)
        except FmiError as error:
            if error.status != DISCARD:
                raise
            into[:] = [math.nan] * len(into)
