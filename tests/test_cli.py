"""The command line dispatches, and turns every error into one message and an exit status."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from cosim.cli import main
from cosim.command_line.exit_status import ExitStatus
from cosim.contracts.command import Command
from cosim.errors import ContractError, ModelError, Problem, SimulationError
from cosim.registration.plugin_record import PluginRecord, RegisteredClass
from cosim.registration.registry import Registry, use_registry
from cosim.version import __version__

Cli = Callable[..., int]


class Act(Command):
    """Does what it is told."""

    name: ClassVar[str] = "act"
    summary = "do what is told"
    acts: ClassVar[dict[str, Callable[[], int]]] = {}

    def configure(self, parser):
        parser.add_argument("what")

    def run(self, arguments):
        return self.acts[arguments.what]()


class Other(Act):
    """Another one under the same word."""


class Broken(Act):
    """Cannot even say what its options are."""

    name = "broken"

    def configure(self, parser):
        raise ZeroDivisionError("in configure")


def fails(error):
    def act():
        raise error

    return act


Act.acts = {
    "well": lambda: 0,
    "three": lambda: 3,
    "model": fails(ModelError([Problem("m.toml:3: a", "is wrong"), Problem("m.toml:4: b", "is worse")])),
    "simulation": fails(SimulationError(1.25, "not finite")),
    "interrupt": fails(KeyboardInterrupt()),
    "fault": fails(RuntimeError("out of the blue")),
    "missing": fails(FileNotFoundError(2, "No such file or directory", "m.toml")),
    "exit": fails(SystemExit("enough")),
    "folder": lambda: len(Path("nowhere.toml").read_text()),
}


def record(plugin: str, **classes: type) -> PluginRecord:
    owner = (plugin, f"acme-{plugin}", "1.5")
    entries = tuple(RegisteredClass(f"{plugin}.{verb}", cls, *owner) for verb, cls in classes.items())
    return PluginRecord(*owner, "module", "loaded", entries=entries)


@pytest.fixture
def cli():
    failed = PluginRecord(
        "tyres", "acme-tyres", "0.4", "tyres", "failed", reason="ModuleNotFoundError: casadi"
    )
    with use_registry(Registry([record("stage", act=Act, broken=Broken), failed])):
        yield lambda *words: main(words)


def test_status_of_the_command(cli: Cli) -> None:
    assert cli("act", "well") == 0
    assert cli("act", "three") == 3
    assert cli("stage.act", "three") == 3


@pytest.mark.parametrize(
    ("what", "status", "said"),
    [
        ("model", 2, "m.toml:3: a: is wrong\nm.toml:4: b: is worse\n"),
        ("simulation", 1, "at t = 1.25 s: not finite\n"),
        ("interrupt", 130, "interrupted\n"),
        ("exit", 2, "enough\n"),
        ("missing", 2, "m.toml: No such file or directory\n"),
        ("folder", 2, "nowhere.toml: No such file or directory\n"),
        (
            "fault",
            1,
            "plugin 'stage' (acme-stage 1.5): command 'act' failed: RuntimeError: out of the blue."
            " See where with: cosim --traceback act …\n",
        ),
    ],
)
def test_errors(cli: Cli, capsys: pytest.CaptureFixture[str], what: str, status: int, said: str) -> None:
    assert cli("act", what) == status
    shown = capsys.readouterr()
    assert shown.err == said
    assert shown.out == ""


@pytest.mark.parametrize("words", [("--traceback", "act", "fault"), ("act", "fault", "--traceback")])
def test_a_traceback_is_shown_when_it_is_asked_for(
    cli: Cli, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert cli(*words) == 1
    assert "Traceback (most recent" in capsys.readouterr().err


def test_a_command_that_cannot_be_configured(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("broken", "well") == 1
    said = capsys.readouterr().err
    assert "plugin 'stage' (acme-stage 1.5): command 'broken' failed: ZeroDivisionError" in said
    assert cli("act", "well") == 0


def test_an_unknown_command(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("acr") == 2
    said = capsys.readouterr().err
    assert said.startswith("no command 'acr'. Nearest: act.")
    assert "'tyres' (acme-tyres 0.4) did not load: ModuleNotFoundError" in said


def test_a_word_of_two_plugins_means_neither(capsys: pytest.CaptureFixture[str]) -> None:
    with use_registry(Registry([record("stage", act=Act), record("cinema", act=Other)])):
        assert main(["act", "well"]) == 2
        said = capsys.readouterr().err
        assert "stage.act" in said and "cinema.act" in said and "acme-cinema 1.5" in said
        assert main(["cinema.act", "three"]) == 3
        assert main(["--help"]) == 0
        assert "cinema.act" in capsys.readouterr().out


def test_bad_arguments(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("act") == 2
    assert "following arguments" in capsys.readouterr().err
    assert cli("--nonsense") == 2
    assert cli("plugins", "--nonsense") == 2


def test_help_and_version(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli("--help") == 0
    shown = capsys.readouterr().out
    assert "act      do what is told" in shown and "plugins  " in shown and "acme-tyres 0.4" in shown
    assert cli("act", "--help") == 0
    assert capsys.readouterr().out.startswith("usage: cosim act")
    assert cli("--version") == 0
    assert capsys.readouterr().out == f"cosim {__version__}\n"
    assert cli() == 2
    shown_on_error = capsys.readouterr()
    assert shown_on_error.out == "" and "usage:" in shown_on_error.err


def test_plugins_works_when_every_plugin_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    failed = [PluginRecord(n, f"acme-{n}", "1", n, "failed", reason="ImportError: x") for n in ("a", "b")]
    with use_registry(Registry(failed)):
        assert main(["plugins"]) == 0
        assert main(["plugins", "--strict"]) == 1
    assert "a: acme-a 1, a\n  FAILED: ImportError: x" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"summary": "x"}, "name is None"),
        ({"name": "Do It", "summary": "x"}, "name is 'Do It'"),
        ({"name": "do", "summary": " "}, "has no summary"),
        ({"name": "do"}, "has no summary"),
    ],
)
def test_what_a_command_must_say(attributes: dict[str, str], said: str) -> None:
    methods = {"configure": lambda self, parser: None, "run": lambda self, arguments: 0}
    with pytest.raises(ContractError, match=said):
        type("Do", (Command,), attributes | methods)


@pytest.mark.few(1)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away(unbuffered: str) -> None:
    command = f"{sys.executable} -m cosim plugins | true"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")
@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "terminated\n")],
)
def test_control_c_and_sigterm(tmp_path: Path, number: int, status: int, word: str) -> None:
    """A real process, interrupted by the signal that the terminal sends, or a batch system."""
    (tmp_path / "sleepers.py").write_text(
        "import time, cosim\n"
        "class Sleep(cosim.Command):\n"
        "    '''Sleeps.'''\n"
        "    name = summary = 'sleep'\n"
        "    def configure(self, parser): pass\n"
        "    def run(self, arguments): print('now', flush=True); time.sleep(60); return 0\n"
        "@cosim.hookimpl\n"
        "def cosim_register(register): register('sleepers.sleep', Sleep)\n",
        "utf-8",
    )
    info = tmp_path / "sleepers-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sleepers\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text("[cosim]\nsleepers = sleepers\n", "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COSIM_PLUGINS": "sleepers"}
    process = subprocess.Popen(
        [sys.executable, "-m", "cosim", "sleep"],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (status, word)


def test_the_exit_statuses_are_said(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["act", "--help"]):
        assert cli(*words) == 0
        said = capsys.readouterr().out
        for status in ExitStatus:
            assert f"  {status.value:<3}  {status.meaning}\n" in said + "\n"


def test_control_c_where_python_ignores_exceptions(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """In a destructor it is lost; the command ends all the same."""

    class Destroyed:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def act() -> int:
        thing = Destroyed()
        del thing
        time.sleep(10)
        return 0

    Act.acts["lose"] = act
    began = time.monotonic()
    assert cli("act", "lose") == 130
    assert time.monotonic() - began < 5
    assert capsys.readouterr().err == "interrupted\n"


START = """
import builtins, os, signal, sys
real, wanted = builtins.__import__, sys.argv.pop()
def interrupted(name, *rest, **more):
    if name == wanted:
        os.kill(os.getpid(), signal.SIGINT)
    return real(name, *rest, **more)
builtins.__import__ = interrupted
from cosim.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["cosim.command_line.dispatch", "cosim.registration.registry"])
def test_control_c_while_modules_are_imported(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START, "plugins", module], capture_output=True, text=True, check=False
    )
    assert done.stderr == "interrupted\n" and done.stdout == ""
    assert done.returncode in (130, -signal.SIGINT)  # 130 for a shell, both of them


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [["--help"], ["nothing"], ["describe", "ω…", "--json"]])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_the_characters(words, encoding):
    done = subprocess.run(
        [sys.executable, "-m", "cosim", *words],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == (0 if words == ["--help"] else 2) and b"codec" not in done.stderr
    if words == ["--help"]:
        assert rb"<command> \u2026" in done.stdout
    if "--json" in words:
        assert "'ω…'" in json.loads(done.stdout)["errors"][0]["text"]


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
@pytest.mark.parametrize(("words", "status"), [("plugins", 0), ("info nothing.toml", 2)])
def test_a_closed_standard_error_ends_no_command(words, status, tmp_path):
    command = f'exec "{sys.executable}" -P -m cosim {words} 2>&- <&-'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert done.returncode == status and bool(done.stdout) == (status == 0)
