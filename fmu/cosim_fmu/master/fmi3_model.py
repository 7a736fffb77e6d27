"""Calls of an instance of a Model Exchange FMU (FMI 3.0)."""

from __future__ import annotations

from typing import ClassVar

from cosim_fmu.master.fmi2_model import Fmi2Model


class Fmi3Model(Fmi2Model):
    """What a system needs of an instance in continuous-time mode; as `Fmi2Model`, under FMI 3.0's names."""

    _rates_function: ClassVar[str] = "getContinuousStateDerivatives"
    _nominals_function: ClassVar[str] = "getNominalsOfContinuousStates"
    _update_function: ClassVar[str] = "updateDiscreteStates"
