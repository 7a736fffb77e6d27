"""Steps elsewhere by compiled code on both sides: the same bytes; Python does what is not as usual."""

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
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


@pytest.fixture
def steps_in_python(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps each message has that Python sends."""
    sent: list[int] = []
    send = Channel.send_numbers

    def counted(channel: Channel, numbers: Numbers) -> None:
        sent.append(len(calls_of_numbers(numbers)))
        send(channel, numbers)

    monkeypatch.setattr(Channel, "send_numbers", counted)
    return sent


def masses(fmu: Path, host: str | None, names: str) -> CoSimulation:
    parts: dict[str, Any] = dict.fromkeys("ab", fmu)
    parts |= {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return CoSimulation(parts, LINKS, "jacobi", 0.01, starts=STARTS)


@pytest.mark.parametrize("names", ["b", "ab"])
def test_steps_go_without_python_to_the_same_bytes(
    make_fmu: MakeFmu, server: Server, steps_in_python: list[int], names: str
) -> None:
    """Behind the first thousand messages the process there has no Python between them either."""
    fmu = make_fmu("mass")
    stop = 0.01 * (native_service.STEPS_BEFORE + 300)
    whole = masses(fmu, None, "").simulate(stop)
    assert_same(whole, masses(fmu, server.host, names).simulate(stop))
    assert len(steps_in_python) <= len(names)  # the first ones take along what was set at the start


def test_fewer_steps_load_no_compiled_code(
    make_fmu: MakeFmu, server: Server, steps_in_python: list[int]
) -> None:
    fmu = make_fmu("mass")
    for steps in (LEAST_REMOTE_STEPS - 1, LEAST_REMOTE_STEPS):
        steps_in_python.clear()
        masses(fmu, server.host, "b").simulate(0.01 * steps)
        assert len(steps_in_python) == steps if steps < LEAST_REMOTE_STEPS else len(steps_in_python) <= 1


def test_an_early_return_is_told_as_in_this_process(make_fmu: MakeFmu, server: Server) -> None:
    fmu, late = make_fmu("heavy"), 0.01 * (native_service.STEPS_BEFORE + 100) + 0.005
    starts = {"a.y": 1.0, "b.return_at": late}
    one, other = (
        CoSimulation(parts, ["a.y -> b.u"], "jacobi", 0.01, starts=starts).simulate(late + 1.0)
        for parts in (
            dict.fromkeys("ab", fmu),
            {name: ProcessParticipant(fmu, name, host=server.host) for name in "ab"},
        )
    )
    assert_same(one, other)
    assert [(e.time, e.handler) for e in one.events] == [(e.time, e.handler) for e in other.events]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSEGV])
def test_a_process_that_ends_in_compiled_code_is_a_sentence(
    make_fmu: MakeFmu, server: Server, end: signal.Signals
) -> None:
    late = 0.01 * (native_service.STEPS_BEFORE + 100)

    def kill(time: float) -> None:
        for process in server.workers() if time > late else ():
            os.kill(process, end)

    run = masses(make_fmu("mass"), server.host, "ab")
    with pytest.raises(CoSimulationError, match=rf"tcp://.*: its process was killed by {end.name} in "):
        run.simulate(1e5, progress=kill)
    assert run.result is not None and run.result.time[-1] > late


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    one, other = socket.socketpair()
    with one, other:
        yield Channel(one.fileno(), one.fileno()), Channel(other.fileno(), other.fileno())


class Nothing:
    """Recipes of a worker that has its participant."""

    def make(self, number: int, given: list[Any]) -> Any:
        raise AssertionError

    def serve(self, name: str, given: list[Any]) -> Any:
        return None


def test_messages_of_a_kind_are_answered_by_compiled_code(
    make_fmu: MakeFmu, ends: tuple[Channel, Channel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the second one on here; others in between, and steps that fail, go through Python."""
    monkeypatch.setattr(native_service, "STEPS_BEFORE", 2)
    ours, theirs = ends
    (tmp_path / CALLING).write_bytes(bytes(LONGEST_NAME))
    made = {name: open_fmu(make_fmu("mass"), "m") for name in ("there", "here")}
    for each in made.values():
        each.initialize(0.0, None, {})
        each.exit_initialization()
    worker = Worker(theirs, Nothing(), tmp_path, sends_logs=True)
    there = Served(made["there"])
    there.names = [["f"], ["x", "v"]]
    worker._served[1] = there
    served, kinds = Served.step, list[str]()

    def noted(self: Served, *given: Any) -> Any:
        kinds.append("python")
        return served(self, *given)

    monkeypatch.setattr(Served, "step", noted)

    def serve() -> None:
        with pytest.raises(EOFError):
            worker.serve(beats=False)

    thread = threading.Thread(target=serve)
    thread.start()
    for i in range(8):
        pending = [["set", 0, [0.5 * i]]]
        if i == 5:  # nothing is written: compiled code answers that, too
            pending = []
        numbers = numbers_of_calls([Call(1, "step", [0.1 * i, 0.1, [1]], pending)])
        assert numbers is not None
        ours.send_numbers(numbers)
        answer = answers_of_numbers(ours.receive())
        if pending:
            made["here"].set(["f"], [0.5 * i])
        reached = made["here"].step(0.1 * i, 0.1)
        assert answer == [["answer", [reached, [], [list(made["here"].get(["x", "v"]))]]]]
    assert len(kinds) == 2  # before it is known
    ours.send([Call(0, "nothing", [])])
    assert ours.receive() == [[["answer", None]], []]
    with socket.socket(fileno=os.dup(ours.reading)) as connection:
        connection.shutdown(socket.SHUT_RDWR)
    thread.join()
    for each in made.values():
        each.close()


def test_what_compiled_code_cannot_carry_out_stays_with_python(
    ends: tuple[Channel, Channel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_service, "STEPS_BEFORE", 1)
    service = NativeService(ends[1], tmp_path)
    call = Call(1, "step", [0.0, 0.1, [0]], [["set", 1, [1.0]]])
    service.learn([call], {1: (object(), [["y"], ["u"]])})  # no functions of C
    assert service.serve() is None and service.progress is None


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


@pytest.mark.few(5)
@pytest.mark.parametrize("forged", FORGED.values(), ids=list(FORGED))
def test_forged_messages_for_compiled_code(
    forged: Any,
    make_fmu: MakeFmu,
    ends: tuple[Channel, Channel],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are answered as by Python, or end the service with a sentence; a good one is answered after."""
    monkeypatch.setattr(native_service, "STEPS_BEFORE", 1)
    (tmp_path / CALLING).write_bytes(bytes(LONGEST_NAME))
    part = open_fmu(make_fmu("mass"), "m")
    part.initialize(0.0, None, {})
    part.exit_initialization()
    ours, theirs = ends
    worker = Worker(theirs, PickledRecipes(), tmp_path, sends_logs=True)
    worker._served[1] = Served(part)
    worker._served[1].names = [["f"], ["x", "v"]]
    ended: list[BaseException] = []

    def serve() -> None:
        try:
            worker.serve(beats=False)
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    good = numbers_of_calls([Call(1, "step", [0.0, 0.1, [1]], [["set", 0, [0.5]]])])
    assert good is not None
    for _ in range(2):  # the second one is answered by compiled code
        ours.send_numbers(good)
        ours.receive()
    if isinstance(forged, bytes):
        ours.write(forged)
    else:
        ours.send_numbers(forged)
    while not ours.wait(0.05) and thread.is_alive():
        pass
    if ours.wait(0.0):
        ours.receive()
        ours.send_numbers(good)
        (answer,) = answers_of_numbers(ours.receive())
        assert answer[0] == "answer"
        with socket.socket(fileno=os.dup(ours.reading)) as connection:
            connection.shutdown(socket.SHUT_RDWR)
    thread.join()
    assert [type(error) for error in ended] in ([EOFError], [MessageError])
    part.close()
