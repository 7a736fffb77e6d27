"""The error of `adaptive` falls with its tolerance, also across ramps, kinks and jumps."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
import orders
from cuts import Cut
from scipy.linalg import expm

from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

CUTS = orders.CUTS
LINKS = [("left.y", "right.u"), ("right.y", "left.u")]
FOLLOWS = [pytest.param(False, marks=pytest.mark.thorough), True]
FINER = pytest.mark.parametrize("finer", [0, pytest.param(1, marks=pytest.mark.thorough)])


@pytest.mark.thorough
@FINER
@pytest.mark.parametrize(
    "cut", [CUTS["force and motion"], pytest.param(CUTS["motion and motion"], marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize("follows", FOLLOWS)
@pytest.mark.parametrize("iterations", [0, pytest.param(2, marks=pytest.mark.thorough)])
def test_the_error_falls_with_the_tolerance(cut: Cut, follows: bool, iterations: int, finer: int) -> None:
    tolerances = [1e-3, 1e-4, 1e-5, 1e-6][: 3 + finer]
    options = [{"tolerance": t, "absolute_tolerance": t, "iterations": iterations} for t in tolerances]
    points = [orders.run(cut, follows, "adaptive", 0.25, chosen) for chosen in options]
    slope = np.polyfit(np.log(tolerances), np.log([error for _, error in points]), 1)[0]
    assert 0.9 < slope < 1.1
    assert orders.order(points) == pytest.approx(2.0, abs=0.15)
    assert all(error < tolerance for (_, error), tolerance in zip(points, tolerances, strict=True))


@pytest.mark.thorough
@FINER
@pytest.mark.parametrize("follows", FOLLOWS)
@pytest.mark.parametrize("iterations", [pytest.param(0, marks=pytest.mark.thorough), 2])
def test_the_error_falls_with_the_tolerance_within_one_long_step(
    follows: bool, iterations: int, finer: int
) -> None:
    """An exchange whose line exceeds the tolerance becomes shorter; inputs are not held instead."""
    matrices = [[-1.0]], [[0.9]], [[1.0]], [[0.0]]
    exact = expm(10.0 * np.array([[-1.0, 0.9], [0.9, -1.0]])) @ [3.0, -1.0]
    tolerances, errors = [3e-3, 3e-4, 3e-5, 3e-6][: 3 + finer], []
    for tolerance in tolerances:
        parts = {
            name: LinearParticipant(matrices, ["u"], ["y"], [start], follows)
            for name, start in (("left", 3.0), ("right", -1.0))
        }
        options = {"tolerance": tolerance, "absolute_tolerance": tolerance, "iterations": iterations}
        result = CoSimulation(parts, LINKS, "adaptive", 10.0, options=options).simulate(10.0)
        assert result.statistics["algorithm"]["rejected"] < 10
        errors.append(abs(result["left.y"][-1] - exact[0]))
    assert 0.8 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.2


@pytest.mark.thorough
@FINER
def test_along_a_lasting_ramp_the_error_of_held_inputs_falls_with_the_tolerance(finer: int) -> None:
    """After the transients, lines are exact over any length; inputs that are held are not."""
    tolerances, errors = [1e-2, 1e-3, 1e-4, 1e-5][: 3 + finer], []
    matrix = np.array(
        [[-1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.5, 0.0, -0.5, 1.0], [0.0, 0.0, 0.0, 0.0]]
    )
    exact = (expm(15.0 * matrix) @ [3.0, 1.0, -1.0, 0.5])[0]
    for tolerance in tolerances:
        rooms = {
            name: LinearParticipant(
                ([[-rate, 1.0], [0.0, 0.0]], [[rate], [0.0]], [[1.0, 0.0]], [[0.0]]), ["u"], ["y"], start
            )
            for name, rate, start in (("left", 1.0, [3.0, 1.0]), ("right", 0.5, [-1.0, 0.5]))
        }
        loop = CoSimulation(rooms, LINKS, "adaptive", 15.0, options={"tolerance": tolerance})
        errors.append(abs(loop.simulate(15.0)["left.y"][-1] - exact))
    assert 0.9 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.1


class Clamped(LinearParticipant):
    """A linear participant whose outputs are at least 1."""

    def get(self, names: Sequence[str]) -> list[float]:
        return [max(value, 1.0) for value in super().get(names)]


@pytest.mark.few(1)
@pytest.mark.parametrize("start", [0.99999, 0.9999, 0.999])
def test_after_a_kink_exchanges_become_long_again(start: float) -> None:
    """The ramp after the kink is followed with long exchanges, although the kink needed short ones."""
    ramp = Clamped(([[0.0, 1.0], [0.0, 0.0]], [[], []], [[1.0, 0.0]], [[]]), [], ["y"], [start, 1.0])
    rooms = {
        name: LinearParticipant(([[-rate]], [[rate]], [[1.0]], [[0.0]]), ["u"], ["y"], [1.0])
        for name, rate in (("near", 3.0), ("far", 1.0))
    }
    links = [("ramp.y", "near.u"), ("near.y", "far.u")]
    loop = CoSimulation({"ramp": ramp, **rooms}, links, "adaptive", 0.5)
    assert loop.simulate(5.0).statistics["algorithm"]["exchanges"] < 300


class Ticking(LinearParticipant):
    """A participant whose output grows by `LEAP` each 0.1 s."""

    LEAP = 2e-3

    def get(self, names: Sequence[str]) -> list[float]:
        return [0.3 + self.LEAP * math.floor(10.0 * value + 1e-9) for value in super().get(names)]


@pytest.mark.few(1)
@pytest.mark.parametrize("step", [0.1, 0.7], ids=["at the end of steps", "inside of steps"])
def test_a_jump_below_a_hundred_tolerances_costs_few_exchanges(step: float) -> None:
    """No exchange is short enough for a line across a jump: the input is held over one short exchange."""
    clock = Ticking(([[0.0, 1.0], [0.0, 0.0]], [[], []], [[1.0, 0.0]], [[]]), [], ["y"], [0.0, 1.0])
    room = LinearParticipant(([[-1.0]], [[1.0]], [[1.0]], [[0.0]]), ["u"], ["y"], [0.0])
    loop = CoSimulation({"clock": clock, "room": room}, [("clock.y", "room.u")], "adaptive", step)
    result = loop.simulate(2.1)
    exact = 0.0
    for tick in range(21):
        level = 0.3 + Ticking.LEAP * tick
        exact = level + (exact - level) * math.exp(-0.1)
    assert result["room.y"][-1] == pytest.approx(exact, abs=3e-5)
    assert result.statistics["algorithm"]["exchanges"] < 1000


@pytest.mark.thorough
@FINER
@pytest.mark.parametrize(
    "options", [pytest.param({}, marks=pytest.mark.thorough), {"absolute_tolerance": {"right.y": 1e-12}}]
)
def test_the_error_of_small_values_falls_with_the_tolerance(options: dict[str, Any], finer: int) -> None:
    """The default absolute tolerance is a part of the tolerance, so that no constant error remains."""
    matrices = [[-1.0]], [[0.9]], [[1.0]], [[0.0]]
    until = 0.5
    exact = expm(until * np.array([[-1.0, 0.9], [0.9, -1.0]])) @ [3e-3, -1e-3]
    tolerances, errors = [1e-3, 1e-4, 1e-5, 1e-6][: 3 + finer], []
    for tolerance in tolerances:
        parts = {
            name: LinearParticipant(matrices, ["u"], ["y"], [start], True)
            for name, start in (("left", 3e-3), ("right", -1e-3))
        }
        loop = CoSimulation(parts, LINKS, "adaptive", until, options={"tolerance": tolerance, **options})
        errors.append(abs(loop.simulate(until)["left.y"][-1] - exact[0]))
    assert 0.9 < np.polyfit(np.log(tolerances), np.log(errors), 1)[0] < 1.1
