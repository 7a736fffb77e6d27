"""Compiled code on both sides steps participants of other processes to the same bytes.

Messages of another kind, failures and few steps are left to Python.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from same_results import assert_same
from serving import Server

from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.process_participant import LEAST_REMOTE_STEPS
from cosim_master.processes import native_service
from cosim_master.processes.calls import Call, answers_of_numbers, calls_of_numbers, numbers_of_calls
from cosim_master.processes.channel import Channel, MessageError, Numbers
from cosim_master.processes.native_service import NativeService
from cosim_master.processes.process_worker import Worker
from cosim_master.processes.recipe import PickledRecipes
from cosim_master.processes.served import Served
from cosim_master.processes.worker_process import CALLING, LONGEST_NAME

MakeFmu = Callable[..., Path]
LINKS = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
STARTS = {"b.kc": 3.0, "b.m": 2.0}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@pytest.fixture
def steps_in_python(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of calls in each message that Python sends."""
    counts: list[int] = []
    send = Channel.send_numbers

    def count_and_send(channel: Channel, numbers: Numbers) -> None:
        counts.append(len(calls_of_numbers(numbers)))
        send(channel, numbers)

    monkeypatch.setattr(Channel, "send_numbers", count_and_send)
    return counts


def two_masses(fmu: Path, host: str | None = None, names: str = "") -> CoSimulation:
    """Masses a and b; those in `names` are in processes of a host."""
    parts: dict[str, Any] = dict.fromkeys("ab", fmu)
    parts |= {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return CoSimulation(parts, LINKS, "jacobi", 0.01, starts=STARTS)


@pytest.fixture
def channels() -> Iterator[tuple[Channel, Channel]]:
    """The two ends of a connection."""
    end_1, end_2 = socket.socketpair()
    with end_1, end_2:
        yield Channel(end_1.fileno(), end_1.fileno()), Channel(end_2.fileno(), end_2.fileno())


class NoRecipes:
    """Recipes for a worker whose participant exists already."""

    def make(self, number: int, arguments: list[Any]) -> Any:
        raise AssertionError

    def serve(self, name: str, arguments: list[Any]) -> Any:
        return None


FORGED: dict[str, Any] = {
    "a participant that is not there": Numbers([2, 0, 0, 1, 1], [0.0, 0.1]),
    "no participant at all": Numbers([2**32 - 1, 0, 0, 1, 1], [0.0, 0.1]),
    "no such action": Numbers([1, 2**32 - 1, 0, 1, 1], [0.0, 0.1]),
    "a state in place, for which nothing is there": Numbers([1, 2, 0, 0], [0.0, 0.1]),
    "too many writes": Numbers([1, 0, 2**32 - 1, 1, 1], [0.0, 0.1]),
    "other names": Numbers([1, 0, 0, 1, 0], [0.0, 0.1]),
    "a value more": Numbers([1, 0, 0, 1, 1], [0.0, 0.1, 0.2]),
    "a value less": Numbers([1, 0, 0, 1, 1], [0.0]),
    "half a call": Numbers([1, 0], [0.0, 0.1]),
    "more answers than there is room for": Numbers([1, 1, 0, 1, 1] * 500, [0.0, 0.1] * 500),
    "many reads": Numbers([1, 1, 0, 1, 1] * 100, [0.0, 0.1] * 100),
    "nothing": Numbers([], []),
    "more integers than bytes": struct.pack("<QII", 4, 0, 2**32 - 1),
    "too long": struct.pack("<QII", 2**63, 0, 5) + bytes(64),
    "a length below zero": struct.pack("<QII", 2**64 - 1, 0, 5) + bytes(64),
}


@pytest.mark.parametrize("names", ["b", "ab"])
def test_steps_without_python_have_the_same_bytes(
    make_fmu: MakeFmu, server: Server, steps_in_python: list[int], names: str
) -> None:
    """So many steps that the worker process, too, changes from Python to compiled code."""
    fmu = make_fmu("mass")
    stop = 0.01 * (native_service.STEPS_BEFORE + 300)
    local = two_masses(fmu).simulate(stop)
    assert_same(local, two_masses(fmu, server.host, names).simulate(stop))
    assert len(steps_in_python) <= len(names)  # the first one also sends what was set at the start


def test_fewer_steps_load_no_compiled_code(
    make_fmu: MakeFmu, server: Server, steps_in_python: list[int]
) -> None:
    fmu = make_fmu("mass")
    for steps in (LEAST_REMOTE_STEPS - 1, LEAST_REMOTE_STEPS):
        steps_in_python.clear()
        two_masses(fmu, server.host, "b").simulate(0.01 * steps)
        if steps < LEAST_REMOTE_STEPS:
            assert len(steps_in_python) == steps
        else:
            assert len(steps_in_python) <= 1


def test_an_early_return_in_compiled_code_is_an_event(make_fmu: MakeFmu, server: Server) -> None:
    fmu = make_fmu("heavy")
    return_time = 0.01 * (native_service.STEPS_BEFORE + 100) + 0.005  # inside a step of compiled code
    starts = {"a.y": 1.0, "b.return_at": return_time}
    local, remote = (
        CoSimulation(parts, ["a.y -> b.u"], "jacobi", 0.01, starts=starts).simulate(return_time + 1.0)
        for parts in (
            dict.fromkeys("ab", fmu),
            {name: ProcessParticipant(fmu, name, host=server.host) for name in "ab"},
        )
    )
    assert_same(local, remote)
    assert [(e.time, e.handler) for e in local.events] == [(e.time, e.handler) for e in remote.events]


@pytest.mark.parametrize("kill_signal", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_is_killed_in_compiled_code_is_named(
    make_fmu: MakeFmu, server: Server, kill_signal: signal.Signals
) -> None:
    in_compiled_code = 0.01 * (native_service.STEPS_BEFORE + 100)

    def kill(time: float) -> None:
        for process in server.workers() if time > in_compiled_code else ():
            os.kill(process, kill_signal)

    run = two_masses(make_fmu("mass"), server.host, "ab")
    with pytest.raises(
        CoSimulationError, match=rf"tcp://.*: its process was killed by {kill_signal.name} in "
    ):
        run.simulate(1e5, progress=kill)
    assert run.result is not None and run.result.time[-1] > in_compiled_code


def test_messages_of_a_known_form_are_answered_by_compiled_code(
    make_fmu: MakeFmu, channels: tuple[Channel, Channel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here from the third one on; messages of another form in between go through Python."""
    monkeypatch.setattr(native_service, "STEPS_BEFORE", 2)
    master_end, worker_end = channels
    (tmp_path / CALLING).write_bytes(bytes(LONGEST_NAME))

    # a participant that the worker serves, and the same one here for comparison
    participants = {name: open_fmu(make_fmu("mass"), "m") for name in ("served", "local")}
    for participant in participants.values():
        participant.initialize(0.0, None, {})
        participant.exit_initialization()
    worker = Worker(worker_end, NoRecipes(), tmp_path, sends_logs=True)
    served = Served(participants["served"])
    served.names = [["f"], ["x", "v"]]
    worker._served[1] = served
    served_step, steps_in_python = Served.step, list[float]()

    def record_and_step(self: Served, time: float, *arguments: Any) -> Any:
        steps_in_python.append(time)
        return served_step(self, time, *arguments)

    monkeypatch.setattr(Served, "step", record_and_step)

    def serve() -> None:
        with pytest.raises(EOFError):
            worker.serve(beats=False)

    thread = threading.Thread(target=serve)
    thread.start()

    for i in range(8):
        pending = [["set", 0, [0.5 * i]]] if i != 5 else []  # compiled code answers both
        numbers = numbers_of_calls([Call(1, "step", [0.1 * i, 0.1, [1]], pending)])
        assert numbers is not None
        master_end.send_numbers(numbers)
        answer = answers_of_numbers(master_end.receive())
        if pending:
            participants["local"].set(["f"], [0.5 * i])
        reached = participants["local"].step(0.1 * i, 0.1)
        assert answer == [["answer", [reached, [], [list(participants["local"].get(["x", "v"]))]]]]
    assert len(steps_in_python) == 2  # compiled code answers after STEPS_BEFORE

    # a message of another form goes through Python
    master_end.send([Call(0, "nothing", [])])
    assert master_end.receive() == [[["answer", None]], []]
    with socket.socket(fileno=os.dup(master_end.reading)) as connection:
        connection.shutdown(socket.SHUT_RDWR)
    thread.join()
    for participant in participants.values():
        participant.close()


def test_participants_without_functions_in_c_stay_with_python(
    channels: tuple[Channel, Channel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_service, "STEPS_BEFORE", 1)
    service = NativeService(channels[1], tmp_path)
    call = Call(1, "step", [0.0, 0.1, [0]], [["set", 1, [1.0]]])
    service.learn([call], {1: (object(), [["y"], ["u"]])})
    assert service.serve() is None and service.progress is None


@pytest.mark.few(5)
@pytest.mark.parametrize("forged", FORGED.values(), ids=list(FORGED))
def test_forged_messages_for_compiled_code(
    forged: Any,
    make_fmu: MakeFmu,
    channels: tuple[Channel, Channel],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each is answered, and then a valid one too, or ends the service with a `MessageError`."""
    monkeypatch.setattr(native_service, "STEPS_BEFORE", 1)
    (tmp_path / CALLING).write_bytes(bytes(LONGEST_NAME))
    participant = open_fmu(make_fmu("mass"), "m")
    participant.initialize(0.0, None, {})
    participant.exit_initialization()
    master_end, worker_end = channels
    worker = Worker(worker_end, PickledRecipes(), tmp_path, sends_logs=True)
    worker._served[1] = Served(participant)
    worker._served[1].names = [["f"], ["x", "v"]]
    errors: list[BaseException] = []

    def serve() -> None:
        try:
            worker.serve(beats=False)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    valid = numbers_of_calls([Call(1, "step", [0.0, 0.1, [1]], [["set", 0, [0.5]]])])
    assert valid is not None
    for _ in range(2):  # the second one is answered by compiled code
        master_end.send_numbers(valid)
        master_end.receive()
    if isinstance(forged, bytes):
        master_end.write(forged)
    else:
        master_end.send_numbers(forged)
    while not master_end.wait(0.05) and thread.is_alive():
        pass  # until there is an answer, or the service has ended
    if master_end.wait(0.0):
        master_end.receive()
        master_end.send_numbers(valid)
        (answer,) = answers_of_numbers(master_end.receive())
        assert answer[0] == "answer"
        with socket.socket(fileno=os.dup(master_end.reading)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
    thread.join()
    assert [type(error) for error in errors] in ([EOFError], [MessageError])
    participant.close()
