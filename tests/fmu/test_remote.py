"""FMUs on a server: same bytes, one message a step, stored files, crashes, hangs and checkpoints."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from contract_toys import case
from fmi1_fmu import make_fmi1
from remote_star import own_server, star, wait_for
from same_results import assert_same
from serving import Server
from star_of_fmus import NAMES, STAR

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.processes import remote_session
from cosim_master.processes.calls import Call, calls_of_numbers
from cosim_master.processes.channel import Channel, Numbers
from cosim_master.processes.sent_fmus import remove_oldest

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from failing_checks import failing_checks  # noqa: E402

assert own_server  # a fixture
MakeFmu = Callable[..., Path]
Compiled = Callable[..., Path]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the calls in each message that this process sends."""
    messages: list[str] = []
    send, send_numbers = Channel.send, Channel.send_numbers

    def record_and_send(channel: Channel, calls: list[Call]) -> None:
        messages.append(" ".join(call.name for call in calls))
        send(channel, calls)

    def record_and_send_numbers(channel: Channel, numbers: Numbers) -> None:
        messages.append(" ".join(call.name for call in calls_of_numbers(numbers)))
        send_numbers(channel, numbers)

    monkeypatch.setattr(Channel, "send", record_and_send)
    monkeypatch.setattr(Channel, "send_numbers", record_and_send_numbers)
    return messages


@pytest.mark.parametrize(
    ("algorithm", "threads", "names"),
    [
        ("jacobi", 1, NAMES),
        ("jacobi", 3, NAMES[1:]),
        pytest.param("gauss_seidel", 1, NAMES[:2], marks=pytest.mark.thorough),
        pytest.param("waveform_iteration", 1, NAMES, marks=pytest.mark.thorough),
        ("adaptive", 1, NAMES[::2]),
    ],
)
def test_same_bytes_as_in_this_process(
    make_fmu: MakeFmu, server: Server, algorithm: str, threads: int, names: str
) -> None:
    fmu = make_fmu("heavy")
    starts = {"a.y": 1.0, "b.return_at": 0.035} | {f"{name}.work": 20.0 for name in NAMES}
    local, remote = (
        CoSimulation(parts, STAR, algorithm, 0.01, starts=starts, threads=count).simulate(0.1)
        for parts, count in ((dict.fromkeys(NAMES, fmu), 1), (star(fmu, server.host, names), threads))
    )
    assert_same(local, remote)
    assert np.ptp(local["d.y"]) > 0.0


def test_participants_of_one_process_step_in_one_message(
    make_fmu: MakeFmu, server: Server, messages: list[str]
) -> None:
    fmu = make_fmu("heavy")
    parts = {
        **{name: ProcessParticipant(fmu, host=server.host) for name in "ab"},
        "c": ProcessParticipant(fmu, host=server.host, own_process=True),
    }
    links = ["a.y -> b.u", "b.y -> c.u"]
    result = CoSimulation(parts, links, "jacobi", 0.1, starts={"a.y": 1.0}).simulate(1.0)
    steps = [message for message in messages if "step" in message]
    assert steps == ["step step", "step"] * 10
    # around the first step values are read in messages of their own, later in those of the steps
    messages_of_run = messages[messages.index("step step") : messages.index("close")]
    others = [message for message in messages_of_run if "step" not in message]
    assert others[:3] == ["get"] * 3 and {*others[3:]} == {"events", "warnings"}
    local = CoSimulation(dict.fromkeys("abc", fmu), links, "jacobi", 0.1, starts={"a.y": 1.0})
    assert_same(local.simulate(1.0), result)


@pytest.mark.thorough
def test_isolated_fmus_on_this_machine_step_at_the_same_time(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("heavy")
    parts = {name: ProcessParticipant(fmu) for name in "abcd"}
    starts = {f"{name}.pause": 0.2 for name in parts}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.5)
    one_after_the_other = 4 * 5 * 0.2  # participants, steps, pause
    assert result.statistics["stepping_time"] < 0.7 * one_after_the_other


def test_a_file_is_sent_once(make_fmu: MakeFmu, own_server: Server, messages: list[str]) -> None:
    fmu = make_fmu("heavy")
    for _ in range(2):
        CoSimulation(star(fmu, own_server.host), [], "jacobi", 0.1).simulate(0.1)
    assert messages.count("has") == 2 and messages.count("send") == 1
    digest = hashlib.sha256(fmu.read_bytes()).hexdigest()
    stored = own_server.store / "fmus" / f"{digest}.fmu"
    assert stored.read_bytes() == fmu.read_bytes() and stored.parent.stat().st_mode & 0o777 == 0o700
    stored.write_bytes(stored.read_bytes()[:-1])  # damaged: it is sent again
    CoSimulation(star(fmu, own_server.host), [], "jacobi", 0.1).simulate(0.1)
    assert messages.count("send") == 2 and stored.read_bytes() == fmu.read_bytes()
    assert f"(sha256 {digest[:12]}…)" in own_server.log.read_text()
    assert sorted(path.name for path in stored.parent.iterdir()) == sorted([stored.name, "lock"])


def test_files_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    for age, name in enumerate(("new.fmu", "middle.fmu", "old.fmu", "arriving-1", "arriving-2", "lock")):
        (tmp_path / name).write_bytes(bytes(100))
        last_use = time.time() - 100.0 * age - 1e5 * (name == "arriving-2")
        os.utime(tmp_path / name, (last_use, last_use))
    for most_bytes, remaining in (
        (300, {"new", "middle", "old"}),
        (299, {"new", "middle"}),
        (200, {"new", "middle"}),
        (0, {"new"}),
    ):
        remove_oldest(tmp_path, most_bytes)
        assert {path.stem for path in tmp_path.iterdir()} == remaining | {"arriving-1", "lock"}


def test_values_of_all_types_and_versions(
    tmp_path: Path, make_fmu: MakeFmu, compiled: Compiled, server: Server
) -> None:
    paths = {
        "one": make_fmi1(tmp_path, compiled),
        "two": make_fmu("types"),
        "three": make_box3(tmp_path, compiled),
    }
    starts = {
        **{"one.text": "tschüs", "one.flag": True, "two.string_in": 'grün, "1"', "two.boolean_in": False},
        **{"three.text_in": "grüße", "three.flag_in": True, "three.blob_in": b"\x01\xab"},
    }
    signals = ["one.*", "two.*_out", "three.*_out"]
    local, remote = (
        CoSimulation(parts, [], "jacobi", 0.1, starts=starts).simulate(0.3, record=signals)
        for parts in (paths, {n: ProcessParticipant(p, n, host=server.host) for n, p in paths.items()})
    )
    assert local.names == remote.names and len(local.names) > 10
    for name in local.names:
        assert local[name].tolist() == remote[name].tolist(), name
    assert set(remote["three.blob_out"]) == {"01ab"} and remote["two.string_out"][-1] == 'grün, "1"'


def test_a_crash_names_the_participant_the_call_and_the_host(
    make_fmu: MakeFmu, server: Server, tmp_path: Path
) -> None:
    fmu, marker = make_fmu("heavy"), tmp_path / "marker"
    parts = {"good": fmu, "bad": ProcessParticipant(fmu, "bad", host=server.host)}
    starts = {"bad.crash_at": 0.35, "good.marker": str(marker)}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts=starts)
    message = rf"^at t = 0\.3 s: bad: {server.host}: its process was killed by SIGSEGV in step$"
    with pytest.raises(CoSimulationError, match=message) as caught:
        loop.simulate(1.0)
    assert caught.value.result["good.y"].size == 4 and marker.read_text() == "terminated\nfreed\n"
    assert loop.simulate(0.3).message == ""  # a new process
    assert "killed by SIGSEGV" in server.log.read_text()


def test_a_crash_is_reported_by_all_participants_of_the_process(make_fmu: MakeFmu, server: Server) -> None:
    fmu = make_fmu("heavy")
    parts = {name: ProcessParticipant(fmu, name, host=server.host) for name in ("good", "bad")}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts={"bad.crash_at": 0.35})
    with pytest.raises(
        CoSimulationError, match=r"good: tcp://.*: its process was killed by SIGSEGV in step of bad$"
    ):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result["good.y"].size == 4


def test_errors_are_the_same_as_in_this_process(make_fmu: MakeFmu, server: Server) -> None:
    starts = {"p.fail_at": 0.25, "p.fail_status": 3}
    messages = []
    fmu = make_fmu("failing")
    for part in (fmu, ProcessParticipant(fmu, host=server.host)):
        with pytest.raises(CoSimulationError) as caught:
            CoSimulation({"p": part}, [], "jacobi", 0.1, starts=starts).simulate(1.0)
        assert isinstance(caught.value.__cause__, cosim.FmuError)
        assert caught.value.__cause__.function == "fmi2DoStep"
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


@pytest.mark.thorough
def test_a_call_that_takes_too_long_is_ended_on_the_server(make_fmu: MakeFmu, own_server: Server) -> None:
    hanging = ProcessParticipant(make_fmu("heavy"), timeout=0.5, host=own_server.host)
    loop = CoSimulation({"a": hanging}, [], "jacobi", 0.1, starts={"a.hang_at": 0.25})
    message = rf"a: {own_server.host}: its process did not return from step within 0\.5 s and was killed"
    with pytest.raises(CoSimulationError, match=message):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)
    assert wait_for(lambda: own_server.workers() == [])
    assert "process was killed" in own_server.log.read_text()


def test_the_time_limit_of_a_run_ends_a_call_on_the_server(make_fmu: MakeFmu, server: Server) -> None:
    loop = CoSimulation(
        star(make_fmu("heavy"), server.host, "a"), [], "jacobi", 0.1, starts={"a.hang_at": 0.25}
    )
    with pytest.raises(cosim.SimulationError, match="time limit.*1"):
        loop.simulate(1.0, time_limit=1.0)


def test_a_killed_server_loses_the_connection_and_keeps_the_results(
    make_fmu: MakeFmu, own_server: Server
) -> None:
    def kill(time: float, values: Any) -> None:
        if time > 0.25:
            own_server.process.kill()
            wait_for(lambda: own_server.process.poll() is not None)
            while own_server.workers():
                pass

    loop = CoSimulation(star(make_fmu("heavy"), own_server.host, "a"), [], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match=rf"a: {own_server.host}: the connection was lost in step$"):
        loop.simulate(1.0, observe=kill)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.3)
    with pytest.raises(cosim.CosimError, match="server answers.*`cosim serve`"):
        loop.simulate(1.0)


@pytest.mark.thorough
def test_a_stopped_process_is_an_error_and_a_busy_one_is_not(
    make_fmu: MakeFmu, own_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_session, "SECONDS_OF_SILENCE", 6.0)
    fmu = make_fmu("heavy")
    starts = {"a.pause": 8.0}
    busy = CoSimulation(star(fmu, own_server.host, "a"), [], "jacobi", 0.1, starts=starts).simulate(0.1)
    assert busy.message == ""

    def stop(time: float, values: Any) -> None:
        if time > 0.25:
            for process in own_server.workers():
                os.kill(process, signal.SIGSTOP)

    loop = CoSimulation(star(fmu, own_server.host, "a"), [], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match=rf"a: {own_server.host}: no data received for 6 s in step"):
        loop.simulate(1.0, observe=stop)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.3)
    assert wait_for(lambda: own_server.workers() == [])  # the server has killed it


@pytest.mark.thorough
@pytest.mark.parametrize("end_signal", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_resumed_from_a_checkpoint_has_the_same_bytes(
    make_fmu: MakeFmu, own_server: Server, tmp_path: Path, end_signal: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_session, "SECONDS_OF_SILENCE", 3.0)
    fmu, saved = make_fmu("mass"), tmp_path / "saved"

    def loop() -> CoSimulation:
        parts = {name: ProcessParticipant(fmu, name, host=own_server.host) for name in "ab"}
        links = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
        return CoSimulation(parts, links, "jacobi", 0.1, starts={"b.kc": 3.0, "b.m": 2.0})

    expected = loop().simulate(2.0)
    interrupted = loop()

    def save_and_signal(time: float, values: Any) -> None:
        if abs(time - 1.0) < 0.01:
            saved.write_bytes(interrupted.save())
        if time > 1.25:
            for process in own_server.workers():
                os.kill(process, end_signal)

    with pytest.raises(CoSimulationError):
        interrupted.simulate(2.0, observe=save_and_signal)
    own_server.kill()
    own_server.restart()
    resumed = loop()
    assert resumed.restore(saved) == pytest.approx(1.0)
    assert_same(expected, resumed.simulate(2.0))


@pytest.mark.thorough
def test_a_remote_participant_passes_the_contract(make_fmu: MakeFmu, server: Server) -> None:
    path = make_fmu("mass")
    assert failing_checks(case(lambda: ProcessParticipant(path, host=server.host))) == []


def test_logs_are_written_on_this_machine(make_fmu: MakeFmu, server: Server, tmp_path: Path) -> None:
    fmu, logs = make_fmu("failing"), []
    starts = {"p.fail_at": 0.25, "p.fail_status": 3}
    for name, host in (("here", None), ("there", server.host)):
        part = ProcessParticipant(fmu, "p", host=host)
        part.write_log(tmp_path / name, "all")
        with pytest.raises(CoSimulationError):
            CoSimulation({"p": part}, [], "jacobi", 0.1, starts=starts).simulate(1.0)
        logs.append((tmp_path / name).read_text())
    assert logs[0] == logs[1] and "ran dry" in logs[0]
