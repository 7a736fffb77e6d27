"""Studies of scenarios in processes and threads: values of single runs, reset FMUs, crashed runs."""

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bouncing_ball_fmu import odd_ball
from fmi1_fmu import make_fmi1
from model3_fmu import make_model3

import cosim
from cosim.cli import main
from cosim_fmu import CoSimulation
from cosim_fmu.scenario.scenario import Scenario
from cosim_fmu.scenario_subject import ScenarioSubject
from cosim_workbench.studies import Study

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
ONE_FMU = """\
[participants.device]
fmu = "heavy.fmu"
[master]
step = "10 ms"
until = 0.1
"""

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
ONLY_ONE_INSTANCE = {
    "abilities": 'canHandleVariableCommunicationStepSize="true" canBeInstantiatedOnlyOncePerProcess="true"'
}


def table_rows(folder: Path) -> list[list[str]]:
    """The names and the rows of the table of a study."""
    return list(csv.reader((folder / "table.csv").read_text("utf-8").splitlines()))


@pytest.mark.thorough
def test_each_point_of_a_study_is_a_run_of_the_scenario(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass")
    (tmp_path / "loop.toml").write_text(LOOP, "utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["sweep", "loop.toml", "--vary", "left.m=1 kg..3 kg:3", "--vary", "right.k=1, 5"]
    command += ["--objective", "max(left.x)", "--objective", "last(right.x)", "-o", "study", "--threads", "2"]
    assert main(command) == 0
    assert "6 points" in capsys.readouterr().out
    names, *points = table_rows(tmp_path / "study")
    assert names[2:6] == ["left.m", "right.k", "max(left.x)", "last(right.x)"]
    assert [(row[2], row[3]) for row in points[:3]] == [("1.0", "1.0"), ("1.0", "5.0"), ("2.0", "1.0")]
    for row in (points[0], points[5]):
        scenario = Scenario.read(tmp_path / "loop.toml")
        scenario.starts |= {"left.m": float(row[2]), "right.k": float(row[3])}
        result = scenario.couple(CoSimulation).simulate(
            until=0.2, record=["left.x", "right.x"], inside="nothing"
        )
        assert (float(row[4]), float(row[5])) == (result["left.x"].max(), result["right.x"][-1])
    assert main(command) == 0  # all points are done
    assert [row[:-1] for row in table_rows(tmp_path / "study")[1:]] == [row[:-1] for row in points]


@pytest.mark.thorough
def test_a_run_that_crashes_is_a_failed_point(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE_FMU, "utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["sweep", "one.toml", "--vary", "device.crash_at=1e300, 0.05, 1e300", "-q", "-o", "study"]
    command += ["--vary", "device.fail_at=1e300, 0.02", "--objective", "last(device.y)", "--threads", "1"]
    assert main(command) == 0
    names, *points = table_rows(tmp_path / "study")
    status = [row[names.index("status")] for row in points]
    assert status == ["ok", "failed", "failed", "failed", "ok", "failed"]
    assert points[2][names.index("reason")] == "its process ended unexpectedly, with SIGSEGV"
    objectives = [float(row[names.index("last(device.y)")]) for row in points]
    assert objectives[0] == objectives[4] == 0.0 and np.isnan(objectives[1])


@pytest.mark.parametrize(("macros", "is_reset"), [(("RESETS",), True), ((), False)])
def test_instances_are_reset_if_that_restores_their_start(
    macros: tuple[str, ...], is_reset: bool, make_fmu: MakeFmu, tmp_path: Path
) -> None:
    """The FMU without the macro keeps its speed when it is reset."""
    make_fmu("mass", macros=macros)
    scenario = LOOP.replace("kc = 2.0", f'kc = 2.0\nmarker = "{tmp_path / "calls"}"')
    (tmp_path / "loop.toml").write_text(scenario, "utf-8")
    subject = ScenarioSubject(tmp_path / "loop.toml", {"until": 0.05})
    masses = [1.0, 2.0, 3.0, 4.0, 1.0]
    results = [subject.run({"left.m": mass}, ["left.x", "right.v"]) for mass in masses]
    run_again = subject._again
    assert run_again is not None and run_again.is_reset is is_reset
    calls = (tmp_path / "calls").read_text("utf-8").split()
    # two more runs find out whether a reset instance is as a new one; one of them is on a reset instance
    assert calls.count("terminated") == len(masses) + 2
    assert calls.count("freed") == (1 if is_reset else len(masses) + 1)
    for mass, result in zip(masses, results, strict=True):
        loop = Scenario.read(tmp_path / "loop.toml").couple(CoSimulation)
        loop.set_start("left.m", mass)
        expected = loop.simulate(until=0.05, record=["left.x", "right.v"], inside="nothing")
        for name in expected.names:
            assert expected[name].tobytes() == result[name].tobytes()
    freed_before = (tmp_path / "calls").read_text("utf-8").split().count("freed")
    run_again.loop.reuse_instances(False)
    assert (tmp_path / "calls").read_text("utf-8").split().count("freed") == freed_before + is_reset


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "is_reset"),
    [("FMI 1, slave", True), ("FMI 1, model", True), ("FMI 2, model", False), ("FMI 3, model", True)],
)
def test_instances_of_all_versions_are_reset_or_new(
    kind: str, is_reset: bool, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """A model of FMI 1 has no reset and gets a new instance; the reset of that of FMI 2 does nothing."""
    if kind.startswith("FMI 1"):
        path = make_fmi1(tmp_path, compiled, "CoSimulation" if "slave" in kind else "ModelExchange")
    elif kind.startswith("FMI 3"):
        path = make_model3(tmp_path, compiled, "BALL")
    else:
        path = odd_ball(tmp_path, compiled)
    scenario = f'[participants.one]\nfmu = "{path.name}"\n[master]\nstep = "10 ms"\nuntil = 1.0\n'
    (tmp_path / "one.toml").write_text(scenario, "utf-8")
    subject = ScenarioSubject(tmp_path / "one.toml", {})
    signals = subject.signals()
    values = {"one.u": 1.0} if "slave" in kind else {}
    results = [subject.run(values, signals) for _ in range(4)]
    assert subject._again is not None and subject._again.is_reset is is_reset
    scenario_again = Scenario.read(tmp_path / "one.toml")
    scenario_again.starts |= values
    expected = scenario_again.couple(CoSimulation).simulate(until=1.0, record=signals, inside="nothing")
    assert len(signals) > 0 and float(np.ptp(expected[signals[0]])) > 0.0
    for result in results:
        for name in signals:
            assert expected[name].tobytes() == result[name].tobytes()


def test_after_a_failed_run_a_new_instance_is_made(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE_FMU, "utf-8")
    subject = ScenarioSubject(tmp_path / "one.toml", {})
    for fail_at in (0.02, 1e300, 0.05, 1e300, 1e300, 0.03, 1e300):
        values = {"device.fail_at": fail_at, "device.u": 1.0}
        if fail_at < 1.0:
            with pytest.raises(cosim.SimulationError):
                subject.run(values, ["device.y"])
        else:
            last = subject.run(values, ["device.y"])["device.y"][-1]
            assert last == pytest.approx(1.0 - 0.99**10, rel=1e-12)
    assert subject._again is not None and subject._again.is_reset


@pytest.mark.thorough
def test_a_run_that_hangs_is_ended_by_the_time_limit(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE_FMU + 'time_limit = "1 s"\n', "utf-8")
    subject = ScenarioSubject(tmp_path / "one.toml", {})
    table = Study(subject, {"device.hang_at": [1e300, 0.05]}, ["last(device.y)"], threads=2).run()
    assert table["status"].tolist() == ["ok", "failed"]


def test_unknown_parameters_and_options_of_a_study(make_fmu: MakeFmu, tmp_path: Path) -> None:
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


@pytest.mark.thorough
def test_threads_and_processes_give_the_same_table(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass", macros=("RESETS",))
    (tmp_path / "loop.toml").write_text(LOOP, "utf-8")
    monkeypatch.chdir(tmp_path)
    command = ["sweep", "loop.toml", "--vary", "left.m=1 kg..2 kg:5", "--until", "50 ms", "--threads", "2"]
    for run_in in ("processes", "threads"):
        assert main([*command, "--run-in", run_in, "-o", run_in]) == 0
    of_processes, of_threads = (table_rows(tmp_path / run_in) for run_in in ("processes", "threads"))
    seconds = of_processes[0].index("seconds")
    assert [row[:seconds] + row[seconds + 1 :] for row in of_processes] == [
        row[:seconds] + row[seconds + 1 :] for row in of_threads
    ]
    assert len(of_processes) == 6 and "through processes" not in capsys.readouterr().err


@pytest.mark.thorough
def test_a_crash_in_threads_is_one_failed_point(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE_FMU, "utf-8")
    crash = [0.05 if i == 4 else 1e300 for i in range(10)]
    subject = ScenarioSubject(tmp_path / "one.toml", {})
    study = Study(subject, {"device.crash_at": crash}, ["last(device.y)"], threads=3, run_in="threads")
    table = study.run()
    assert study.message == "" and (table["status"] == "failed").tolist() == [at < 1.0 for at in crash]
    assert table["reason"][4] == "its process ended unexpectedly, with SIGSEGV"
    with pytest.raises(cosim.ModelError, match="'thread'. Nearest: threads"):
        Study(subject, {"device.crash_at": crash}, run_in="thread")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("macros", "description", "parameter", "reason"),
    [
        (("RESETS", "SHARES"), {}, "", "runs in one process disturb each other: their values differ"),
        (("RESETS",), ONLY_ONE_INSTANCE, "", "device can be instantiated only once in a process"),
        (
            ("RESETS",),
            {},
            "fail_at = 0.05",
            "whether they may share a process is not known, since a run fails",
        ),
        (("RESETS",), {}, "crash_at = 0.05", "its process ended unexpectedly, with SIGSEGV"),
    ],
)
def test_runs_that_cannot_share_a_process_run_in_processes(
    macros: tuple[str, ...],
    description: dict[str, object],
    parameter: str,
    reason: str,
    make_fmu: MakeFmu,
    tmp_path: Path,
) -> None:
    make_fmu("heavy", macros=macros, **description)
    scenario = ONE_FMU.replace("[master]", f"[participants.device.parameters]\n{parameter}\n[master]")
    (tmp_path / "one.toml").write_text(scenario, "utf-8")
    subject = ScenarioSubject(tmp_path / "one.toml", {})
    vary = {"device.crash_at": [1e300, 1e300], "device.fail_at": [1e300]}
    study = Study(subject, vary, ["last(device.y)"], threads=2, run_in="threads")
    table = study.run()
    assert table["status"].tolist() == ["ok", "ok"]
    assert study.message.startswith(f"runs go through processes: {reason}")
