"""Algebraic loops between FMUs that `joint` solves as one system are solved or reported."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from joint_systems import LOOP, joint
from part_fmu import make_part

import cosim


@pytest.fixture
def part(tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_part(tmp_path, compiled)


def test_a_loop_of_feedthrough_is_solved(part: Path) -> None:
    starts = {"p.gain": 0.5, "p.bias": 1.0, "q.gain": -3.0, "q.bias": 2.0}
    result = joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)
    assert result["p.y"] == pytest.approx(2.0 / 2.5, rel=1e-12)
    assert result["q.u"] == pytest.approx(result["p.y"], rel=1e-13)
    nonlinear = {"p.square": 1.0, "p.bias": -0.5, "q.gain": 1.0}  # y = y^2 - 0.5
    result = joint({"p": part, "q": part}, LOOP, nonlinear).simulate(0.2)
    assert result["p.y"] == pytest.approx((1.0 - np.sqrt(3.0)) / 2.0, rel=1e-12)


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6])
def test_a_loop_is_solved_to_the_last_digits_in_any_unit(part: Path, unit: float) -> None:
    """The loop is y = y^2 / unit - unit / 2."""
    starts = {"p.square": 1.0 / unit, "p.bias": -0.5 * unit, "q.gain": 1.0}
    result = joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)
    assert result["p.y"] / unit == pytest.approx((1.0 - np.sqrt(3.0)) / 2.0, rel=1e-12)


def test_a_loop_whose_values_are_zero_or_tiny_is_solved(part: Path) -> None:
    """The tiny values are the rounding error of 0.1 + 0.2 - 0.3."""
    for bias in (0.0, 0.1 + 0.2 - 0.3):
        starts = {"p.gain": 0.5, "p.bias": bias, "q.gain": -3.0}
        result = joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)
        assert result["p.y"] == pytest.approx(bias / 2.5, rel=1e-12)


@pytest.mark.parametrize(
    "starts", [{"p.gain": 1.0, "p.bias": 1.0, "q.gain": 1.0}, {"p.square": 1.0, "p.bias": 0.5, "q.gain": 1.0}]
)
def test_a_loop_without_a_solution_is_named(part: Path, starts: Mapping[str, float]) -> None:
    with pytest.raises(cosim.SimulationError, match="p.y → q.u → q.y → p.u → p.y.*converge"):
        joint({"p": part, "q": part}, LOOP, starts).simulate(0.2)


def test_a_loop_that_loses_its_solution_ends_the_run_there(part: Path) -> None:
    """The loop u = x + u^2 with x = 0.2 + 0.1 t has a solution until x = 1/4, at 0.5 s."""
    starts = {"p.square": -1.0, "q.k": 1.0, "q.m": 1e300, "q.x": 0.2, "q.v": 0.1}
    loop = joint({"p": part, "q": part}, ["q.reaction -> p.u", "p.y -> q.road"], starts)
    with pytest.raises(cosim.SimulationError, match=r"\+ q, solved jointly.*= 0.5.*the"):
        loop.simulate(1.0)
    result = loop.result
    assert result is not None and 0.3 < result.time[-1] < 0.51
    x = result["q.x"][:-2]
    assert result["p.u"][:-2] == pytest.approx((1.0 - np.sqrt(1.0 - 4.0 * x)) / 2.0, abs=1e-9)
