"""FMUs with a clock inside that adds its step."""

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
LINK = [("rest.y", "mass.x_other")]
LONGEST = 100
"""Exchanges: the sum of a hundred steps of 10 ms and their hundredfold differ often enough."""


def adder(make_fmu: MakeFmu, tool: str = "", name: str = "adder") -> Path:
    """A mass with Euler steps of 10 ms inside."""
    return make_fmu("mass", macros=("ADDS_STEPS",), tool=tool, experiment=EXPERIMENT, name=name)


def steps_made(make_fmu: MakeFmu, mass: Any, step: float, links: Any = LINK) -> list[int]:
    """How many of them in each exchange: nothing acts on the mass, v = 1 m/s."""
    parts = {"mass": mass, "rest": make_fmu("gain")}
    starts = {"mass.k": 0.0, "mass.x": 0.0, "mass.v": 1.0}
    result = CoSimulation(parts, links, step=step, starts=starts).simulate(LONGEST * step)
    return [round(moved) for moved in np.diff(result["mass.x"]) / 0.01]


def test_its_steps_are_those_of_the_exchanges(make_fmu: MakeFmu) -> None:
    known, unknown = adder(make_fmu, "20-sim"), adder(make_fmu, name="unknown")
    assert steps_made(make_fmu, known, 0.01) == [1] * LONGEST
    assert steps_made(make_fmu, known, 0.03) == [3] * LONGEST
    assert steps_made(make_fmu, known, 0.005) == [1, 0] * (LONGEST // 2)
    assert {0, 2} <= {*steps_made(make_fmu, unknown, 0.01)}
    for said in (0.01, "10 ms"):
        assert steps_made(make_fmu, open_fmu(unknown, "mass", inner_step=said), 0.01) == [1] * LONGEST


def test_alone_it_is_told_what_others_tell_it(make_fmu: MakeFmu) -> None:
    """So that its values are those of fmpy, to the last bit."""
    assert {0, 2} <= {*steps_made(make_fmu, adder(make_fmu, "20-sim"), 0.01, [])}
    said = open_fmu(adder(make_fmu), "mass", inner_step=0.01)
    assert steps_made(make_fmu, said, 0.01, []) == [1] * LONGEST


def test_in_a_process_of_its_own(make_fmu: MakeFmu) -> None:
    mass = ProcessParticipant(open_fmu, adder(make_fmu), "mass", inner_step="10 ms")
    assert steps_made(make_fmu, mass, 0.01) == [1] * LONGEST


@pytest.mark.thorough
def test_iteration_comes_to_the_same_with_every_step(make_fmu: MakeFmu) -> None:
    """The inner step is what counts, so shorter exchanges change nothing."""
    ends = []
    for step in (0.01, 0.005, 0.0025):
        parts = {name: adder(make_fmu, "20-sim", name) for name in ("left", "right")}
        links = [("left.x", "right.x_other"), ("left.v", "right.v_other"), ("right.force", "left.f")]
        starts = {"right.cc": 60.0, "right.kc": 1.0, "right.x": 0.0, "left.c": 1.0, "right.c": 2.0}
        loop = CoSimulation(parts, links, "interface_newton", step, starts=starts, options={"hold": "end"})
        ends.append(loop.simulate(2.0)["left.x"][-1])
    assert ends == pytest.approx([ends[0]] * 3, abs=1e-9)


def test_options_that_are_wrong(make_fmu: MakeFmu) -> None:
    for wrong in (0.0, -1.0, float("nan"), float("inf"), "1 kg", "often", [1]):
        with pytest.raises(cosim.ModelError, match="inner_step"):
            open_fmu(adder(make_fmu), inner_step=wrong)


def test_readings() -> None:
    clock = InnerClock(0.1, -1.0)
    sums = -1.0 + np.concatenate(([0.0], np.cumsum(np.full(40, 0.1))))
    total = [-1.0]
    for _ in range(40):
        total.append(total[-1] + 0.1)
    assert [clock.at(-1.0 + i * 0.1) for i in range(41)] == total != sums.tolist()
    assert clock.at(-1.0 + 3 * 0.1) == total[3]
    assert clock.at(0.05) == 0.05 and clock.at(0.1 + 1e-9) == 0.1 + 1e-9


def test_step_that_is_discarded_just_before_its_end(make_fmu: MakeFmu) -> None:
    """It comes as far as it says; one that comes to its end, as its own clock counts, is refused."""
    fmu, eight = make_fmu("heavy"), InnerClock(0.1).at(0.8)
    assert eight < 0.8 == 8 * 0.1 - 0.1 + 0.1
    for at in (math.nextafter(0.3, 0.0), 0.3 - 1e-13):
        result = CoSimulation({"m": fmu}, step=0.1, starts={"m.return_at": at}).simulate(0.5)
        assert at in result.time and result.time[-1] == 0.5
    ours, its_own = open_fmu(fmu), open_fmu(fmu, inner_step=0.1)
    for part in (ours, its_own):
        part.initialize(0.0, None, {"return_at": eight})
    assert ours.step(8 * 0.1 - 0.1, 0.1) == eight
    with pytest.raises(cosim.FmuError, match="was discarded"):
        its_own.step(8 * 0.1 - 0.1, 0.1)
    ours.close()
    its_own.close()


def test_steps_that_are_repeated_are_not_counted_from_the_start() -> None:
    """Each of a thousand exchanges of ten steps is made three times: the sum goes on from where it begins."""

    class Counted(float):
        added = 0

        def __radd__(self, other: float) -> float:
            Counted.added += 1
            return other + float(self)

    clock, plain = InnerClock(0.001), InnerClock(0.001)
    clock.step = Counted(0.001)
    ends = [plain.at(i * 0.01) for i in range(1001)]
    for i in range(1000):
        for _ in range(3):
            assert (clock.at(i * 0.01), clock.at((i + 1) * 0.01)) == (ends[i], ends[i + 1])
    assert Counted.added == 3 * 10_000
    assert [clock.at(i * 0.01) for i in (500, 3, 4, 1000)] == [ends[i] for i in (500, 3, 4, 1000)]
