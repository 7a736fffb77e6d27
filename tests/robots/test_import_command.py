"""``cosim import`` writes a model file that gives the same model as the robot's file."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim
from cosim.cli import main

DATA = Path(__file__).parent.parent / "data" / "robots"


@pytest.mark.parametrize("robot", ["arm", "gripper"])
def test_the_model_file_gives_the_same_model(tmp_path: Path, robot: str) -> None:
    target = tmp_path / "out.toml"
    assert main(["import", str(DATA / f"{robot}.urdf"), "-o", str(target)]) == 0
    imported, direct = cosim.Model.from_file(target), cosim.Model.from_file(DATA / f"{robot}.urdf")
    models = (imported, direct)
    states = [model.build().default_state().realize(cosim.Stage.ACCELERATION) for model in models]
    assert imported.parts.keys() == direct.parts.keys()
    assert states[0].y.tobytes() == states[1].y.tobytes()
    for name in imported.parts:
        if getattr(imported[name], "nu", 0):
            assert (states[0][f"{name}.u_dot"] == states[1][f"{name}.u_dot"]).all()
    assert imported.simulation["signals"] == direct.simulation["signals"]


def test_remarks_are_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "arm.toml"
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(target), "--base", "free"]) == 0
    printed = capsys.readouterr().out
    assert "note: joint 'knob' moves" in printed
    assert "# - joint 'knob' moves" in target.read_text("utf-8")
    assert cosim.Model.from_file(target)["base_joint"].name == "base_joint"


def test_an_existing_file_is_only_overwritten_with_force(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "arm.toml"
    target.write_text("old text")
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(target)]) == 2
    assert "--force" in capsys.readouterr().err
    assert target.read_text() == "old text"
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(target), "--force"]) == 0


def test_files_of_other_types_and_missing_files_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "arm.step"]) == 2
    assert ".urdf" in capsys.readouterr().err
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(tmp_path / "arm.json")]) == 2
    assert main(["import", str(tmp_path / "none.urdf")]) == 2
    assert "cannot be read" in capsys.readouterr().err
