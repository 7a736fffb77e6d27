"""Scenarios are read from files, and each fault of a file is reported with its line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from two_masses_scenario import TWO_MASSES, write_scenario

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.command.run_summary import header
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.algorithms.gauss_seidel import GaussSeidel

MakeFmu = Callable[..., Path]


def test_a_scenario_is_read(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    scenario = Scenario.read(write_scenario(tmp_path, TWO_MASSES))
    assert (scenario.step, scenario.until, scenario.start, scenario.tolerance) == (1e-3, 0.5, 0.0, None)
    assert scenario.starts == {"left.kc": 2.0, "left.cc": "0.1 N.s/m"}
    assert scenario.file == tmp_path / "out.csv"
    loop = scenario.couple(CoSimulation)
    assert isinstance(loop.algorithm, GaussSeidel)
    assert loop.order == ("left", "right")
    result = loop.simulate(scenario.until, record=scenario.signals)
    assert result.names == ["left.x", "right.x", "left.force"]
    assert header(loop).splitlines() == [
        "left   mass.fmu  FMI 2.0 Co-Simulation, state saved and restored",
        "right  mass.fmu  FMI 2.0 Co-Simulation, state saved and restored",
        "order  left → right   (right.x, right.v have no direct feedthrough)",
    ]


def test_all_faults_of_a_file_are_named_with_their_lines(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    text = """\
[participants.left]
fmu = "mass.fmu"
parameters = { kc = 2.0, kk = 3.0 }
[participants.right]
fmu = "mas.fmu"
[participants.third]
modell = "x.toml"

[[connections]]
from = "left.force"
too = "right.f"
[[connections]]
from = "left.forse"
to = "left.f"

[master]
algorithm = "newton"
step = "0.1 m"
untill = 2.0
"""
    path = write_scenario(tmp_path, text)
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(path).couple(CoSimulation)
    problems = [str(fault).removeprefix(f"{path}:") for fault in caught.value.problems]
    expected = [
        "3: participants.left.parameters.kk: no variable of left 'kk'. Nearest: k",
        f"4: participants.right: {tmp_path / 'mas.fmu'}: no such file",
        "6: participants.third: has none of fmu, model, type, series",
        "7: participants.third.modell: no key 'modell'. Nearest: model.",
        '9: connections[0]: has no "to": it needs from = "plant.felt" and to = "controller.speed"',
        "11: connections[0].too: no key 'too'.",
        "13: connections[1].from: no output of left 'forse'. Nearest: force.",
        "16: master: until is missing",
        "17: master.algorithm: no master algorithm 'fmu.newton'.",
        "18: master.step: ",
        "19: master.untill: no key 'untill'. Nearest: until.",
    ]
    assert len(problems) == len(expected), problems
    for line, start in zip(problems, expected, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are none: write \\[participants.NAME\\]"),
        ("participants = 3\n", "participants: is 3, needs a table"),
        ("[participants]\na = 3\n", "2: participants.a: is 3, needs a table"),
        ('[participants.a]\nfmu = "a.fmu"\nmodel = "b.toml"\n', "has fmu and model, needs one of them"),
        ("[participants.a]\nfmu = 3\n", "2: participants.a.fmu: is 3, needs text"),
        ('[participants.a]\ntype = "acme.thing"\n', "2: participants.a.type: no participant 'acme.thing'"),
        (
            "[participants.a]\nparameters = 3\nfmu = 'a'\n",
            "2: participants.a.parameters: is 3, needs a table",
        ),
        ("connections = 3\n", "1: connections: needs a list: connections = "),
        ("connections = [3]\n", "connections\\[0\\]: is 3, needs two names"),
        ("[master]\nstep = -1\nuntil = 1\n", "2: master.step: is -1 s, needs more than 0"),
        ("[master]\nstep = true\nuntil = 1\n", "2: master.step: is True, needs a number of seconds"),
        ("[master]\nstep = 1\nuntil = nan\n", "3: master.until: is nan, needs a number"),
        (
            "[master]\nstep = 1\nuntil = 1\nstart = 2\n",
            "3: master.until: is 1 s, needs at least the start, 2 s",
        ),
        ("[master]\nstep = 1\nuntil = 1\ntolerance = 0.0\n", "4: master.tolerance: is 0.0"),
        ("[output]\nsignals = 'a'\n", "2: output.signals: needs a list"),
        ("[output]\nfile = 3\n", "2: output.file: is 3"),
    ],
)
def test_each_kind_of_fault(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(cosim.ModelError, match=message):
        Scenario.read(write_scenario(tmp_path, text)).couple(CoSimulation)


def test_consequences_of_a_fault_are_not_reported(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    path = write_scenario(
        tmp_path, TWO_MASSES.replace('[participants.right]\nfmu = "mass.fmu"', "[participants.right]")
    )
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(path).couple(CoSimulation)
    assert [fault.where for fault in caught.value.problems] == [f"{path}:4: participants.right"]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("left.force", "left.forse", "26: output.signals"),
        ('"1 ms"', "1e-300", "22: master.step"),
        ("until = 0.5", "until = 0.5\ntolerance = nan", "24: master.tolerance"),
    ],
)
def test_faults_of_the_settings_of_a_run_have_their_line(
    make_fmu: MakeFmu, tmp_path: Path, old: str, new: str, place: str
) -> None:
    make_fmu("mass")
    head, master = TWO_MASSES.split("[master]")
    path = write_scenario(tmp_path, head + "[master]" + master.replace(old, new))
    with pytest.raises(cosim.ModelError, match=re.escape(f"{path}:{place}")):
        Scenario.read(path).couple(CoSimulation)


def test_a_file_may_start_with_a_byte_order_mark(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    scenario = Scenario.read(write_scenario(tmp_path, "\ufeff" + TWO_MASSES))
    assert scenario.couple(CoSimulation).order == ("left", "right")


def test_a_tolerance_is_at_most_a_tenth(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("mass")
    path = write_scenario(tmp_path, TWO_MASSES.replace("until = 0.5", "until = 0.5\ntolerance = 0.1"))
    assert Scenario.read(path).couple(CoSimulation).tolerance == 0.1
    path = write_scenario(tmp_path, TWO_MASSES.replace("until = 0.5", "until = 0.5\ntolerance = 1"))
    with pytest.raises(cosim.ModelError, match=r"master\.tolerance.*1.*number above 0.*0\.1"):
        Scenario.read(path).couple(CoSimulation)


def test_a_damaged_fmu_is_named_in_a_scenario_with_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.fmu").write_bytes(b"")
    write_scenario(Path(), '[participants.a]\nfmu = "bad.fmu"\n[master]\nstep = 1\nuntil = 1\n')
    with pytest.raises(cosim.ModelError, match=r"loop\.toml:1: participants\.a: .*bad\.fmu: is not an FMU"):
        Scenario.read("loop.toml").couple(CoSimulation)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match="missing.toml: no such file"):
        Scenario.read(tmp_path / "missing.toml")
    with pytest.raises(cosim.ModelError, match="loop.toml:1: no valid TOML"):
        Scenario.read(write_scenario(tmp_path, "[a\n"))
    with pytest.raises(cosim.ModelError, match="nested too deeply"):
        Scenario.read(write_scenario(tmp_path, "a = " + "[" * 100_000))
    path = tmp_path / "latin.toml"
    path.write_bytes(b'a = "\xe4"\n')
    with pytest.raises(cosim.ModelError, match="latin.toml:1: is not UTF-8 text"):
        Scenario.read(path)


def test_a_participant_may_have_a_registered_type(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("gain")
    text = """\
[participants.first]
fmu = "gain.fmu"
[participants.second]
type = "fmu.co_simulation"
options = { path = "PATH" }
parameters = { gain = 2.0, "bias" = 1.0 }
[[connections]]
from = "first.y"
to = "second.u"
[master]
algorithm = "fmu.jacobi"
step = 0.5
until = 1
""".replace("PATH", str(tmp_path / "gain.fmu"))
    scenario = Scenario.read(write_scenario(tmp_path, text))
    assert scenario.couple(CoSimulation).simulate(scenario.until)["second.y"].tolist() == [1.0, 1.0, 1.0]
