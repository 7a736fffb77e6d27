"""What all commands have: JSON, examples that run, completion, and messages about options."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from how_many import FACTOR
from workbench_tools import write_model

import cosim
from cosim.cli import main
from cosim.command_line.exit_status import ExitStatus
from cosim.command_line.json_document import plain
from cosim.kit import CommandParser, commands, kernel_code
from cosim_workbench.completion import candidates

Captured = pytest.CaptureFixture[str]
EXAMPLES = [(name, words) for name, entry in commands().items() for words, _ in entry.cls.examples]
LOOP = """\
connections = ["left.wave -> right.push.effort"]
[participants.left]
model = "drive.toml"
[participants.right]
model = "plant.toml"
[master]
algorithm = "gauss_seidel"
step = "1 ms"
until = "5 ms"
"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that examples speak of."""
    folder = tmp_path_factory.mktemp("examples")
    write_model(folder, ('until = "50 ms"', 'until = "5 ms"'))
    cosim.save_result(
        cosim.registry().get("result_sink", "workbench.csv")(),
        cosim.Model.from_file(folder / "mount.toml").simulate(until=0.005),
        folder / "mount.csv",
    )
    shutil.copy(folder / "mount.csv", folder / "reference.csv")
    model = cosim.Model.from_file(folder / "mount.toml")
    model.export_fmu(folder / "mount.fmu", native=False)
    shutil.copy(folder / "mount.fmu", folder / "small.fmu")
    assert main(["new", "scenario", "loop", "-C", str(folder)]) == 0
    for name in ("drive.toml", "plant.toml"):
        shutil.copy(folder / "loop" / name, folder / name)
    (folder / "loop.toml").write_text(LOOP)
    return folder


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "here"
    shutil.copytree(prepared, here)
    monkeypatch.chdir(here)
    return here


def document(capsys: Captured, *words: str) -> dict[str, Any]:
    """What a command prints with ``--json``: strict JSON, and nothing else."""
    capsys.readouterr()
    status = main([*words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (found["status"], found["cosim"], found["command"]) == (status, cosim.__version__, words[0])
    return found


def test_every_command_has_an_example() -> None:
    assert len(EXAMPLES) >= len(commands()) > 15


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "words"), EXAMPLES, ids=[words for _, words in EXAMPLES])
def test_examples(name: str, words: str, folder: Path, capsys: Captured) -> None:
    """Each does what it says: as it is typed, and with --json."""
    if name == "completion" or "acme" in words:
        pytest.skip("has a test of its own")
    program, command, *rest = shlex.split(words)
    assert (program, command) == ("cosim", name)
    assert main([command, *rest]) == 0, capsys.readouterr().err
    shutil.rmtree(folder / "rocker", ignore_errors=True)
    if "--json" not in rest:
        found = document(capsys, command, *rest)
        assert found["status"] == 0 and found["errors"] == []
        assert found["result"], "a program learns nothing from it"


@pytest.mark.parametrize("words", [w for n, w in EXAMPLES if n in ("plugins", "schema", "describe", "info")])
def test_quick_examples(words: str, folder: Path, capsys: Captured) -> None:
    found = document(capsys, *shlex.split(words)[1:])
    assert found["status"] == 0 and found["result"]


@pytest.mark.parametrize("name", commands())
def test_help_shows_examples_and_exit_statuses(name: str, capsys: Captured) -> None:
    assert main([name, "--help"]) == 0
    said = capsys.readouterr().out
    command = commands()[name].cls()
    for words, text in command.examples:
        assert words in said and text in said
    for status in ExitStatus:
        assert re.search(rf"^  {status.value} +\S", said, re.MULTILINE)
    assert command.failure in said
    assert "--json" in said and "--verbose" in said and "--traceback" in said


def test_a_run_in_json(folder: Path, capsys: Captured) -> None:
    found = document(capsys, "run", "mount.toml", "-o", "new.csv")
    result = found["result"]
    assert result["results"] == "new.csv" and (folder / "new.csv").is_file()
    assert result["to"] == 0.005 and result["points"] == 6
    read = cosim.read_result(folder / "new.csv")
    assert result["signals"]["engine.z"]["last"] == read["engine.z"][-1]
    assert result["signals"]["engine.z"]["unit"] == "m"
    assert result["statistics"]["integrator"] == "RungeKuttaMerson"
    assert "results → new.csv" in found["printed"]


def test_faults_in_json(folder: Path, capsys: Captured) -> None:
    write_model(folder, ('mass = "120 kg"', 'mass = "120 m"'), ("axis =", "axes ="))
    found = document(capsys, "run", "mount.toml")
    assert found["status"] == 2 and found["result"] == {}
    assert [error["where"].partition(": ")[0] for error in found["errors"]] == [
        "mount.toml:5",
        "mount.toml:20",
    ]
    assert all(error["kind"] == "ModelFileError" and error["text"] for error in found["errors"])
    found = document(capsys, "run", "mount.toml", "--untl", "1")
    assert found["status"] == 2 and "Nearest: --until" in found["errors"][0]["text"]
    assert document(capsys, "rnu", "mount.toml")["errors"][0]["kind"] == "LookUpError"


def test_results_until_an_error_are_in_the_document(folder: Path, capsys: Captured) -> None:
    broken = (folder / "drive.toml").read_text() + '\n[elements.gone]\ntype = "nothing"\n'
    (folder / "drive.toml").write_text(broken)
    found = document(capsys, "cosimulate", "loop.toml")
    assert found["status"] == 2
    assert "drive.toml" in found["errors"][0]["where"] + found["errors"][0]["text"]
    assert document(capsys, "compare", "reference.csv", "mount.csv")["result"]["agree"] is True
    text = (folder / "mount.csv").read_text().splitlines()
    (folder / "mount.csv").write_text("\n".join(text[:-1]))
    found = document(capsys, "compare", "reference.csv", "mount.csv")
    assert found["status"] == 1 and found["result"]["agree"] is False and found["errors"] == []


def test_what_libraries_print_does_not_damage_the_document(tmp_path: Path) -> None:
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
    info = tmp_path / "talkers-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: talkers\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text("[cosim]\ntalkers = talkers\n", "utf-8")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COSIM_PLUGINS": "talkers"}
    done = subprocess.run(
        [sys.executable, "-m", "cosim", "talk", "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["result"] == {"gain": None} and found["printed"] == "from Python\n"
    assert done.stderr == "from C"


def test_numbers_of_all_kinds_are_json() -> None:
    import numpy as np

    found = plain({"a": np.arange(3), "b": np.float64("inf"), "c": cosim.EventCause.SIGNALED, "d": {2, 1}})
    assert found == {"a": [0, 1, 2], "b": None, "c": "signaled", "d": [1, 2]}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["run"], 2, "cosim run: the following arguments are required: model. See: cosim run --help\n"),
        (["run", "m.toml", "--untl=1"], 2, "cosim run: no option '--untl'. Nearest: --until. See: "),
        (["run", "m.toml", "x"], 2, "cosim run: no use for 'x'. See: cosim run --help\n"),
        (
            ["run", "m.toml", "--integrator", "rk4"],
            2,
            "no integrator 'rk4'. Nearest: integrators.runge_kutta_4.",
        ),
        (["describe", "damper"], 2, "no component or integrator 'damper'. Nearest: "),
        (["linearize", "m.toml", "--about", "top"], 2, "invalid choice: 'top' (choose from "),
    ],
)
def test_one_line_about_options(words: list[str], status: int, said: str, capsys: Captured) -> None:
    assert main(words) == status
    shown = capsys.readouterr()
    assert said in shown.err and len(shown.err.splitlines()) == 1 and shown.out == ""


def test_verbose_says_what_is_done_and_when(folder: Path, capsys: Captured) -> None:
    assert main(["run", "mount.toml", "-q", "-v"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert all(re.match(r" *\d+\.\d\d s  \S", line) for line in lines)
    said = "\n".join(lines)
    places = [
        said.index(word)
        for word in ("read mount.toml", "built engine_mount", "to t = 0.005 s", "written mount.csv")
    ]
    assert places == sorted(places)
    assert main(["run", "mount.toml", "-q"]) == 0
    assert capsys.readouterr().err == ""


def fits(*words: str) -> list[str]:
    return [word for word, _ in candidates(words)]


def test_what_completes(folder: Path) -> None:
    assert fits("ru") == ["run"]
    assert set(commands()) == set(fits(""))
    assert "--json" in fits("--") and fits("--js") == ["--json"]
    assert fits("run", "") == [":files"]
    assert fits("run", "mount.toml", "--integr") == ["--integrator"]
    assert fits("run", "--integrator", "integrators.runge_kutta_4") == ["integrators.runge_kutta_4"]
    assert fits("run", "--integrator", "=", "integrators.bd") == ["integrators.bdf"]
    assert fits("run", "--integrator", "integrators.bdf", "") == [":files"]
    assert fits("run", "--until", "") == []
    assert fits("describe", "mechanics.linear") == ["mechanics.linear_bushing"]
    assert fits("linearize", "m.toml", "--about", "s") == ["start"]
    assert fits("plot", "mount.csv", "engine.") == ["engine.z"]
    assert fits("plot", "mount.csv", "engine.z", "vert") == ["vertical_speed"]
    assert fits("new", "force") == ["force_element"]
    assert fits("schema", "sc") == ["scenario"]
    assert fits("validate", "a.fmu", "") == [":files"]
    assert fits("nothing", "") == []
    assert fits("run", "--integrator", "runge_kutta_m") == ["runge_kutta_merson"]  # the last word is enough
    assert fits("describe", "linear_b") == ["linear_bushing"]
    assert fits("run", "--integrator=integrators.bd") == ["integrators.bdf"]  # zsh and fish do not cut there
    assert fits("run", "mount.toml", "--output=") == [":files"]
    (folder / "my mount.csv").write_text((folder / "mount.csv").read_text())
    for typed in (r"my\ mount.csv", "'my mount.csv'", "my mount.csv"):
        assert fits("plot", typed, "engine.") == ["engine.z"]
    assert fits("run", "'half a wo") == [":files"]
    assert all(fits(name, "--help") == ["--help"] for name in commands())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_one_of_its_shell(shell: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    subprocess.run([shell, "-n", str(script)], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes(folder: Path) -> None:
    """The script itself, as bash calls it when Tab is pressed."""
    (folder / "my model.toml").write_text("")
    test = """
    cosim() { "$PYTHON" -m cosim "$@"; }
    eval "$(cosim completion bash)"
    for line in "cosim describe mechanics.linear" "cosim run mou" "cosim run my" "cosim --vers"; do
        read -ra COMP_WORDS <<< "$line"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
        _cosim_complete
        printf '%s\n' "${COMPREPLY[@]}" | sort
    done
    """
    done = subprocess.run(
        ["bash", "-c", test],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "mechanics.linear_bushing",
        "mount.csv",
        "mount.fmu",
        "mount.toml",
        "my model.toml",
        "--version",
    ]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
def test_fish_completes(folder: Path) -> None:
    """The script itself, as fish calls it when Tab is pressed."""
    script = """
    function cosim; $PYTHON -m cosim $argv; end
    cosim completion fish | source
    for line in "cosim describe linear_b" "cosim run --integrator=integrators.bd" "cosim run --output=mount.t"
        complete -C $line
    end
    """
    environment = {**os.environ, "PYTHON": sys.executable, "HOME": str(folder)}
    done = subprocess.run(
        ["fish", "--no-config", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == [
        "linear_bushing",
        "--integrator=integrators.bdf",
        "--output=mount.toml",
    ]


def test_parsers_of_all_commands_can_be_made() -> None:
    """Two options of one name would be found here, and not when somebody types them."""
    for name, entry in commands().items():
        flags = [flag for action in CommandParser(entry.cls()).arguments for flag in action.option_strings]
        assert len(flags) == len(set(flags)), name
        assert {"--json", "--verbose", "--traceback"} <= set(flags)


def test_the_page_has_the_exit_statuses_and_all_commands() -> None:
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text("utf-8")
    for status in ExitStatus:
        assert f"| {status.value} | {status.meaning} |" in page
    for name, entry in commands().items():
        if entry.cls.failure:
            assert f"| `{name}` | {entry.cls.failure} |" in page


@pytest.mark.parametrize(
    ("id", "line"),
    [
        ("signals.pid", "parameter derivative_time s of the derivative part; at least 0; default 0.1"),
        ("signals.pid", "parameter upper upper bound of the value; none by default"),
        ("signals.pid", "option controller which parts it has; one of 'PID', 'PI', 'PD', 'P'; default 'PID'"),
        ("mechanics.rigid_body", "parameter mass kg mass; more than 0; has to be given"),
        ("mechanics.pin", "parameter frame_on_child m X_BM, pose of M on the child; default identity"),
        (
            "mechanics.linear_bushing",
            "parameter enabled 0 turns the element off; True or False; default True",
        ),
    ],
)
def test_describe_says_what_is_where_nothing_is_given(
    id: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", id]) == 0
    assert line in [" ".join(text.split()) for text in capsys.readouterr().out.splitlines()]


def test_describe_shows_the_code_of_kernel_functions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe", "--code", "mechanics.two_point_damper"]) == 0
    told = capsys.readouterr().out
    assert "pull(rate: real, damping: real" in told
    assert "k_pull(double rate, double damping" in told
    assert "    tension.at[0] = damping * rate;" in told


@pytest.mark.thorough
def test_the_code_of_every_component_can_be_shown() -> None:
    classes = [entry.cls for entry in cosim.registry().entries("component")]
    some = classes if FACTOR > 1 else classes[::3]
    shown = [code for cls in some for code in kernel_code(cls)]
    assert len(shown) > 2 * len(some) > 50 and all(code.typed and code.in_c for code in shown)
