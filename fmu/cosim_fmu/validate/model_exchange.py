"""Steps of a Model Exchange FMU that is looked at."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from cosim_fmu.validate.failed_call_error import FailedCallError
from cosim_fmu.validate.foreign_instance import DOUBLE, SIZE, ForeignInstance, Row

MOST_EVENT_ITERATIONS = 100
PARTS = 20
"""Euler steps in a communication step: runs shall be the same, not exact."""


class ModelExchange(ForeignInstance):
    """An instance whose states are integrated here, by Euler's method, through events of all three kinds."""

    rates_function: ClassVar[str]

    @abstractmethod
    def update(self) -> tuple[bool, bool, float]:
        """One update of the discrete states: whether to repeat it, whether to stop, the next time event."""

    @abstractmethod
    def completed_step(self) -> bool:
        """Tell that an integrator step has ended; whether it wants an event."""

    def enter_run(self) -> None:
        """From event mode, in which it begins, to continuous time."""
        self.stopped = False
        self._leave_event_mode()

    def do_step(self, time: float, size: float) -> int:
        """Integrate over a communication step."""
        for k in range(PARTS):
            begin, end = time + size * k / PARTS, time + size * (k + 1) / PARTS
            if not self.stopped:
                self._euler(begin, end)
        self.time = time + size
        return 0

    def _euler(self, begin: float, end: float) -> None:
        states, rates = self.states(), self.rates()
        before = self.indicators()
        self.need("SetTime", DOUBLE(end))
        self.put_states([x + (end - begin) * rate for x, rate in zip(states, rates, strict=True)])
        crossed = any((a > 0.0) != (b > 0.0) for a, b in zip(before, self.indicators(), strict=True))
        wanted = self.fmu.job["wants_steps"] and self.completed_step()
        if crossed or wanted or end >= self._next:
            self.need("EnterEventMode")
            self._leave_event_mode()

    def _leave_event_mode(self) -> None:
        for _ in range(MOST_EVENT_ITERATIONS):
            again, terminate, self._next = self.update()
            if terminate:
                self.stopped = True
                return
            if not again:
                self.need("EnterContinuousTimeMode")
                return
        raise FailedCallError(f"discrete states still change after {MOST_EVENT_ITERATIONS} updates")

    def states(self) -> Row:
        """The continuous states."""
        return self._vector("GetContinuousStates", self.fmu.job["states"])

    def rates(self) -> Row:
        """Their derivatives."""
        return self._vector(self.rates_function, self.fmu.job["states"])

    def indicators(self) -> Row:
        """The event indicators."""
        return self._vector("GetEventIndicators", self.fmu.job["indicators"])

    def put_states(self, values: Row) -> None:
        """Write the continuous states."""
        if values:
            self.need("SetContinuousStates", (DOUBLE * len(values))(*values), SIZE(len(values)))

    def save(self) -> object:
        """A saved state, with what is known of the next time event."""
        return (*super().save(), self._next, self.stopped)

    def restore(self, state: tuple[object, ...]) -> None:
        """Go back to a saved state."""
        super().restore(state)
        if len(state) > 2:
            self._next, self.stopped = state[2:]  # type: ignore[assignment]

    def _vector(self, function: str, count: int) -> Row:
        data = (DOUBLE * max(1, count))()
        if count:
            self.need(function, data, SIZE(count))
        return list(data)[:count]
