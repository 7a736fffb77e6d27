"""Steps prepared for one State: a call of `advance` from Python that passes no arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cosim.kit import STEP_SIGNATURE, function_address, head_of, prepared_call, rows_of, width_of
from cosim_integrators.kit.repeated_steps import (
    ADVANCE_SIGNATURE,
    RequestedSteps,
    RequestedTimes,
    StepArrays,
    advance,
)


class PreparedSteps(NamedTuple):
    """A prepared call of `advance`: the arrays of a State for which it is made, and its requests.

    Attributes
    ----------
    y, h, c, memory : ndarray
        Arrays of the State; when it has others, steps are prepared again.
    steps : RequestedSteps
    times : RequestedTimes
    call : callable
    request_arrays : tuple of ndarray
        The memory of `steps` and `times`.
    """

    y: Any
    h: Any
    c: Any
    memory: Any
    steps: RequestedSteps
    times: RequestedTimes
    call: Callable[[], Any]
    request_arrays: Any

    def are_for(self, y: Any, h: Any, c: Any, memory: Any) -> bool:
        """Whether the steps are prepared for these arrays."""
        return self.y is y and self.h is h and self.c is c and self.memory is memory


NOT_PREPARED = PreparedSteps(None, None, None, None, RequestedSteps(), RequestedTimes(), int, None)


def prepare_steps(
    step_function: Any, system: Any, arrays: Sequence[Any], method_arrays: Sequence[Any]
) -> PreparedSteps:
    """Prepare steps of a method.

    Parameters
    ----------
    step_function : function
        The kernel function of a step.
    system : System
    arrays : sequence of ndarray
        ``system.arrays(state)``.
    method_arrays : sequence of ndarray
        Coefficients, settings, memory, work and slots.
    """
    y, p, d, k, h, c = arrays
    coefficients, settings, memory, work, slots = method_arrays
    address = function_address(step_function, STEP_SIGNATURE)
    step_request = np.array([address, 1, *system.derivative_range], dtype=np.int64)
    time_request = np.zeros(width_of(RequestedTimes))
    head = head_of(
        StepArrays(
            *(system.table, system.ints, y, p, d, k, h, c),
            *(coefficients, settings, memory, work, slots),
            *(step_request, time_request),
        )
    )
    return PreparedSteps(
        *(y, h, c, memory),
        rows_of(RequestedSteps, step_request, 0, 1)[0],
        rows_of(RequestedTimes, time_request, 0, 1)[0],
        prepared_call(advance, ADVANCE_SIGNATURE, head),
        (step_request, time_request),
    )
