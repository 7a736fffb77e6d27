"""What all commands have: examples, help with exit statuses, messages about options, --verbose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from example_files import EXAMPLES

from cosim.cli import main
from cosim.command_line.exit_status import ExitStatus
from cosim.kit import CommandParser, commands

Captured = pytest.CaptureFixture[str]


def test_every_command_has_an_example() -> None:
    assert len(EXAMPLES) >= len(commands()) > 15


@pytest.mark.parametrize("name", commands())
def test_help_shows_examples_and_exit_statuses(name: str, capsys: Captured) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    command = commands()[name].cls()
    for words, text in command.examples:
        assert words in shown and text in shown
    for status in ExitStatus:
        assert re.search(rf"^  {status.value} +\S", shown, re.MULTILINE)
    assert command.failure in shown
    assert "--json" in shown and "--verbose" in shown and "--traceback" in shown


@pytest.mark.parametrize(
    ("words", "status", "message"),
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
def test_a_wrong_option_is_answered_in_one_line(
    words: list[str], status: int, message: str, capsys: Captured
) -> None:
    assert main(words) == status
    output = capsys.readouterr()
    assert message in output.err and len(output.err.splitlines()) == 1 and output.out == ""


def test_verbose_logs_each_act_with_its_time(example_folder: Path, capsys: Captured) -> None:
    assert main(["run", "mount.toml", "-q", "-v"]) == 0
    log = capsys.readouterr().err
    assert all(re.match(r" *\d+\.\d\d s  \S", line) for line in log.splitlines())
    acts = ("read mount.toml", "built engine_mount", "to t = 0.005 s", "written mount.csv")
    places = [log.index(act) for act in acts]
    assert places == sorted(places)
    assert main(["run", "mount.toml", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_no_command_has_two_options_of_one_name() -> None:
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
