"""The command `cosimulate`: its summary, its files of results, and what it refuses before a run."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from two_masses_scenario import TWO_MASSES, write_scenario

from cosim.cli import main

MakeFmu = Callable[..., Path]


def test_the_command_prints_a_summary_and_writes_results(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    monkeypatch.chdir(tmp_path)
    path = write_scenario(tmp_path, TWO_MASSES)
    assert main(["cosimulate", str(path)]) == 0
    summary = capsys.readouterr().out
    assert summary.startswith("left   mass.fmu  FMI 2.0 Co-Simulation, state saved and restored\n")
    assert "order  left → right" in summary
    assert "500 steps, 0 events, 0 retries" in summary
    assert summary.endswith("results → out.csv\n") or summary.endswith(f"results → {tmp_path / 'out.csv'}\n")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0].replace('"', "").split(",") == ["time", "left.x", "right.x", "left.force"]
    assert len(lines) == 502  # names, and points from 0 s to 0.5 s

    assert main(["cosimulate", str(path), "--quiet", "-o", "other.csv", "--until", "10 ms"]) == 0
    assert capsys.readouterr().out == ""
    assert len((tmp_path / "other.csv").read_text().splitlines()) == 12


def test_a_plot_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("push.toml").write_text(
        "[participants.push]\nseries = { force = [[0.0, 0.0], [1.0, 5.0]] }\n"
        '[master]\nalgorithm = "jacobi"\nstep = 0.1\nuntil = 1.0\n',
        "utf-8",
    )
    for plot, message in (("push.gif", "the name of a picture ends in .png"), ("none/push.png", "folder")):
        assert main(["cosimulate", "push.toml", "--plot", plot]) == 2
        assert message in capsys.readouterr().err and not Path("push.csv").exists()


def test_the_error_for_an_fmu_says_how_to_name_it_in_a_scenario(
    make_fmu: MakeFmu, capsys: pytest.CaptureFixture[str]
) -> None:
    fmu = make_fmu("mass")
    assert main(["cosimulate", str(fmu)]) == 2
    assert f'name an FMU in a scenario: [participants.x] fmu = "{fmu.name}"' in capsys.readouterr().err


def test_all_problems_of_a_scenario_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_scenario(tmp_path, '[participants.a]\nfmu = "a.fmu"\n[master]\nstep = 1\n')
    assert main(["cosimulate", str(path)]) == 2
    errors = capsys.readouterr().err
    assert f"{path}:1: participants.a: {tmp_path / 'a.fmu'}: no such file" in errors
    assert errors.endswith("2 problems, nothing was run.\n")


def test_a_failed_run_keeps_its_results(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("failing")
    monkeypatch.chdir(tmp_path)
    text = """\
[participants.pump]
fmu = "failing.fmu"
parameters = { fail_at = 0.55, fail_status = 3 }
[master]
algorithm = "jacobi"
step = 0.1
until = 1.0
"""
    path = write_scenario(tmp_path, text, "pump.toml")
    assert main(["cosimulate", str(path)]) == 1
    errors = capsys.readouterr().err
    assert "t = 0.5 s → pump.csv" in errors
    assert "t = 0.5 s: pump" in errors and "ran dry" in errors
    lines = (tmp_path / "pump.csv").read_text().splitlines()
    # names, six points, the reason
    assert len(lines) == 8 and lines[-1].startswith("# not whole: at t = 0.5 s: pump: ")


def test_the_folder_of_the_results_must_exist(
    make_fmu: MakeFmu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    path = write_scenario(tmp_path, TWO_MASSES)
    assert main(["cosimulate", str(path), "-o", str(tmp_path / "none" / "out.csv")]) == 2
    assert "the folder for the results does not exist" in capsys.readouterr().err
    assert main(["cosimulate", str(path), "-o", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert "folder, needs" in err and not out  # nothing was run


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a disk that is always full")
def test_results_that_cannot_be_written_go_to_another_folder(
    make_fmu: MakeFmu,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_fmu("mass")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["cosimulate", str(write_scenario(tmp_path, TWO_MASSES)), "-o", "/dev/full"]) != 0
    errors = capsys.readouterr().err
    assert "/dev/full: cannot be written" in errors and "results are in" in errors
    assert len(next(tmp_path.glob("cosim-results-*/full.csv")).read_text().splitlines()) == 502
    assert Path("/dev/full").is_char_device()  # it was not replaced by a file


def test_info_describes_an_fmu_of_another_platform(
    make_fmu: MakeFmu, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(make_fmu("mass")) as source, zipfile.ZipFile(tmp_path / "far.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", source.read("modelDescription.xml"))
        archive.writestr("binaries/sparc64/mass.so", b"")
    assert main(["info", str(tmp_path / "far.fmu")]) == 0
    head, remark, *lines = capsys.readouterr().out.splitlines()
    assert head.startswith("far.fmu   FMI 2.0 Co-Simulation")
    assert remark.startswith("  cannot run here: has no binary for this platform") and "sparc64" in remark
    assert any(line.split()[:2] == ["x", "real"] for line in lines)
