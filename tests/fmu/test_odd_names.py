"""Odd names of signals: they are written and read unchanged, printed safely, or refused before the run."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from odd_fmu import VARIABLES

import cosim
from cosim.cli import main
from cosim.command_line.printable import printable
from cosim.kit import result_sink
from cosim_fmi.binding.fmu_output import FmuLog
from cosim_fmu import CoSimulation
from cosim_workbench.results_csv import ResultsCsv

ODD_NAMES = [
    'with "quotes"',
    '"',
    '""',
    "line\nend",
    "line\r\nend",
    ",",
    ' lead"',
    'a","b',
    "#",
    "# not whole: x",
]
SECOND_VARIABLE = """<ScalarVariable name="{name}" valueReference="7" causality="{causality}"><Real{start}/>
</ScalarVariable>"""
PRINTING = """
from cosim.command_line.printable import printable_output
from cosim_fmi.binding.fmu_output import printed_beside
with printable_output():
    with printed_beside(print):
        print("in a run: \\x1b[2J")
    print("after it: \\x1b[2J")
"""


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_of_any_kind_are_quoted_as_rfc_4180_requires(name: str, tmp_path: Path) -> None:
    result = cosim.Result([0.0, 1.0], {name: [1.0, 2.0], "other": [3.0, 4.0]})
    path = ResultsCsv().write(result, tmp_path / "odd.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [["time", name, "other"], ["0.0", "1.0", "3.0"], ["1.0", "2.0", "4.0"]]
    stored = cosim.read_result(path)
    assert stored.names == [name, "other"] and stored["other"].tolist() == [3.0, 4.0]
    assert stored[name].tolist() == [1.0, 2.0] and stored.unfinished == ""


@pytest.mark.parametrize(
    ("name", "causality", "start"),
    [
        *(("y", "output", ""), ("u", "output", "")),
        *(("y", "input", ' start="0"'), ("u", "parameter", ' start="0"')),
    ],
)
def test_two_variables_of_one_name_are_refused_with_both(
    make_odd_fmu: Any, name: str, causality: str, start: str
) -> None:
    """Also if one is an input and the other an output."""
    path = make_odd_fmu(
        "gain", VARIABLES + SECOND_VARIABLE.format(name=name, causality=causality, start=start)
    )
    first_variable = {"y": "output 'y' (value reference 0)", "u": "input 'u' (value reference 1)"}[name]
    with pytest.raises(cosim.FmuError) as caught:
        CoSimulation({"m": path}, [], "jacobi", 0.1)
    message = (
        f"two variables have the name '{name}': {first_variable} and {causality} '{name}' (value reference 7)"
    )
    assert message in str(caught.value)


def test_a_signal_named_time_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = '[model]\nname = "a"\n[measures.time]\ntype = "signals.ramp"\n[simulation]\nuntil = 0.1\n'
    (tmp_path / "a.toml").write_text(text)
    assert main(["run", "a.toml", "-q"]) == 2
    assert "times in results" in capsys.readouterr().err
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize(
    "characters",
    ["\x1b[31m", "\x1b]0;title\x07", "\x9b2J", "\x7f", "\x00", "\r", "\u202e", "\u2067", "\u2028"],
)
def test_control_characters_do_not_reach_the_terminal(
    characters: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.csv"
    ResultsCsv().write(cosim.Result([0.0, 1.0], {f"a{characters}b": [1.0, 2.0]}), path)
    assert main(["info", str(path)]) == 0
    info = capsys.readouterr()
    assert main(["run", str(tmp_path / f"no{characters}model.toml".replace("\x00", ""))]) == 2
    refusal = capsys.readouterr()
    for text in (info.out, info.err, refusal.out, refusal.err):
        assert [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160] == []
        assert not set(text) & set("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert f"a{printable(characters)}b" in info.out
    assert main(["info", str(path), "--json"]) == 0  # JSON escapes them
    document = capsys.readouterr().out
    assert f"a{characters}b" in json.loads(document)["result"]["signals"] and "\x7f" not in document


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


@pytest.mark.skipif(os.name != "posix", reason="Windows gives standard output another descriptor")
def test_control_characters_that_python_prints_during_a_run_are_escaped() -> None:
    done = subprocess.run([sys.executable, "-c", PRINTING], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["in a run: \\x1b[2J", "after it: \\x1b[2J"], done.stderr


def test_a_log_escapes_control_characters(tmp_path: Path) -> None:
    log = FmuLog(tmp_path / "m.log")
    log.add(1, "one \x1b[2J\r\x9b\n\ttwo")
    log.close()
    assert (tmp_path / "m.log").read_text() == "warning: one \\x1b[2J\\x0d\\x9b\n\ttwo\n"
