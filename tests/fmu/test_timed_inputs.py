"""Inputs from files and tables, and changes at times."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_master_coupling import Block

import cosim
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.master.scenario import Scenario

MakeFmu = Callable[..., Path]
RAMP = {"u": [[0.0, 0.0], [1.0, 2.0], [1.0, 5.0], ["1500 ms", 6.0]]}


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        ("linear", [0.0, 0.0, 1.0, 5.0, 5.5, 6.0, 6.0]),
        ("held", [0.0, 0.0, 0.0, 5.0, 5.0, 6.0, 6.0]),
        (None, [0.0, 0.0, 0.0, 5.0, 5.0, 6.0, 6.0]),
    ],
)
def test_values_over_time(interpolation: str | None, expected: list[float]) -> None:
    series = TimedInputs(RAMP, interpolation)
    found = []
    for time in (-1.0, 0.0, 0.5, 1.0, 1.25, 1.5, 9.0):
        series.restore(time)
        found += series.get(["u"])
    assert found == expected


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_a_step_has_the_value_of_its_start(algorithm: str) -> None:
    taker = Block({"y": lambda time, u: u}, ["u"])
    seen = []
    step = taker.step

    def watch(time: float, size: float) -> float:
        seen.append((round(time, 9), taker.values["u"]))
        return step(time, size)

    taker.step = watch  # type: ignore[method-assign]
    loop = CoSimulation(
        {"drive": TimedInputs(RAMP, "linear"), "b": taker}, ["drive.u -> b.u"], algorithm, 0.25
    )
    loop.simulate(1.5)
    assert seen == [(0.0, 0.0), (0.25, 0.5), (0.5, 1.0), (0.75, 1.5), (1.0, 5.0), (1.25, 5.5)]


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
    result = scenario.couple().simulate(scenario.until)
    # an input is recorded as it was held in the step before
    assert result["m.f"].tolist() == [1500.0, 1500.0, 2000.0, 2500.0, 2500.0]


def test_parquet_and_results_as_they_are(tmp_path: Path) -> None:
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


def test_whole_numbers_and_booleans(make_fmu: MakeFmu) -> None:
    table = {"gear": [[0.0, 1], [0.2, 3]], "on": [[0.0, 0], [0.2, 1]]}
    drive = TimedInputs(table, types={"gear": "integer", "on": "boolean"})
    parts = {"drive": drive, "t": make_fmu("types")}
    loop = CoSimulation(parts, ["drive.gear -> t.integer_in", "drive.on -> t.boolean_in"], "jacobi", 0.1)
    result = loop.simulate(0.4, record=["t.*_in"])
    assert result["t.integer_in"].tolist() == [1.0, 1.0, 1.0, 3.0, 3.0]
    assert result["t.boolean_in"].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("series", "options", "said"),
    [
        ({"u": [[0.0]]}, {}, "u has \\[0.0\\], needs pairs of time and value"),
        ({"u": 3}, {}, "u has 3, needs pairs"),
        ({"u": [["1 m", 2.0]]}, {}, "needs pairs of time and value"),
        ({"u": [[1.0, 0.0], [0.0, 0.0]]}, {}, "needs finite times that do not decrease"),
        ({"u": []}, {}, "needs finite times"),
        (RAMP, {"interpolation": "cubic"}, "interpolation: is 'cubic', needs 'linear' or 'held'"),
        (RAMP, {"types": {"v": "integer"}}, "no signal 'v'"),
        (RAMP, {"types": {"u": "string"}}, "u is 'string', needs one of real, integer, boolean"),
        ({"u": [[0.0, 0.5]]}, {"types": {"u": "integer"}}, "has values that are not whole"),
        ("none.csv", {}, "none.csv: no such file"),
    ],
)
def test_series_that_are_none(series: object, options: dict[str, object], said: str) -> None:
    with pytest.raises(cosim.CosimError, match=said):
        TimedInputs(series, **options)  # type: ignore[arg-type]


CHANGES = """\
[participants.m]
fmu = "mass.fmu"
parameters.f = 1.0
[participants.t]
fmu = "types.fmu"
[master]
algorithm = "gauss_seidel"
step = 0.1
until = 0.5
[output]
signals = ["m.f", "t.*_in"]
[[changes]]
at = "0.3 s"
set = { "m.f" = 3.0, t.boolean_in = true }
[[changes]]
at = 0.1
set = { "m.f" = "2 kN", t.integer_in = 7 }
"""


def test_changes_at_times(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    make_fmu("types")
    (tmp_path / "s.toml").write_text(CHANGES, "utf-8")
    scenario = Scenario.read(tmp_path / "s.toml")
    result = scenario.couple().simulate(scenario.until, record=scenario.signals)
    assert result["m.f"].tolist() == [1.0, 1.0, 2000.0, 2000.0, 3.0, 3.0]
    assert result["t.boolean_in"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert result["t.integer_in"].tolist() == [0.0, 0.0, 7.0, 7.0, 7.0, 7.0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"m.f" = 3.0', '"m.ff" = 3.0', ":12: changes[0]: no input of m 'ff'. Nearest: f."),
        ('"m.f" = 3.0', '"n.f" = 3.0', ":12: changes[0]: no participant 'n'."),
        ('"m.f" = 3.0', '"m.k" = 3.0', ":12: changes[0]: m.k is of causality parameter: only inputs change"),
        ('"m.f" = 3.0', '"m.f" = "3 m"', ":12: changes[0]: m.f: '3 m': "),
        ("t.boolean_in = true", 't.string_in = "a"', "t.string_in is string: only numbers change at times"),
        ("at = 0.1\n", "", ":15: changes[1]: needs at = "),
        ("at = 0.1\n", "at = 0.1\nwhy = 3\n", ":17: changes[1].why: no key 'why'."),
        ("[participants.t]", "[participants.changes]", "is the name of what gives [[changes]]"),
        ("[participants.t]", 'connections = ["t.real_out -> m.f"]\n[participants.t]', "no key 'connections'"),
    ],
)
def test_changes_that_are_none(make_fmu: MakeFmu, tmp_path: Path, old: str, new: str, said: str) -> None:
    make_fmu("mass")
    make_fmu("types")
    text = CHANGES.replace(old, new)
    assert text != CHANGES
    (tmp_path / "s.toml").write_text(text, "utf-8")
    with pytest.raises(cosim.ModelError) as failure:
        Scenario.read(tmp_path / "s.toml").couple()
    assert said in str(failure.value)
