"""Calls of an instance of a Model Exchange FMU (FMI 2.0)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

MOST_EVENT_ITERATIONS = 100


class Fmi2Model:
    """What a system needs of an instance in continuous-time mode (`ModelExchangeInstance`).

    Parameters
    ----------
    model : fmpy.fmi2.FMU2Model
        Instantiated.
    states, indicators : int
        How many continuous states and event indicators it has.
    inputs : sequence of int
        Value references of its real inputs.
    """

    def __init__(self, model: Any, states: int, indicators: int, inputs: Sequence[int]) -> None:
        self.model, self.count, self.indicators = model, states, indicators
        self._x, self._rates = (ctypes.c_double * states)(), (ctypes.c_double * states)()
        self._crossings = (ctypes.c_double * indicators)()
        self._references = (ctypes.c_uint * len(inputs))(*inputs)
        self._inputs = (ctypes.c_double * len(inputs))()
        self.stop_reason = ""

    def put(self, time: float, states: Any, inputs: Any) -> None:
        """Make this the present point of the instance."""
        model = self.model
        model.setTime(time)
        if self.count:
            self._x[:] = list(states)
            model.setContinuousStates(self._x, self.count)
        if len(self._inputs):
            self._inputs[:] = list(inputs)
            self._set_inputs()

    def evaluate(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], Sequence[float]]:
        """Derivatives and event indicators at a point."""
        self.put(time, states, inputs)
        if self.count:
            self._get_rates()
        if self.indicators:
            self.model.getEventIndicators(self._crossings, self.indicators)
        return list(self._rates), list(self._crossings)

    def handle_event(self, time: float, states: Any, inputs: Any) -> tuple[Sequence[float], float]:
        """Event mode until nothing changes; the continuous states after it and the next time event, s."""
        self.put(time, states, inputs)
        self.model.enterEventMode()
        return self.leave_event_mode()

    def leave_event_mode(self) -> tuple[Sequence[float], float]:
        """Update the discrete states until nothing changes, then go on in continuous time."""
        following = math.inf
        for _ in range(MOST_EVENT_ITERATIONS):
            again, stop, _, _, defined, next_time = self._update()
            following = next_time if defined else math.inf
            if stop:
                self.stop_reason = self.stop_reason or "the FMU asked to stop"
            if stop or not again:
                break
        else:
            raise RuntimeError(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates")
        self.model.enterContinuousTimeMode()
        if self.count:
            self.model.getContinuousStates(self._x, self.count)
        return list(self._x), following

    def completed_step(self, time: float, states: Any, inputs: Any) -> bool:
        """Tell that an integrator step has ended; whether the FMU wants an event."""
        self.put(time, states, inputs)
        event, stop = self.model.completedIntegratorStep()
        if stop:
            self.stop_reason = self.stop_reason or "the FMU asked to stop"
        return bool(event)

    def _update(self) -> tuple[Any, ...]:
        return tuple(self.model.newDiscreteStates())

    def _get_rates(self) -> None:
        self.model.getDerivatives(self._rates, self.count)

    def _set_inputs(self) -> None:
        self.model.fmi2SetReal(self.model.component, self._references, len(self._references), self._inputs)
