"""Calls of an instance of a Model Exchange FMU (FMI 2.0)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

MOST_EVENT_ITERATIONS = 100
LEAST_INTERVAL = 1e-12
"""Between time events, s, for times up to 1 s; for later ones relative to them."""
DISCARD = 2


class Fmi2Model:
    """What a system needs of an instance in continuous-time mode (`ModelExchangeInstance`).

    Its methods let fmpy's errors through, but for a *discard* of the derivatives or event indicators: they
    are not defined there, which is what NaN says. Where an event indicator is NaN that was a number before,
    an event could be missed, so the derivatives are NaN there, too: steps end before.

    Parameters
    ----------
    model : fmpy.fmi2.FMU2Model
        Instantiated.
    states, indicators : int
        How many continuous states and event indicators it has.
    write_inputs : callable
        Writes the continuous inputs.

    Attributes
    ----------
    note : callable
        Called with the time before and after event mode.
    asked_to_stop : bool
        Whether it has asked for the end of the simulation; it stays in event mode then.
    undefined : str
        Which event indicators are NaN at the last point, "" when none is that was a number before.
    """

    _rates_function: ClassVar[str] = "getDerivatives"
    _nominals_function: ClassVar[str] = "getNominalsOfContinuousStates"

    def __init__(
        self, model: Any, states: int, indicators: int, write_inputs: Callable[[Sequence[float]], None]
    ) -> None:
        self.model, self.count, self.indicators = model, states, indicators
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
        self.model.setTime(time)
        if self.count:
            self._x[:] = list(states)[: self.count]
            self.model.setContinuousStates(self._x, self.count)
        self._write_inputs(inputs)

    def evaluate(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], Sequence[float]]:
        """Derivatives and event indicators at a point."""
        self.put(time, states, inputs)
        if self.count:
            self._read(self._rates_function, self._rates)
        self.undefined = ""
        if self.indicators:
            self._read("getEventIndicators", self._crossings)
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
        self.put(time, states, inputs)
        self.note(time)
        self.model.enterEventMode()
        found = self.leave_event_mode(time)
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
            again, stop, nominals, _, defined, next_time = self.update(time)
            nominals_changed = nominals_changed or bool(nominals)
            if defined and math.isnan(next_time):
                raise RuntimeError("the time of the next event is nan")
            following = max(next_time, time) if defined else math.inf
            crowded = following - time <= LEAST_INTERVAL * max(1.0, abs(time))
            if stop:
                self.asked_to_stop = True
                break
            if not again and self.is_quiet(time):
                self.model.enterContinuousTimeMode()
                break
        else:
            raise RuntimeError(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates")
        self._crowded = self._crowded + 1 if crowded else 0
        if self._crowded > MOST_EVENT_ITERATIONS:
            raise RuntimeError(
                f"{self._crowded} time events within {LEAST_INTERVAL:g} s of each other, in a row"
            )
        if self.count:
            self.model.getContinuousStates(self._x, self.count)
        return list(self._x), min(following, self.next_tick), nominals_changed

    def update(self, time: float) -> tuple[Any, ...]:
        """One update of the discrete states; fmpy's answer."""
        return tuple(self.model.newDiscreteStates())

    def is_quiet(self, time: float) -> bool:
        """Whether nothing else is due at this instant."""
        return True

    @property
    def next_tick(self) -> float:
        """When the next clock ticks, s; FMI 2.0 has none."""
        return math.inf

    def nominals(self) -> list[float]:
        """Nominal values of the continuous states; 1 for what is not told or makes no sense."""
        found = (ctypes.c_double * self.count)(*[1.0] * self.count)
        if self.count:
            try:
                getattr(self.model, self._nominals_function)(found, self.count)
            except Exception:  # no such function, or a status: then nothing is known
                return [1.0] * self.count
        return [abs(x) if math.isfinite(x) and x != 0.0 else 1.0 for x in found]

    def completed_step(self, time: float, states: Any, inputs: Any) -> bool:
        """Tell that an integrator step has ended; whether the FMU wants an event."""
        self.put(time, states, inputs)
        event, stop = self.model.completedIntegratorStep()
        self.asked_to_stop = bool(stop)
        return bool(event) and not stop

    def _read(self, function: str, into: Any) -> None:
        try:
            getattr(self.model, function)(into, len(into))
        except Exception as error:
            if getattr(error, "status", None) != DISCARD:
                raise
            into[:] = [math.nan] * len(into)
