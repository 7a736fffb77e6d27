"""An FMU for FMI 3.0 Model Exchange as a participant, with an integrator of ours."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from cosim_fmu.master.fmi3_model import Fmi3Model
from cosim_fmu.master.fmi3_participant import Fmi3Participant
from cosim_fmu.master.model_exchange_participant import ModelExchangeParticipant


class Fmi3ModelExchangeParticipant(ModelExchangeParticipant, Fmi3Participant):
    """A Model Exchange FMU (FMI 3.0): its derivatives are integrated by a `Simulator`.

    As `ModelExchangeParticipant`, with the types and the arrays of `Fmi3Participant`. How many states and
    event indicators there are is asked of the instance, since structural parameters change it.
    """

    _events: ClassVar[tuple[str, str]] = "fmi3EnterEventMode", "fmi3UpdateDiscreteStates"

    def _bind(self, inputs: tuple[str, ...]) -> Any:
        interface = self._read_interface()
        states, indicators = interface.states, interface.indicators
        with suppress(Exception):  # without the functions the model description has to do
            states, indicators = (
                self._slave.getNumberOfContinuousStates(),
                self._slave.getNumberOfEventIndicators(),
            )
        return Fmi3Model(self._slave, states, indicators, self._writer(inputs))

    def _create(self, slave: Any, log: Any) -> None:
        slave.instantiate(loggingOn=True, logMessage=log)
