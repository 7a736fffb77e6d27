"""Completion of commands: the candidates, and the scripts of bash, zsh and fish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cosim.cli import main
from cosim.kit import commands
from cosim_workbench.completion import candidates

Captured = pytest.CaptureFixture[str]


def completed(*words: str) -> list[str]:
    """The candidates for the last word; ``:files`` stands for names of files."""
    return [word for word, _ in candidates(words)]


def test_commands_and_options(example_folder: Path) -> None:
    assert completed("ru") == ["run"]
    assert set(commands()) == set(completed(""))
    assert "--json" in completed("--") and completed("--js") == ["--json"]
    assert completed("run", "mount.toml", "--integr") == ["--integrator"]
    assert completed("nothing", "") == []
    assert all(completed(name, "--help") == ["--help"] for name in commands())


def test_arguments_and_values_of_options(example_folder: Path) -> None:
    assert completed("run", "--integrator", "integrators.runge_kutta_4") == ["integrators.runge_kutta_4"]
    assert completed("run", "--integrator", "runge_kutta_m") == ["runge_kutta_merson"]  # by its last word
    # bash cuts at the equals sign, zsh and fish do not
    assert completed("run", "--integrator", "=", "integrators.bd") == ["integrators.bdf"]
    assert completed("run", "--integrator=integrators.bd") == ["integrators.bdf"]
    assert completed("run", "--until", "") == []
    assert completed("describe", "mechanics.linear") == ["mechanics.linear_bushing"]
    assert completed("describe", "linear_b") == ["linear_bushing"]
    assert completed("linearize", "m.toml", "--about", "s") == ["start"]
    assert completed("new", "force") == ["force_element"]
    assert completed("schema", "sc") == ["scenario"]


def test_files(example_folder: Path) -> None:
    assert completed("run", "") == [":files"]
    assert completed("run", "--integrator", "integrators.bdf", "") == [":files"]
    assert completed("validate", "a.fmu", "") == [":files"]
    assert completed("run", "mount.toml", "--output=") == [":files"]
    assert completed("run", "'half a wo") == [":files"]


def test_signals_of_a_file_of_results(example_folder: Path) -> None:
    assert completed("plot", "mount.csv", "engine.") == ["engine.z"]
    assert completed("plot", "mount.csv", "engine.z", "vert") == ["vertical_speed"]
    (example_folder / "my mount.csv").write_text((example_folder / "mount.csv").read_text())
    for file in (r"my\ mount.csv", "'my mount.csv'", "my mount.csv"):
        assert completed("plot", file, "engine.") == ["engine.z"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_valid_there(shell: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    subprocess.run([shell, "-n", str(script)], check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes(example_folder: Path) -> None:
    """The script itself, as bash calls it when Tab is pressed."""
    (example_folder / "my model.toml").write_text("")
    script = """
    cosim() { "$PYTHON" -m cosim "$@"; }
    eval "$(cosim completion bash)"
    for line in "cosim describe mechanics.linear" "cosim run mou" "cosim run my" "cosim --vers"; do
        read -ra COMP_WORDS <<< "$line"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
        _cosim_complete
        printf '%s\n' "${COMPREPLY[@]}" | sort
    done
    """
    process = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.splitlines() == [
        "mechanics.linear_bushing",
        "mount.csv",
        "mount.fmu",
        "mount.toml",
        "my model.toml",
        "--version",
    ]


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
def test_fish_completes(example_folder: Path) -> None:
    """The script itself, as fish calls it when Tab is pressed."""
    script = """
    function cosim; $PYTHON -m cosim $argv; end
    cosim completion fish | source
    for line in "cosim describe linear_b" "cosim run --integrator=integrators.bd" "cosim run --output=mount.t"
        complete -C $line
    end
    """
    environment = {**os.environ, "PYTHON": sys.executable, "HOME": str(example_folder)}
    process = subprocess.run(
        ["fish", "--no-config", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert [line.partition("\t")[0] for line in process.stdout.splitlines()] == [
        "linear_bushing",
        "--integrator=integrators.bdf",
        "--output=mount.toml",
    ]
