"""``cosim import``: the file makes the same model as the robot itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import cosim
from cosim.cli import main

DATA = Path(__file__).parent.parent / "data" / "robots"


@pytest.mark.parametrize("robot", ["arm", "gripper"])
def test_the_file_makes_the_same_model(tmp_path: Path, robot: str) -> None:
    target = tmp_path / "out.toml"
    assert main(["import", str(DATA / f"{robot}.urdf"), "-o", str(target)]) == 0
    read, direct = cosim.Model.from_file(target), cosim.Model.from_file(DATA / f"{robot}.urdf")
    states = [model.build().default_state().realize(cosim.Stage.ACCELERATION) for model in (read, direct)]
    assert read.parts.keys() == direct.parts.keys()
    assert states[0].y.tobytes() == states[1].y.tobytes()
    for name in read.parts:
        if getattr(read[name], "nu", 0):
            assert (states[0][f"{name}.u_dot"] == states[1][f"{name}.u_dot"]).all()
    assert read.simulation["signals"] == direct.simulation["signals"]


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "arm.toml"
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(target), "--base", "free"]) == 0
    printed = capsys.readouterr().out
    assert "note: joint 'knob' moves" in printed
    assert "# - joint 'knob' moves" in target.read_text("utf-8")
    assert cosim.Model.from_file(target)["base_joint"].name == "base_joint"


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "arm.toml"
    target.write_text("mine")
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(target)]) == 2
    assert "--force" in capsys.readouterr().err
    assert target.read_text() == "mine"
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(target), "--force"]) == 0


def test_other_endings_are_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "arm.step"]) == 2
    assert ".urdf" in capsys.readouterr().err
    assert main(["import", str(DATA / "arm.urdf"), "-o", str(tmp_path / "arm.json")]) == 2
    assert main(["import", str(tmp_path / "none.urdf")]) == 2
    assert "cannot be read" in capsys.readouterr().err
