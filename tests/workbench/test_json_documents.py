"""With --json a command prints one document with its results, its errors and all that it printed."""

from __future__ import annotations

import glob
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import EXAMPLES
from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim.command_line.json_document import plain

Captured = pytest.CaptureFixture[str]


def document(capsys: Captured, *words: str) -> dict[str, Any]:
    """What a command prints with ``--json``: strict JSON, and nothing else."""
    capsys.readouterr()
    status = main([*words, "--json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (answer["status"], answer["cosim"], answer["command"]) == (status, cosim.__version__, words[0])
    return answer


def expanded(words: str) -> list[str]:
    """The words that a shell passes on: a pattern becomes the names of the files that match it."""
    return [name for word in shlex.split(words) for name in sorted(glob.glob(word)) or [word]]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "words"), EXAMPLES, ids=[words for _, words in EXAMPLES])
def test_each_example_runs_as_it_is_typed_and_with_json(
    name: str, words: str, example_folder: Path, capsys: Captured
) -> None:
    if name == "completion" or "acme" in words:
        pytest.skip("has a test of its own")
    program, command, *rest = expanded(words)
    assert (program, command) == ("cosim", name)
    assert main([command, *rest]) == 0, capsys.readouterr().err
    shutil.rmtree(example_folder / "rocker", ignore_errors=True)
    if "--json" not in rest:
        answer = document(capsys, command, *rest)
        assert answer["status"] == 0 and answer["errors"] == []
        assert answer["result"], "a program learns nothing from it"


@pytest.mark.parametrize("words", [w for n, w in EXAMPLES if n in ("plugins", "schema", "describe", "info")])
def test_quick_examples_with_json(words: str, example_folder: Path, capsys: Captured) -> None:
    answer = document(capsys, *shlex.split(words)[1:])
    assert answer["status"] == 0 and answer["result"]


def test_a_run_in_json(example_folder: Path, capsys: Captured) -> None:
    answer = document(capsys, "run", "mount.toml", "-o", "new.csv")
    result = answer["result"]
    assert result["results"] == "new.csv" and (example_folder / "new.csv").is_file()
    assert result["to"] == 0.005 and result["points"] == 6
    written = cosim.read_result(example_folder / "new.csv")
    assert result["signals"]["engine.z"]["last"] == written["engine.z"][-1]
    assert result["signals"]["engine.z"]["unit"] == "m"
    assert result["statistics"]["integrator"] == "RungeKuttaMerson"
    assert "results → new.csv" in answer["printed"]


def test_faults_in_json(example_folder: Path, capsys: Captured) -> None:
    write_model(example_folder, ('mass = "120 kg"', 'mass = "120 m"'), ("axis =", "axes ="))
    answer = document(capsys, "run", "mount.toml")
    assert answer["status"] == 2 and answer["result"] == {}
    assert [error["where"].partition(": ")[0] for error in answer["errors"]] == [
        "mount.toml:5",
        "mount.toml:20",
    ]
    assert all(error["kind"] == "ModelFileError" and error["text"] for error in answer["errors"])
    answer = document(capsys, "run", "mount.toml", "--untl", "1")
    assert answer["status"] == 2 and "Nearest: --until" in answer["errors"][0]["text"]
    assert document(capsys, "rnu", "mount.toml")["errors"][0]["kind"] == "LookUpError"


def test_an_error_in_a_file_of_a_scenario_is_in_the_document(example_folder: Path, capsys: Captured) -> None:
    broken = (example_folder / "drive.toml").read_text() + '\n[elements.gone]\ntype = "nothing"\n'
    (example_folder / "drive.toml").write_text(broken)
    answer = document(capsys, "cosimulate", "loop.toml")
    assert answer["status"] == 2
    assert "drive.toml" in answer["errors"][0]["where"] + answer["errors"][0]["text"]


def test_a_disagreement_is_no_error_in_the_document(example_folder: Path, capsys: Captured) -> None:
    assert document(capsys, "compare", "reference.csv", "mount.csv")["result"]["agree"] is True
    lines = (example_folder / "mount.csv").read_text().splitlines()
    (example_folder / "mount.csv").write_text("\n".join(lines[:-1]))
    answer = document(capsys, "compare", "reference.csv", "mount.csv")
    assert answer["status"] == 1 and answer["result"]["agree"] is False and answer["errors"] == []


def test_a_library_that_prints_does_not_damage_the_document(tmp_path: Path) -> None:
    """A library in C writes to file 1, whatever Python thinks of its standard output."""
    (tmp_path / "talkers.py").write_text(
        "import cosim, os\n"
        "class Talk(cosim.Command):\n"
        "    '''Talks.'''\n"
        "    name = summary = 'talk'\n"
        "    def configure(self, parser): pass\n"
        "    def run(self, arguments):\n"
        "        os.write(1, b'from C'); print('from Python'); self.report(gain=float('nan')); return 0\n"
        "@cosim.hookimpl\n"
        "def cosim_register(register): register('talkers.talk', Talk)\n"
    )
    metadata = tmp_path / "talkers-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: talkers\nVersion: 1\n", "utf-8")
    (metadata / "entry_points.txt").write_text("[cosim]\ntalkers = talkers\n", "utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COSIM_PLUGINS": "talkers"}
    process = subprocess.run(
        [sys.executable, "-m", "cosim", "talk", "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = json.loads(process.stdout)
    assert answer["result"] == {"gain": None} and answer["printed"] == "from Python\n"
    assert process.stderr == "from C"


def test_numbers_of_all_kinds_are_json() -> None:
    values = plain({"a": np.arange(3), "b": np.float64("inf"), "c": cosim.EventCause.SIGNALED, "d": {2, 1}})
    assert values == {"a": [0, 1, 2], "b": None, "c": "signaled", "d": [1, 2]}
