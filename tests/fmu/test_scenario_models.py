"""Model files as participants of a scenario: paths, options, parameters, and errors in both files."""

from pathlib import Path

import numpy as np
import pytest
from two_masses_scenario import write_scenario

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_fmu.scenario.scenario import Scenario

PLANT = """\
[model]
name = "plant"
[bodies.block]
mass = "2 kg"
inertia = [1, 1, 1]
joint = "slider"
[components.push]
type = "mechanics.actuator"
coordinate = "block_joint"
[components.spring]
type = "mechanics.coordinate_spring"
coordinate = "block_joint"
stiffness = 50
[simulation]
accuracy = 1e-8
"""
MODELS = """\
[participants.plant]
model = "plant.toml"
[participants.plant.parameters]
"spring.stiffness" = 200
"block_joint.q[0]" = 0.1
[participants.copy]
model = "plant.toml"
[master]
step = "10 ms"
until = 0.5
[output]
signals = ["*.block_joint.q*"]
"""


def test_a_model_file_is_a_participant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its path is relative to the scenario, and the model file sets the accuracy."""
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "plant.toml").write_text(PLANT, encoding="utf-8")
    path = write_scenario(folder, MODELS)
    monkeypatch.chdir(tmp_path)
    assert main(["cosimulate", str(path), "-o", "out.csv"]) == 0
    assert "50 steps" in capsys.readouterr().out
    result = cosim.registry().get("result_sink", "workbench.csv")().read(tmp_path / "out.csv")
    swing = 0.1 * np.cos(10.0 * result.time)
    assert np.allclose(result["plant.block_joint.q[0]"], swing, rtol=0.0, atol=1e-6)
    assert np.all(result["copy.block_joint.q[0]"] == 0.0)


def test_unknown_options_of_a_model_have_their_lines(tmp_path: Path) -> None:
    (tmp_path / "plant.toml").write_text(PLANT, encoding="utf-8")
    text = MODELS.replace(
        "[participants.copy]", '[participants.copy]\noptions = { kind = "me", fixed_stp = 1 }'
    )
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(write_scenario(tmp_path, text)).couple(CoSimulation)
    problems = str(caught.value).splitlines()
    assert len(problems) == 2
    assert "7: participants.copy.options.kind: no option 'kind'" in problems[0]
    assert "options.fixed_stp: no option 'fixed_stp'. Nearest: fixed_step." in problems[1]


def test_faults_of_a_model_are_named_with_both_files_and_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Faults of the file, and faults that appear when the model is built."""
    faulty_file = PLANT.replace("mass", "mas").replace('"2 kg"', "2")
    (tmp_path / "plant.toml").write_text(faulty_file, encoding="utf-8")
    faulty_model = PLANT + '[[connections]]\nfrom = "block_joint.q"\nto = "push.effort"\n'
    (tmp_path / "wired.toml").write_text(faulty_model, encoding="utf-8")
    path = write_scenario(
        tmp_path, MODELS.replace('[participants.copy]\nmodel = "plant', '[participants.copy]\nmodel = "wired')
    )
    assert main(["cosimulate", str(path)]) == 2
    errors = capsys.readouterr().err
    assert f"{path}:2: participants.plant.model: {tmp_path / 'plant.toml'}:4: bodies.block: " in errors
    assert f"{path}:7: participants.copy.model: {tmp_path / 'wired.toml'}:16: connections[0] " in errors
    assert "converted to N" in errors


def test_a_model_file_that_no_plugin_reads(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, MODELS.replace('"plant.toml"', '"plant.mo"', 1))
    with pytest.raises(
        cosim.ModelError,
        match=r"plant\.mo.*plugin reads models.*'\.mo'..*\.xml, \.urdf, \.toml",
    ):
        Scenario.read(path).couple(CoSimulation)


def test_unknown_dotted_parameters_have_their_lines(tmp_path: Path) -> None:
    (tmp_path / "plant.toml").write_text(PLANT, encoding="utf-8")
    path = write_scenario(
        tmp_path,
        MODELS.replace("spring.stiffness", "spring.stifness").replace('"block_joint.q[0]"', "block_joint.w"),
    )
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(path).couple(CoSimulation)
    lines = [str(fault).removeprefix(f"{path}:").partition(":")[0] for fault in caught.value.problems]
    assert lines == ["4", "5"]
