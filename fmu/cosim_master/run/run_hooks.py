"""RunHooks: objects that follow a run of a co-simulation from outside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import cosim
from cosim.kit import ResultStream
from cosim_master.recording.co_simulation_result import CoSimulationResult

Observer = Callable[[float, Mapping[str, float]], bool | None]


@dataclass(frozen=True, kw_only=True)
class RunHooks:
    """The arguments of these names of `CoSimulation.simulate`.

    Attributes
    ----------
    progress, observe, stream, checkpoint, keep
        None if there is none.
    real_time_rate : float
        Infinite if the run does not wait for the wall clock.
    """

    progress: Callable[[float], bool | None] | None = None
    observe: Observer | None = None
    real_time_rate: float = math.inf
    stream: ResultStream | None = None
    checkpoint: cosim.Checkpoint | None = None
    keep: Callable[[CoSimulationResult], object] | None = None
