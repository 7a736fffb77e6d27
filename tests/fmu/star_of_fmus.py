"""Four FMUs: a feeds b and c, b feeds d, and d feeds a."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]
NAMES = ["a", "b", "c", "d"]
STAR = [("a.y", "b.u"), ("a.y", "c.u"), ("b.y", "d.u"), ("d.y", "a.u")]


def star(
    make_fmu: MakeFmu,
    algorithm: Any,
    threads: int,
    *,
    work: float = 50.0,
    starts: dict[str, float] | None = None,
) -> CoSimulation:
    """The FMUs in a coupling; each computes for a time in proportion to `work` in a step."""
    fmu = make_fmu("heavy")
    starts = {f"{name}.work": work for name in NAMES} | {"a.y": 1.0} | (starts or {})
    return CoSimulation(dict.fromkeys(NAMES, fmu), STAR, algorithm, 0.01, starts=starts, threads=threads)
