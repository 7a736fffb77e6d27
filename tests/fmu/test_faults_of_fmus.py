"""Exits, crashes, errors and changed settings in calls of an FMU, in this process and in another."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from faults_fmu import CALLS, NEVER_ENDS, RESTS, Compiled, Cosimulate, command, last_time, make_faulty

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, FmuParticipant, ProcessParticipant

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals, /proc and the GNU C library")


def start_run(folder: Path, fmu: Path, more: str = "", **options: Any) -> subprocess.Popen[str]:
    """Start a run in a process of its own."""
    words = [sys.executable, "-m", "cosim", *command(folder, fmu, more)]
    return subprocess.Popen(
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


ABLE = " ".join(
    f'{ability}="true"'
    for ability in ("canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative")
)
QUICK = ("GetFMUstate", "DeSerializeFMUstate", "FreeFMUstate")
"""Of the calls for states and derivatives, those of a short run."""
CALLS_FOR_STATES: dict[str, Callable[[Any], Any]] = {
    "GetFMUstate": lambda part: part.save(),
    "SetFMUstate": lambda part: part.restore(part.save()),
    "SerializedFMUstateSize": lambda part: part.serialize(part.save()),
    "SerializeFMUstate": lambda part: part.serialize(part.save()),
    "DeSerializeFMUstate": lambda part: part.deserialize(part.serialize(part.save())),
    "GetDirectionalDerivative": lambda part: part.directional_derivative(["y"], ["u"], [1.0]),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("where", CALLS)
def test_exit_in_this_process_is_an_error(
    where: str, tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    status, _, messages = cosimulate(tmp_path, make_faulty(tmp_path, compiled, where, "exit(0)"))
    assert status == 1, messages
    assert "called exit()" in messages and "Traceback" not in messages
    if where in ("DoStep", "Terminate", "FreeInstance", "UNLOAD"):
        assert last_time(tmp_path) == pytest.approx(0.4 if where == "DoStep" else 1.0)
        assert "results up to t = " in messages


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["LOAD", "SetReal", "DoStep"])
def test_exit_in_another_process_is_an_error_of_the_call(
    where: str, tmp_path: Path, compiled: Compiled
) -> None:
    part = ProcessParticipant(make_faulty(tmp_path, compiled, where, "exit(0)"))
    loop = CoSimulation({"m": part}, [], "jacobi", 0.1, starts={"m.u": 1.0})
    with pytest.raises(CoSimulationError, match=r"m: .*called exit\(\)"):
        loop.simulate(1.0)
    part = ProcessParticipant(make_faulty(tmp_path, compiled, where, "_exit(0)"))
    loop = CoSimulation({"m": part}, [], "jacobi", 0.1, starts={"m.u": 1.0})
    with pytest.raises(CoSimulationError, match="process ended.*0"):
        loop.simulate(1.0)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "where",
    [
        *QUICK,
        *(
            pytest.param(where, marks=pytest.mark.thorough)
            for where in CALLS_FOR_STATES
            if where not in QUICK
        ),
    ],
)
def test_faults_in_calls_for_states_and_derivatives(where: str, tmp_path: Path, compiled: Compiled) -> None:
    """A crash, an exit and an error in another process, and an error in this one, are errors of the call."""
    call = CALLS_FOR_STATES.get(where, CALLS_FOR_STATES["SetFMUstate"])
    for fault, message in (
        ("raise(SIGSEGV)", "SIGSEGV"),
        ("exit(0)", "called exit"),
        ("status = 3", "failed with status error"),
    ):
        fmu = make_faulty(tmp_path, compiled, where, fault, ABLE)
        parts = [ProcessParticipant(fmu)] + ([FmuParticipant(fmu)] if fault == "status = 3" else [])
        for part in parts:
            part.initialize(0.0, 1.0, {"u": 1.0})
            part.exit_initialization()
            part.step(0.0, 0.1)
            if where == "FreeFMUstate":  # a state is freed later, when nothing refers to it
                call(part)
            else:
                with pytest.raises(cosim.CosimError, match=message):
                    call(part)
            part.close()


def test_directional_derivatives_pass_to_another_process(tmp_path: Path, compiled: Compiled) -> None:
    part = ProcessParticipant(make_faulty(tmp_path, compiled, "NOWHERE", "", ABLE))
    assert part.describe().has_derivatives
    part.initialize(0.0, 1.0, {})
    part.exit_initialization()
    assert list(part.directional_derivative(["y"], ["u"], [2.0])) == [6.0]
    part.close()


@pytest.mark.parametrize("where", ["GetFMUstate", "FreeFMUstate"])
def test_exit_in_calls_for_states_in_this_process(
    where: str, tmp_path: Path, compiled: Compiled, cosimulate: Cosimulate
) -> None:
    fmu = make_faulty(tmp_path, compiled, where, "exit(0)", ABLE)
    status, _, messages = cosimulate(tmp_path, fmu, algorithm="adaptive")
    assert status == 1, messages
    # the compiled loop saves states, and does not know which function it was
    assert "FMU called exit()" in messages and "Traceback" not in messages


def test_exit_in_a_probe_is_a_finding(tmp_path: Path, compiled: Compiled) -> None:
    from cosim_fmi.validate.validate_command import check_run

    findings = list(check_run(make_faulty(tmp_path, compiled, "SetupExperiment", "exit(0)"), 60.0))
    text = "fmi2SetupExperiment: the FMU called exit()"
    assert any(f.severity == "error" and text in f.text for f in findings)


class Settings(NamedTuple):
    """Settings of this process that an FMU can change."""

    rounding: int
    folder: Path
    handlers: list[bytes]
    """Addresses of the handlers of signals."""


def settings() -> Settings:
    """The settings as they are now."""
    libc, action = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    handlers = []
    for name in ("SIGINT", "SIGTERM", "SIGFPE", "SIGSEGV"):
        libc.sigaction(int(getattr(signal, name)), None, action)
        handlers.append(action.raw[:8])
    return Settings(ctypes.CDLL("libm.so.6").fegetround(), Path.cwd(), handlers)


@pytest.mark.few(5)
@pytest.mark.parametrize("fault", ["disturb()", "(disturb(), status = 3)", "(disturb(), status = 4)"])
@pytest.mark.parametrize("where", CALLS)
def test_settings_that_an_fmu_changes_are_restored(
    where: str, fault: str, tmp_path: Path, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    part = FmuParticipant(make_faulty(tmp_path, compiled, where, fault))
    before = settings()
    is_after_start = where in ("DoStep", "GetReal", "Terminate", "FreeInstance")
    try:
        part.initialize(0.0, 1.0, {"u": 1.0})
        part.exit_initialization()
        if not is_after_start:
            assert settings() == before
        part.step(0.4, 0.1)
        part.get(["y"])
    except cosim.FmuError:
        # the folder is set back when the participant is closed
        assert settings()._replace(folder=before.folder) == before
    finally:
        part.close()
        os.chdir(tmp_path)
    assert settings() == before


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.thorough)],
)
def test_ctrl_c_and_sigterm_end_an_isolated_fmu_that_loops(
    tmp_path: Path, compiled: Compiled, number: int, status: int
) -> None:
    loop_file = tmp_path / "it_loops"  # the FMU writes it before it loops
    fault = f'fclose(fopen("{loop_file.name}", "w")); {RESTS if number == signal.SIGINT else NEVER_ENDS}'
    process = start_run(tmp_path, make_faulty(tmp_path, compiled, "DoStep", fault), "process = true")
    until = time.monotonic() + 60.0
    while not loop_file.exists():
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    (child,) = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
    process.send_signal(number)
    start = time.monotonic()
    _, messages = process.communicate(timeout=30.0)
    assert time.monotonic() - start < 15.0
    assert process.returncode == status and "terminated" * (status == 143) in messages
    assert last_time(tmp_path) == pytest.approx(0.4)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.thorough
def test_folders_of_killed_processes_are_removed(tmp_path: Path, compiled: Compiled) -> None:
    """Folders of a process that still runs remain."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", RESTS)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    make_folder = [sys.executable, "-c", "from cosim.kit import *; private_folder('x')"]
    running = [start_run(tmp_path, fmu, more, env=environment) for more in ("process = true", "")]
    try:
        until = time.monotonic() + 30.0
        while len(list(temporary.glob("cosim-run-*"))) < 2:  # one folder for each run
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(1.0)
        assert len(list(temporary.iterdir())) == 2
        running[0].kill()
        running[0].wait()
        time.sleep(1.0)
        subprocess.run(make_folder, env=environment, check=True)  # removes the folder of the killed run
        assert len(list(temporary.iterdir())) == 2  # those of the other run and of the last process
    finally:
        for process in running:
            process.kill()
            process.communicate()
    subprocess.run(make_folder, env=environment, check=True)
    assert len(list(temporary.iterdir())) == 1
