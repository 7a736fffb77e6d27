"""FMUs whose own clock accumulates its step take as many inner steps in an exchange as its length says."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_fmu import CoSimulation
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.inner_clock import InnerClock
from cosim_master.participants.process_participant import ProcessParticipant

MakeFmu = Callable[..., Path]
EXPERIMENT = '<DefaultExperiment stepSize="0.01"/>'
LINKS = [("rest.y", "mass.x_other")]
EXCHANGES = 100
"""Number of exchanges: in these, sums and multiples of 10 ms differ by rounding at several points."""


def make_adder(make_fmu: MakeFmu, tool: str = "", name: str = "adder") -> Path:
    """An FMU of a mass with Euler steps of 10 ms inside, whose time it accumulates."""
    return make_fmu("mass", macros=("ADDS_STEPS",), tool=tool, experiment=EXPERIMENT, name=name)


def inner_steps(make_fmu: MakeFmu, mass: Any, step: float, links: Any = LINKS) -> list[int]:
    """The number of inner steps in each exchange, from the motion of a free mass with 1 m/s."""
    parts = {"mass": mass, "rest": make_fmu("gain")}
    starts = {"mass.k": 0.0, "mass.x": 0.0, "mass.v": 1.0}
    result = CoSimulation(parts, links, step=step, starts=starts).simulate(EXCHANGES * step)
    return [round(distance) for distance in np.diff(result["mass.x"]) / 0.01]


def test_inner_steps_fill_each_exchange_for_a_known_tool_or_a_given_step(make_fmu: MakeFmu) -> None:
    """Without knowing the inner step, rounding makes none or two steps in some exchanges."""
    known, unknown = make_adder(make_fmu, "20-sim"), make_adder(make_fmu, name="unknown")
    assert inner_steps(make_fmu, known, 0.01) == [1] * EXCHANGES
    assert inner_steps(make_fmu, known, 0.03) == [3] * EXCHANGES
    assert inner_steps(make_fmu, known, 0.005) == [1, 0] * (EXCHANGES // 2)
    assert {0, 2} <= {*inner_steps(make_fmu, unknown, 0.01)}
    for inner_step in (0.01, "10 ms"):
        part = open_fmu(unknown, "mass", inner_step=inner_step)
        assert inner_steps(make_fmu, part, 0.01) == [1] * EXCHANGES


def test_without_connections_times_are_those_of_other_hosts(make_fmu: MakeFmu) -> None:
    """A single FMU then has the values of fmpy to the last bit, unless the user gives the inner step."""
    assert {0, 2} <= {*inner_steps(make_fmu, make_adder(make_fmu, "20-sim"), 0.01, [])}
    part = open_fmu(make_adder(make_fmu), "mass", inner_step=0.01)
    assert inner_steps(make_fmu, part, 0.01, []) == [1] * EXCHANGES


def test_an_fmu_in_a_process_takes_the_same_inner_steps(make_fmu: MakeFmu) -> None:
    mass = ProcessParticipant(open_fmu, make_adder(make_fmu), "mass", inner_step="10 ms")
    assert inner_steps(make_fmu, mass, 0.01) == [1] * EXCHANGES


@pytest.mark.thorough
def test_exchanges_shorter_than_the_inner_step_have_the_same_result(make_fmu: MakeFmu) -> None:
    ends = []
    for step in (0.01, 0.005, 0.0025):
        parts = {name: make_adder(make_fmu, "20-sim", name) for name in ("left", "right")}
        links = [("left.x", "right.x_other"), ("left.v", "right.v_other"), ("right.force", "left.f")]
        starts = {"right.cc": 60.0, "right.kc": 1.0, "right.x": 0.0, "left.c": 1.0, "right.c": 2.0}
        loop = CoSimulation(parts, links, "interface_newton", step, starts=starts, options={"hold": "end"})
        ends.append(loop.simulate(2.0)["left.x"][-1])
    assert ends == pytest.approx([ends[0]] * 3, abs=1e-9)


def test_wrong_inner_steps_are_refused(make_fmu: MakeFmu) -> None:
    for wrong in (0.0, -1.0, float("nan"), float("inf"), "1 kg", "often", [1]):
        with pytest.raises(cosim.ModelError, match="inner_step"):
            open_fmu(make_adder(make_fmu), inner_step=wrong)


def test_the_inner_clock_reads_accumulated_times() -> None:
    """It adds steps to the start time; the start time plus the sum of steps would differ by rounding."""
    clock = InnerClock(0.1, -1.0)
    sums = -1.0 + np.concatenate(([0.0], np.cumsum(np.full(40, 0.1))))
    times = [-1.0]
    for _ in range(40):
        times.append(times[-1] + 0.1)
    assert [clock.at(-1.0 + i * 0.1) for i in range(41)] == times != sums.tolist()
    assert clock.at(-1.0 + 3 * 0.1) == times[3]
    # times that are no multiples of the step remain
    assert clock.at(0.05) == 0.05 and clock.at(0.1 + 1e-9) == 0.1 + 1e-9


def test_a_step_that_is_discarded_just_before_its_end_is_continued(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("heavy")
    for return_at in (math.nextafter(0.3, 0.0), 0.3 - 1e-13):
        result = CoSimulation({"m": fmu}, step=0.1, starts={"m.return_at": return_at}).simulate(0.5)
        assert return_at in result.time and result.time[-1] == 0.5


def test_a_step_that_is_discarded_at_its_end_by_the_inner_clock_is_an_error(make_fmu: MakeFmu) -> None:
    """By its own clock, the FMU is at the end of the step; without that clock it is just before it."""
    fmu, end_by_clock = make_fmu("heavy"), InnerClock(0.1).at(0.8)
    assert end_by_clock < 0.8 == 8 * 0.1 - 0.1 + 0.1
    without_clock, with_clock = open_fmu(fmu), open_fmu(fmu, inner_step=0.1)
    for part in (without_clock, with_clock):
        part.initialize(0.0, None, {"return_at": end_by_clock})
    assert without_clock.step(8 * 0.1 - 0.1, 0.1) == end_by_clock
    with pytest.raises(cosim.FmuError, match="was discarded"):
        with_clock.step(8 * 0.1 - 0.1, 0.1)
    without_clock.close()
    with_clock.close()


def test_the_inner_clock_does_not_count_repeated_steps_from_the_start() -> None:
    """Each of 1,000 exchanges of ten steps is repeated three times; each repetition adds ten steps."""

    class CountedStep(float):
        additions = 0

        def __radd__(self, time: float) -> float:
            CountedStep.additions += 1
            return time + float(self)

    clock, reference = InnerClock(0.001), InnerClock(0.001)
    clock.step = CountedStep(0.001)
    ends = [reference.at(i * 0.01) for i in range(1001)]
    for i in range(1000):
        for _ in range(3):
            assert (clock.at(i * 0.01), clock.at((i + 1) * 0.01)) == (ends[i], ends[i + 1])
    assert CountedStep.additions == 3 * 10_000
    assert [clock.at(i * 0.01) for i in (500, 3, 4, 1000)] == [ends[i] for i in (500, 3, 4, 1000)]
