"""Participants in processes of their own: same results, crashes and hangs end the run with one error."""

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from in_a_process import Ramp, SlowToBegin
from star_of_fmus import NAMES, STAR

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_fmu.scenario.scenario import Scenario
from cosim_master.participants.create_participants import open_fmu
from cosim_master.processes.channel import Channel

MakeFmu = Callable[..., Path]

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def ends_soon(process: int, seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(process)


SCRIPT = """
import sys, time
sys.path.insert(0, {tests!r})
from cosim_fmu import CoSimulation, ProcessParticipant

part = ProcessParticipant({fmu!r})
loop = CoSimulation({{"a": part}}, [], "jacobi", 0.1, starts={{"a.pause": 0.01, "a.hang_at": {hang}}})
loop.simulate(1e6, observe=lambda time, values: print(part.process_id, flush=True))
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(("algorithm", "threads"), [("jacobi", 3), ("waveform_iteration", 1)])
def test_same_bytes_as_in_this_process(make_fmu: MakeFmu, algorithm: str, threads: int) -> None:
    fmu = make_fmu("heavy")
    starts = {"a.y": 1.0, "b.return_at": 0.035} | {f"{name}.work": 20.0 for name in NAMES}
    local = dict.fromkeys(NAMES, fmu)
    mixed = {**local, "b": ProcessParticipant(fmu), "c": ProcessParticipant(open_fmu, fmu, "c")}
    local_result, mixed_result = (
        CoSimulation(parts, STAR, algorithm, 0.01, starts=starts, threads=count).simulate(0.1)
        for parts, count in ((local, 1), (mixed, threads))
    )
    for name in local_result.names:
        assert mixed_result[name].tobytes() == local_result[name].tobytes(), name
    assert [(e.time, e.handler) for e in mixed_result.events] == [
        (e.time, e.handler) for e in local_result.events
    ]
    assert np.ptp(local_result["d.y"]) > 0.0


def test_a_crash_is_one_error_that_names_the_participant(make_fmu: MakeFmu, tmp_path: Path) -> None:
    fmu, marker = make_fmu("heavy"), tmp_path / "marker"
    crashing = ProcessParticipant(fmu)
    starts = {"bad.crash_at": 0.35, "good.marker": str(marker)}
    loop = CoSimulation({"good": fmu, "bad": crashing}, [], "jacobi", 0.1, starts=starts)
    with pytest.raises(
        CoSimulationError, match=r"^at t = 0\.3 s: bad: its process was killed by SIGSEGV in step$"
    ) as caught:
        loop.simulate(1.0)
    assert caught.value.result["good.y"].size == 4
    assert marker.read_text() == "terminated\nfreed\n"
    assert crashing.process_id is None
    assert loop.simulate(0.3).message == ""  # a new process


def test_a_process_that_exits_and_one_that_hangs_are_errors(make_fmu: MakeFmu) -> None:
    exiting = ProcessParticipant(Ramp, 2.0, leave_at=0.25)
    with pytest.raises(CoSimulationError, match="process ended.*7"):
        CoSimulation({"a": exiting}, [], "jacobi", 0.1).simulate(1.0)
    hanging = ProcessParticipant(make_fmu("heavy"), timeout=0.5)
    loop = CoSimulation({"a": hanging}, [], "jacobi", 0.1, starts={"a.hang_at": 0.25})
    with pytest.raises(CoSimulationError, match=r"process did.*0\.5"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)


def test_the_limit_of_a_call_does_not_count_the_start_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = ProcessParticipant(SlowToBegin, timeout=1.0)
    with monkeypatch.context() as patch:
        patch.setattr(time, "sleep", lambda seconds: None)  # only in this process
        slow.write_log(tmp_path / "log.txt")
    result = CoSimulation({"a": slow}, [], "jacobi", 0.1).simulate(0.5)
    assert result.time[-1] == pytest.approx(0.5)


def test_errors_are_the_same_as_in_this_process(make_fmu: MakeFmu) -> None:
    starts = {"p.fail_at": 0.25, "p.fail_status": 3}
    messages = []
    for part in (make_fmu("failing"), ProcessParticipant(make_fmu("failing"), "failing")):
        loop = CoSimulation({"p": part}, [], "jacobi", 0.1, starts=starts)
        with pytest.raises(CoSimulationError, match="ran dry") as caught:
            loop.simulate(1.0)
        assert isinstance(caught.value.__cause__, cosim.FmuError)
        assert caught.value.__cause__.function == "fmi2DoStep"
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_requests_to_stop_are_the_same_as_in_this_process(make_fmu: MakeFmu) -> None:
    starts = {"p.fail_at": 0.25, "p.fail_status": 2, "p.asks_to_stop": True, "p.reached": 0.24}
    messages = []
    for part in (make_fmu("failing"), ProcessParticipant(make_fmu("failing"), "failing")):
        result = CoSimulation({"p": part}, [], "jacobi", 0.1, starts=starts).simulate(1.0)
        assert result.time[-1] == pytest.approx(0.3)
        messages.append(result.message)
    assert messages[0] == messages[1]
    assert messages[0].startswith("p asked to stop at 0.24 s: ") and "ran dry" in messages[0]


def test_the_traceback_of_a_broken_pipe_holds_no_view_of_a_bytesio() -> None:
    """CPython may crash when it frees views of a `BytesIO`."""
    end, other_end = socket.socketpair()
    other_end.close()
    with pytest.raises(BrokenPipeError) as broken, end:
        Channel(end.fileno(), end.fileno()).send([1, "step", [0.0, 0.1]])
    local_values = [value for entry in broken.traceback for value in entry.frame.f_locals.values()]
    assert b"step" in b"".join(value for value in local_values if isinstance(value, bytes))
    assert all(isinstance(view.obj, bytes) for view in local_values if isinstance(view, memoryview))


def test_saved_states_stay_in_the_process_and_are_freed() -> None:
    gc.freeze()  # gc.collect below need not search the objects of other tests
    part = ProcessParticipant(Ramp, 3.0)
    part.initialize(0.0, None, {})
    try:
        assert part.get(["process", "main"]) == [part.process_id, 0.0]
        assert part.process_id != os.getpid()
        token = part.save()
        assert part.step(0.0, 0.5) == 0.5
        data = part.serialize(part.save())
        part.restore(token)
        assert part.get(["y"]) == [0.0]
        part.restore(part.deserialize(data))
        assert part.get(["y"]) == [1.5]
        with pytest.raises(cosim.CosimError, match="participant"):
            part.restore(object())
    finally:
        part.close()
    part.close()

    # a second process numbers its states anew: freeing the old token must not free the new one
    part.initialize(0.0, None, {})
    try:
        new_token = part.save()
        del token
        gc.collect()
        part.restore(new_token)
    finally:
        part.close()


@pytest.mark.thorough
@pytest.mark.parametrize("crash_at", [1e300, 0.25])
def test_no_process_and_no_folder_is_left(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crash_at: float
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    part = ProcessParticipant(make_fmu("heavy"))
    process_ids: list[int | None] = []
    loop = CoSimulation({"a": part}, [], "jacobi", 0.1, starts={"a.crash_at": crash_at})
    with pytest.raises(CoSimulationError) if crash_at < 0.5 else nullcontext():
        loop.simulate(0.5, observe=lambda time, values: process_ids.append(part.process_id))
    assert process_ids[0] is not None and ends_soon(process_ids[0])
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("signals", "hang"),
    [
        pytest.param(["SIGKILL"], 1e300, marks=pytest.mark.thorough),
        (["SIGKILL"], 0.35),
        (["SIGINT"] * 2, 0.35),
    ],
)
def test_the_process_ends_with_the_run(
    make_fmu: MakeFmu, tmp_path: Path, signals: list[str], hang: float
) -> None:
    """Also if the run is killed, or interrupted twice in a step that never ends."""
    script = tmp_path / "run.py"  # multiprocessing would need a guard for __main__ there
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent), fmu=str(make_fmu("heavy")), hang=hang))
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    try:
        workers = {int(process.stdout.readline()) for _ in range(3)}
        time.sleep(0.3)
        for name in signals:
            process.send_signal(getattr(signal, name))
            time.sleep(0.3)
        process.wait(20.0)
        errors = process.stderr.read().decode()
    finally:
        process.kill()
        process.stdout.close()
        process.stderr.close()
    (worker,) = workers
    assert ends_soon(worker)
    assert ("KeyboardInterrupt" in errors) == ("SIGINT" in signals)


def test_wrong_arguments_of_a_process_participant(tmp_path: Path) -> None:
    with pytest.raises(cosim.ModelError, match="another process"):
        ProcessParticipant(lambda: Ramp())
    with pytest.raises(cosim.ModelError, match="timeout.*greater than 0"):
        ProcessParticipant(Ramp, timeout=0.0)
    with pytest.raises(cosim.FmuError, match="no such file"):
        CoSimulation({"a": ProcessParticipant(tmp_path / "missing.fmu")})


def test_processes_and_threads_in_a_scenario(make_fmu: MakeFmu, tmp_path: Path) -> None:
    make_fmu("heavy")
    file = tmp_path / "loop.toml"
    text = """
[participants.a]
fmu = "heavy.fmu"
process = true
parameters = { y = 1.0 }
[participants.b]
fmu = "heavy.fmu"
[[connections]]
from = "a.y"
to = "b.u"
[master]
algorithm = "jacobi"
step = 0.1
until = 0.5
threads = 2
"""
    file.write_text(text)
    loop = Scenario.read(file).couple(CoSimulation)
    assert isinstance(loop.participants["a"], ProcessParticipant) and loop.threads == 2
    assert loop.descriptions["a"].kind == "FMI 2.0 Co-Simulation, own process"
    result = loop.simulate(0.5)
    assert result["a.y"] == pytest.approx(0.9 ** np.arange(6.0))
    file.write_text(text.replace("process = true", 'process = "yes"').replace("threads = 2", "threads = 0"))
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(file).couple(CoSimulation)
    assert "process: is 'yes', needs" in str(caught.value)
    assert "threads: is 0, needs" in str(caught.value)


def test_after_an_interrupted_call_no_answer_is_read(
    make_fmu: MakeFmu, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt comes when the message has been sent; its answer must not pass for another one."""
    part = ProcessParticipant(make_fmu("heavy"))
    part.initialize(0.0, 1.0, {})
    part.exit_initialization()
    session = part._calls.session
    assert session is not None
    channel = session._channel

    def send_and_interrupt(*arguments: Any) -> None:
        type(channel).send(channel, *arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(channel, "send", send_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            part.save()
    assert part.events == part.warnings == [] and session.lost
    with pytest.raises(cosim.CosimError):
        part.get(["y"])
    part.close()
