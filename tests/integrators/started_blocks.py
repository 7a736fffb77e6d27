"""Blocks with known solutions, and integrators that are initialized on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from block_system import BlockState, BlockSystem

from cosim_integrators.dormand_prince import DormandPrince
from cosim_integrators.runge_kutta_merson import RungeKuttaMerson

CONTROLLED = [RungeKuttaMerson, DormandPrince]
"""One method without and one with a first stage that is the last one of the step before."""


def oscillator(t, y, p, d, k, h, c, ints, first, count):
    c[0] = y[1]
    c[1] = -y[0]
    c[2] += 1.0


def late_nan(t, y, p, d, k, h, c, ints, first, count):
    # y' = 1, and NaN after the time p[0]
    c[0] = 1.0
    if t > p[0]:
        c[0] = math.nan
    c[1] += 1.0


OSCILLATOR = BlockSystem(oscillator, 2)


def oscillation(t: float) -> np.ndarray:
    """The states of `OSCILLATOR`, which starts with (1, 0)."""
    return np.array([math.cos(t), -math.sin(t)])


def started(
    method: Any,
    system: BlockSystem = OSCILLATOR,
    y: Any = (1.0, 0.0),
    parameters: Any = (0.0,),
    **options: Any,
) -> tuple[Any, BlockState]:
    """Return a new integrator, initialized, and the state that it steps."""
    state = system.state(y, parameters=parameters)
    integrator = method(**options)
    integrator.initialize(system, state)
    return integrator, state
