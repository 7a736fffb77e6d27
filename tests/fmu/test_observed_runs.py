"""Observers see all communication points and may stop a run; runs keep to a rate of real time."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim_fmu import CoSimulation

MakeFmu = Callable[..., Path]


def test_an_observer_sees_all_points_and_may_stop_the_run(make_fmu: MakeFmu) -> None:
    observed: list[tuple[float, float]] = []

    def observe(now: float, values: Any) -> bool:
        observed.append((now, values["m.x"]))
        return len(observed) < 6

    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.1)
    result = loop.simulate(10.0, observe=observe)
    assert result.statistics["loop"] == "compiled"
    assert [time for time, _ in observed] == result.time.tolist()
    assert [x for _, x in observed] == result["m.x"].tolist()
    assert len(observed) == 6 and result.message == "stopped at t = 0.5 s"


def test_a_run_waits_for_real_time_and_counts_the_steps_that_are_late(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"m": make_fmu("mass")}, [], "jacobi", 0.05)
    start = time.perf_counter()
    loop.simulate(0.4, real_time_rate=2.0)
    assert time.perf_counter() - start >= 0.2  # 0.4 s at twice real time

    def slow(now: float, values: Any) -> None:
        time.sleep(0.02)

    # a step may take 5 ms and takes 20 ms; the first of the 10 steps can still be in time
    result = loop.simulate(0.5, real_time_rate=10.0, observe=slow)
    assert result.statistics["overruns"] >= 8
    assert result.statistics["largest_lag"] > 0.05
    with pytest.raises(cosim.ModelError, match="real_time_rate.*is 0.0.*number greater.*0"):
        loop.simulate(0.1, real_time_rate=0.0)
