"""Files of results and logs: complete rows, no file outside the scenario's folder, none lost, full disks."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim.cli import main
from cosim.kit import path_below, space_warning
from cosim.simulation.interrupt import Terminated
from cosim_fmi.binding.fmu_output import is_log
from cosim_fmu.command.saved_rows import SavedRows
from cosim_master.run import simulation_run
from cosim_workbench.results_csv import ResultsCsv

SCENARIO = """[participants.m]
fmu = "odd.fmu"
{log}
[master]
algorithm = "jacobi"
step = "0.1 s"
until = 0.3
[output]
{output}
"""
ON_FULL_DISKS = """
import os, sys
from cosim.cli import main
replace, spare = os.replace, os.environ["SPARE"]
def replace_or_fail(source, target):
    if not spare or not str(target).startswith(spare):
        raise OSError(28, "No space left on device")
    replace(source, target)
os.replace = replace_or_fail
sys.exit(main())
"""
"""The command where all disks are full, or all but that of the folder SPARE."""


@pytest.mark.parametrize("reason", ["it failed", "two\nlines", 'a "quote", a comma', "x" * 100_000, "# hash"])
def test_an_unfinished_result_says_why_and_is_extended(reason: str, tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    complete = cosim.Result([0.0, 1.0, 2.0], {"y": [1.0, 2.0, 3.0]})
    unfinished = cosim.Result([0.0], {"y": [1.0]}, unfinished=reason)
    sink = ResultsCsv()
    sink.write(unfinished, path)
    stored = cosim.read_result(path)
    assert stored.unfinished == " ".join(reason.split())[: len(stored.unfinished)] != ""
    assert stored.time.tolist() == [0.0]
    sink.extend(cosim.Result([0.0, 1.0], {"y": [1.0, 2.0]}, unfinished="goes on"), path, 1)
    assert cosim.read_result(path).unfinished == "goes on" and len(cosim.read_result(path)) == 2
    sink.extend(complete, path, 2)
    complete_path = sink.write(complete, tmp_path / "complete.csv")
    assert path.read_bytes() == complete_path.read_bytes() and cosim.read_result(path).unfinished == ""
    sink.extend(complete, path, 3)  # nothing is left to be written
    assert path.read_bytes() == complete_path.read_bytes()


def test_a_full_disk_leaves_complete_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cosim_workbench import results_csv

    path, sink, write = tmp_path / "full.csv", ResultsCsv(), results_csv._write_at
    sink.write(cosim.Result([0.0], {"y": [1.0]}, unfinished="goes on"), path)

    def write_three_bytes(file: Any, position: int, data: bytes) -> None:
        if b"1.0,2.0" in data:
            write(file, position, data[:3])
            raise OSError(28, "No space left on device")
        write(file, position, data)

    monkeypatch.setattr(results_csv, "_write_at", write_three_bytes)
    with pytest.raises(cosim.CosimError, match="No space left"):
        sink.extend(cosim.Result([0.0, 1.0], {"y": [1.0, 2.0]}), path, 1)
    result = cosim.read_result(path)
    assert result.time.tolist() == [0.0] and result.unfinished == "its rows were being written"


@pytest.mark.parametrize(
    "file", ["../out.csv", "/tmp/out.csv", "sub/../../out.csv", "link/out.csv", "alias.csv"]
)
def test_results_and_logs_that_a_scenario_names_stay_in_its_folder(
    file: str,
    make_odd_fmu: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    outside = tmp_path.parent / f"outside-{tmp_path.name}"
    outside.mkdir()
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "alias.csv").symlink_to(outside / "out.csv")
    make_odd_fmu("gain")
    monkeypatch.chdir(tmp_path)
    for log, output in (("", f'file = "{file}"'), (f'log = "{file}"', "")):
        (tmp_path / "s.toml").write_text(SCENARIO.format(log=log, output=output))
        status, message = main(["cosimulate", "s.toml", "-q"]), capsys.readouterr().err
        assert status == 2 and f"'{file}' is outside of the folder of this file" in message, message
    assert list(outside.iterdir()) == []
    (tmp_path / "s.toml").write_text(SCENARIO.format(log="", output='file = "inside.csv"'))
    assert main(["cosimulate", "s.toml", "-q", "-o", str(outside / "out.csv")]) == 0  # an option of the user


def test_only_an_option_of_the_user_replaces_a_file_that_is_no_result(
    make_odd_fmu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_odd_fmu("gain")
    monkeypatch.chdir(tmp_path)

    # a file that is no result stays, unless the user names it
    (tmp_path / "s.toml").write_text(SCENARIO.format(log="", output='file = "out.csv"'))
    for content in ("precious", "time,y\n0,1\n", "[model]\n"):
        (tmp_path / "out.csv").write_text(content)
        assert main(["cosimulate", "s.toml", "-q"]) == 2
        assert "exists, and is not a result" in capsys.readouterr().err
        assert (tmp_path / "out.csv").read_text() == content
    assert main(["cosimulate", "s.toml", "-q", "-o", "out.csv"]) == 0

    # results and empty files are replaced
    assert main(["cosimulate", "s.toml", "-q"]) == 0
    (tmp_path / "out.csv").write_text("")
    assert main(["cosimulate", "s.toml", "-q"]) == 0

    # a log replaces logs only
    (tmp_path / "s.toml").write_text(SCENARIO.format(log='log = "s.toml"', output=""))
    assert main(["cosimulate", "s.toml", "-q"]) == 2
    assert "'s.toml' exists" in capsys.readouterr().err
    (tmp_path / "s.toml").write_text(SCENARIO.format(log='log = "m.log"', output=""))
    assert main(["cosimulate", "s.toml", "-q"]) == main(["cosimulate", "s.toml", "-q"]) == 0


def test_the_lines_by_which_a_log_is_recognized(tmp_path: Path) -> None:
    path = tmp_path / "m.log"
    assert is_log(path)
    for text, expected in (
        *(("", True), ("ok: printed: x\nmore\n", True), ("7: odd\n", True), ("error: no\n", True)),
        *(("okay: no\n", False), ("precious\n", False), (": x\n", False), ("\x00\x01", False)),
    ):
        path.write_text(text)
        assert is_log(path) == expected, text
    assert not is_log(tmp_path)


def test_paths_below_a_folder(tmp_path: Path) -> None:
    for name in ("a.csv", "sub/a.csv", "./a.csv", "sub/../a.csv", str(tmp_path / "a.csv")):
        assert path_below(tmp_path, name) == tmp_path / name
    for name in ("..", "../a.csv", "/", "/a.csv", str(tmp_path) + "2/a.csv"):
        with pytest.raises(ValueError, match="is outside of the folder"):
            path_below(tmp_path, name)
    if os.name == "posix":  # there, a backslash may be part of a name, and opening a pipe waits
        os.mkfifo(tmp_path / "pipe.csv")
        (tmp_path / "loop.csv").symlink_to("loop.csv")
        for name in ("..\\a.csv", "sub\\a.csv", "C:\\a.csv", "\\\\server\\share\\a.csv"):
            with pytest.raises(ValueError, match="has a backslash"):
                path_below(tmp_path, name)
        with pytest.raises(ValueError, match="is a pipe or a device"):
            path_below(tmp_path, "pipe.csv")
        assert path_below(tmp_path, "loop.csv") == tmp_path / "loop.csv"  # a link to itself


def test_a_run_warns_of_too_little_space(
    make_odd_fmu: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(1e9, 1e9 - 1000, 1000))
    assert space_warning(tmp_path / "x.csv", 10, 5) == ""  # exactly what is free
    assert "are free there" in space_warning(tmp_path / "x.csv", 10, 6)
    assert space_warning(tmp_path / "x.csv", 0, 6) == ""

    # a scenario of 3 columns
    make_odd_fmu("gain")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO.format(log="", output='file = "out.csv"'))
    assert main(["cosimulate", "s.toml", "--until", "10 s"]) == 0
    assert "warning: out.csv: 100 rows of 3 columns" not in capsys.readouterr().err
    assert main(["cosimulate", "s.toml", "--until", "100 s"]) == 0
    assert "take some" in capsys.readouterr().err

    # a model of 2 columns: 25 rows fit, 26 do not; with -q there is no warning
    text = '[model]\nname = "a"\n[measures.r]\ntype = "signals.ramp"\n[simulation]\n'
    (tmp_path / "a.toml").write_text(f'{text}until = 1.0\noutput = {{ interval = "40 ms" }}\n')
    assert main(["run", "a.toml"]) == 0
    assert "warning" not in capsys.readouterr().err
    assert main(["run", "a.toml", "--until", "1.04 s"]) == 0
    assert "warning: a.csv: 26 rows of 2 columns take some" in capsys.readouterr().err
    assert main(["run", "a.toml", "--until", "1.04 s", "-q"]) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["linearize", "equilibrium"])
def test_a_file_that_cannot_be_written_is_refused_before_the_model_is_read(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for target in ("nowhere/out", "."):
        assert main([command, "no_model.toml", "-o", target]) == 2
        assert f"{target}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fault", "status"), [(None, 1), (KeyboardInterrupt(), 130), (Terminated("terminated"), 143)]
)
def test_results_go_elsewhere_if_the_disk_is_full(
    fault: BaseException | None,
    status: int,
    make_odd_fmu: Any,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The message says where the results are; the status is 1, after a signal that of the signal."""
    make_odd_fmu("gain")
    spare, replace = tmp_path_factory.mktemp("spare"), os.replace
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(spare))

    def replace_or_fail(source: Any, target: Any) -> None:
        if str(target).startswith(str(tmp_path)):
            raise OSError(28, "No space left on device")
        replace(source, target)

    def interrupt_at_0_2_s(self: Any, time: float) -> None:
        if fault is not None and time > 0.15:
            raise fault

    monkeypatch.setattr(os, "replace", replace_or_fail)
    monkeypatch.setattr(SavedRows, "__call__", interrupt_at_0_2_s)
    monkeypatch.setattr(simulation_run, "MOST_SECONDS_WITHOUT_PROGRESS", 0.0)
    (tmp_path / "s.toml").write_text(SCENARIO.format(log="", output=""))
    assert main(["cosimulate", "s.toml", "-q", "-o", "out.csv"]) == status
    assert "out.csv: cannot be written" in capsys.readouterr().err
    (stored,) = spare.glob("cosim-results-*/out.csv")
    assert 2 <= len(cosim.read_result(stored)) <= 4
    assert (cosim.read_result(stored).unfinished == "") == (fault is None)


@pytest.mark.few(1)
@pytest.mark.skipif(sys.platform != "linux", reason="a process that watches another is a fork on Linux alone")
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("is_room", [True, False])
def test_a_full_disk_is_reported_once(
    is_room: bool, name: str, make_odd_fmu: Any, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The process that watches the command does not write the results a second time."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    make_odd_fmu("gain")
    (tmp_path / "s.toml").write_text(SCENARIO.format(log="", output=""))
    spare = tmp_path_factory.mktemp("spare")
    environment = {**os.environ, "TMPDIR": str(spare), "SPARE": str(spare) if is_room else ""}
    arguments = ["cosimulate", "s.toml", "-q", "-o", name]
    done = subprocess.run(
        [sys.executable, "-P", "-c", ON_FULL_DISKS, *arguments],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert "cannot be written: No space left on device" in line
    stored = list(spare.glob("cosim-results-*/*"))
    assert len(stored) == int(is_room) and all(f"The results are in {path}" in line for path in stored)
    assert all(len(cosim.read_result(path)) == 4 for path in stored)
