"""Inputs from files and tables, and changes at times."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_tools import oscillator
from test_master_coupling import Block

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation, TimedInputs
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.scenario.scenario_changes import make_changes
from cosim_master.participants.system_participant import SystemParticipant

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


@pytest.mark.parametrize(
    ("table", "interpolation", "expected"),
    [
        (RAMP["u"], "linear", [-2.0, 0.0, 6.0, 7.0]),
        (RAMP["u"], "held", [0.0, 0.0, 6.0, 6.0]),
        ([[0.0, 3.0]], "linear", [3.0, 3.0, 3.0, 3.0]),
        ([[0.0, 3.0], [0.0, 4.0], [1.5, 1.0], [1.5, 2.0]], "linear", [3.0, 4.0, 2.0, 2.0]),
    ],
)
def test_a_straight_line_before_and_after_the_times(
    table: list[Any], interpolation: str, expected: list[float]
) -> None:
    series = TimedInputs({"u": table}, interpolation, extrapolation="tangent")
    found = []
    for time in (-1.0, 0.0, 1.5, 2.0):
        series.restore(time)
        found += series.get(["u"])
    assert found == expected


@pytest.mark.parametrize("interpolation", ["linear", "held"])
def test_an_error_before_and_after_the_times(interpolation: str) -> None:
    series = TimedInputs(RAMP, interpolation, extrapolation="error")
    for time in (0.0, 1.5):
        series.restore(time)
        series.get(["u"])
    for time in (-1e-9, 1.5 + 1e-9):
        series.restore(time)
        with pytest.raises(cosim.SimulationError, match="0.*1.5 s: give more"):
            series.get(["u"])


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
    result = scenario.couple(CoSimulation).simulate(scenario.until)
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
    result = scenario.couple(CoSimulation).simulate(scenario.until, record=scenario.signals)
    assert result["m.f"].tolist() == [1.0, 1.0, 2000.0, 2000.0, 3.0, 3.0]
    assert result["t.boolean_in"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    assert result["t.integer_in"].tolist() == [0.0, 0.0, 7.0, 7.0, 7.0, 7.0]


def test_a_change_behind_the_end_is_told(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    make_fmu("types")
    (tmp_path / "s.toml").write_text(CHANGES, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "s.toml"]) == 0
    assert "changes[" not in capsys.readouterr().err
    assert main(["cosimulate", "s.toml", "--until", "200 ms"]) == 0
    told = capsys.readouterr().err
    assert "warning: changes[0] is at 0.3" in told
    assert "changes[1]" not in told


TUNED = """\
[participants.o]
fmu = "oscillator.fmu"
parameters = { "osc.stiffness" = 8.0, "osc.damping" = 0.0, "osc.places[3]" = 0.0, "osc.x" = 0.5 }
[master]
algorithm = "jacobi"
step = 0.1
until = 3.0
tolerance = 1e-10
[[changes]]
at = "1 s"
set = { "o.osc.stiffness" = 32.0 }
[[changes]]
at = "2 s"
set = { "o.osc.mass" = "8 kg" }
"""


@pytest.fixture(scope="module")
def tuned_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tuned") / "oscillator.fmu"
    return oscillator(mass=2.0, stiffness=7.0).export_fmu(path, all=True, native=False)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "waveform_iteration"])
@pytest.mark.parametrize("kind", ["fmu", "system"])
def test_parameters_change_at_times(tmp_path: Path, tuned_fmu: Path, kind: str, algorithm: str) -> None:
    shutil.copy(tuned_fmu, tmp_path)
    text = TUNED.replace("jacobi", algorithm)
    if kind == "system":  # its elements count from 0
        text = text.replace('"osc.places[3]" = 0.0', '"osc.places[2]" = 0.0')
    (tmp_path / "s.toml").write_text(text, "utf-8")
    scenario = Scenario.read(tmp_path / "s.toml")
    if kind == "system":
        scenario.participants["o"] = SystemParticipant(oscillator(mass=2.0, stiffness=7.0))
    result = scenario.couple(CoSimulation).simulate(scenario.until)
    time, x = result.time, result["o.osc.position"]
    expected = 0.5 * np.cos(2.0 * time)
    for at, rate in ((1.0, 4.0), (2.0, 2.0)):  # the state goes on, with another rate
        since, before = time - at, 2.0 if at == 1.0 else 4.0
        if at == 1.0:
            here, speed = 0.5 * np.cos(2.0), -1.0 * np.sin(2.0)
        else:
            here, speed = (
                here * np.cos(before) + speed / before * np.sin(before),
                speed * np.cos(before) - here * before * np.sin(before),
            )
        course = here * np.cos(rate * since) + speed / rate * np.sin(rate * since)
        expected = np.where(since > 0.0, course, expected)
    np.testing.assert_allclose(x, expected, atol=1e-7)
    assert result["o.osc.stiffness"].tolist() == [8.0] * 11 + [32.0] * 20


def test_what_a_model_says_of_a_parameter_holds_until_it_changes(tmp_path: Path) -> None:
    given: dict[str, Any] = {"stiffness": 7.0, "places": (0.4, 0.5, 0.6)}
    participant = SystemParticipant(oscillator(**given))
    starts = {"o.osc.turn": [[5.0, 6.0], [7.0, 8.0]]}
    names = ["o.osc.stiffness", "o.osc.places[1]", "o.osc.turn[2]"]
    entries = [{"at": 0.2, "set": dict.fromkeys(names, 9.0)}]
    problems: list[str] = []
    made, wires = make_changes(entries, {"o": participant}, starts, lambda key, text: problems.append(text))
    assert made is not None and not problems
    loop = CoSimulation({"o": participant, "changes": made}, wires, "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.3, record=names)
    assert [result[name][[0, 3]].tolist() for name in names] == [[7.0, 9.0], [0.5, 9.0], [7.0, 9.0]]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"m.f" = 3.0',
            '"m.ff" = 3.0',
            ":12: changes[0]: no input or tunable parameter of m 'ff'. Nearest: f.",
        ),
        ('"m.f" = 3.0', '"n.f" = 3.0', ":12: changes[0]: no participant 'n'."),
        ('"m.f" = 3.0', '"m.k" = 3.0', ":12: changes[0]: m.k is a parameter that may not be set"),
        (
            '"m.f" = 3.0',
            '"m.v" = 3.0',
            ":12: changes[0]: m.v is of causality output: only inputs and parameters",
        ),
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
        Scenario.read(tmp_path / "s.toml").couple(CoSimulation)
    assert said in str(failure.value)


@pytest.mark.parametrize(("step", "per_second"), [("100 ms", 10), (0.7, 10), ("1/3 s", 3), ("1/7 s", 7)])
def test_a_jump_at_a_communication_point_is_there(step: float | str, per_second: int) -> None:
    """Steps end at ``time + size``, which may miss the point by a bit."""
    count = 1000
    exact = round(cosim.kit.exact_quantity(step, "s") * per_second)
    held = TimedInputs({"u": [[f"{i}/{per_second} s", float(i)] for i in range(count + 1)]})
    loop = CoSimulation({"in": held}, [], "jacobi", step)
    found = loop.simulate(count / per_second)
    whole = found["in.u"][: found.time.size - 1]
    assert whole.tolist() == [exact * i for i in range(whole.size)]
