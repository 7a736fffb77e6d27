"""Co-simulations handle clocks, intermediate updates and arrays of variable size of FMI 3.0."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from clocks3_fmu import make_clocks3
from tempo3_fmu import make_tempo3

import cosim
from cosim_fmu import CoSimulation, CoSimulationError

Compiled = Callable[..., Path]


@pytest.fixture
def fmu(tmp_path: Path, compiled: Compiled) -> Path:
    return make_clocks3(tmp_path, compiled)


def test_clocks_with_an_interval_and_countdown_clocks(fmu: Path) -> None:
    """Samples at 0.1, 0.4, 0.7, 1.0 s; each is followed by a countdown of 0.05 s."""
    result = CoSimulation({"m": fmu}, [], "jacobi", 0.2).simulate(1.2, inside="nothing")
    assert result["m.samples"].tolist() == [0, 1, 2, 2, 3, 4, 4]
    assert result["m.lates"].tolist() == [0, 1, 1, 2, 3, 3, 4]
    ticks = [("m.sample", "m.late")[i % 2] for i in range(8)]
    assert [event.handler for event in result.events] == ticks
    times = [event.time for event in result.events]
    assert times == pytest.approx([0.1, 0.15, 0.4, 0.45, 0.7, 0.75, 1.0, 1.05])
    assert {event.cause.name for event in result.events} == {"SCHEDULED"}
    assert result.statistics["retries"] == 0 and result.statistics["steps"] == 6


def test_a_triggered_clock_activates_a_connected_one_at_the_same_instant(fmu: Path) -> None:
    """The bell of `a` rings with each second sample, at or between communication points; `b` hears it."""
    links = [("a.bell", "b.hear"), ("a.samples", "b.word")]
    for algorithm in ("jacobi", "gauss_seidel"):
        loop = CoSimulation({"a": fmu, "b": fmu}, links, algorithm, 0.25)
        result = loop.simulate(1.5)
        bells = result.time[result["a.bell"] == 1.0]
        assert [min(bells), max(bells)] == pytest.approx([0.4, 1.0])  # samples 2 and 4
        heard_values = [(e.time, e.after["b.heard"]) for e in result.events if e.handler == "b.hear"]
        if algorithm == "jacobi":
            assert heard_values == [(pytest.approx(0.4), 2.0), (pytest.approx(1.0), 6.0)]
        assert [value for _, value in heard_values] == [2.0, 6.0]


def test_clocked_inputs_are_written_when_their_clock_ticks(fmu: Path) -> None:
    result = CoSimulation(
        {"a": fmu, "b": fmu}, [("a.x", "b.in_sample")], "jacobi", 0.1, starts={"a.u": 1.0}
    ).simulate(0.8, inside="nothing")
    sampled = [0, 0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6]  # ticks at 0.4 s and 0.7 s sample x of the point before
    assert result["b.out_sample"] == pytest.approx(sampled)


def test_rollback_restores_the_clocks(fmu: Path) -> None:
    """An algorithm that iterates records as many ticks as one that does not."""
    links = [("a.x", "b.u"), ("b.x", "a.u")]
    result = CoSimulation(
        {"a": fmu, "b": fmu}, links, "waveform_iteration", 0.2, starts={"a.u": 0.5}
    ).simulate(1.2, inside="nothing")
    assert len([event for event in result.events if event.handler == "a.sample"]) == 4
    assert result["a.samples"].tolist() == [0, 1, 2, 2, 3, 4, 4]


def test_inputs_follow_their_slope_inside_a_step(fmu: Path) -> None:
    """Two coupled integrators compute x'' = 1, while clocks tick inside their steps."""
    parts, links = {"a": fmu, "b": fmu}, [("a.x", "b.u")]
    starts = {"a.u": 1.0}
    without_slopes = CoSimulation(parts, links, "gauss_seidel", 0.1, starts=starts).simulate(
        1.0, inside="nothing"
    )
    with_slopes = CoSimulation(parts, links, "gauss_seidel", 0.1, options={"extrapolation": 1}, starts=starts)
    assert all(description.follows_slopes for description in with_slopes.descriptions.values())
    exact = 0.5 * without_slopes.time**2
    assert np.max(np.abs(without_slopes["b.x"] - exact)) > 0.04
    assert with_slopes.simulate(1.0, inside="nothing")["b.x"] == pytest.approx(exact, abs=1e-12)


def test_sizes_of_arrays_follow_structural_parameters(fmu: Path) -> None:
    loop = CoSimulation({"m": fmu}, [], "jacobi", 0.1, starts={"m.n": 3, "m.slope": 2.0})
    assert loop.simulate(0.05)["m.ramp[3]"].tolist() == [6.0, 6.0]
    with pytest.raises(cosim.CosimError, match=r"m\.ramp.*2, k\.ramp.*3.*shapes"):
        CoSimulation({"m": fmu, "k": fmu}, [("m.ramp", "k.ramp")], "jacobi", 0.1, starts={"k.n": 3})


def test_impossible_connections_of_clocks_are_refused(fmu: Path, tmp_path: Path, compiled: Compiled) -> None:
    without_events = make_clocks3(tmp_path, compiled, events=False)
    links = [("a.bell", "b.sample"), ("a.bell", "a.word"), ("q.bell", "a.hear")]
    with pytest.raises(cosim.ModelError) as caught:
        CoSimulation({"a": fmu, "b": fmu, "q": without_events}, links, "jacobi", 0.1, starts={"a.hear": True})
    text = str(caught.value)
    assert "b.sample cannot be connected" in text
    assert "a.bell is clock, a.word" in text
    assert "q.bell cannot be connected" in text
    assert "a.hear is an input" in text


def test_without_variable_steps_ticks_have_to_be_communication_points(
    tmp_path: Path, compiled: Compiled
) -> None:
    fmu = make_clocks3(tmp_path, compiled, variable=False)
    with pytest.raises(CoSimulationError, match=r"= 0\.1 s, inside.*step.*cannot"):
        CoSimulation({"m": fmu}, [], "jacobi", 0.2).simulate(1.0)
    assert CoSimulation({"m": fmu}, [], "jacobi", 0.05).simulate(1.0)["m.lates"][-1] == 3


@pytest.mark.parametrize("step", [0.1, 1.0])
def test_clocks_with_intervals_of_each_kind_tick_on_time(
    tmp_path: Path, compiled: Compiled, step: float
) -> None:
    """The instants are the same with a tick or many in one communication step."""
    tempo = make_tempo3(tmp_path, compiled)
    result = CoSimulation({"m": tempo}, [], "jacobi", step, starts={"m.period": 0.3}).simulate(1.0)
    ticks = {name: [] for name in ("steady", "measured", "tuned", "growing")}
    for event in result.events:
        for handler in event.handler.split("."):
            for name in handler.split(", "):
                if name in ticks:
                    ticks[name].append(event.time)
    assert ticks["steady"] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks["measured"] == pytest.approx([0.3, 0.6, 0.9])
    assert ticks["tuned"] == pytest.approx([0.3, 0.6, 0.75, 0.9])  # its third tick, at 0.6 s, halves it
    assert ticks["growing"] == pytest.approx([0.05, 0.15, 0.3, 0.5, 0.75])
    counts = [result[f"m.{name}"][-1] for name in ("steadies", "measures", "tunes", "grown")]
    at_start = (1, 1, 1, 0)  # periodic clocks start with a tick, the growing one does not
    assert counts == [n + len(times) for n, times in zip(at_start, ticks.values(), strict=True)]
    assert result["m.last"][result.time == 0.75].tolist() == pytest.approx([0.6, 0.75])


@pytest.mark.few(2)
@pytest.mark.parametrize("step", ["1/3 s", "1 s", 0.1, "700 ms"])
def test_counters_and_resolutions_are_rational_numbers(
    tmp_path: Path, compiled: Compiled, step: float | str
) -> None:
    """Clocks of 1/3 s tick together, and with every third tick of one of 1/9 s, for 50 s.

    One interval of 1/3 s is in the model description, the other one is asked of the instance.
    """
    (tmp_path / "ninths").mkdir()
    thirds = make_tempo3(tmp_path, compiled, 'resolution="3" intervalCounter="1"', 'supportsFraction="true"')
    ninths = make_tempo3(tmp_path / "ninths", compiled, 'resolution="9" intervalCounter="1" shiftCounter="1"')
    loop = CoSimulation({"m": thirds, "n": ninths}, [], "jacobi", step, starts={"n.period": 50.0})
    events = loop.simulate(50.0).events
    ticks = {
        f"{owner}.{clock}": [e.time for e in events if e.owner == owner and clock in e.handler]
        for owner, clock in (("m", "steady"), ("m", "measured"), ("n", "steady"))
    }
    assert ticks["m.steady"] == ticks["m.measured"] == [i / 3 for i in range(1, 151)]
    assert ticks["n.steady"] == [i / 9 for i in range(1, 451)]


def test_a_clock_without_an_interval_is_refused_by_name(tmp_path: Path, compiled: Compiled) -> None:
    tempo = make_tempo3(tmp_path, compiled, steady="")
    with pytest.raises(cosim.CosimError, match="steady.*its.*model description"):
        CoSimulation({"m": tempo}, [], "jacobi", 0.1).simulate(1.0)
