"""`cosim info` and `cosim export`: models, results and FMUs, and faults with their lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from workbench_tools import write_model

from cosim.cli import main

Captured = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("folder")


def test_info_of_a_model_and_of_results(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["info", "mount.toml"]) == 0
    output = capsys.readouterr().out
    for word in ("engine_mount", "mount_left", "mechanics.linear_bushing", "vertical_speed"):
        assert word in output
    schedule = output[output.index("schedule") :].splitlines()
    assert re.fullmatch(r"schedule   \d+ blocks", schedule[0])
    counts = {line.split()[0]: int(line.split()[-2]) for line in schedule[1:]}
    assert counts["DYNAMICS"] >= 1 and counts["ACCELERATION"] >= 1
    assert sum(counts.values()) == int(schedule[0].split()[1])
    assert main(["run", "mount.toml", "--quiet"]) == 0
    assert main(["info", "mount.csv"]) == 0
    output = capsys.readouterr().out
    assert "51 points" in output and "engine.z" in output


def test_export_and_info_of_the_fmu(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    words = ["-o", "mount.fmu", "--outputs", "engine.z,vertical_speed"]
    assert main(["export", "mount.toml", "--python", *words]) == 0
    assert (folder / "mount.fmu").is_file()
    capsys.readouterr()
    assert main(["info", "mount.fmu"]) == 0
    output = capsys.readouterr().out
    assert "FMI 2.0 Co-Simulation" in output and "engine.z" in output and "mount_left.stiffness[4]" in output


def test_export_of_a_model_with_faults_names_their_lines(folder: Path, capsys: Captured) -> None:
    write_model(folder, more='[[connections]]\nfrom = "engine.z"\nto = "mount_left.stiffness"\n')
    assert main(["export", "mount.toml"]) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("mount.toml:26: connections[0] ")
    assert errors.endswith("1 problem, nothing was run.\n")
    assert not (folder / "mount.fmu").exists()


def test_export_of_an_unknown_output(folder: Path, capsys: Captured) -> None:
    write_model(folder)
    assert main(["export", "mount.toml", "--python", "-o", "mount.fmu", "--outputs", "engine.zz"]) == 2
    assert "engine.z" in capsys.readouterr().err
    assert not (folder / "mount.fmu").exists()


@pytest.mark.parametrize("name", ["missing.toml", "missing.csv", "missing.fmu", "mount.xyz"])
def test_info_of_a_missing_or_unknown_file(folder: Path, capsys: Captured, name: str) -> None:
    (folder / "mount.xyz").write_text("?")
    assert main(["info", name]) == 2
    errors = capsys.readouterr().err
    assert name in errors and "Traceback" not in errors
