"""The command line calls commands of plugins, and turns errors and signals into a message and a status."""

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
    """Calls the function of `acts` with the name of its argument."""

    name: ClassVar[str] = "act"
    summary = "do what is told"
    acts: ClassVar[dict[str, Callable[[], int]]] = {}

    def configure(self, parser):
        parser.add_argument("what")

    def run(self, arguments):
        return self.acts[arguments.what]()


class Other(Act):
    """Another command with the same name."""


class Broken(Act):
    """Fails when its options are declared."""

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


def test_the_status_is_that_of_the_command(cli: Cli) -> None:
    assert cli("act", "well") == 0
    assert cli("act", "three") == 3
    assert cli("stage.act", "three") == 3


@pytest.mark.parametrize(
    ("act", "status", "message"),
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
def test_an_error_is_one_message_and_a_status(
    cli: Cli, capsys: pytest.CaptureFixture[str], act: str, status: int, message: str
) -> None:
    assert cli("act", act) == status
    shown = capsys.readouterr()
    assert shown.err == message
    assert shown.out == ""


@pytest.mark.parametrize("words", [("--traceback", "act", "fault"), ("act", "fault", "--traceback")])
def test_the_option_traceback_shows_a_traceback(
    cli: Cli, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert cli(*words) == 1
    assert "Traceback (most recent" in capsys.readouterr().err


def test_a_command_that_fails_to_declare_its_options_does_not_disturb_others(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("broken", "well") == 1
    message = capsys.readouterr().err
    assert "plugin 'stage' (acme-stage 1.5): command 'broken' failed: ZeroDivisionError" in message
    assert cli("act", "well") == 0


def test_an_unknown_command_is_answered_with_the_nearest_and_with_failed_plugins(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("acr") == 2
    message = capsys.readouterr().err
    assert message.startswith("no command 'acr'. Nearest: act.")
    assert "'tyres' (acme-tyres 0.4) did not load: ModuleNotFoundError" in message


def test_a_name_of_two_commands_must_be_written_with_its_plugin(capsys: pytest.CaptureFixture[str]) -> None:
    with use_registry(Registry([record("stage", act=Act), record("cinema", act=Other)])):
        assert main(["act", "well"]) == 2
        message = capsys.readouterr().err
        assert "stage.act" in message and "cinema.act" in message and "acme-cinema 1.5" in message
        assert main(["cinema.act", "three"]) == 3
        assert main(["--help"]) == 0
        assert "cinema.act" in capsys.readouterr().out


def test_missing_and_unknown_arguments_are_errors(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
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
    ("attributes", "message"),
    [
        ({"summary": "x"}, "name is None"),
        ({"name": "Do It", "summary": "x"}, "name is 'Do It'"),
        ({"name": "do", "summary": " "}, "has no summary"),
        ({"name": "do"}, "has no summary"),
    ],
)
def test_a_command_class_without_a_name_or_summary_is_refused(
    attributes: dict[str, str], message: str
) -> None:
    methods = {"configure": lambda self, parser: None, "run": lambda self, arguments: 0}
    with pytest.raises(ContractError, match=message):
        type("Do", (Command,), attributes | methods)


@pytest.mark.few(1)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_of_the_output_is_no_error_message(unbuffered: str) -> None:
    command = f"{sys.executable} -m cosim plugins | true"
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signals")
@pytest.mark.parametrize(
    ("number", "status", "word"),
    [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "terminated\n")],
)
def test_a_signal_ends_a_command_with_its_status(tmp_path: Path, number: int, status: int, word: str) -> None:
    """A process gets the signal of a terminal or of a batch system."""
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
    _, message = process.communicate(timeout=30)
    assert (process.returncode, message) == (status, word)


def test_the_help_lists_the_exit_statuses(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help"], ["act", "--help"]):
        assert cli(*words) == 0
        message = capsys.readouterr().out
        for status in ExitStatus:
            assert f"  {status.value:<3}  {status.meaning}\n" in message + "\n"


def test_control_c_in_a_destructor_ends_the_command(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Python ignores the exception there; the command ends all the same."""

    class Destroyed:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def act() -> int:
        destroyed = Destroyed()
        del destroyed
        time.sleep(10)
        return 0

    Act.acts["destroy"] = act
    began = time.monotonic()
    assert cli("act", "destroy") == 130
    assert time.monotonic() - began < 5
    assert capsys.readouterr().err == "interrupted\n"


INTERRUPTED_IMPORT = """
import builtins, os, signal, sys
import_module, interrupted_name = builtins.__import__, sys.argv.pop()
def interrupted(name, *arguments, **options):
    if name == interrupted_name:
        os.kill(os.getpid(), signal.SIGINT)
    return import_module(name, *arguments, **options)
builtins.__import__ = interrupted
from cosim.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["cosim.command_line.dispatch", "cosim.registration.registry"])
def test_control_c_while_modules_are_imported(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT, "plugins", module],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == "interrupted\n" and done.stdout == ""
    assert done.returncode in (130, -signal.SIGINT)  # both are 130 in a shell


@pytest.mark.few(1)
@pytest.mark.parametrize("words", [["--help"], ["nothing"], ["describe", "ω…", "--json"]])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_characters_that_the_encoding_lacks_are_escaped(words, encoding):
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
def test_a_command_works_with_a_closed_standard_error(words, status, tmp_path):
    command = f'exec "{sys.executable}" -P -m cosim {words} 2>&- <&-'
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert done.returncode == status and bool(done.stdout) == (status == 0)
