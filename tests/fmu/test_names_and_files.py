"""Names are checked before a run; files that data name stay in their folder and replace results alone."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from odd_fmu import VARIABLES

import cosim
from cosim.cli import main
from cosim.command_line.printable import printable
from cosim.kit import path_below, result_sink, space_warning
from cosim.simulation.interrupt import Terminated
from cosim_fmi.binding.fmu_output import FmuLog, is_log
from cosim_fmu import CoSimulation
from cosim_fmu.command.saved_rows import SavedRows
from cosim_master.run import simulation_run
from cosim_workbench.results_csv import ResultsCsv


@pytest.fixture
def make(make_odd_fmu: Any) -> Any:
    """The fixture `make_odd_fmu`."""
    return make_odd_fmu


ODD = ['with "quotes"', '"', '""', "line\nend", "line\r\nend", ",", ' lead"', 'a","b', "#", "# not whole: x"]
SCENARIO = """[participants.m]
fmu = "odd.fmu"
{more}
[master]
algorithm = "jacobi"
step = "0.1 s"
until = 0.3
[output]
{output}
"""


@pytest.mark.parametrize("name", ODD)
def test_names_of_any_kind_are_written_as_rfc_4180_has_it(name: str, tmp_path: Path) -> None:
    result = cosim.Result([0.0, 1.0], {name: [1.0, 2.0], "other": [3.0, 4.0]})
    path = ResultsCsv().write(result, tmp_path / "odd.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["time", name, "other"], ["0.0", "1.0", "3.0"], ["1.0", "2.0", "4.0"]]
    again = cosim.read_result(path)
    assert again.names == [name, "other"] and again["other"].tolist() == [3.0, 4.0]
    assert again[name].tolist() == [1.0, 2.0] and again.unfinished == ""


@pytest.mark.parametrize("reason", ["it failed", "two\nlines", 'a "quote", a comma', "x" * 100_000, "# hash"])
def test_a_result_that_is_not_whole_says_so_and_goes_on(reason: str, tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    whole = cosim.Result([0.0, 1.0, 2.0], {"y": [1.0, 2.0, 3.0]})
    part = cosim.Result([0.0], {"y": [1.0]}, unfinished=reason)
    sink = ResultsCsv()
    sink.write(part, path)
    found = cosim.read_result(path)
    assert found.unfinished == " ".join(reason.split())[: len(found.unfinished)] != ""
    assert found.time.tolist() == [0.0]
    sink.extend(cosim.Result([0.0, 1.0], {"y": [1.0, 2.0]}, unfinished="goes on"), path, 1)
    assert cosim.read_result(path).unfinished == "goes on" and len(cosim.read_result(path)) == 2
    sink.extend(whole, path, 2)
    again = sink.write(whole, tmp_path / "whole.csv")
    assert path.read_bytes() == again.read_bytes() and cosim.read_result(path).unfinished == ""
    sink.extend(whole, path, 3)  # nothing is left to be written
    assert path.read_bytes() == again.read_bytes()


def test_a_full_disk_leaves_whole_rows_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cosim_workbench import results_csv

    path, sink, write = tmp_path / "full.csv", ResultsCsv(), results_csv._write_at
    sink.write(cosim.Result([0.0], {"y": [1.0]}, unfinished="goes on"), path)

    def refuse(file: Any, place: int, data: bytes) -> None:
        if b"1.0,2.0" in data:
            write(file, place, data[:3])
            raise OSError(28, "No space left on device")
        write(file, place, data)

    monkeypatch.setattr(results_csv, "_write_at", refuse)
    with pytest.raises(cosim.CosimError, match="No space left"):
        sink.extend(cosim.Result([0.0, 1.0], {"y": [1.0, 2.0]}), path, 1)
    found = cosim.read_result(path)
    assert found.time.tolist() == [0.0] and found.unfinished == "its rows were being written"


TWICE = """<ScalarVariable name="{name}" valueReference="7" causality="{causality}"><Real{start}/>
</ScalarVariable>"""


@pytest.mark.parametrize(
    ("name", "causality", "start"),
    [
        *(("y", "output", ""), ("u", "output", "")),
        *(("y", "input", ' start="0"'), ("u", "parameter", ' start="0"')),
    ],
)
def test_two_variables_of_one_name_are_refused_with_both(
    make: Any, name: str, causality: str, start: str
) -> None:
    """An output that is named as an input is one of these."""
    path = make("gain", VARIABLES + TWICE.format(name=name, causality=causality, start=start))
    first = {"y": "output 'y' (value reference 0)", "u": "input 'u' (value reference 1)"}[name]
    with pytest.raises(cosim.FmuError) as caught:
        CoSimulation({"m": path}, [], "jacobi", 0.1)
    said = f"two variables have the name '{name}': {first} and {causality} '{name}' (value reference 7)"
    assert said in str(caught.value)


def test_a_signal_with_the_name_of_the_times_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = '[model]\nname = "a"\n[measures.time]\ntype = "signals.ramp"\n[simulation]\nuntil = 0.1\n'
    (tmp_path / "a.toml").write_text(text)
    assert main(["run", "a.toml", "-q"]) == 2
    assert "times in results" in capsys.readouterr().err
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    "odd", ["\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x7f", "\x00", "\r", "\u202e", "\u2067", "\u2028"]
)
def test_control_characters_do_not_reach_the_terminal(
    odd: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.csv"
    ResultsCsv().write(cosim.Result([0.0, 1.0], {f"a{odd}b": [1.0, 2.0]}), path)
    assert main(["info", str(path)]) == 0
    told = capsys.readouterr()
    assert main(["run", str(tmp_path / f"no{odd}model.toml".replace("\x00", ""))]) == 2
    said = capsys.readouterr()
    for text in (told.out, told.err, said.out, said.err):
        assert [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160] == []
        assert not set(text) & set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert f"a{printable(odd)}b" in told.out
    assert main(["info", str(path), "--json"]) == 0  # where they are escaped already
    document = capsys.readouterr().out
    assert f"a{odd}b" in json.loads(document)["result"]["signals"] and "\x7f" not in document


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_line_end_or_a_tab_in_a_name_does_not_break_the_table_of_info(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    columns = {"plain": [1.0, 2.0], "two\nlines": [3.0, 4.0], "a\ttab": [5.0, 6.0], "last\n": [7.0, 8.0]}
    path = tmp_path / f"odd{ending}"
    result_sink(path).write(cosim.Result([0.0, 1.0], columns), path)
    assert main(["info", str(path)]) == 0
    rows = [line.split("  ") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[1] for row in rows[1:]] == ["plain", r"two\nlines", r"a\ttab", r"last\n"]
    assert [row[-1].strip() for row in rows[1:]] == ["2", "4", "6", "8"]


PRINTING = """
from cosim.command_line.printable import printable_output
from cosim_fmi.binding.fmu_output import printed_beside
with printable_output():
    with printed_beside(print):
        print("in a run: \\x1b[2J")
    print("behind it: \\x1b[2J")
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows gives standard output another descriptor")
def test_what_python_prints_while_an_fmu_runs_is_printable() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["in a run: \\x1b[2J", "behind it: \\x1b[2J"], done.stderr


def test_a_log_shows_control_characters(tmp_path: Path) -> None:
    log = FmuLog(tmp_path / "m.log")
    log.add(1, "one \x1b[2J\r\x9b\n\ttwo")
    log.close()
    assert (tmp_path / "m.log").read_text() == "warning: one \\x1b[2J\\x0d\\x9b\n\ttwo\n"


@pytest.mark.parametrize(
    "file", ["../out.csv", "/tmp/out.csv", "sub/../../out.csv", "link/out.csv", "alias.csv"]
)
def test_results_and_logs_that_a_scenario_names_stay_in_its_folder(
    file: str, make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path.parent / f"outside-{tmp_path.name}"
    outside.mkdir()
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "alias.csv").symlink_to(outside / "out.csv")
    make("gain")
    monkeypatch.chdir(tmp_path)
    for more, output in (("", f'file = "{file}"'), (f'log = "{file}"', "")):
        (tmp_path / "s.toml").write_text(SCENARIO.format(more=more, output=output))
        status, said = main(["cosimulate", "s.toml", "-q"]), capsys.readouterr().err
        assert status == 2 and f"'{file}' is outside of the folder of this file" in said, said
    assert list(outside.iterdir()) == []
    (tmp_path / "s.toml").write_text(SCENARIO.format(more="", output='file = "kept.csv"'))
    assert main(["cosimulate", "s.toml", "-q", "-o", str(outside / "out.csv")]) == 0  # the user's word


def test_what_is_no_result_is_replaced_by_the_word_of_the_user_alone(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make("gain")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO.format(more="", output='file = "out.csv"'))
    for content in ("precious", "time,y\n0,1\n", "[model]\n"):
        (tmp_path / "out.csv").write_text(content)
        assert main(["cosimulate", "s.toml", "-q"]) == 2
        assert "exists, and is not a result" in capsys.readouterr().err
        assert (tmp_path / "out.csv").read_text() == content
    assert main(["cosimulate", "s.toml", "-q", "-o", "out.csv"]) == 0
    assert main(["cosimulate", "s.toml", "-q"]) == 0  # it is a result now
    (tmp_path / "out.csv").write_text("")
    assert main(["cosimulate", "s.toml", "-q"]) == 0
    (tmp_path / "s.toml").write_text(SCENARIO.format(more='log = "s.toml"', output=""))
    assert main(["cosimulate", "s.toml", "-q"]) == 2
    assert "'s.toml' exists" in capsys.readouterr().err
    (tmp_path / "s.toml").write_text(SCENARIO.format(more='log = "m.log"', output=""))
    assert main(["cosimulate", "s.toml", "-q"]) == main(["cosimulate", "s.toml", "-q"]) == 0


def test_a_log_replaces_logs(tmp_path: Path) -> None:
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
    if os.name == "posix":  # where a backslash would be a letter of a name, and a pipe be waited for
        os.mkfifo(tmp_path / "pipe.csv")
        (tmp_path / "loop.csv").symlink_to("loop.csv")
        for name in ("..\\a.csv", "sub\\a.csv", "C:\\a.csv", "\\\\server\\share\\a.csv"):
            with pytest.raises(ValueError, match="has a backslash"):
                path_below(tmp_path, name)
        with pytest.raises(ValueError, match="is a pipe or a device"):
            path_below(tmp_path, "pipe.csv")
        assert path_below(tmp_path, "loop.csv") == tmp_path / "loop.csv"  # which leads nowhere


def test_too_little_space_is_a_warning(
    make: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(1e9, 1e9 - 1000, 1000))
    assert space_warning(tmp_path / "x.csv", 10, 5) == ""  # exactly what is free
    assert "are free there" in space_warning(tmp_path / "x.csv", 10, 6)
    assert space_warning(tmp_path / "x.csv", 0, 6) == ""
    make("gain")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCENARIO.format(more="", output='file = "out.csv"'))
    assert main(["cosimulate", "s.toml", "--until", "10 s"]) == 0
    assert "warning: out.csv: 100 rows of 3 columns" not in capsys.readouterr().err
    assert main(["cosimulate", "s.toml", "--until", "100 s"]) == 0
    assert "take some" in capsys.readouterr().err
    text = '[model]\nname = "a"\n[measures.r]\ntype = "signals.ramp"\n[simulation]\n'
    (tmp_path / "a.toml").write_text(f'{text}until = 1.0\noutput = {{ interval = "40 ms" }}\n')
    assert main(["run", "a.toml"]) == 0  # 25 rows of 2 columns
    assert "warning" not in capsys.readouterr().err
    assert main(["run", "a.toml", "--until", "1.04 s"]) == 0
    assert "warning: a.csv: 26 rows of 2 columns take some" in capsys.readouterr().err
    assert main(["run", "a.toml", "--until", "1.04 s", "-q"]) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize("command", ["linearize", "equilibrium"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for target in ("nowhere/out", "."):
        assert main([command, "no_model.toml", "-o", target]) == 2
        assert f"{target}: " in capsys.readouterr().err  # the model was not read yet


@pytest.mark.parametrize(
    ("fault", "status"), [(None, 1), (KeyboardInterrupt(), 130), (Terminated("terminated"), 143)]
)
def test_a_disk_that_is_full_after_the_run(
    fault: BaseException | None,
    status: int,
    make: Any,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Status 1, and where the results are; after a signal its own status."""
    make("gain")
    spare, replace = tmp_path_factory.mktemp("spare"), os.replace
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(spare))

    def refuse(source: Any, target: Any) -> None:
        if str(target).startswith(str(tmp_path)):
            raise OSError(28, "No space left on device")
        replace(source, target)

    def fail(self: Any, time: float) -> None:
        if fault is not None and time > 0.15:
            raise fault

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(SavedRows, "__call__", fail)
    monkeypatch.setattr(simulation_run, "MOST_SECONDS_WITHOUT_PROGRESS", 0.0)
    (tmp_path / "s.toml").write_text(SCENARIO.format(more="", output=""))
    assert main(["cosimulate", "s.toml", "-q", "-o", "out.csv"]) == status
    assert "out.csv: cannot be written" in capsys.readouterr().err
    (kept,) = spare.glob("cosim-results-*/out.csv")
    assert 2 <= len(cosim.read_result(kept)) <= 4
    assert (cosim.read_result(kept).unfinished == "") == (fault is None)


REFUSING = """
import os, sys
from cosim.cli import main
replace, spare = os.replace, os.environ["SPARE"]
def refuse(source, target):
    if not spare or not str(target).startswith(spare):
        raise OSError(28, "No space left on device")
    replace(source, target)
os.replace = refuse
sys.exit(main())
"""
"""A command for which all disks are full, or all but that of a folder."""


@pytest.mark.few(1)
@pytest.mark.skipif(sys.platform != "linux", reason="a process that watches another is a fork on Linux alone")
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("is_room", [True, False])
def test_a_full_disk_is_tried_once_and_said_once(
    is_room: bool, name: str, make: Any, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also the process that watches the command writes nothing again."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    make("gain")
    (tmp_path / "s.toml").write_text(SCENARIO.format(more="", output=""))
    spare = tmp_path_factory.mktemp("spare")
    environment = {**os.environ, "TMPDIR": str(spare), "SPARE": str(spare) if is_room else ""}
    words = ["cosimulate", "s.toml", "-q", "-o", name]
    done = subprocess.run(
        [sys.executable, "-P", "-c", REFUSING, *words],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert "cannot be written: No space left on device" in line
    kept = list(spare.glob("cosim-results-*/*"))
    assert len(kept) == int(is_room) and all(f"The results are in {path}" in line for path in kept)
    assert all(len(cosim.read_result(path)) == 4 for path in kept)
