"""Steps after a saved state of an FMU is restored have the same bits, also in another process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from export_tools import Fmu, ball, export, oscillator, running

H = 0.01


@pytest.fixture(scope="module")
def oscillator_fmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(oscillator(), tmp_path_factory.mktemp("fmu") / "oscillator.fmu")


def drive(fmu: Fmu, first: int, last: int) -> list[list[float]]:
    """The values of all variables after each step, with inputs and parameters that change between steps."""
    rows = []
    for i in range(first, last):
        fmu["osc.force"] = 3.0 * (i % 5)
        if i % 7 == 0:
            fmu["osc.stiffness"] = 50.0 + i
        fmu.slave.doStep(i * H, H)
        rows.append(fmu.all())
    return rows


def test_steps_after_restoring_have_the_same_values(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        fmu.start()
        drive(fmu, 0, 13)
        saved = fmu.slave.getFMUState()
        at_save = fmu.all()
        after = drive(fmu, 13, 30)
        assert fmu["felt"] != fmu["osc.position"] and fmu["osc.dissipated_energy"] > 0.0
        fmu.slave.setFMUState(saved)
        assert fmu.all() == at_save
        assert drive(fmu, 13, 30) == after
        fmu.slave.setFMUState(saved)
        fmu.slave.freeFMUState(saved)
        assert drive(fmu, 13, 30) == after


def test_saving_does_not_change_a_run(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        fmu.start()
        without = drive(fmu, 0, 20)
        fmu.slave.reset()
        fmu.start()
        rows = []
        for i in range(20):
            fmu.slave.freeFMUState(fmu.slave.getFMUState())
            rows += drive(fmu, i, i + 1)
        assert rows == without


def test_a_state_can_be_restored_after_a_failed_step(oscillator_fmu: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(oscillator_fmu) as fmu:
        fmu.start()
        drive(fmu, 0, 5)
        saved = fmu.slave.getFMUState()
        after = drive(fmu, 5, 9)
        with pytest.raises(FMICallException):
            fmu.slave.doStep(9 * H, -H)
        fmu.slave.setFMUState(saved)
        assert drive(fmu, 5, 9) == after


def test_events_and_counters_are_restored(tmp_path: Path) -> None:
    with running(export(ball(), tmp_path / "ball.fmu", expose=["ball.*"])) as fmu:
        fmu.start()

        def run(first: int, last: int) -> list[list[float]]:
            rows = []
            for i in range(first, last):
                fmu.slave.doStep(i * H, H)
                rows.append([*fmu.all(), fmu["ball.bounces"]])
            return rows

        run(0, 40)
        saved = fmu.slave.getFMUState()
        after = run(40, 140)
        assert after[-1][-1] >= 2
        fmu.slave.setFMUState(saved)
        assert fmu["ball.bounces"] == 0
        assert run(40, 140) == after


def test_a_state_that_is_saved_before_initialization_can_be_restored(oscillator_fmu: Path) -> None:
    with running(oscillator_fmu) as fmu:
        saved = fmu.slave.getFMUState()
        fmu.start()
        first = drive(fmu, 0, 5)
        fmu.slave.setFMUState(saved)
        fmu.start()
        assert drive(fmu, 0, 5) == first


OTHER_PROCESS = """
import json, sys
from pathlib import Path
from export_tools import running
from test_export_state import drive
outcomes = []
for is_initialized in (True, False):
    with running(Path(sys.argv[1])) as fmu:
        if is_initialized:
            fmu.start()
        saved = fmu.slave.deserializeFMUState(Path(sys.argv[2]).read_bytes())
        fmu.slave.setFMUState(saved)
        outcomes.append([fmu.messages, drive(fmu, 13, 30)])
json.dump(outcomes, sys.stdout)
"""


def test_another_process_continues_from_a_serialized_state(oscillator_fmu: Path, tmp_path: Path) -> None:
    """The instance there may be initialized or not."""
    with running(oscillator_fmu) as fmu:
        fmu.start()
        drive(fmu, 0, 13)
        (tmp_path / "state").write_bytes(fmu.slave.serializeFMUState(fmu.slave.getFMUState()))
        after = drive(fmu, 13, 30)
    process = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(oscillator_fmu), str(tmp_path / "state")],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(process.stdout) == [[[], after]] * 2


def test_wrong_bytes_are_refused_and_change_nothing(oscillator_fmu: Path, tmp_path: Path) -> None:
    from fmpy.fmi1 import FMICallException

    with running(oscillator_fmu) as fmu:
        fmu.start()
        drive(fmu, 0, 3)
        data = fmu.slave.serializeFMUState(fmu.slave.getFMUState())
        before = fmu.all()
        for wrong_data, reason in (
            (b"rubbish", "not the bytes of a state"),
            (data[:-3], "damaged"),
            (data[:200] + bytes([data[200] ^ 1]) + data[201:], "damaged"),
            (b"COSIMFMU1\nx\n" + data, "damaged (header)"),
        ):
            fmu.messages.clear()
            with pytest.raises(FMICallException, match="error"):
                fmu.slave.setFMUState(fmu.slave.deserializeFMUState(wrong_data))
            assert any(reason in message for message in fmu.messages), wrong_data[:20]
            assert fmu.all() == before
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(data))
        drive(fmu, 3, 4)
