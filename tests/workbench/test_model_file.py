"""Each fault of a model file is reported once, with its line, and nothing is run."""

from __future__ import annotations

from pathlib import Path

import pytest
from workbench_tools import write_model

from cosim.cli import main

Captured = pytest.CaptureFixture[str]
SUM_WITH_FAULT = '[measures.sum]\ntype = "plus"\nfirst = "engine.x"\nsecond = "engine.wxx"'
STIFFNESS = 'stiffness = [0, 0, 0, "120 N/mm", "120 N/mm", "240 N/mm"]'


pytestmark = pytest.mark.usefixtures("folder")


def reported_lines(capsys: Captured) -> list[str]:
    """What `cosim run` says of the faults of the file."""
    assert main(["run", "mount.toml"]) == 2
    output = capsys.readouterr()
    assert output.out == "" and "Traceback" not in output.err
    assert not Path("mount.csv").exists()
    return output.err.splitlines()


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        (
            "linear_bushing",
            "linear_bushin",
            ":11: elements.mount_left: ",
            "Nearest: mechanics.linear_bushing.",
        ),
        (STIFFNESS, "stiffness = [1, 2, 3]", ":15: elements.mount_left: ", "has shape (3,), needs (6,)"),
        (
            STIFFNESS,
            "stiffness = [0, 0, 0, -1, 1, 1]",
            ":15: elements.mount_left: ",
            "stiffness[3] is -1 N/m",
        ),
        (STIFFNESS, f"{STIFFNESS}\nstifness = 3", ":16: elements.mount_left: ", "Nearest: stiffness."),
        ('"120 kg"', '"120 m"', ":5: bodies.engine: ", "kg"),
        ('body2 = "engine"', 'body2 = "engin"', ":13: elements.mount_left: ", "Nearest: engine."),
        ('joint = "free"', 'joint = "fre"', ":8: bodies.engine: ", "Nearest: mechanics.free."),
        ("accuracy = 1e-6", "acuracy = 1e-6", ":24: simulation: ", "Nearest: accuracy."),
        ('until = "50 ms"', "until = -1", ":23: simulation: ", "greater than 0"),
        ("[measures.", "[measure.", ":17: ", "Nearest: measures."),
        ('name = "engine_mount"', 'nam = "engine_mount"', ":2: model: ", "Nearest: name."),
        ('"engine.z"', '"engine.zz"', ":25: simulation.output.signals: ", "Nearest: engine.z."),
    ],
)
def test_one_fault(folder: Path, capsys: Captured, old: str, new: str, where: str, message: str) -> None:
    write_model(folder, (old, new))
    fault, *further_lines = reported_lines(capsys)
    assert fault.startswith(f"mount.toml{where}")
    assert message in fault
    assert further_lines[-1] == "1 problem, nothing was run."


def test_a_connection_between_different_quantities(folder: Path, capsys: Captured) -> None:
    force = (
        '[components.push]\ntype = "mechanics.applied_force"\nbody = "engine"\naxis = "z"\n'
        '[[connections]]\nfrom = "engine.z"\nto = "push.force"\n'
    )
    write_model(folder, more=force)
    fault, *further_lines = reported_lines(capsys)
    assert "connections[0] (engine.z → push.force)" in fault
    assert "converted to N" in fault
    assert further_lines[-1] == "1 problem, nothing was run."


def test_all_faults_at_once_in_the_order_of_the_lines(folder: Path, capsys: Captured) -> None:
    changes = [("accuracy = 1e-6", "acuracy = 1e-6"), (STIFFNESS, "stiffness = 3"), ('"120 kg"', "-1")]
    write_model(folder, *changes)
    *faults, last = reported_lines(capsys)
    lines = [int(fault.split(":")[1]) for fault in faults if fault.startswith("mount.toml:")]
    assert lines == [5, 15, 24]
    assert last == "3 problems, nothing was run."


def test_a_file_that_is_no_toml(folder: Path, capsys: Captured) -> None:
    write_model(folder, ('mass = "120 kg"', "mass = = 3"))
    fault, summary = reported_lines(capsys)
    assert fault.startswith("mount.toml:5: no valid TOML")
    assert summary == "1 problem, nothing was run."


def test_a_file_that_is_missing(capsys: Captured) -> None:
    fault, summary = reported_lines(capsys)
    assert fault.startswith("mount.toml: no such file")
    assert summary == "1 problem, nothing was run."


def test_faults_of_reading_and_of_building_come_together(folder: Path, capsys: Captured) -> None:
    write_model(
        folder,
        (STIFFNESS, "stiffness = [1, 2, 3]"),
        ('body2 = "engine"', 'body2 = "engin"'),
        ('"engine.z"', '"motor.z"'),
        ("[simulation]", f"{SUM_WITH_FAULT}\n[simulation]"),
    )
    problems = [line.partition(": ")[2] for line in reported_lines(capsys)[:-1]]
    assert [line.partition(":")[0] for line in problems] == [
        "elements.mount_left", "elements.mount_left", "measures.sum", "simulation.output.signals",
    ]  # fmt: skip


def test_a_missing_step_has_its_line(folder: Path, capsys: Captured) -> None:
    write_model(folder, ("accuracy = 1e-6", 'integrator = "runge_kutta_4"'))
    (line,) = reported_lines(capsys)
    assert line.startswith("mount.toml:22: simulation: ") and "Give fixed_step = 1e-3 (s)" in line
