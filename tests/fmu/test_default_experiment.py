"""Co-simulations use the tolerances and times of FMUs and write their logs."""

from pathlib import Path
from typing import Any

import pytest

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, FmuParticipant, ProcessParticipant, TimedInputs
from cosim_fmu.abilities import WritesLog
from cosim_fmu.scenario.scenario import Scenario

EXPERIMENT = '<DefaultExperiment startTime="0.5" stopTime="2.5" tolerance="1e-3" stepSize="0.25"/>'


SCENARIO = '[participants.m]\nfmu = "logging.fmu"\n%s[master]\nuntil = 1.0\n'


@pytest.fixture
def logging_fmu(make_fmu: Any) -> Path:
    """An FMU that logs the tolerance that it receives, and a warning in each run."""
    path: Path = make_fmu("gain", name="logging", macros=("TELLS",), experiment=EXPERIMENT)
    return path


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("options", "tolerance"),
    [
        ({}, "0.001"),
        ({"tolerance": 1e-5}, "1e-05"),
        ({"tolerance": 1e-5, "tolerances": {"m": 1e-7}}, "1e-07"),
        ({"tolerances": {"m": 1e-7}}, "1e-07"),
    ],
)
@pytest.mark.parametrize("process", [False, True])
def test_an_fmu_receives_its_default_tolerance_or_the_one_of_the_user(
    logging_fmu: Path, tmp_path: Path, options: dict[str, Any], tolerance: str, process: bool
) -> None:
    participant = ProcessParticipant(logging_fmu) if process else FmuParticipant(logging_fmu)
    assert isinstance(participant, WritesLog)
    participant.write_log(tmp_path / "m.log", "all")
    CoSimulation({"m": participant}, **options).simulate(0.6)
    assert (tmp_path / "m.log").read_text() == f"ok: tolerance {tolerance}\nwarning: warned\n"


def test_without_a_default_an_fmu_receives_no_tolerance(make_fmu: Any, tmp_path: Path) -> None:
    participant = FmuParticipant(make_fmu("gain", macros=("TELLS",)))
    participant.write_log(tmp_path / "m.log", "all")
    CoSimulation({"m": participant}, step=0.1).simulate(0.1)
    assert (tmp_path / "m.log").read_text() == "warning: warned\n"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tolerance": -1.0}, r"master.tolerance: is -1.0, needs a number above 0 and at most 0.1"),
        ({"tolerances": {"m": "small"}}, r"participants.m.tolerance: is 'small'"),
        ({"tolerances": {"n": 1e-3}}, r"no participant 'n'"),
    ],
)
def test_wrong_tolerances_are_refused(logging_fmu: Path, options: dict[str, Any], text: str) -> None:
    with pytest.raises(cosim.ModelError, match=text):
        CoSimulation({"m": logging_fmu}, **options)


def test_the_times_of_an_fmu_are_used_if_it_is_the_only_one(logging_fmu: Path, tmp_path: Path) -> None:
    result = CoSimulation({"m": logging_fmu}).simulate()
    assert result.time.tolist() == [0.5 + 0.25 * i for i in range(9)]
    drive = TimedInputs({"u": [[0.0, 1.0]]})
    assert CoSimulation({"m": logging_fmu, "drive": drive}, ["drive.u -> m.u"]).simulate().time[-1] == 2.5
    loop = CoSimulation({"m": logging_fmu, "n": logging_fmu})
    assert (loop.start, loop.step, loop.until) == (0.0, 1e-3, None)
    (tmp_path / "one.toml").write_text(SCENARIO % "")
    scenario = Scenario.read(tmp_path / "one.toml")
    assert (scenario.start, scenario.step, scenario.until) == (0.5, 0.25, 1.0)
    assert scenario.couple(CoSimulation).simulate(scenario.until).time.tolist() == [0.5, 0.75, 1.0]


def test_without_a_usable_step_or_end_these_have_defaults_or_are_missing(
    make_fmu: Any, tmp_path: Path
) -> None:
    path = make_fmu("gain", experiment='<DefaultExperiment stopTime="10"/>')
    assert CoSimulation({"m": path}).step == 0.01  # a thousandth of the time to the end
    odd = make_fmu(
        "gain", name="odd", experiment='<DefaultExperiment startTime="3" stopTime="1" stepSize="-1"/>'
    )
    loop = CoSimulation({"m": odd})
    assert (loop.start, loop.step, loop.until) == (3.0, 1e-3, None)
    (tmp_path / "one.toml").write_text('[participants.m]\nfmu = "odd.fmu"\n')
    with pytest.raises(cosim.ModelError, match="step is missing.*\n.*until is missing"):
        Scenario.read(tmp_path / "one.toml").couple(CoSimulation)


def test_a_scenario_writes_the_log_of_an_fmu_at_its_level(logging_fmu: Path, tmp_path: Path) -> None:
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
def test_wrong_settings_of_logs_are_refused(logging_fmu: Path, tmp_path: Path, lines: str, text: str) -> None:
    path = tmp_path / "one.toml"
    path.write_text(SCENARIO % lines)
    with pytest.raises(cosim.ModelError, match=text):
        Scenario.read(path).couple(CoSimulation)
    path.write_text(
        '[participants.m]\nseries = { u = [[0, 1]] }\nlog = "m.log"\n[master]\nuntil = 1\nstep = 1\n'
    )
    with pytest.raises(cosim.ModelError, match="one.toml:3: participants.m.log.*participant keeps"):
        Scenario.read(path).couple(CoSimulation)


def test_a_log_that_cannot_be_written_is_an_error(logging_fmu: Path, tmp_path: Path) -> None:
    participant = FmuParticipant(logging_fmu)
    participant.write_log(tmp_path, "all")
    with pytest.raises(cosim.SimulationError, match="its.*directory"):
        CoSimulation({"m": participant}).simulate()


def test_a_warning_lists_signals_to_record_of_a_participant_without_outputs() -> None:
    variables = {
        n: kit.ParticipantVariable(n, c) for n, c in (("x", "local"), ("u", "input"), ("k", "parameter"))
    }

    class Hidden(TimedInputs):
        def describe(self) -> kit.ParticipantDescription:
            return kit.ParticipantDescription("hidden", variables)

        def get(self, names: Any) -> list[Any]:
            return [2.0 for _ in names]

    loop = CoSimulation({"m": Hidden({"u": [[0.0, 1.0]]})}, step=0.1)
    (warning,) = loop.simulate(0.1).warnings
    assert warning.startswith("m has no outputs") and 'signals = ["m.x", "m.u", "m.k"]' in warning
    named = loop.simulate(0.1, record=["m.x"])
    assert named.warnings == [] and named["m.x"].tolist() == [2.0, 2.0]
