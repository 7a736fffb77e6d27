"""Studies of scenarios: single runs, in processes; a run that ends its process is one failed point."""

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
    return list(csv.reader((folder / "table.csv").read_text("utf-8").splitlines()))


@pytest.mark.thorough
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
        one = scenario.couple(CoSimulation).simulate(
            until=0.2, record=["left.x", "right.x"], inside="nothing"
        )
        assert (float(row[4]), float(row[5])) == (one["left.x"].max(), one["right.x"][-1])
    assert main(words) == 0  # nothing is left
    assert [row[:-1] for row in rows(tmp_path / "study")[1:]] == [row[:-1] for row in found]


@pytest.mark.thorough
def test_a_run_that_crashes_is_a_failed_point(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE, "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "one.toml", "--vary", "device.crash_at=1e300, 0.05, 1e300", "-q", "-o", "study"]
    words += ["--vary", "device.fail_at=1e300, 0.02", "--objective", "last(device.y)", "--threads", "1"]
    assert main(words) == 0
    names, *found = rows(tmp_path / "study")
    status = [row[names.index("status")] for row in found]
    assert status == ["ok", "failed", "failed", "failed", "ok", "failed"]
    assert found[2][names.index("reason")] == "its process ended unexpectedly, with SIGSEGV"
    assert {found[0][names.index("last(device.y)")], found[4][names.index("last(device.y)")]} == {"0.0"}
    assert np.isnan(float(found[1][names.index("last(device.y)")]))


@pytest.mark.parametrize(("macros", "is_reset"), [(("RESETS",), True), ((), False)])
def test_instances_are_reset_where_that_makes_them_new(
    macros: tuple[str, ...], is_reset: bool, make_fmu: MakeFmu, tmp_path: Path
) -> None:
    """The FMU without the macro keeps its speed when it is reset."""
    make_fmu("mass", macros=macros)
    scenario = LOOP.replace("kc = 2.0", f'kc = 2.0\nmarker = "{tmp_path / "words"}"')
    (tmp_path / "loop.toml").write_text(scenario, "utf-8")
    subject = ScenarioSubject(tmp_path / "loop.toml", {"until": 0.05})
    masses = [1.0, 2.0, 3.0, 4.0, 1.0]
    found = [subject.run({"left.m": mass}, ["left.x", "right.v"]) for mass in masses]
    again = subject._again
    assert again is not None and again.is_reset is is_reset
    words = (tmp_path / "words").read_text("utf-8").split()
    assert (
        words.count("terminated") == len(masses) + 2
    )  # two runs to compare, of which one is on a reset instance
    assert words.count("freed") == (1 if is_reset else len(masses) + 1)
    for mass, result in zip(masses, found, strict=True):
        loop = Scenario.read(tmp_path / "loop.toml").couple(CoSimulation)
        loop.set_start("left.m", mass)
        one = loop.simulate(until=0.05, record=["left.x", "right.v"], inside="nothing")
        for name in one.names:
            assert one[name].tobytes() == result[name].tobytes()
    before = (tmp_path / "words").read_text("utf-8").split().count("freed")
    again.loop.reuse_instances(False)
    assert (tmp_path / "words").read_text("utf-8").split().count("freed") == before + is_reset


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("kind", "is_reset"),
    [("FMI 1, slave", True), ("FMI 1, model", True), ("FMI 2, model", False), ("FMI 3, model", True)],
)
def test_other_versions_are_as_new(
    kind: str, is_reset: bool, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """The model of FMI 1 has no reset, so both are new; that of FMI 2 has one that does nothing."""
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
    found = [subject.run(values, signals) for _ in range(4)]
    assert subject._again is not None and subject._again.is_reset is is_reset
    new = Scenario.read(tmp_path / "one.toml")
    new.starts |= values
    one = new.couple(CoSimulation).simulate(until=1.0, record=signals, inside="nothing")
    assert len(signals) > 0 and float(np.ptp(one[signals[0]])) > 0.0
    for result in found:
        for name in signals:
            assert one[name].tobytes() == result[name].tobytes()


def test_a_run_that_fails_leaves_no_instance_to_reset(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE, "utf-8")
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
    (tmp_path / "one.toml").write_text(ONE + 'time_limit = "1 s"\n', "utf-8")
    from cosim_workbench.studies import Study

    subject = ScenarioSubject(tmp_path / "one.toml", {})
    table = Study(subject, {"device.hang_at": [1e300, 0.05]}, ["last(device.y)"], threads=2).run()
    assert table["status"].tolist() == ["ok", "failed"]


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


ONCE = {
    "abilities": 'canHandleVariableCommunicationStepSize="true" canBeInstantiatedOnlyOncePerProcess="true"'
}


@pytest.mark.thorough
def test_threads_give_the_table_of_processes(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_fmu("mass", macros=("RESETS",))
    (tmp_path / "loop.toml").write_text(LOOP, "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "loop.toml", "--vary", "left.m=1 kg..2 kg:5", "--until", "50 ms", "--threads", "2"]
    for place in ("processes", "threads"):
        assert main([*words, "--run-in", place, "-o", place]) == 0
    one, other = (rows(tmp_path / place) for place in ("processes", "threads"))
    seconds = one[0].index("seconds")
    assert [r[:seconds] + r[seconds + 1 :] for r in one] == [r[:seconds] + r[seconds + 1 :] for r in other]
    assert len(one) == 6 and "through processes" not in capsys.readouterr().err


@pytest.mark.thorough
def test_a_crash_in_threads_is_one_failed_point(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy", macros=("RESETS",))
    (tmp_path / "one.toml").write_text(ONE, "utf-8")
    from cosim_workbench.studies import Study

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
    ("macros", "more", "parameter", "why"),
    [
        (("RESETS", "SHARES"), {}, "", "runs in one process disturb each other: their values differ"),
        pytest.param(
            ("RESETS",),
            ONCE,
            "",
            "device can be instantiated only once in a process",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            ("RESETS",),
            {},
            "fail_at = 0.05",
            "whether they may share a process is not known, since a run fails",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            ("RESETS",),
            {},
            "crash_at = 0.05",
            "its process ended unexpectedly, with SIGSEGV",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_what_cannot_share_a_process_goes_through_processes(
    macros: tuple[str, ...],
    more: dict[str, object],
    parameter: str,
    why: str,
    make_fmu: MakeFmu,
    tmp_path: Path,
) -> None:
    """A short run has the reason that runs alone show; each reason starts processes of its own."""
    make_fmu("heavy", macros=macros, **more)
    scenario = ONE.replace("[master]", f"[participants.device.parameters]\n{parameter}\n[master]")
    (tmp_path / "one.toml").write_text(scenario, "utf-8")
    from cosim_workbench.studies import Study

    subject = ScenarioSubject(tmp_path / "one.toml", {})
    vary = {"device.crash_at": [1e300, 1e300], "device.fail_at": [1e300]}
    study = Study(subject, vary, ["last(device.y)"], threads=2, run_in="threads")
    table = study.run()
    assert table["status"].tolist() == ["ok", "ok"]
    assert study.message.startswith(f"runs go through processes: {why}")
