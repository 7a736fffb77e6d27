"""Clocks, intermediate updates and arrays of variable size of FMI 3.0."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from clocks3_fmu import make_clocks3

import cosim
from cosim_fmu.master import CoSimulation, CoSimulationError

Compiled = Callable[..., Path]


@pytest.fixture
def fmu(tmp_path: Path, compiled: Compiled) -> Path:
    return make_clocks3(tmp_path, compiled)


def test_clocks_with_an_interval_and_countdown_clocks(fmu: Path) -> None:
    """Samples at 0.1, 0.4, 0.7, 1.0 s; each is followed by a countdown of 0.05 s."""
    result = CoSimulation({"m": fmu}, [], "jacobi", 0.2).simulate(1.2)
    assert result["m.samples"].tolist() == [0, 1, 2, 2, 3, 4, 4]
    assert result["m.lates"].tolist() == [0, 1, 1, 2, 3, 3, 4]
    times = [event.time for event in result.events]
    assert times == pytest.approx([0.1, 0.15, 0.45, 0.7, 0.75, 1.05])  # at 0.4 and 1.0 s a step ends anyway


def test_triggered_clocks_are_connected(fmu: Path) -> None:
    """The bell of `a` rings with each second sample; `b` hears it at the communication point after it."""
    links = [("a.bell", "b.hear"), ("a.samples", "b.word")]
    loop = CoSimulation({"a": fmu, "b": fmu}, links, "jacobi", 0.25)
    result = loop.simulate(1.5)
    assert result["a.bell"].tolist() == [0, 0, 1, 0, 1, 0, 0]  # samples 2 at 0.4 s, 4 at 1.0 s
    # heard in event mode at 0.5 and 1.0 s with the words of these points, seen at the points after them
    assert result["b.heard"].tolist() == [0, 0, 0, 2, 2, 6, 6]
    again = CoSimulation({"a": fmu, "b": fmu}, links, "gauss_seidel", 0.25).simulate(1.5)
    assert again["b.heard"].tolist()[-1] == 6


def test_clocked_inputs_are_written_when_their_clock_ticks(fmu: Path) -> None:
    result = CoSimulation(
        {"a": fmu, "b": fmu}, [("a.x", "b.in_sample")], "jacobi", 0.1, starts={"a.u": 1.0}
    ).simulate(0.8)
    sampled = [
        0.0,
        0.0,
        0.0,
        0.0,
        0.3,
        0.3,
        0.3,
        0.6,
        0.6,
    ]  # held from the point before the tick, at 0.3, 0.6 s
    assert result["b.out_sample"] == pytest.approx(sampled)


def test_rollback_takes_the_clocks_back(fmu: Path) -> None:
    """Iterated: the same number of ticks as without iteration."""
    links = [("a.x", "b.u"), ("b.x", "a.u")]
    result = CoSimulation(
        {"a": fmu, "b": fmu}, links, "waveform_iteration", 0.2, starts={"a.u": 0.5}
    ).simulate(1.2)
    assert result["a.samples"].tolist() == [0, 1, 2, 2, 3, 4, 4]


def test_inputs_follow_their_slope_inside_a_step(fmu: Path) -> None:
    """x'' = 1 by two integrators, in whose steps clocks tick."""
    parts, links = {"a": fmu, "b": fmu}, [("a.x", "b.u")]
    starts = {"a.u": 1.0}
    held = CoSimulation(parts, links, "gauss_seidel", 0.1, starts=starts).simulate(1.0)
    sloped = CoSimulation(parts, links, "gauss_seidel", 0.1, options={"extrapolation": 1}, starts=starts)
    assert all(description.follows_slopes for description in sloped.descriptions.values())
    exact = 0.5 * held.time**2
    assert np.max(np.abs(held["b.x"] - exact)) > 0.04
    assert sloped.simulate(1.0)["b.x"] == pytest.approx(exact, abs=1e-12)


def test_sizes_of_arrays_follow_structural_parameters(fmu: Path) -> None:
    loop = CoSimulation({"m": fmu}, [], "jacobi", 0.1, starts={"m.n": 3, "m.slope": 2.0})
    assert loop.simulate(0.1)["m.ramp[3]"].tolist() == [6.0, 6.0]
    with pytest.raises(cosim.CosimError, match=r"m\.ramp is 2, k\.ramp is 3: the shapes have to agree"):
        CoSimulation({"m": fmu, "k": fmu}, [("m.ramp", "k.ramp")], "jacobi", 0.1, starts={"k.n": 3})


def test_what_clocks_cannot_do_is_refused(fmu: Path, tmp_path: Path, compiled: Compiled) -> None:
    quiet = make_clocks3(tmp_path, compiled, events=False)
    links = [("a.bell", "b.sample"), ("a.bell", "a.word"), ("q.bell", "a.hear")]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": fmu, "b": fmu, "q": quiet}, links, "jacobi", 0.1, starts={"a.hear": True})
    text = str(caught.value)
    assert "b.sample cannot be connected: this clock ticks by itself (its interval is constant)" in text
    assert "a.bell is clock, a.word is real" in text
    assert "q.bell cannot be connected: clocks tick in event mode, which this FMU does not have" in text
    assert "a.hear is an input, which takes no start value" in text
    stiff = make_clocks3(tmp_path, compiled, variable=False)
    loop = CoSimulation({"m": stiff}, [], "jacobi", 0.2)
    with pytest.raises(CoSimulationError, match=r"ticks at t = 0\.1 s, inside the step.*cannot vary"):
        loop.simulate(1.0)
    assert CoSimulation({"m": stiff}, [], "jacobi", 0.05).simulate(1.0)["m.lates"][-1] == 3
