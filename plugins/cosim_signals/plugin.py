"""The registration of this package."""

from __future__ import annotations

import cosim
from cosim_signals.chirp import Chirp
from cosim_signals.comparison import Comparison
from cosim_signals.dead_zone import DeadZone
from cosim_signals.hysteresis import Hysteresis
from cosim_signals.limiter import Limiter
from cosim_signals.logic import Logic
from cosim_signals.noise import Noise
from cosim_signals.pid import Pid
from cosim_signals.pulse import Pulse
from cosim_signals.quantizer import Quantizer
from cosim_signals.ramp import Ramp
from cosim_signals.random_road import RandomRoad
from cosim_signals.state_space import StateSpace
from cosim_signals.step import Step
from cosim_signals.switch import Switch
from cosim_signals.time_table import TimeTable
from cosim_signals.transfer_function import TransferFunction
from cosim_signals.unit_delay import UnitDelay

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register(register: cosim.Register) -> None:
    register("signals.step", Step)
    register("signals.ramp", Ramp)
    register("signals.pulse", Pulse)
    register("signals.chirp", Chirp)
    register("signals.noise", Noise)
    register("signals.random_road", RandomRoad)
    register("signals.time_table", TimeTable)
    register("signals.limiter", Limiter)
    register("signals.dead_zone", DeadZone)
    register("signals.hysteresis", Hysteresis)
    register("signals.unit_delay", UnitDelay)
    register("signals.quantizer", Quantizer)
    register("signals.transfer_function", TransferFunction)
    register("signals.state_space", StateSpace)
    register("signals.pid", Pid)
    register("signals.comparison", Comparison)
    register("signals.logic", Logic)
    register("signals.switch", Switch)
