"""What rounding gives the states in an attempt of a one-step method: it is repeated from moved starts.

Methods that estimate errors from their past measure it in another way: see `noise_of_derivatives`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cosim.kit import nan_max
from cosim_integrators.implicit.implicit_method import OK
from cosim_integrators.implicit.noise_of_derivatives import MEASURED, SHORTER, noise_of_differences
from cosim_integrators.kit.rounding import may_be_rounding, move_start, noise_of_attempts, raise_floors
from cosim_integrators.kit.start_of_step import copy_values


def new_measurement(attempt_step: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function that measures what rounding gives the states in an attempt."""

    def measure_rounding(inner, method, t, t_end):
        """Repeat a finished attempt from starts to both sides, and raise the floors for its noise.

        Where the attempt damps the noise of stiff states, that of their derivatives is added to the others:
        a ball that rests on a stiff floor was held to less than the rounding of its height.

        Afterwards floors alone have changed in the memory, and `y` is none of the attempt's.
        """
        place = method.dense(0)
        error_sum = method.dense(1)
        error = method.dense(2)
        before = method.saved_memory(1)
        copy_values(place, method.start)
        copy_values(error, method.error)
        copy_values(before, method.memory_numbers)
        for m in range(method.n):
            error_sum[m] = 0.0
        for point in range(2):
            move_start(method, place, 1.0 - 2.0 * point)
            copy_values(inner.y, method.start)
            status = attempt_step(inner, method, t, t_end)
            for m in range(method.n):
                error_sum[m] += method.error[m] if status == OK else math.nan
        copy_values(method.start, place)
        copy_values(method.memory_numbers, before)
        noise_of_attempts(method, error_sum, error)
        noise_of_differences(inner, method, t)
        for m in range(method.n):
            error_sum[m] = nan_max(error_sum[m], method.error[m])
        return raise_floors(method, t_end - t, error_sum)

    return measure_rounding


def repeat_to_measure(inner, method, t, t_end, error, was_measured):
    """How a rejected attempt is repeated: MEASURED if its error may be rounding, else SHORTER.

    Attempts from moved starts leave their own numbers in ``method.attempt``, so one from the start follows.
    """
    return MEASURED if not was_measured and may_be_rounding(method, error) else SHORTER
