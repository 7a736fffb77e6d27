"""Inputs over time from files and tables: interpolation, extrapolation, units and types."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from python_block import Block

import cosim
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.scenario.scenario import Scenario

MakeFmu = Callable[..., Path]
RAMP = {"u": [[0.0, 0.0], [1.0, 2.0], [1.0, 5.0], ["1500 ms", 6.0]]}


def values_at(series: TimedInputs, name: str, times: Sequence[float]) -> list[Any]:
    """The values of a signal at times."""
    values = []
    for time in times:
        series.restore(time)
        values += series.get([name])
    return values


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        ("linear", [0.0, 0.0, 1.0, 5.0, 5.5, 6.0, 6.0]),
        ("held", [0.0, 0.0, 0.0, 5.0, 5.0, 6.0, 6.0]),
        (None, [0.0, 0.0, 0.0, 5.0, 5.0, 6.0, 6.0]),
    ],
)
def test_interpolation(interpolation: str | None, expected: list[float]) -> None:
    series = TimedInputs(RAMP, interpolation)
    assert values_at(series, "u", (-1.0, 0.0, 0.5, 1.0, 1.25, 1.5, 9.0)) == expected


@pytest.mark.parametrize(
    ("table", "interpolation", "expected"),
    [
        (RAMP["u"], "linear", [-2.0, 0.0, 6.0, 7.0]),
        (RAMP["u"], "held", [0.0, 0.0, 6.0, 6.0]),
        ([[0.0, 3.0]], "linear", [3.0, 3.0, 3.0, 3.0]),
        ([[0.0, 3.0], [0.0, 4.0], [1.5, 1.0], [1.5, 2.0]], "linear", [3.0, 4.0, 2.0, 2.0]),
    ],
)
def test_extrapolation_along_the_tangent(table: list[Any], interpolation: str, expected: list[float]) -> None:
    series = TimedInputs({"u": table}, interpolation, extrapolation="tangent")
    assert values_at(series, "u", (-1.0, 0.0, 1.5, 2.0)) == expected


@pytest.mark.parametrize("interpolation", ["linear", "held"])
def test_extrapolation_as_an_error(interpolation: str) -> None:
    series = TimedInputs(RAMP, interpolation, extrapolation="error")
    values_at(series, "u", (0.0, 1.5))
    for time in (-1e-9, 1.5 + 1e-9):
        with pytest.raises(cosim.SimulationError, match="0.*1.5 s: give more"):
            values_at(series, "u", [time])


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_inputs_of_a_step_have_the_value_at_its_start(algorithm: str) -> None:
    inputs = []

    class RecordsInput(Block):
        def step(self, time: float, size: float) -> float:
            inputs.append((round(time, 9), self.values["u"]))
            return super().step(time, size)

    parts = {"drive": TimedInputs(RAMP, "linear"), "b": RecordsInput({"y": lambda time, u: u}, ["u"])}
    CoSimulation(parts, ["drive.u -> b.u"], algorithm, 0.25).simulate(1.5)
    assert inputs == [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (0.75, 1.5), (1.0, 5.0), (1.25, 5.5)]


def test_units_of_the_header_are_converted(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    (tmp_path / "drive.csv").write_text("time [ms];force [kN]\n0;1,5\n100;2,5\n", "utf-8")
    text = (
        'connections = ["drive.force -> m.f"]\n[participants.m]\nfmu = "mass.fmu"\n'
        '[participants.drive]\nseries = "drive.csv"\n'
        '[master]\nalgorithm = "jacobi"\nstep = 0.05\nuntil = 0.2\n'
    )
    (tmp_path / "s.toml").write_text(text, "utf-8")
    scenario = Scenario.read(tmp_path / "s.toml")
    result = scenario.couple(CoSimulation).simulate(scenario.until)
    # an input is recorded with its value in the step that has ended
    assert result["m.f"].tolist() == [1500.0, 1500.0, 2000.0, 2500.0, 2500.0]


def test_series_from_a_result_and_from_a_parquet_file(tmp_path: Path) -> None:
    result = cosim.Result([0.0, 1.0], {"v": np.array([[1.0, 2.0], [3.0, 4.0]])}, {"v": "m/s"})
    sources: list[object] = [result]
    try:
        sources.append(result.to_parquet(tmp_path / "v.parquet"))
    except cosim.CosimError as error:
        assert "pyarrow" in str(error)
    for source in sources:
        drive = TimedInputs(source)  # type: ignore[arg-type]
        assert drive.describe().variables["v[1]"].unit == "m/s"
        drive.restore(0.5)
        assert drive.get(["v[0]", "v[1]"]) == [2.0, 3.0]


def test_series_of_integers_and_booleans(make_fmu: MakeFmu) -> None:
    table = {"gear": [[0.0, 1], [0.2, 3]], "on": [[0.0, 0], [0.2, 1]]}
    drive = TimedInputs(table, types={"gear": "integer", "on": "boolean"})
    parts = {"drive": drive, "t": make_fmu("types")}
    loop = CoSimulation(parts, ["drive.gear -> t.integer_in", "drive.on -> t.boolean_in"], "jacobi", 0.1)
    result = loop.simulate(0.4, record=["t.*_in"])
    assert result["t.integer_in"].tolist() == [1.0, 1.0, 1.0, 3.0, 3.0]
    assert result["t.boolean_in"].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]


def test_text_from_a_file_and_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "modes.csv").write_text("time,mode,u\n0,idle,1\n2,heat pump,2\n4,idle,3\n", "utf-8")
    tables = {"mode": [[0.0, "idle"], [2.0, "heat pump"], [4.0, "idle"]], "u": [[0.0, 1.0], [2.0, 2.0]]}
    for series in (TimedInputs(tmp_path / "modes.csv"), TimedInputs(tables)):
        variables = series.describe().variables
        assert (variables["mode"].type, variables["u"].type) == ("string", "real")
        texts = values_at(series, "mode", (0.0, 1.999, 2.0, 3.9, 4.0, 9.0))
        assert texts == ["idle", "idle", "heat pump", "heat pump", "idle", "idle"]
    result = CoSimulation({"w": TimedInputs(tables)}, step=1.0).simulate(2.0)
    assert result["w.mode"].tolist() == ["idle", "idle", "heat pump"]


def test_types_that_differ_from_the_values_are_refused() -> None:
    with pytest.raises(cosim.ModelError, match="'string'.*numbers"):
        TimedInputs({"u": [[0.0, 1.0]]}, types={"u": "string"})
    with pytest.raises(cosim.ModelError, match="'integer'.*text"):
        TimedInputs({"u": [[0.0, "a"]]}, types={"u": "integer"})
    with pytest.raises(cosim.ModelError, match="text and numbers"):
        TimedInputs({"u": [[0.0, "a"], [1.0, 2.0]]})


@pytest.mark.parametrize(
    ("series", "options", "message"),
    [
        ({"u": [[0.0]]}, {}, "u has \\[0.0\\], needs pairs of time and value"),
        ({"u": 3}, {}, "u has 3, needs pairs"),
        ({"u": [["1 m", 2.0]]}, {}, "needs pairs of time and value"),
        ({"u": [[1.0, 0.0], [0.0, 0.0]]}, {}, "needs finite times that do not decrease"),
        ({"u": []}, {}, "u has no points, needs at least one"),
        (RAMP, {"interpolation": "cubic"}, "interpolation: is 'cubic', needs 'linear' or 'held'"),
        (RAMP, {"extrapolation": "hold"}, "extrapolation: is 'hold', needs 'kept', 'tangent' or 'error'"),
        (RAMP, {"types": {"v": "integer"}}, "no signal 'v'"),
        (RAMP, {"types": {"u": "string"}}, "u is 'string', but has numbers"),
        (RAMP, {"types": {"u": "whole"}}, "u is 'whole', needs one of real, integer, boolean, string"),
        ({"u": [[0.0, 0.5]]}, {"types": {"u": "integer"}}, "has values that are not whole"),
        ("none.csv", {}, "none.csv: no such file"),
    ],
)
def test_wrong_series_are_refused(series: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(cosim.CosimError, match=message):
        TimedInputs(series, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("step", "per_second"), [("100 ms", 10), (0.7, 10), ("1/3 s", 3), ("1/7 s", 7)])
def test_a_jump_at_a_communication_point_applies_to_the_step_that_starts_there(
    step: float | str, per_second: int
) -> None:
    """The rounding of ``time + size`` at the end of a step must not shift the jump by a step."""
    count = 1000
    jumps_per_step = round(cosim.kit.exact_quantity(step, "s") * per_second)
    series = TimedInputs({"u": [[f"{i}/{per_second} s", float(i)] for i in range(count + 1)]})
    loop = CoSimulation({"in": series}, [], "jacobi", step)
    result = loop.simulate(count / per_second)
    values = result["in.u"][: result.time.size - 1]
    assert values.tolist() == [jumps_per_step * i for i in range(values.size)]
