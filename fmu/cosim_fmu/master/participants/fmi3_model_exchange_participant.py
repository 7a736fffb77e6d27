"""An FMU for FMI 3.0 Model Exchange as a participant, with an integrator of ours."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from cosim_fmu.master.participants.fmi3_model import Fmi3Model
from cosim_fmu.master.participants.fmi3_participant import Fmi3Participant
from cosim_fmu.master.participants.model_exchange_participant import ModelExchangeParticipant


class Fmi3ModelExchangeParticipant(ModelExchangeParticipant, Fmi3Participant):
    """A Model Exchange FMU (FMI 3.0): its derivatives are integrated by a `Simulator`.

    As `ModelExchangeParticipant`, with the types and the arrays of `Fmi3Participant`. How many states and
    event indicators there are is asked of the instance, since structural parameters change it.
    """

    _changed = Fmi3Participant._changed
    _write_discrete = Fmi3Participant._write_discrete

    def _bind(self, inputs: tuple[str, ...]) -> Any:
        interface = self._read_interface()
        states, indicators = interface.states, interface.indicators
        with suppress(Exception):  # without the functions the model description has to do
            states, indicators = (
                self._slave.getNumberOfContinuousStates(),
                self._slave.getNumberOfEventIndicators(),
            )
        self._clocks.begin(self._start)
        return Fmi3Model(self._slave, states, indicators, self._writer(inputs), self._clocks, self._tick)

    def _create(self, slave: Any, log: Any) -> None:
        self._events = True
        slave.instantiate(loggingOn=True, logMessage=log)

    def step(self, time: float, size: float) -> float:
        """Integrate to ``time + size``, through all events and ticks of clocks on the way."""
        self.exit_initialization()
        self._clocks.begin_step()
        return super().step(time, size)
