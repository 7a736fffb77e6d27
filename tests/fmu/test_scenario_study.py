"""Studies of scenarios: single runs, in processes; a run that ends its process is one failed point."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim.cli import main
from cosim_fmu.master.scenario.scenario import Scenario
from cosim_fmu.master.scenario.scenario_subject import ScenarioSubject

MakeFmu = Callable[..., Path]
LOOP = """\
[participants.left]
fmu = "mass.fmu"
[participants.right]
fmu = "mass.fmu"
[participants.left.parameters]
kc = 2.0

[[connections]]
from = "left.force"
to = "right.f"
[[connections]]
from = "right.x"
to = "left.x_other"
[[connections]]
from = "right.v"
to = "left.v_other"

[master]
step = "1 ms"
until = 0.2
"""
ONE = """\
[participants.device]
fmu = "heavy.fmu"
[master]
step = "10 ms"
until = 0.1
"""

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")


def rows(folder: Path) -> list[list[str]]:
    return [line.split(",") for line in (folder / "table.csv").read_text("utf-8").splitlines()]


def test_points_of_a_scenario_are_its_runs(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    (tmp_path / "loop.toml").write_text(LOOP, "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "loop.toml", "--vary", "left.m=1 kg..3 kg:3", "--vary", "right.k=1, 5"]
    words += ["--objective", "max(left.x)", "--objective", "last(right.x)", "-o", "study", "--threads", "2"]
    assert main(words) == 0
    assert "6 points" in capsys.readouterr().out
    names, *found = rows(tmp_path / "study")
    assert names[2:6] == ["left.m", "right.k", "max(left.x)", "last(right.x)"]
    assert [(row[2], row[3]) for row in found[:3]] == [("1.0", "1.0"), ("1.0", "5.0"), ("2.0", "1.0")]
    for row in (found[0], found[5]):
        scenario = Scenario.read(tmp_path / "loop.toml")
        scenario.starts |= {"left.m": float(row[2]), "right.k": float(row[3])}
        one = scenario.couple().simulate(until=0.2, record=["left.x", "right.x"], inside="nothing")
        assert (float(row[4]), float(row[5])) == (one["left.x"].max(), one["right.x"][-1])
    assert main(words) == 0  # nothing is left
    assert [row[:-1] for row in rows(tmp_path / "study")[1:]] == [row[:-1] for row in found]


def test_a_run_that_crashes_is_a_failed_point(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fmu("heavy")
    (tmp_path / "one.toml").write_text(ONE, "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "one.toml", "--vary", "device.crash_at=1e300, 0.05, 1e300", "-q", "-o", "study"]
    words += ["--vary", "device.fail_at=1e300, 0.02", "--objective", "last(device.y)", "--threads", "2"]
    assert main(words) == 0
    names, *found = rows(tmp_path / "study")
    status = [row[names.index("status")] for row in found]
    assert status == ["ok", "failed", "failed", "failed", "ok", "failed"]
    assert "ended without an answer" in found[2][names.index("reason")]
    assert np.isnan(float(found[1][names.index("last(device.y)")]))


def test_faults(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    (tmp_path / "loop.toml").write_text(LOOP, "utf-8")
    subject = ScenarioSubject(tmp_path / "loop.toml", {})
    assert subject.reads(tmp_path / "loop.toml") and not subject.reads(tmp_path / "mass.fmu")
    assert subject.unit("left.m") == "kg"
    with pytest.raises(cosim.LookUpError, match="left"):
        subject.unit("lfet.m")
    with pytest.raises(cosim.LookUpError, match="variable of left"):
        subject.unit("left.mm")
    with pytest.raises(cosim.ModelError, match="integrator"):
        ScenarioSubject(tmp_path / "loop.toml", {"integrator": "integrators.heun"})
