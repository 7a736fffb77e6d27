"""Exchanges through shared memory: the bits of a run inside this process, and every failure by its name."""

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from faults_fmu import make_faulty as make
from loop_fmus import make_loop
from part_fmu import make_part
from same_results import assert_same

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.participants import process_participant
from cosim_master.processes.channel import Channel
from cosim_master.processes.message_memory import has_semaphores

pytestmark = pytest.mark.skipif(
    not has_semaphores() or kit.is_plain(), reason="semaphores of Linux, machine code"
)

Compiled = Callable[..., Path]
STEPS = 40


@pytest.fixture(autouse=True)
def for_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_participant, "LEAST_STEPS", 0)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    send, send_numbers = Channel.send, Channel.send_numbers

    def counted(channel: Channel, calls: Any) -> None:
        sent.extend(call.name for call in calls)
        send(channel, calls)

    def counted_numbers(channel: Channel, numbers: Any) -> None:
        sent.append("step")
        send_numbers(channel, numbers)

    monkeypatch.setattr(Channel, "send", counted)
    monkeypatch.setattr(Channel, "send_numbers", counted_numbers)
    return sent


def run(
    kinds: dict[str, Any],
    links: list[Any],
    algorithm: Any = "jacobi",
    until: float = 4.0,
    record: Any = None,
    **options: Any,
) -> cosim.Result:
    return CoSimulation(kinds, links, algorithm, 0.1, **options).simulate(until, record=record)


ALGORITHMS = ["jacobi", "gauss_seidel", "waveform_iteration", "adaptive"]


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_algorithms_that_go_back_too(
    algorithm: str, version: str, tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    fmu = make_loop(tmp_path, compiled, version)
    links = [("a.y", "b.u"), ("b.y", "a.u")]
    given: Any = {"starts": {"a.u": 1.0, "b.u": 0.5}}
    inside = run({"a": fmu, "b": fmu}, links, algorithm, **given)
    parts = {name: ProcessParticipant(fmu) for name in ("a", "b")}
    isolated = run(parts, links, algorithm, **given)
    assert isolated.statistics["in_python"] == {}
    assert_same(isolated, inside)
    sent = messages[len(messages) - messages[::-1].index("prepare") :]
    assert len(isolated.time) > STEPS and len(sent) < STEPS / 2  # else each step would be left to Python
    assert "step" not in sent


def test_events_and_early_returns_are_left_to_python(
    tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    fmu = make_box3(tmp_path, compiled)
    given: Any = {"starts": {"m.u": 1.0, "m.ring_at": 0.35}}
    inside, isolated = (run({"m": part}, [], **given) for part in (fmu, ProcessParticipant(fmu)))
    assert_same(isolated, inside)
    assert len(inside.events) > 0


@pytest.mark.thorough
def test_a_solver_of_ours_in_the_other_process(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_part(tmp_path, compiled)
    given: Any = {"starts": {"m.limit": 1.1, "m.force": 1.0, "m.held": False}}
    inside, isolated = (run({"m": part}, [], **given) for part in (fmu, ProcessParticipant(fmu)))
    assert isolated.statistics["in_python"] == {}
    assert_same(isolated, inside)


@pytest.mark.thorough
def test_integers_booleans_and_texts(make_fmu: Any, tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_fmu("types")
    links = [
        ("a.real_out", "b.real_in"),
        ("a.integer_out", "b.integer_in"),
        ("a.boolean_out", "b.boolean_in"),
    ]
    given: Any = {"starts": {"a.real_in": 1.5, "a.integer_in": 3, "a.boolean_in": True}}
    for record in (["*.real_out", "*.integer_out", "*.boolean_out"], ["*"]):
        inside, isolated = (
            run({name: kind(fmu) for name in "ab"}, links, record=record, **given)
            for kind in (str, ProcessParticipant)
        )
        texts = {n for n in inside.names if inside[n].dtype == object}
        assert bool(texts) == (record == ["*"])
        # texts go by messages, and so does all else of a participant that shows some
        assert set(isolated.statistics["in_python"]) == ({"a", "b"} if texts else set())
        assert_same(isolated, inside)


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["SetReal", "DoStep", "GetReal"])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("_exit(9)", "its process ended by itself with exit code 9 in {call}"),
        ("raise(SIGSEGV)", "its process was killed by SIGSEGV in {call}"),
        ("exit(0)", "fmi2{where}: the FMU called exit\\(\\)"),
        ("(status = 3)", "fmi2{where}: failed with status error"),
        ("(status = 4)", "fmi2{where}: failed with status fatal"),
    ],
)
def test_what_goes_wrong_is_named(
    where: str, fault: str, said: str, tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    late = {"DoStep": fault}.get(where, f"if (time > 0.35) {fault}")
    fmu = make(tmp_path, compiled, where, late)
    part = ProcessParticipant(fmu)
    loop = CoSimulation({"m": part, "n": _Counter()}, [("n.y", "m.u")], "jacobi", 0.1)
    call = {"SetReal": "set", "DoStep": "step", "GetReal": "get"}[where]
    with pytest.raises(CoSimulationError, match=f"m: .*{said.format(where=where, call=call)}"):
        loop.simulate(1.0)
    assert "prepare" in messages and "step" not in messages and part.process_id is None


@pytest.mark.thorough
def test_a_step_that_takes_longer_than_a_look_is_waited_for(tmp_path: Path, compiled: Compiled) -> None:
    """Compiled code waits 20 ms, then Python does."""
    fmu = make(tmp_path, compiled, "DoStep", "if (time < 0.45) usleep(250000)")
    result = run({"m": ProcessParticipant(fmu)}, [], until=1.0)
    assert result["m.y"].tolist() == run({"m": fmu}, [], until=1.0)["m.y"].tolist()
    assert result.statistics["in_python"] == {}


def test_a_step_that_does_not_return_ends_at_the_limit(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make(tmp_path, compiled, "DoStep", "for (;;) sleep(1)")
    part = ProcessParticipant(fmu, timeout=0.5)
    begun = time.monotonic()
    with pytest.raises(CoSimulationError, match=r"step within 0\.5"):
        CoSimulation({"m": part}, [], "jacobi", 0.1).simulate(1.0)
    assert time.monotonic() - begun < 20.0


def test_both_step_at_the_same_time(
    tmp_path: Path, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each one waits in its first step until the file of the other one is there."""
    meets = "timeout 20 sh -c 'while [ $(wc -l <$M) != 2 ]; do sleep .01; done'"
    wait = f'static int n; if (!n++ && system("echo>>$M; {meets}")) status = 3'
    fmu = make(tmp_path, compiled, "DoStep", wait)
    meeting = tmp_path / "meeting"
    monkeypatch.setenv("M", str(meeting))
    result = run({name: ProcessParticipant(fmu) for name in "ab"}, [], until=1.0)
    assert result.statistics["in_python"] == {} and meeting.read_text() == "\n\n"


def test_a_step_that_has_begun_is_waited_for_where_another_one_fails(
    tmp_path: Path, compiled: Compiled
) -> None:
    """What follows is neither its answer nor kept from it: `b` is closed in good order."""
    (tmp_path / "bad").mkdir()
    bad = make(tmp_path / "bad", compiled, "DoStep", "if (time > 0.35) status = 3")
    slow = make(tmp_path, compiled, "DoStep", "usleep(5000)")
    parts = {"a": ProcessParticipant(bad), "b": ProcessParticipant(slow)}
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status"):
        run(parts, [], until=1.0)
    assert [part.close_error() for part in parts.values()] == ["", ""]
    assert [part.process_id for part in parts.values()] == [None, None]


@pytest.mark.thorough
def test_a_step_that_has_begun_and_hangs_ends_at_the_limit(tmp_path: Path, compiled: Compiled) -> None:
    (tmp_path / "bad").mkdir()
    bad = make(tmp_path / "bad", compiled, "DoStep", "if (time > 0.35) status = 3")
    hangs = make(tmp_path, compiled, "DoStep", "if (time > 0.35) for (;;) sleep(1)")
    parts = {"a": ProcessParticipant(bad), "b": ProcessParticipant(hangs, timeout=3.0)}
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status"):
        run(parts, [], until=1.0)
    assert "step within 3 s" in parts["b"].close_error()


ABLE = 'canGetAndSetFMUstate="true"'


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["GetFMUstate", "SetFMUstate"])
def test_a_state_that_takes_longer_than_a_look_is_waited_for(
    where: str, tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    """Compiled code waits 20 ms, then Python does, and compiled code goes on."""
    (tmp_path / "quick").mkdir()
    quick = make(tmp_path / "quick", compiled, "NOWHERE", "", ABLE)
    slow = make(tmp_path, compiled, where, "usleep(60000)", ABLE)
    given: Any = {"algorithm": "waveform_iteration", "until": 0.3}
    links = [("m.y", "n.u"), ("n.y", "m.u")]
    one = run({"m": quick, "n": quick}, links, **given)
    isolated = run({"m": ProcessParticipant(slow), "n": quick}, links, **given)
    assert isolated.statistics["in_python"] == {}
    assert_same(isolated, one)
    assert "step" not in messages and "save" not in messages and "restore" not in messages


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["GetFMUstate", "SetFMUstate"])
def test_a_state_that_cannot_be_saved_or_restored_is_named(
    where: str, tmp_path: Path, compiled: Compiled
) -> None:
    (tmp_path / "good").mkdir()
    fmu = make(tmp_path, compiled, where, "status = 3", ABLE)
    loop = {"m": ProcessParticipant(fmu), "n": make(tmp_path / "good", compiled, "NOWHERE", "", ABLE)}
    with pytest.raises(CoSimulationError, match=f"m: .*fmi2{where}.*: failed with status error"):
        run(loop, [("m.y", "n.u"), ("n.y", "m.u")], "waveform_iteration", 0.3)


@pytest.mark.thorough
def test_files_are_closed_again(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make(tmp_path, compiled, "NOWHERE", "")
    gc.freeze()  # else the searches below go through all that other tests have left
    run({"m": ProcessParticipant(fmu)}, [], until=1.0)
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    run({"m": ProcessParticipant(fmu)}, [], until=1.0)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


class _Counter(cosim.Participant):
    """y = 1, 2, 3, …: another value for each step, so that it is set each time."""

    def describe(self) -> kit.ParticipantDescription:
        return kit.ParticipantDescription("counter", {"y": kit.ParticipantVariable("y", "output")}, {})

    def initialize(self, start: float, stop: Any, values: Any, tolerance: Any = None) -> None:
        self.count = 0

    def set(self, names: Any, values: Any) -> None:
        pass

    def step(self, time: float, size: float) -> float:
        self.count += 1
        return time + size

    def get(self, names: Any) -> list[float]:
        return [float(self.count)] * len(names)

    def close(self) -> None:
        pass
