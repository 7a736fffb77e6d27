"""Single steps of compiled code with a function of Python called after each."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from cosim.preparation.compiled_step import CompiledStep
from cosim.preparation.entries import call_with_head
from cosim.preparation.python_method import held_weakly
from cosim.step.failures import REACHED, STEPPED
from cosim.system.state import TIME
from cosim.walker import PYTHON_SIGNATURE, call_python
from cosim_compiler.native import compile_function, python_address, release_address

MONITORED_SIGNATURE = "iiiiFfi>i"


def advance_monitored(advance, evaluate, head, monitor, times, t, most):
    """Step toward `t` until `monitor` answers another number than 0; the code of the last step.

    Where that is `STEPPED`, the monitor was called after it.
    """
    for _ in range(most):
        code = call_with_head(advance, (head, t))
        if code == STEPPED:
            code = call_with_head(evaluate, (head, times[TIME]))
            if code == REACHED:
                code = STEPPED
        if code != STEPPED:
            return code
        if call_python(monitor, (0,)) != 0:
            return STEPPED
    return STEPPED


class MonitoredSteps:
    """Advances a Step with a function called after each step, without a return to Python in between.

    Parameters
    ----------
    step : CompiledStep
    monitor : method
        Held weakly. It gets the number 0, must not raise, and answers 0 where the next step may follow.
    """

    def __init__(self, step: CompiledStep, monitor: Callable[[int], int]) -> None:
        self._step = step
        self._advance = compile_function(advance_monitored, MONITORED_SIGNATURE)
        self._monitor = python_address(held_weakly(monitor), PYTHON_SIGNATURE)
        weakref.finalize(self, release_address, self._monitor)

    def advance(self, t: float, most: int) -> int:
        """Up to `most` steps toward `t`; the code of the last one: after `STEPPED` its monitor was called."""
        step = self._step
        state = step.prepare_call()
        step.arrays.course.most_steps, step.arrays.course.suppressed = 1, False
        addresses = step.address("advance"), step.address("evaluate"), step.head_address, self._monitor
        code = self._advance(*addresses, step.arrays.times, t, most)
        step.stage_out(state)
        return int(code)
