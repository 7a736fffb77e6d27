"""Exchange with other processes through shared memory: the bits of a run in one process, failures, waits."""

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from box3_fmu import make_box3
from faults_fmu import make_faulty
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
ALGORITHMS = ["jacobi", "gauss_seidel", "waveform_iteration", "adaptive"]
SAVES_STATES = 'canGetAndSetFMUstate="true"'


@pytest.fixture(autouse=True)
def shared_memory_in_short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs use shared memory, too."""
    monkeypatch.setattr(process_participant, "LEAST_STEPS", 0)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the calls that are sent as messages."""
    names: list[str] = []
    send, send_numbers = Channel.send, Channel.send_numbers

    def record_and_send(channel: Channel, calls: Any) -> None:
        names.extend(call.name for call in calls)
        send(channel, calls)

    def record_and_send_numbers(channel: Channel, numbers: Any) -> None:
        names.append("step")
        send_numbers(channel, numbers)

    monkeypatch.setattr(Channel, "send", record_and_send)
    monkeypatch.setattr(Channel, "send_numbers", record_and_send_numbers)
    return names


def run(
    kinds: dict[str, Any],
    links: list[Any],
    algorithm: Any = "jacobi",
    until: float = 4.0,
    record: Any = None,
    **options: Any,
) -> cosim.Result:
    return CoSimulation(kinds, links, algorithm, 0.1, **options).simulate(until, record=record)


class Counter(cosim.Participant):
    """y = 1, 2, 3, …: a new value in each step, so connected inputs are set in each step."""

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


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_algorithms_exchange_without_messages(
    algorithm: str, version: str, tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    fmu = make_loop(tmp_path, compiled, version)
    links = [("a.y", "b.u"), ("b.y", "a.u")]
    options: Any = {"starts": {"a.u": 1.0, "b.u": 0.5}}
    local = run({"a": fmu, "b": fmu}, links, algorithm, **options)
    parts = {name: ProcessParticipant(fmu) for name in ("a", "b")}
    isolated = run(parts, links, algorithm, **options)
    assert isolated.statistics["in_python"] == {}
    assert_same(isolated, local)
    # after the last preparation far fewer messages than steps are sent, and none of them is a step
    sent_messages = messages[len(messages) - messages[::-1].index("prepare") :]
    assert len(isolated.time) > STEPS and len(sent_messages) < STEPS / 2
    assert "step" not in sent_messages


def test_events_and_early_returns_are_left_to_python(
    tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    fmu = make_box3(tmp_path, compiled)
    options: Any = {"starts": {"m.u": 1.0, "m.ring_at": 0.35}}
    local, isolated = (run({"m": part}, [], **options) for part in (fmu, ProcessParticipant(fmu)))
    assert_same(isolated, local)
    assert len(local.events) > 0


@pytest.mark.thorough
def test_a_model_exchange_fmu_is_integrated_in_the_other_process(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_part(tmp_path, compiled)
    options: Any = {"starts": {"m.limit": 1.1, "m.force": 1.0, "m.held": False}}
    local, isolated = (run({"m": part}, [], **options) for part in (fmu, ProcessParticipant(fmu)))
    assert isolated.statistics["in_python"] == {}
    assert_same(isolated, local)


@pytest.mark.thorough
def test_integers_booleans_and_texts(make_fmu: Any, tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_fmu("types")
    links = [
        ("a.real_out", "b.real_in"),
        ("a.integer_out", "b.integer_in"),
        ("a.boolean_out", "b.boolean_in"),
    ]
    options: Any = {"starts": {"a.real_in": 1.5, "a.integer_in": 3, "a.boolean_in": True}}
    for record in (["*.real_out", "*.integer_out", "*.boolean_out"], ["*"]):
        local, isolated = (
            run({name: kind(fmu) for name in "ab"}, links, record=record, **options)
            for kind in (str, ProcessParticipant)
        )
        texts = {n for n in local.names if local[n].dtype == object}
        assert bool(texts) == (record == ["*"])
        # a participant whose text is recorded exchanges all its values in messages
        assert set(isolated.statistics["in_python"]) == ({"a", "b"} if texts else set())
        assert_same(isolated, local)


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["SetReal", "DoStep", "GetReal"])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("_exit(9)", "its process ended by itself with exit code 9 in {call}"),
        ("raise(SIGSEGV)", "its process was killed by SIGSEGV in {call}"),
        ("exit(0)", "fmi2{where}: the FMU called exit\\(\\)"),
        ("(status = 3)", "fmi2{where}: failed with status error"),
        ("(status = 4)", "fmi2{where}: failed with status fatal"),
    ],
)
def test_failures_are_named(
    where: str, fault: str, message: str, tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    code = {"DoStep": fault}.get(where, f"if (time > 0.35) {fault}")
    fmu = make_faulty(tmp_path, compiled, where, code)
    part = ProcessParticipant(fmu)
    loop = CoSimulation({"m": part, "n": Counter()}, [("n.y", "m.u")], "jacobi", 0.1)
    call = {"SetReal": "set", "DoStep": "step", "GetReal": "get"}[where]
    with pytest.raises(CoSimulationError, match=f"m: .*{message.format(where=where, call=call)}"):
        loop.simulate(1.0)
    assert "prepare" in messages and "step" not in messages and part.process_id is None


@pytest.mark.thorough
def test_slow_steps_are_awaited(tmp_path: Path, compiled: Compiled) -> None:
    """Compiled code waits 20 ms, then Python does."""
    fmu = make_faulty(tmp_path, compiled, "DoStep", "if (time < 0.45) usleep(250000)")
    result = run({"m": ProcessParticipant(fmu)}, [], until=1.0)
    assert result["m.y"].tolist() == run({"m": fmu}, [], until=1.0)["m.y"].tolist()
    assert result.statistics["in_python"] == {}


def test_a_step_that_does_not_return_ends_at_the_limit(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_faulty(tmp_path, compiled, "DoStep", "for (;;) sleep(1)")
    part = ProcessParticipant(fmu, timeout=0.5)
    start = time.monotonic()
    with pytest.raises(CoSimulationError, match=r"step within 0\.5"):
        CoSimulation({"m": part}, [], "jacobi", 0.1).simulate(1.0)
    assert time.monotonic() - start < 20.0


def test_two_participants_step_at_the_same_time(
    tmp_path: Path, compiled: Compiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its first step each adds a line to a file and waits until there are two."""
    wait_for_two_lines = "timeout 20 sh -c 'while [ $(wc -l <$M) != 2 ]; do sleep .01; done'"
    first_step = f'static int n; if (!n++ && system("echo>>$M; {wait_for_two_lines}")) status = 3'
    fmu = make_faulty(tmp_path, compiled, "DoStep", first_step)
    lines = tmp_path / "meeting"
    monkeypatch.setenv("M", str(lines))
    result = run({name: ProcessParticipant(fmu) for name in "ab"}, [], until=1.0)
    assert result.statistics["in_python"] == {} and lines.read_text() == "\n\n"


def test_after_a_failure_the_steps_of_other_participants_are_awaited(
    tmp_path: Path, compiled: Compiled
) -> None:
    """So the participant b answers its later calls, and closes without an error."""
    (tmp_path / "bad").mkdir()
    bad = make_faulty(tmp_path / "bad", compiled, "DoStep", "if (time > 0.35) status = 3")
    slow = make_faulty(tmp_path, compiled, "DoStep", "usleep(5000)")
    parts = {"a": ProcessParticipant(bad), "b": ProcessParticipant(slow)}
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status"):
        run(parts, [], until=1.0)
    assert [part.close_error() for part in parts.values()] == ["", ""]
    assert [part.process_id for part in parts.values()] == [None, None]


@pytest.mark.thorough
def test_after_a_failure_a_hanging_step_of_another_participant_ends_at_its_limit(
    tmp_path: Path, compiled: Compiled
) -> None:
    (tmp_path / "bad").mkdir()
    bad = make_faulty(tmp_path / "bad", compiled, "DoStep", "if (time > 0.35) status = 3")
    hangs = make_faulty(tmp_path, compiled, "DoStep", "if (time > 0.35) for (;;) sleep(1)")
    parts = {"a": ProcessParticipant(bad), "b": ProcessParticipant(hangs, timeout=3.0)}
    with pytest.raises(CoSimulationError, match="fmi2DoStep: failed with status"):
        run(parts, [], until=1.0)
    assert "step within 3 s" in parts["b"].close_error()


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["GetFMUstate", "SetFMUstate"])
def test_slowly_saved_and_restored_states_are_awaited(
    where: str, tmp_path: Path, compiled: Compiled, messages: list[str]
) -> None:
    """Compiled code waits 20 ms; then Python waits, and compiled code continues."""
    (tmp_path / "quick").mkdir()
    quick = make_faulty(tmp_path / "quick", compiled, "NOWHERE", "", SAVES_STATES)
    slow = make_faulty(tmp_path, compiled, where, "usleep(60000)", SAVES_STATES)
    options: Any = {"algorithm": "waveform_iteration", "until": 0.3}
    links = [("m.y", "n.u"), ("n.y", "m.u")]
    local = run({"m": quick, "n": quick}, links, **options)
    isolated = run({"m": ProcessParticipant(slow), "n": quick}, links, **options)
    assert isolated.statistics["in_python"] == {}
    assert_same(isolated, local)
    assert "step" not in messages and "save" not in messages and "restore" not in messages


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["GetFMUstate", "SetFMUstate"])
def test_a_state_that_cannot_be_saved_or_restored_is_named(
    where: str, tmp_path: Path, compiled: Compiled
) -> None:
    (tmp_path / "good").mkdir()
    fmu = make_faulty(tmp_path, compiled, where, "status = 3", SAVES_STATES)
    loop = {
        "m": ProcessParticipant(fmu),
        "n": make_faulty(tmp_path / "good", compiled, "NOWHERE", "", SAVES_STATES),
    }
    with pytest.raises(CoSimulationError, match=f"m: .*fmi2{where}.*: failed with status error"):
        run(loop, [("m.y", "n.u"), ("n.y", "m.u")], "waveform_iteration", 0.3)


@pytest.mark.thorough
def test_a_run_leaves_no_open_files(tmp_path: Path, compiled: Compiled) -> None:
    fmu = make_faulty(tmp_path, compiled, "NOWHERE", "")
    gc.freeze()  # the collections below need not search the objects of other tests
    run({"m": ProcessParticipant(fmu)}, [], until=1.0)
    gc.collect()
    open_files = len(os.listdir("/proc/self/fd"))
    run({"m": ProcessParticipant(fmu)}, [], until=1.0)
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == open_files
