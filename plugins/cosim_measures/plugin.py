"""What this package registers."""

from __future__ import annotations

import cosim
from cosim_measures.constant import Constant
from cosim_measures.delay import Delay
from cosim_measures.integrate import Integrate
from cosim_measures.minus import Minus
from cosim_measures.plus import Plus
from cosim_measures.scale import Scale
from cosim_measures.sinusoid import Sinusoid
from cosim_measures.time import Time
from cosim_measures.variable_delay import VariableDelay

cosim_contract = "1.0"


@cosim.hookimpl
def cosim_register_measures(register: cosim.Register) -> None:
    """Measures of signals."""
    register("measures.delay", Delay)
    register("measures.variable_delay", VariableDelay)
    register("measures.constant", Constant)
    register("measures.time", Time)
    register("measures.sinusoid", Sinusoid)
    register("measures.plus", Plus)
    register("measures.minus", Minus)
    register("measures.scale", Scale)
    register("measures.integrate", Integrate)
