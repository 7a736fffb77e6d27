"""Calls of an instance of a Model Exchange FMU (FMI 3.0)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from cosim_fmu.master.participants.fmi2_model import Fmi2Model
from cosim_fmu.master.participants.fmi3_clocks import Fmi3Clocks


class Fmi3Model(Fmi2Model):
    """What a system needs of an instance in continuous-time mode; as `Fmi2Model`, with clocks.

    Parameters
    ----------
    model : fmpy.fmi3.FMU3Model
        Instantiated.
    states, indicators : int
    write_inputs : callable
    clocks : Fmi3Clocks
    tick : callable
        Activates clocks and writes the inputs that belong to them.
    """

    _rates_function: ClassVar[str] = "getContinuousStateDerivatives"

    def __init__(
        self,
        model: Any,
        states: int,
        indicators: int,
        write_inputs: Callable[[Sequence[float]], None],
        clocks: Fmi3Clocks,
        tick: Callable[[Sequence[str]], None],
    ) -> None:
        super().__init__(model, states, indicators, write_inputs)
        self._clocks, self._tick = clocks, tick

    def update(self, time: float) -> tuple[Any, ...]:
        """One update of the discrete states, with the clocks that are due."""
        self._tick(self._clocks.due(time))
        self._clocks.listen()
        answer = tuple(self.model.updateDiscreteStates())
        self._clocks.ask(time)
        return answer

    def is_quiet(self, time: float) -> bool:
        """Whether no clock is due at this instant."""
        return not self._clocks.due(time)

    @property
    def next_tick(self) -> float:
        """When the next clock ticks, s."""
        return self._clocks.next_time
