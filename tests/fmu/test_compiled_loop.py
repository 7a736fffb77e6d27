"""With FMUs, the compiled loop and the loop in Python have the same bytes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from compared_loops import (
    ABILITIES,
    ALGORITHMS,
    CROSSED_LINKS,
    ITERATIVE,
    ONE_OF_EACH_KIND,
    SPRING,
    PythonGaussSeidel,
    PythonJacobi,
    assert_same_runs,
    run_in_all_loops,
)

import cosim
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.algorithms.adaptive import Adaptive
from cosim_master.algorithms.gauss_seidel import GaussSeidel
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.algorithms.waveform_iteration import WaveformIteration
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange import compiled_loop

MakeFmu = Callable[..., Path]


def masses(fmu: Path, algorithm: Any, until: float = 0.7, **options: Any) -> cosim.Result:
    """A run of two coupled masses with steps of 1 ms."""
    loop = CoSimulation({"a": fmu, "b": fmu}, CROSSED_LINKS, algorithm, step=1e-3, starts=SPRING)
    return loop.simulate(until, **options)


@pytest.mark.parametrize(("fast", "slow"), [(Jacobi, PythonJacobi), (GaussSeidel, PythonGaussSeidel)])
def test_same_bytes_as_the_loop_in_python(make_fmu: MakeFmu, fast: Any, slow: Any) -> None:
    fmu = make_fmu("mass")
    result, expected = masses(fmu, fast), masses(fmu, slow)
    assert result.statistics["loop"] == "compiled"
    assert expected.statistics["loop"] == f"compiled ({slow.__name__} decides in Python)"
    assert len(result) == 701
    assert_same_runs(result, expected)
    for name in expected.names:
        assert np.ptp(result[name]) > 0.0


@pytest.mark.by_turns
@pytest.mark.parametrize("extrapolation", [1, 2])
@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize(("fast", "slow"), [(Jacobi, PythonJacobi), (GaussSeidel, PythonGaussSeidel)])
def test_extrapolation_gives_the_same_bytes(
    make_fmu: MakeFmu, fast: Any, slow: Any, follows: bool, extrapolation: int
) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES + ' canInterpolateInputs="true"' * follows)
    result, expected = (masses(fmu, kind(extrapolation=extrapolation)) for kind in (fast, slow))
    assert result.statistics["loop"] == "compiled"
    assert expected.statistics["loop"].endswith("decides in Python)")
    assert_same_runs(result, expected)


@pytest.mark.parametrize("extrapolation", [0, 1])
def test_corrected_bonds_give_the_same_bytes(make_fmu: MakeFmu, extrapolation: int) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    results = []
    for kind in (Jacobi, PythonJacobi):
        loop = CoSimulation(
            {"a": fmu, "b": fmu},
            CROSSED_LINKS,
            kind(extrapolation=extrapolation, correction="bonds"),
            step=1e-2,
            starts=SPRING,
            bonds=[["a.v", "b.force"]],
        )
        results.append(loop.simulate(0.5))
    assert results[0].statistics["loop"] == "compiled"
    assert_same_runs(*results)


@pytest.mark.few(2)
@pytest.mark.parametrize(("kind", "options"), ITERATIVE)
@pytest.mark.parametrize("follows", [False, True])
def test_algorithms_that_repeat_steps_give_the_same_bytes(
    make_fmu: MakeFmu, kind: type, options: dict[str, Any], follows: bool
) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES + ' canInterpolateInputs="true"' * follows)
    make = partial(CoSimulation, {"a": fmu, "b": fmu}, CROSSED_LINKS, step=1e-2, starts=SPRING)
    result = run_in_all_loops(kind, options, lambda algorithm: make(algorithm=algorithm), 0.3)
    assert len(result) == 31
    assert np.ptp(result["a.x"]) > 0.0


@pytest.mark.parametrize("kind", [WaveformIteration, InterfaceNewton])
def test_an_iteration_that_does_not_converge_fails_with_the_same_error(make_fmu: MakeFmu, kind: type) -> None:
    fmu = make_fmu("mass", abilities=ABILITIES)
    make = partial(CoSimulation, {"a": fmu, "b": fmu}, CROSSED_LINKS, step=1e-2, starts=SPRING)
    result = run_in_all_loops(kind, {"iterations": 2, "tolerance": 1e-15}, lambda a: make(algorithm=a), 0.3)
    assert result.time[-1] < 0.3


# The participant couples the size of its step; with a tolerance below that size, the algorithm would
# shorten its steps without end.
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("kind", "options"), [(WaveformIteration, {}), (Adaptive, {"absolute_tolerance": 1e-3})]
)
def test_early_returns_in_repeated_steps(make_fmu: MakeFmu, kind: type, options: dict[str, Any]) -> None:
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0255}

    def make(algorithm: Any) -> CoSimulation:
        parts = {"p": make_fmu("failing"), "a": make_fmu("mass"), "b": make_fmu("mass")}
        wires = [wire for wire in CROSSED_LINKS if wire != ("a.v", "b.v_other")] + [("p.size", "b.v_other")]
        return CoSimulation(parts, wires, algorithm, step=1e-2, starts={**starts, **SPRING})

    result = run_in_all_loops(kind, options, make, 0.1)
    assert [event.time for event in result.events] == [0.0255]


def test_discarded_steps_are_repeated_with_a_shorter_size(make_fmu: MakeFmu) -> None:
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0}
    fmu = make_fmu("failing", macros=("FAIL_SIZE=0.003",))
    make = partial(CoSimulation, {"p": fmu}, [], step=1e-2, starts=starts)
    result = run_in_all_loops(Adaptive, {}, lambda algorithm: make(algorithm=algorithm), 0.1)
    assert result.statistics["algorithm"]["rejected"] > 0
    assert result.time[-1] == 0.1


def test_early_returns_with_extrapolation(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("failing")
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0255}
    results = []
    for kind in (GaussSeidel, PythonGaussSeidel):
        parts = {"p": fmu, "m": make_fmu("mass", abilities=ABILITIES)}
        loop = CoSimulation(parts, [("p.size", "m.f")], kind(extrapolation=1), step=1e-2, starts=starts)
        results.append(loop.simulate(0.1))
    assert results[0].statistics["loop"] == "compiled"
    assert [event.time for event in results[0].events] == [0.0255]
    assert_same_runs(*results)


def test_values_that_are_not_finite_are_not_extrapolated(make_fmu: MakeFmu) -> None:
    messages = []
    for kind in (Jacobi, PythonJacobi):
        parts = {"a": make_fmu("mass"), "b": make_fmu("mass")}
        loop = CoSimulation(parts, CROSSED_LINKS, kind(extrapolation=1), step=1.0, starts={"a.k": 1e40})
        with pytest.raises(cosim.SimulationError, match=r"not passed on to") as caught:
            loop.simulate(100.0)
        assert loop.result is not None
        messages.append((str(caught.value), len(loop.result)))
    assert messages[0] == messages[1]


def test_connections_convert_units(make_fmu: MakeFmu) -> None:
    units = '<Unit name="mm"><BaseUnit m="1" factor="1e-3"/></Unit><Unit name="m"><BaseUnit m="1"/></Unit>'

    def in_millimetres(name: str, attributes: dict[str, str]) -> dict[str, str]:
        return {**attributes, "unit": "mm"} if name == "x_other" else attributes

    metres = make_fmu("mass", units=units)
    millimetres = make_fmu("mass", name="mm", units=units, change=in_millimetres)
    for algorithm in (Jacobi, PythonJacobi):
        loop = CoSimulation({"a": metres, "b": millimetres}, [("a.x", "b.x_other")], algorithm, step=1e-2)
        result = loop.simulate(0.1)
        assert result["b.x_other"][1:].tolist() == (1000.0 * result["a.x"][:-1]).tolist()


def test_statistics_name_participants_that_are_called_in_python(make_fmu: MakeFmu) -> None:
    loop = CoSimulation({"kinds": make_fmu("types")}, [("kinds.integer_out", "kinds.integer_in")], step=0.1)
    statistics = loop.simulate(0.2).statistics
    assert statistics["loop"] == "compiled"
    assert statistics["in_python"] == {}  # only its text is read there
    model = cosim.Model("still")
    model.add("measures.constant", "one", value=1.0)
    loop = CoSimulation({"still": model}, [], step=0.1)
    text = "to load its compiled code takes longer than these few steps"
    assert loop.simulate(0.2).statistics["in_python"] == {"still": text}


def test_a_step_with_an_early_return_is_completed(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("failing")
    starts = {"p.fail_at": 0.0255, "p.fail_status": 2, "p.reached": 0.0255}
    results = []
    for algorithm in (Jacobi, PythonJacobi):
        result = CoSimulation({"p": fmu}, [], algorithm, step=1e-2, starts=starts).simulate(0.1)
        assert [event.time for event in result.events] == [0.0255]
        assert result.statistics["retries"] == 1
        assert result.statistics["steps"] == 10
        results.append(result)
    assert results[0]["p.size"].tobytes() == results[1]["p.size"].tobytes()


@pytest.mark.parametrize("status", [3, 4])
def test_a_failed_run_keeps_its_results(make_fmu: MakeFmu, status: int) -> None:
    starts = {"p.fail_at": 0.0255, "p.fail_status": status}
    messages = []
    for algorithm in (Jacobi, PythonJacobi):
        loop = CoSimulation({"p": make_fmu("failing")}, [], algorithm, step=1e-2, starts=starts)
        with pytest.raises(
            CoSimulationError, match=f"fmi2DoStep.*{'error' if status == 3 else 'fatal'}"
        ) as caught:
            loop.simulate(0.1)
        assert loop.result is not None
        assert loop.result.time.tolist() == [0.0, 0.01, 0.02]
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_values_that_are_not_finite_are_not_passed_on(make_fmu: MakeFmu) -> None:
    lengths = []
    for algorithm in (Jacobi, PythonJacobi):
        parts = {"a": make_fmu("mass"), "b": make_fmu("mass")}
        loop = CoSimulation(parts, CROSSED_LINKS, algorithm, step=1.0, starts={"a.k": 1e40})
        with pytest.raises(cosim.SimulationError, match=r"a.*x is -?(inf|nan): not passed on to b\.x_other"):
            loop.simulate(100.0)
        assert loop.result is not None
        lengths.append(len(loop.result))
    assert lengths[0] == lengths[1] > 1


def test_progress_can_stop_a_run(make_fmu: MakeFmu) -> None:
    times: list[float] = []

    def stop(time: float) -> bool:
        times.append(time)
        return time < 50.0

    result = masses(make_fmu("mass"), "jacobi", until=5000.0, progress=stop)
    assert result.statistics["loop"] == "compiled"
    assert 50.0 <= result.time[-1] == times[-1] < 5000.0
    assert result.message.startswith("stopped at t = ")


@pytest.mark.parametrize("points", [CommunicationPoints(0.1, 1.0, 0.3), CommunicationPoints(0.0, 1.0, 0.1)])
def test_times_of_many_points_are_those_of_single_points(points: CommunicationPoints) -> None:
    assert points.times(0, points.count + 1).tolist() == [points.time(i) for i in range(points.count + 1)]
    assert points.times(1, 3).tolist() == [points.time(1), points.time(2)]


@pytest.mark.parametrize(("kind", "options"), ONE_OF_EACH_KIND)
def test_integers_and_booleans_of_fmus(make_fmu: MakeFmu, kind: type, options: dict[str, Any]) -> None:
    wires = [("one.integer_out", "two.integer_in"), ("two.boolean_out", "one.boolean_in")]
    wires += [("one.real_out", "two.real_in"), ("two.real_out", "one.real_in")]
    starts = {"one.integer_in": -7, "two.boolean_in": True, "one.real_in": 0.5}

    def make(algorithm: Any) -> CoSimulation:
        fmu = make_fmu("types", abilities=ABILITIES)
        return CoSimulation({"one": fmu, "two": fmu}, wires, algorithm, step=1e-2, starts=starts)

    record = [
        f"{part}.{type_}_{causality}"
        for part in ("one", "two")
        for type_ in ("integer", "boolean", "real")
        for causality in ("in", "out")
        if f"{part}.{type_}_{causality}" not in starts or type_ == "real"
    ]
    result = run_in_all_loops(kind, options, make, 0.1, record=record)
    assert result["two.integer_in"].tolist()[-1] == result["one.integer_out"][-1]
    assert result["one.boolean_in"].dtype == bool


@pytest.mark.few(3)
@pytest.mark.parametrize(("kind", "options"), ALGORITHMS)
@pytest.mark.parametrize("events", [False, True])
def test_fmi3_with_event_mode_and_small_types(
    tmp_path: Path, compiled: Any, kind: type, options: dict[str, Any], events: bool
) -> None:
    path = make_box3(tmp_path, compiled, events=events)
    wires = [("one.x", "two.u"), ("two.x", "one.u")]
    if not events:  # discrete inputs are written in event mode, which Python does
        wires += [("one.byte_out", "two.byte_in"), ("two.flag_out", "one.flag_in")]
    starts = {"one.ring_at": 0.053, "one.byte_in": -5, "two.flag_in": True}

    def make(algorithm: Any) -> CoSimulation:
        return CoSimulation({"one": path, "two": path}, wires, algorithm, step=1e-2, starts=starts)

    record = [f"{part}.{name}" for part in ("one", "two") for name in ("x", "u", "rings")]
    result = run_in_all_loops(
        kind, options, make, 0.1, record=record + ["two.byte_in", "one.flag_in"] * (not events)
    )
    if events:
        assert result["one.rings"][-1] > 0
    else:
        assert result["two.byte_in"][-1] == -5
        assert result["one.flag_in"][-1]


def test_rows_are_recorded_in_pieces(make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = masses(make_fmu("mass"), "jacobi", until=2.0)
    monkeypatch.setattr(compiled_loop, "MOST_VALUES_AT_ONCE", 1)
    assert_same_runs(masses(make_fmu("mass"), "jacobi", until=2.0), whole)
