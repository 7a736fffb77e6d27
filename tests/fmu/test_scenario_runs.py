"""Runs of scenarios: inputs beside the file, files of results, times, resumed runs, export as an SSP."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from scenario_files import LOOP, WEATHER, write_loop

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation, TimedInputs

MakeFmu = Callable[..., Path]
WITHOUT_WEATHER = LOOP.replace('    "weather.outside -> room.outside",\n', "").replace(
    '[participants.weather]\nseries = "weather.csv"\n', ""
)


def test_inputs_feed_unconnected_inputs_of_participants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = CoSimulation.from_file(write_loop(tmp_path)).simulate()
    write_loop(tmp_path, WITHOUT_WEATHER)
    (tmp_path / "cold.csv").write_text(WEATHER.replace("outside", "room.outside"), "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "loop.toml", "--inputs", "cold.csv", "-q"]) == 0
    result = cosim.read_result("loop.csv")
    assert result["room.temperature"].tobytes() == expected["room.temperature"].tobytes()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("outside", "no participant 'outside'"),
        ("room.outsid", "no input of room 'outsid'. Nearest: outside"),
        ("room.temperature", "room.temperature is an output, needs an input"),
        ("room.power", "room.power has a source already"),
    ],
)
def test_wrong_columns_of_inputs_are_named(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        CoSimulation.from_file(write_loop(tmp_path, WITHOUT_WEATHER), inputs={name: [[0.0, 1.0]]})


@pytest.mark.thorough
def test_the_file_of_results_is_named_after_the_folder_of_an_ssp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "pump.v2"
    package.mkdir()
    model = cosim.Model("pump")
    model.add("signals.ramp", "ramp", height=1.0)
    CoSimulation({"pump": model}, step=0.1).to_ssp(tmp_path / "pump.ssp", 0.2)
    with zipfile.ZipFile(tmp_path / "pump.ssp") as archive:
        archive.extractall(package)
    monkeypatch.chdir(package)
    assert main(["cosimulate", ".", "-q"]) == 0
    assert [path.name for path in package.glob("*.csv")] == ["pump.v2.csv"]
    assert not list(package.glob(".*"))


def test_parquet_results_are_replaced_but_no_foreign_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    write_loop(tmp_path)
    monkeypatch.chdir(tmp_path)
    command = ["cosimulate", "loop.toml", "--until", "100", "-q", "-o", "x.parquet"]
    for options in ([], ["--plot", "x.svg"], ["--plot", "x.svg"], []):
        assert main([*command, *options]) == 0
        assert len(cosim.read_result("x.parquet")) == 11
    (tmp_path / "x.parquet" / "notes.txt").write_text("foreign", "utf-8")
    capsys.readouterr()
    for options in ([], ["--plot", "x.svg"]):
        assert main([*command, *options]) != 0
        assert "notes.txt" in capsys.readouterr().err


def test_times_are_measured_for_participants_that_python_calls(tmp_path: Path) -> None:
    statistics = CoSimulation.from_file(write_loop(tmp_path)).simulate().statistics
    assert statistics["participant_time"].keys() == statistics["in_python"].keys()
    assert all(time > 0.0 for time in statistics["participant_time"].values())


def test_compiled_participants_have_no_time(make_fmu: MakeFmu) -> None:
    parts = {"a": make_fmu("mass"), "b": TimedInputs({"u": [[0.0, 1.0]]})}
    statistics = CoSimulation(parts, ["b.u -> a.f"], step=0.01).simulate(0.5).statistics
    assert list(statistics["participant_time"]) == ["b"] == list(statistics["in_python"])


def test_messages_name_the_fmu_inside_an_ssp(make_fmu: MakeFmu, tmp_path: Path) -> None:
    starts = {"plant.fail_at": 0.25, "plant.fail_status": 3}
    loop = CoSimulation({"plant": make_fmu("failing")}, step=0.1, starts=starts)
    loop.to_ssp(tmp_path / "plant.ssp", 1.0)
    with pytest.raises(cosim.SimulationError, match=r"plant\.ssp: resources/failing\.fmu") as caught:
        CoSimulation.from_ssp(tmp_path / "plant.ssp").simulate()
    assert "cosim" not in str(caught.value).replace("cosimulate", "")


def test_a_run_is_resumed_with_a_changed_fmu_only_if_that_is_accepted(
    make_fmu: MakeFmu,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_fmu("mass")
    text = '[participants.plant]\nfmu = "mass.fmu"\n[master]\nstep = 0.01\nuntil = 0.4\n'
    (tmp_path / "one.toml").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", "one.toml", "-q", "-o", "whole.csv"]) == 0
    assert main(["cosimulate", "one.toml", "-q", "--until", "0.2", "--checkpoint", "saved"]) == 0
    with zipfile.ZipFile("mass.fmu", "a") as archive:
        archive.writestr("documentation/index.html", "changed")
    capsys.readouterr()
    assert main(["cosimulate", "one.toml", "-q", "--resume", "saved"]) != 0
    message = capsys.readouterr().err
    assert "participants.plant: mass.fmu (sha256 " in message
    assert "--accept-changed plant" in message
    assert message.count("\n") <= 2
    assert main(["cosimulate", "one.toml", "-q", "--resume", "saved", "--accept-changed", "plant"]) == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert main(["cosimulate", "one.toml", "-q", "--resume", "saved", "--accept-changed", "plnt"]) != 0
    assert "participant 'plnt'. Nearest: plant" in capsys.readouterr().err
    assert main(["cosimulate", "one.toml", "-q", "--accept-changed", "plant"]) != 0
    assert "--accept-changed needs --resume" in capsys.readouterr().err


def test_a_scenario_is_exported_as_an_ssp(
    make_fmu: MakeFmu,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_fmu("mass")
    links = ["left.force -> right.f", "right.x -> left.x_other"]
    parts = "".join(f'[participants.{name}]\nfmu = "mass.fmu"\n' for name in ("left", "right"))
    master = '[master]\nalgorithm = "jacobi"\nstep = 0.01\nuntil = 0.3\n'
    text = f"connections = {json.dumps(links)}\n{parts}{master}"
    (tmp_path / "loop.toml").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "loop.toml", "-o", "loop.ssp"]) == 0
    assert "loop.toml → loop.ssp" in capsys.readouterr().out
    from_ssp = CoSimulation.from_ssp("loop.ssp").simulate()
    from_file = CoSimulation.from_file("loop.toml").simulate()
    assert from_ssp.time[-1] == 0.3
    assert from_ssp["right.x"].tobytes() == from_file["right.x"].tobytes()
    assert main(["export", "loop.toml", "-o", "loop.txt"]) != 0
    assert "FMU) or .ssp" in capsys.readouterr().err
    assert main(["export", "loop.toml", "--outputs", "left.x"]) != 0
    assert "--outputs: applies only to models" in capsys.readouterr().err
