"""When a delayed signal begins, jumps or has a kink."""

import math

import numpy as np

from cosim.compiled.native import compile_function
from cosim.system.history_buffer import append_to_history
from cosim_measures.smooth_until import LOOK_AHEAD, smooth_until

NAN = math.nan


def test_the_start_and_the_jumps() -> None:
    past, ring = np.zeros(4 * 8), np.array([0, 8, 6, 0, 0])
    assert smooth_until(past, ring, 0.5, 1.0) == math.inf
    for t, side, value in (
        (1.0, 0.0, 0.0),
        (2.0, 0.0, 0.0),
        (2.0, 1.0, 1.0),
        (3.0, 0.0, 1.0),
        (3.0, 1.0, 2.0),
    ):
        append_to_history(past, ring, t, side, value, NAN)
    compiled = compile_function(smooth_until, "FIff>f")
    delay = 4.0
    asked = (0.0, 1.0 - 1e-9, 1.0, 1.5, 2.0 - 1e-16, 2.0, 2.5, 3.0)
    for function in (smooth_until, compiled):
        times = [function(past, ring, delay, t + delay) for t in asked]
        assert times == [5.0, 5.0, 6.0, 6.0, 7.0, 7.0, 7.0, math.inf]


def test_a_long_history_is_not_searched_to_its_end() -> None:
    past, ring = np.zeros(4 * 512), np.array([0, 512, 0, 0, 0])
    for i in range(400):
        append_to_history(past, ring, float(i), 0.0, 0.0, NAN)
    append_to_history(past, ring, 399.0, 1.0, 1.0, NAN)
    assert smooth_until(past, ring, 500.0, 600.5) == 500.0 + 101 + LOOK_AHEAD
    assert smooth_until(past, ring, 500.0, 890.0) == 899.0
