"""Exported FMUs answer wrong calls and failing steps with an error and a message, and remain usable."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from export_tools import Fmu, export, fuse, oscillator, running

from cosim_export.interface.archive import read_archive, write_archive

H = 0.01


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(oscillator(), tmp_path_factory.mktemp("fmu") / "oscillator.fmu", step_size=H, stop_time=1.0)


@pytest.mark.parametrize(
    ("time", "size", "reason"),
    [
        (0.0, 0.0, "the step size is 0.0 s, needs more than 0"),
        (0.0, -0.1, "the step size is -0.1 s, needs more than 0"),
        (0.0, math.nan, "have to be finite"),
        (0.5, 0.1, "the instance is at t = 0.0 s"),
        (0.0, 3.0, "after the stop time 2.0 s"),
    ],
)
def test_wrong_steps_are_refused(oscillator_fmu: Path, time: float, size: float, reason: str) -> None:
    from fmpy.fmi1 import FMICallException

    with running(oscillator_fmu) as fmu:
        fmu.start(stop=2.0)
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(time, size)
        assert any(reason in message for message in fmu.messages)
        fmu.slave.doStep(0.0, 0.1)
        assert fmu["osc.x"] != 0.1


def test_a_step_before_initialization_is_refused(oscillator_fmu: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(oscillator_fmu) as fmu:
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(0.0, 0.1)
        assert any("initialize first" in message for message in fmu.messages)


def test_a_failing_component_is_a_message_and_an_error(tmp_path: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(export(fuse(), tmp_path / "fuse.fmu")) as fmu:
        fmu.start()
        fmu.slave.doStep(0.0, 0.1)
        fmu["fuse.signal"] = 2.0
        with pytest.raises(FMICallException, match="error"):
            fmu.slave.doStep(0.1, 0.1)
        text = "\n".join(fmu.messages)
        assert "fuse" in text and "fuse has blown" in text and "Traceback" in text
        with pytest.raises(FMICallException, match="error"):
            fmu["fuse.through"]
        fmu["fuse.signal"] = 0.5
        fmu.slave.doStep(0.1, 0.1)
        assert fmu["fuse.through"] == 0.5


def messages_of_error(fmu: Fmu, call: Any) -> str:
    """The messages of a call that has to fail."""
    from fmpy.fmi1 import FMICallException

    fmu.messages.clear()
    with pytest.raises(FMICallException, match="error"):
        call(fmu)
    return "\n".join(fmu.messages)


def assign(name: str, value: Any) -> Any:
    """A call that sets a variable."""
    return lambda fmu: fmu.__setitem__(name, value)


WRONG_CALLS = {
    "out of bounds": (assign("osc.mass", -1.0), "at least 0.1"),
    "NaN": (assign("osc.force", math.nan), "finite"),
    "a reference that does not exist": (
        lambda f: f.slave.getReal([999]),
        "no variable has the value reference 999",
    ),
    "another type": (
        lambda f: f.slave.getInteger([f.references["osc.x"]]),
        "osc.x is of type Real, not Integer",
    ),
    "a string": (lambda f: f.slave.setString([0], ["x"]), "is of type Real, not String"),
    "a state during the run": (assign("osc.x", 3.0), "osc.x: can be set only before initialization ends"),
    "an output": (assign("felt", 3.0), "felt: it is computed and cannot be set"),
    "setup": (lambda f: f.slave.setupExperiment(), "fmi2SetupExperiment: not allowed here"),
    "enter": (lambda f: f.slave.enterInitializationMode(), "not allowed here: the instance is between steps"),
    "exit": (lambda f: f.slave.exitInitializationMode(), "needs to be in initialization mode"),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("case", WRONG_CALLS)
def test_a_wrong_call_fails_at_once_and_changes_nothing(oscillator_fmu: Path, case: str) -> None:
    call, reason = WRONG_CALLS[case]
    with running(oscillator_fmu) as fmu:
        fmu.start()
        fmu.steps(0, 3)
        before = fmu.all()
        assert reason in messages_of_error(fmu, call)
        assert fmu.all() == before
        fmu.steps(3, 4)


def test_wrong_calls_before_the_start_fail(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        assert "instance is instantiated" in messages_of_error(fmu, lambda f: f.slave.terminate())
        assert "instance is instantiated" in messages_of_error(
            fmu, lambda f: f.slave.exitInitializationMode()
        )
        for tolerance in (0.0, -1.0, 2.0, math.nan):
            assert "tolerance" in messages_of_error(
                fmu, lambda f, tolerance=tolerance: f.slave.setupExperiment(tolerance=tolerance)
            )
        assert "start time" in messages_of_error(fmu, lambda f: f.slave.setupExperiment(startTime=math.inf))
        assert "stop time" in messages_of_error(
            fmu, lambda f: f.slave.setupExperiment(startTime=2.0, stopTime=1.0)
        )
        fmu.start()
        fmu.steps(0, 2)


def test_percent_signs_in_messages_are_doubled(tmp_path: Path) -> None:
    """FMI's logger takes a format of printf, in which a single % stands for an argument."""
    with running(export(fuse(), tmp_path / "fuse.fmu")) as fmu:
        fmu.start()
        fmu.slave.doStep(0.0, 0.1)
        fmu["fuse.signal"] = 7.0
        assert "more than 100 %% of \N{GREEK SMALL LETTER MU}, %%s %%n" in messages_of_error(
            fmu, lambda f: f.slave.doStep(0.1, 0.1)
        )


def test_if_the_library_cannot_return_errors_the_next_step_is_discarded(
    oscillator_fmu: Path, tmp_path: Path
) -> None:
    """On Windows a wrong value is logged, and steps are discarded until a right value is set."""
    from fmpy.fmi1 import FMICallException

    files = read_archive(oscillator_fmu)
    manifest = json.loads(files["resources/manifest.json"])
    assert manifest["answers_errors"] == ["linux64"]
    manifest["answers_errors"] = []
    files["resources/manifest.json"] = json.dumps(manifest).encode()
    write_archive(tmp_path / "elsewhere.fmu", files)
    with running(tmp_path / "elsewhere.fmu") as fmu:
        fmu.start()
        fmu["osc.mass"] = -1.0
        assert any("at least 0.1" in message for message in fmu.messages)
        assert fmu["osc.mass"] == 2.0
        assert math.isnan(fmu.slave.getReal([999])[0])
        with pytest.raises(FMICallException, match="discard"):
            fmu.slave.doStep(0.0, 0.1)
        fmu["osc.mass"] = 3.0
        fmu.slave.doStep(0.0, 0.1)
        with pytest.raises(FMICallException, match="discard"):
            fmu.slave.doStep(0.0, -0.1)
