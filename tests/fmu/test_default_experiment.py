"""Tolerances and times of FMUs, and what they log."""

from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, FmuParticipant, ProcessParticipant, TimedInputs
from cosim_fmu.abilities import WritesLog
from cosim_fmu.scenario.scenario import Scenario

EXPERIMENT = '<DefaultExperiment startTime="0.5" stopTime="2.5" tolerance="1e-3" stepSize="0.25"/>'


@pytest.fixture
def telling(make_fmu: Any) -> Path:
    path: Path = make_fmu("gain", name="telling", macros=("TELLS",), experiment=EXPERIMENT)
    return path


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "0.001"),
        ({"tolerance": 1e-5}, "1e-05"),
        ({"tolerance": 1e-5, "tolerances": {"m": 1e-7}}, "1e-07"),
        ({"tolerances": {"m": 1e-7}}, "1e-07"),
    ],
)
@pytest.mark.parametrize("process", [False, True])
def test_tolerance_is_passed_on(
    telling: Path, tmp_path: Path, options: dict[str, Any], told: str, process: bool
) -> None:
    made = ProcessParticipant(telling) if process else FmuParticipant(telling)
    assert isinstance(made, WritesLog)
    made.write_log(tmp_path / "m.log", "all")
    CoSimulation({"m": made}, **options).simulate(0.6)
    assert (tmp_path / "m.log").read_text() == f"ok: tolerance {told}\nwarning: warned\n"


def test_without_a_default_no_tolerance_is_told(make_fmu: Any, tmp_path: Path) -> None:
    made = FmuParticipant(make_fmu("gain", macros=("TELLS",)))
    made.write_log(tmp_path / "m.log", "all")
    CoSimulation({"m": made}, step=0.1).simulate(0.1)
    assert (tmp_path / "m.log").read_text() == "warning: warned\n"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"tolerance": -1.0}, r"master.tolerance: is -1.0, needs a number above 0 and at most 0.1"),
        ({"tolerances": {"m": "small"}}, r"participants.m.tolerance: is 'small'"),
        ({"tolerances": {"n": 1e-3}}, r"no participant 'n'"),
    ],
)
def test_wrong_tolerances(telling: Path, given: dict[str, Any], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        CoSimulation({"m": telling}, **given)


def test_times_of_the_only_fmu(telling: Path, tmp_path: Path) -> None:
    result = CoSimulation({"m": telling}).simulate()
    assert result.time.tolist() == [0.5 + 0.25 * i for i in range(9)]
    drive = TimedInputs({"u": [[0.0, 1.0]]})
    assert CoSimulation({"m": telling, "drive": drive}, ["drive.u -> m.u"]).simulate().time[-1] == 2.5
    loop = CoSimulation({"m": telling, "n": telling})
    assert (loop.start, loop.step, loop.until) == (0.0, 1e-3, None)
    (tmp_path / "one.toml").write_text('[participants.m]\nfmu = "telling.fmu"\n[master]\nuntil = 1.0\n')
    read = Scenario.read(tmp_path / "one.toml")
    assert (read.start, read.step, read.until) == (0.5, 0.25, 1.0)
    assert read.couple(CoSimulation).simulate(read.until).time.tolist() == [0.5, 0.75, 1.0]


def test_an_experiment_without_a_step(make_fmu: Any, tmp_path: Path) -> None:
    path = make_fmu("gain", experiment='<DefaultExperiment stopTime="10"/>')
    assert CoSimulation({"m": path}).step == 0.01
    odd = make_fmu(
        "gain", name="odd", experiment='<DefaultExperiment startTime="3" stopTime="1" stepSize="-1"/>'
    )
    loop = CoSimulation({"m": odd})
    assert (loop.start, loop.step, loop.until) == (3.0, 1e-3, None)
    (tmp_path / "one.toml").write_text('[participants.m]\nfmu = "odd.fmu"\n')
    with pytest.raises(cosim.ModelError, match="step is missing.*\n.*until is missing"):
        Scenario.read(tmp_path / "one.toml").couple(CoSimulation)


SCENARIO = '[participants.m]\nfmu = "telling.fmu"\n%s[master]\nuntil = 1.0\n'


def test_a_log_of_a_scenario(telling: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    for level, lines in (
        ("", ["warned"]),
        ('log_level = "error"\n', []),
        ('log_level = "all"\n', ["tolerance", "warned"]),
    ):
        path.write_text(SCENARIO % f'log = "m.log"\n{level}')
        Scenario.read(path).couple(CoSimulation).simulate(1.0)
        assert [line.split()[1] for line in (tmp_path / "m.log").read_text().splitlines()] == lines


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("log = 3\n", r"one.toml:3: participants.m.log: is 3, needs the name of a file"),
        (
            'log = "m.log"\nlog_level = "loud"\n',
            r"one.toml:4: participants.m.log_level: is 'loud', needs one of",
        ),
        ('log_level = "all"\n', r"one.toml:3: participants.m.log_level: is of no use without a file"),
        ('log = "nowhere/m.log"\n', r"one.toml:3: participants.m.log: there is no folder"),
    ],
)
def test_wrong_logs(telling: Path, tmp_path: Path, lines: str, text: str) -> None:
    path = tmp_path / "one.toml"
    path.write_text(SCENARIO % lines)
    with pytest.raises(cosim.ModelError, match=text):
        Scenario.read(path).couple(CoSimulation)
    path.write_text(
        '[participants.m]\nseries = { u = [[0, 1]] }\nlog = "m.log"\n[master]\nuntil = 1\nstep = 1\n'
    )
    with pytest.raises(cosim.ModelError, match="one.toml:3: participants.m.log.*participant keeps"):
        Scenario.read(path).couple(CoSimulation)


def test_a_log_that_cannot_be_written(telling: Path, tmp_path: Path) -> None:
    made = FmuParticipant(telling)
    made.write_log(tmp_path, "all")
    with pytest.raises(cosim.SimulationError, match="its.*directory"):
        CoSimulation({"m": made}).simulate()


def test_a_participant_without_outputs_says_what_to_name() -> None:
    variables = {
        n: kit.ParticipantVariable(n, c) for n, c in (("x", "local"), ("u", "input"), ("k", "parameter"))
    }

    class Hidden(TimedInputs):
        def describe(self) -> kit.ParticipantDescription:
            return kit.ParticipantDescription("hidden", variables)

        def get(self, names: Any) -> list[Any]:
            return [2.0 for _ in names]

    loop = CoSimulation({"m": Hidden({"u": [[0.0, 1.0]]})}, step=0.1)
    (said,) = loop.simulate(0.1).warnings
    assert said.startswith("m has no outputs") and 'signals = ["m.x", "m.u", "m.k"]' in said
    named = loop.simulate(0.1, record=["m.x"])
    assert named.warnings == [] and named["m.x"].tolist() == [2.0, 2.0]
