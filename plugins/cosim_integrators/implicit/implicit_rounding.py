"""Measures the rounding noise of an attempt of a one-step method: it is repeated from two displaced starts.

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
    """Make the kernel function that measures the rounding noise of an attempt."""

    def measure_rounding(inner, method, t, t_end):
        """Repeat a finished attempt from a start on either side, and raise the floors to its noise.

        The attempt damps the noise of stiff states, so the noise of their derivatives is measured, too:
        without it a ball at rest on a stiff floor had a tolerance below the rounding of its height.

        Afterwards only floors have changed in the memory, and `y` does not belong to the attempt.
        """
        true_start = method.dense(0)
        error_sum = method.dense(1)
        error = method.dense(2)
        memory_before = method.saved_memory(1)
        copy_values(true_start, method.start)
        copy_values(error, method.error)
        copy_values(memory_before, method.memory_numbers)
        for m in range(method.n):
            error_sum[m] = 0.0
        for point in range(2):
            move_start(method, true_start, 1.0 - 2.0 * point)
            copy_values(inner.y, method.start)
            status = attempt_step(inner, method, t, t_end)
            for m in range(method.n):
                error_sum[m] += method.error[m] if status == OK else math.nan
        copy_values(method.start, true_start)
        copy_values(method.memory_numbers, memory_before)
        noise_of_attempts(method, error_sum, error)
        noise_of_differences(inner, method, t)
        for m in range(method.n):
            error_sum[m] = nan_max(error_sum[m], method.error[m])
        return raise_floors(method, t_end - t, error_sum)

    return measure_rounding


def repeat_to_measure(inner, method, t, t_end, error, was_measured):
    """How a rejected attempt is repeated: MEASURED if its error may be rounding, else SHORTER.

    The measurement overwrites ``method.attempt``: so it happens in a repetition, which is itself repeated.
    """
    return MEASURED if not was_measured and may_be_rounding(method, error) else SHORTER
