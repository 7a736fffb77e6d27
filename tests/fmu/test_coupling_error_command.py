"""The command `cosim cosimulate` prints the error of a coupling and writes it to a table."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cosim.cli import main


def test_the_command_prints_the_error_and_writes_a_table(
    make_fmu: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mass.fmu").write_bytes(make_fmu("mass").read_bytes())
    (tmp_path / "loop.toml").write_text(SCENARIO)
    table, output = tmp_path / "errors.csv", tmp_path / "r.csv"
    command = ["cosimulate", str(tmp_path / "loop.toml"), "-o", str(output), "--coupling", str(table)]
    assert main(command) == 0
    output_text = capsys.readouterr().out
    assert "coupling error" in output_text
    assert "(estimated, largest: " in output_text
    assert "energy created" in output_text
    rows = table.read_text().splitlines()
    assert rows[0] == "connection,error,range,unit,mean_defect,how,verdict"
    assert {row.split(",")[3] for row in rows[1:]} == {"N", "m", "m/s"}
    assert main([*command, "--verify"]) == 0
    assert "step, largest" in capsys.readouterr().out
    assert main([*command[:-1], str(tmp_path / "nowhere" / "e.csv")]) != 0


SCENARIO = """
connections = ["left.force -> right.f", "right.x -> left.x_other", "right.v -> left.v_other"]
bonds = [["right.f", "right.v"]]
[participants.left]
fmu = "mass.fmu"
[participants.left.parameters]
kc = 2.0
[participants.right]
fmu = "mass.fmu"
[master]
algorithm = "jacobi"
step = 0.02
until = 1.0
"""
