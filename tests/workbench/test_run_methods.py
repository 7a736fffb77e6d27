"""Integrator and tolerances in the file and on the command line, and what the summary says of them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from workbench_tools import write_model

import cosim
from cosim.cli import main

Captured = pytest.CaptureFixture[str]


pytestmark = pytest.mark.usefixtures("folder")


def summary_of_run(capsys: Captured, *arguments: str) -> str:
    """What a run of the file prints."""
    assert main(["run", "mount.toml", *arguments]) == 0
    return capsys.readouterr().out


def evaluations(text: str) -> int:
    """The number of evaluations in a summary."""
    return int(text.partition(" evaluations")[0].rpartition(" ")[2].replace("\N{NO-BREAK SPACE}", ""))


def test_the_summary_names_method_and_reference(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    text = summary_of_run(capsys)
    assert "RungeKuttaMerson (order 4), accuracy 1e-06" in text
    assert "Merson (1957)" in text
    assert "@inproceedings" not in text
    assert "@inproceedings{merson1957," in summary_of_run(capsys, "--references")


def test_a_fixed_step(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    text = summary_of_run(capsys, "--integrator", "runge_kutta_4", "--fixed-step", "1 ms")
    assert "RungeKutta4 (order 4), fixed step 0.001" in text
    assert "50 steps, 0 rejected, 20" in text, text
    assert "Kutta (1901)" in text


def test_a_method_without_error_control_needs_a_step(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", "--integrator", "runge_kutta_4"]) != 0
    assert "RungeKutta4: fixed_step is missing" in capsys.readouterr().err


def test_tolerances_in_the_file_and_on_the_command_line(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    without_tolerances = evaluations(summary_of_run(capsys))
    setting = (
        "accuracy = 1e-6",
        'accuracy = 1e-6\nrelative_tolerance = { q = 1e-10, "engine_joint.u" = 1e-9 }',
    )
    write_model(folder, setting)
    text = summary_of_run(capsys)
    assert "relative tolerance q 1e-10, engine_joint.u 1e-09" in text
    with_tolerances = evaluations(text)
    assert with_tolerances > without_tolerances
    assert (
        evaluations(summary_of_run(capsys, "--relative-tolerance", "1e-9", "--absolute-tolerance", "1e-12"))
        > without_tolerances
    )
    write_model(folder)
    pairs = ["--relative-tolerance", "q=1e-10", "--relative-tolerance", "engine_joint.u=1e-9"]
    assert evaluations(summary_of_run(capsys, *pairs)) == with_tolerances


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--relative-tolerance", "engin=1e-3"], "relative_tolerance names 'engin'"),
        (["--absolute-tolerance", "q=-1"], "needs a finite number greater than 0"),
        (["--absolute-tolerance", "q=x"], "--absolute-tolerance q=x: "),
        (["--absolute-tolerance", "1", "--absolute-tolerance", "q=1"], "for all states and for some"),
        (["--fixed-step", "1 kg"], "--fixed-step: "),
    ],
)
def test_wrong_tolerances_on_the_command_line(
    folder: Path, capsys: Captured, arguments: list[str], message: str
) -> None:
    write_model(folder)
    assert main(["run", "mount.toml", *arguments]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_wrong_tolerances_in_the_file(folder: Path, capsys: Captured) -> None:
    write_model(folder, ("accuracy = 1e-6", 'relative_tolerance = { q = -1 }\nabsolute_tolerance = "x"'))
    assert main(["run", "mount.toml"]) != 0
    error = capsys.readouterr().err
    assert "mount.toml:24" in error
    assert "mount.toml:25" in error


def test_a_result_warns_of_stiffness() -> None:
    class Relaxation(cosim.Component):
        """A lag of 10 µs behind cos(t)."""

        level = cosim.auxiliary_state(start=1.0)

        @cosim.kernel
        def flow(t, level, level_dot):
            level_dot[0] = 1e5 * (math.cos(t) - level)

    model = cosim.Model("lag")
    model.add(Relaxation, "lag")
    result = model.simulate(until=0.1, accuracy=1e-4)
    assert len(result.warnings) == 1
    assert "radau" in result.warnings[0]
    assert result.references.startswith("@inproceedings{merson1957,")
