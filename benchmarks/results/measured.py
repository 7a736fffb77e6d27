"""A system, and how time and memory are measured."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import cosim


class Swing(cosim.Component):
    """A mass on a spring. Law: height'' = -height."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(height, speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -height


def system_of(component: type[cosim.Component]) -> cosim.System:
    """A system of one part, named like its class."""
    model = cosim.Model("one")
    model.add(component, component.__name__.lower())
    return model.build()


def least_time(action: Callable[[], object], rounds: int) -> float:
    """CPU time of all threads, s, the least of some rounds."""
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def memory(which: str = "VmRSS") -> float:
    """The memory of this process, MB: now, or the most that it has had (``VmHWM``)."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith(which))
