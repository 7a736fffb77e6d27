"""FMUs on another machine: the same bytes, one message a step, and whatever breaks is a sentence."""

from __future__ import annotations

import hashlib
import hmac
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest
from box3_fmu import make_box3
from fmi1_fmu import make_fmi1
from same_results import assert_same
from serving import Server, take_kernels, write_ssh
from test_participant_contract import case, failing_checks
from test_threads import NAMES, STAR

import cosim
from cosim_fmu import CoSimulation, CoSimulationError, ProcessParticipant
from cosim_master.processes import greeting, remote_session
from cosim_master.processes.calls import Call, calls_of_numbers
from cosim_master.processes.channel import HEAD, Channel, Numbers
from cosim_master.processes.host import Host, connect
from cosim_master.processes.sent_fmus import remove_oldest

MakeFmu = Callable[..., Path]
Compiled = Callable[..., Path]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="what a process of another one is doing is read"
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server that a test may kill."""
    (tmp_path / "own").mkdir()
    made = Server(tmp_path / "own")
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(made.token))
    yield made
    made.close()


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is sent from here: the calls of each message."""
    sent: list[str] = []
    send, send_numbers = Channel.send, Channel.send_numbers

    def counted(channel: Channel, calls: list[Call]) -> None:
        sent.append(" ".join(call.name for call in calls))
        send(channel, calls)

    def counted_numbers(channel: Channel, numbers: Numbers) -> None:
        sent.append(" ".join(call.name for call in calls_of_numbers(numbers)))
        send_numbers(channel, numbers)

    monkeypatch.setattr(Channel, "send", counted)
    monkeypatch.setattr(Channel, "send_numbers", counted_numbers)
    return sent


def star(fmu: Path, host: str | None, names: str = NAMES) -> dict[str, Any]:
    """Some of the parts elsewhere."""
    there = {name: ProcessParticipant(fmu, name, host=host) for name in names}
    return {**dict.fromkeys(NAMES, fmu), **there}


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
    one, other = (
        CoSimulation(parts, STAR, algorithm, 0.01, starts=starts, threads=count).simulate(0.1)
        for parts, count in ((dict.fromkeys(NAMES, fmu), 1), (star(fmu, server.host, names), threads))
    )
    assert_same(one, other)
    assert np.ptp(one["d.y"]) > 0.0


def test_all_that_step_at_one_host_take_one_message(
    make_fmu: MakeFmu, server: Server, messages: list[str]
) -> None:
    fmu = make_fmu("heavy")
    parts = {
        **{name: ProcessParticipant(fmu, host=server.host) for name in "ab"},
        "c": ProcessParticipant(fmu, host=server.host, own_process=True),
    }
    loop = CoSimulation(parts, ["a.y -> b.u", "b.y -> c.u"], "jacobi", 0.1, starts={"a.y": 1.0})
    result = loop.simulate(1.0)
    steps = [message for message in messages if "step" in message]
    assert steps == ["step step", "step"] * 10
    # the first step reads by itself what later ones bring along
    between = messages[messages.index("step step") : messages.index("close")]
    others = [message for message in between if "step" not in message]
    assert others[:3] == ["get"] * 3 and {*others[3:]} == {"events", "warnings"}
    assert_same(
        CoSimulation(dict.fromkeys("abc", fmu), loop_links(), "jacobi", 0.1, starts={"a.y": 1.0}).simulate(
            1.0
        ),
        result,
    )


def loop_links() -> list[str]:
    return ["a.y -> b.u", "b.y -> c.u"]


@pytest.mark.thorough
def test_isolated_fmus_on_this_machine_step_at_the_same_time(make_fmu: MakeFmu) -> None:
    fmu = make_fmu("heavy")
    parts = {name: ProcessParticipant(fmu) for name in "abcd"}
    starts = {f"{name}.pause": 0.2 for name in parts}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts=starts)
    result = loop.simulate(0.5)
    assert result.statistics["stepping_time"] < 4 * 5 * 0.2 * 0.7


def test_a_file_is_sent_once(make_fmu: MakeFmu, own: Server, messages: list[str]) -> None:
    fmu = make_fmu("heavy")
    for _ in range(2):
        CoSimulation(star(fmu, own.host), [], "jacobi", 0.1).simulate(0.1)
    assert messages.count("has") == 2 and messages.count("send") == 1
    digest = hashlib.sha256(fmu.read_bytes()).hexdigest()
    stored = own.store / "fmus" / f"{digest}.fmu"
    assert stored.read_bytes() == fmu.read_bytes() and stored.parent.stat().st_mode & 0o777 == 0o700
    stored.write_bytes(stored.read_bytes()[:-1])  # damaged: it is sent again
    CoSimulation(star(fmu, own.host), [], "jacobi", 0.1).simulate(0.1)
    assert messages.count("send") == 2 and stored.read_bytes() == fmu.read_bytes()
    assert f"(sha256 {digest[:12]}…)" in own.log.read_text()
    assert sorted(path.name for path in stored.parent.iterdir()) == sorted([stored.name, "lock"])


def test_files_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    for age, name in enumerate(("new.fmu", "middle.fmu", "old.fmu", "arriving-1", "arriving-2", "lock")):
        (tmp_path / name).write_bytes(bytes(100))
        old = time.time() - 100.0 * age - 1e5 * (name == "arriving-2")
        os.utime(tmp_path / name, (old, old))
    for most, left in (
        (300, {"new", "middle", "old"}),
        (299, {"new", "middle"}),
        (200, {"new", "middle"}),
        (0, {"new"}),
    ):
        remove_oldest(tmp_path, most)
        assert {path.stem for path in tmp_path.iterdir()} == left | {"arriving-1", "lock"}


def test_all_types_of_fmi_1_2_and_3(
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
    wanted = ["one.*", "two.*_out", "three.*_out"]
    here, there = (
        CoSimulation(parts, [], "jacobi", 0.1, starts=starts).simulate(0.3, record=wanted)
        for parts in (paths, {n: ProcessParticipant(p, n, host=server.host) for n, p in paths.items()})
    )
    assert here.names == there.names and len(here.names) > 10
    for name in here.names:
        assert here[name].tolist() == there[name].tolist(), name
    assert set(there["three.blob_out"]) == {"01ab"} and there["two.string_out"][-1] == 'grün, "1"'


def test_a_crash_names_the_participant_the_call_and_the_host(
    make_fmu: MakeFmu, server: Server, tmp_path: Path
) -> None:
    fmu, marker = make_fmu("heavy"), tmp_path / "marker"
    parts = {"good": fmu, "bad": ProcessParticipant(fmu, "bad", host=server.host)}
    starts = {"bad.crash_at": 0.35, "good.marker": str(marker)}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts=starts)
    said = rf"^at t = 0\.3 s: bad: {server.host}: its process was killed by SIGSEGV in step$"
    with pytest.raises(CoSimulationError, match=said) as caught:
        loop.simulate(1.0)
    assert caught.value.result["good.y"].size == 4 and marker.read_text() == "terminated\nfreed\n"
    assert loop.simulate(0.3).message == ""  # a new process
    assert "killed by SIGSEGV" in server.log.read_text()


def test_who_shares_the_process_of_a_crash_names_the_other(make_fmu: MakeFmu, server: Server) -> None:
    fmu = make_fmu("heavy")
    parts = {name: ProcessParticipant(fmu, name, host=server.host) for name in ("good", "bad")}
    loop = CoSimulation(parts, [], "jacobi", 0.1, starts={"bad.crash_at": 0.35})
    with pytest.raises(
        CoSimulationError, match=r"good: tcp://.*: its process was killed by SIGSEGV in step of bad$"
    ):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result["good.y"].size == 4


def test_errors_arrive_as_they_were(make_fmu: MakeFmu, server: Server) -> None:
    starts = {"p.fail_at": 0.25, "p.fail_status": 3}
    told = []
    fmu = make_fmu("failing")
    for part in (fmu, ProcessParticipant(fmu, host=server.host)):
        with pytest.raises(CoSimulationError) as caught:
            CoSimulation({"p": part}, [], "jacobi", 0.1, starts=starts).simulate(1.0)
        assert isinstance(caught.value.__cause__, cosim.FmuError)
        assert caught.value.__cause__.function == "fmi2DoStep"
        told.append(str(caught.value))
    assert told[0] == told[1]


@pytest.mark.thorough
def test_a_call_that_takes_too_long_is_ended_there_too(make_fmu: MakeFmu, own: Server) -> None:
    hanging = ProcessParticipant(make_fmu("heavy"), timeout=0.5, host=own.host)
    loop = CoSimulation({"a": hanging}, [], "jacobi", 0.1, starts={"a.hang_at": 0.25})
    said = rf"a: {own.host}: its process did not return from step within 0\.5 s and was killed"
    with pytest.raises(CoSimulationError, match=said):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)
    assert wait_for(lambda: own.workers() == [])
    assert "process was killed" in own.log.read_text()


def test_the_time_limit_of_a_run_ends_a_call_there(make_fmu: MakeFmu, server: Server) -> None:
    loop = CoSimulation(
        star(make_fmu("heavy"), server.host, "a"), [], "jacobi", 0.1, starts={"a.hang_at": 0.25}
    )
    with pytest.raises(cosim.SimulationError, match="time limit.*1"):
        loop.simulate(1.0, time_limit=1.0)


def test_a_killed_server_loses_the_connection_and_keeps_the_results(make_fmu: MakeFmu, own: Server) -> None:
    def kill(time: float, values: Any) -> None:
        if time > 0.25:
            own.process.kill()
            wait_for(lambda: own.process.poll() is not None)
            while own.workers():
                pass

    loop = CoSimulation(star(make_fmu("heavy"), own.host, "a"), [], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match=rf"a: {own.host}: the connection was lost in step$"):
        loop.simulate(1.0, observe=kill)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.3)
    with pytest.raises(cosim.CosimError, match="server answers.*`cosim serve`"):
        loop.simulate(1.0)


@pytest.mark.thorough
def test_a_process_that_stands_still_is_noticed_and_a_busy_one_is_not(
    make_fmu: MakeFmu, own: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_session, "SECONDS_OF_SILENCE", 6.0)
    fmu = make_fmu("heavy")
    starts = {"a.pause": 8.0}
    busy = CoSimulation(star(fmu, own.host, "a"), [], "jacobi", 0.1, starts=starts).simulate(0.1)
    assert busy.message == ""

    def stop(time: float, values: Any) -> None:
        if time > 0.25:
            for process in own.workers():
                os.kill(process, signal.SIGSTOP)

    loop = CoSimulation(star(fmu, own.host, "a"), [], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match=rf"a: {own.host}: no data received for 6 s in step"):
        loop.simulate(1.0, observe=stop)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.3)
    assert wait_for(lambda: own.workers() == [])  # it was killed there


@pytest.mark.thorough
@pytest.mark.parametrize("end", [signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.thorough)])
def test_a_run_goes_on_from_a_checkpoint_to_the_same_bytes(
    make_fmu: MakeFmu, own: Server, tmp_path: Path, end: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_session, "SECONDS_OF_SILENCE", 3.0)
    fmu, saved = make_fmu("mass"), tmp_path / "saved"

    def loop() -> CoSimulation:
        parts = {name: ProcessParticipant(fmu, name, host=own.host) for name in "ab"}
        links = ["a.x -> b.x_other", "a.v -> b.v_other", "b.force -> a.f"]
        return CoSimulation(parts, links, "jacobi", 0.1, starts={"b.kc": 3.0, "b.m": 2.0})

    whole = loop().simulate(2.0)
    broken = loop()

    def cut(time: float, values: Any) -> None:
        if abs(time - 1.0) < 0.01:
            saved.write_bytes(broken.save())
        if time > 1.25:
            for process in own.workers():
                os.kill(process, end)

    with pytest.raises(CoSimulationError):
        broken.simulate(2.0, observe=cut)
    own.kill()
    own.restart()
    resumed = loop()
    assert resumed.restore(saved) == pytest.approx(1.0)
    assert_same(whole, resumed.simulate(2.0))


@pytest.mark.thorough
def test_the_kit_of_participants_passes(make_fmu: MakeFmu, server: Server) -> None:
    path = make_fmu("mass")
    assert failing_checks(case(lambda: ProcessParticipant(path, host=server.host))) == []


def test_logs_are_written_here(make_fmu: MakeFmu, server: Server, tmp_path: Path) -> None:
    fmu, told = make_fmu("failing"), []
    for name, host in (("here", None), ("there", server.host)):
        part = ProcessParticipant(fmu, "p", host=host)
        part.write_log(tmp_path / name, "all")
        with pytest.raises(CoSimulationError):
            CoSimulation(
                {"p": part}, [], "jacobi", 0.1, starts={"p.fail_at": 0.25, "p.fail_status": 3}
            ).simulate(1.0)
        told.append((tmp_path / name).read_text())
    assert told[0] == told[1] and "ran dry" in told[0]


@pytest.mark.thorough
def test_over_ssh_the_server_is_started_there(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ssh(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("COSIM_CACHE_DIR", str(tmp_path / "cache"))
    take_kernels(tmp_path / "cache" / "kernels")
    fmu = make_fmu("heavy")
    here, there = (
        CoSimulation(parts, STAR, "jacobi", 0.1, starts={"a.y": 1.0}).simulate(1.0)
        for parts in (dict.fromkeys(NAMES, fmu), star(fmu, "ssh://someone@example.org:2222"))
    )
    assert_same(here, there)
    words = (tmp_path / "bin" / "words").read_text().split("\n")
    assert words[-5:] == ["-l", "someone", "--", "example.org", "cosim serve --stdio", ""][-5:]
    assert words[words.index("-p") + 1] == "2222" and "BatchMode=yes" in words


def test_what_ssh_says_is_in_the_sentence(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ssh(tmp_path / "bin", before="echo 'Permission denied (publickey).' >&2; exit 255")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    part = ProcessParticipant(make_fmu("heavy"), host="ssh://example.org")
    with pytest.raises(cosim.CosimError) as caught:
        part.initialize(0.0, None, {})
    assert str(caught.value) == (
        "ssh://example.org: the connection was closed before a server of cosim answered; ssh ended with "
        'status 255: "Permission denied (publickey)."'
    )
    part.close()
    write_ssh(tmp_path / "bin", before="cat /dev/zero; exit 0")
    with pytest.raises(cosim.CosimError, match="cosim answers"):
        part.initialize(0.0, None, {})


def test_a_killed_ssh_is_a_lost_connection(
    make_fmu: MakeFmu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ssh(tmp_path / "bin", before=f"echo $$ > {tmp_path}/process")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)

    def kill(time: float, values: Any) -> None:
        if time > 0.25:
            os.kill(int((tmp_path / "process").read_text()), signal.SIGKILL)
            sleep(1.0)  # until the kernel has killed the process that it had started

    loop = CoSimulation(star(make_fmu("heavy"), "ssh://example.org", "a"), [], "jacobi", 0.1)
    with pytest.raises(CoSimulationError, match="ssh://example.org.*connection was lost"):
        loop.simulate(1.0, observe=kill)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.3)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "here",
            "tcp://",
            "tcp://:1",
            "tcp://a:0",
            "tcp://a:65536",
            "tcp://a:x",
            "tcp://u@a",
            "tcp://a/b",
        ),
        *(
            "ssh://",
            "ssh://-oProxyCommand=x",
            "ssh://u@-oProxyCommand=x",
            "ssh://-l@a",
            "ssh://u:p@a",
            "ssh://a b",
        ),
        *(
            "ssh://a/$(x)",
            "ssh://a/b;c",
            "ssh://a?b",
            "ssh://a#b",
            "http://a",
            "ssh://a\n",
            5,
            b"ssh://a",
        ),
    ],
)
def test_what_is_no_address(make_fmu: MakeFmu, text: Any) -> None:
    with pytest.raises(cosim.ModelError, match='host.*needs "ssh://user@machine" or "tcp://machine:port"'):
        ProcessParticipant(make_fmu("heavy"), host=text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tcp://a", "tcp://a:7364"),
        ("tcp://[::1]:9", "tcp://[::1]:9"),
        ("ssh://me@a.b:22/opt/my venv/bin/cosim", "ssh://me@a.b:22/opt/my venv/bin/cosim"),
        ("ssh://a", "ssh://a"),
    ],
)
def test_addresses(text: str, shown: str) -> None:
    host = Host.of(text)
    assert str(host) == shown
    if host.program:
        assert host.ssh_words()[-1] == "'/opt/my venv/bin/cosim' serve --stdio"


def test_python_code_and_models_have_no_host() -> None:
    from in_a_process import Ramp

    with pytest.raises(cosim.ModelError, match="host.*is for FMUs"):
        ProcessParticipant(Ramp, host="ssh://a")


def test_in_a_scenario(
    make_fmu: MakeFmu, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cosim.cli import main
    from cosim_fmu.scenario.scenario import Scenario

    make_fmu("heavy")
    text = f"""
[participants.a]
fmu = "heavy.fmu"
host = "{server.host}"
timeout = "10 s"
parameters = {{ y = 1.0 }}
[participants.b]
fmu = "heavy.fmu"
host = "{server.host}"
process = true
[participants.c]
fmu = "heavy.fmu"
[[connections]]
from = "a.y"
to = "b.u"
[master]
algorithm = "jacobi"
step = 0.1
until = 0.5
"""
    file = tmp_path / "loop.toml"
    file.write_text(text)
    assert main(["cosimulate", str(file), "-o", str(tmp_path / "out.csv")]) == 0
    said = capsys.readouterr().out
    assert f"FMUs at {server.host}: a, b" in said and "on another machine" in said
    assert "FMUs inside the process" in said
    file.write_text(
        text.replace(f'"{server.host}"', '"ftp://x"', 1).replace(
            'heavy.fmu"\n[[', 'heavy.fmu"\ntimeout = 1\n[['
        )
    )
    with pytest.raises(cosim.ModelError) as caught:
        Scenario.read(file).couple(CoSimulation)
    assert "host: is 'ftp://x', needs \"ssh://user@machine\"" in str(caught.value)
    assert "timeout: needs process =" in str(caught.value)


# Who is let in


def raw(server: Server) -> socket.socket:
    return socket.create_connection((server.address, server.port), 10.0)


def greeted(connection: socket.socket) -> bytes:
    said = b""
    while len(said) < greeting.HEAD:
        piece = connection.recv(greeting.HEAD - len(said))
        assert piece
        said += piece
    return said


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    said = b""
    try:
        while piece := connection.recv(4096):
            said += piece
    except ConnectionResetError:
        pass
    return said


FORGED = {
    "nothing": b"",
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(200),
    "zeros": bytes(64),
    "noise": bytes(range(256)) * 4096,
    "short": b"\1" * 63,
    "a message": HEAD.pack(4, 4) + b"null" + bytes(64),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_client_gets_nothing_and_starts_nothing(server: Server, name: str) -> None:
    before = server.log.read_text().count(" connected")
    with raw(server) as connection:
        greeted(connection)
        try:
            connection.sendall(FORGED[name])
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        assert rest(connection) == b""
    assert server.process.poll() is None and server.log.read_text().count(" connected") == before


def test_a_proof_of_another_connection_or_of_the_other_end_is_refused(server: Server) -> None:
    token = server.token.read_text().strip().encode()

    def proof(who: bytes, one: bytes, other: bytes) -> bytes:
        return hmac.digest(token, who + b"\n" + greeting.MAGIC + one + other, "sha256")

    client = bytes(32)
    with raw(server) as connection:
        first = greeted(connection)[-32:]
        answer = client + proof(b"client", first, client)
        connection.sendall(answer)
        assert connection.recv(32) == proof(b"server", first, client)
    for forged in (answer, lambda nonce: client + proof(b"server", nonce, client)):
        with raw(server) as connection:
            nonce = greeted(connection)[-32:]
            assert nonce != first
            connection.sendall(forged if isinstance(forged, bytes) else forged(nonce))
            assert rest(connection) == b""


@pytest.mark.thorough
def test_those_who_say_nothing_hold_nobody_up(make_fmu: MakeFmu, own: Server) -> None:
    """More of them than are greeted at a time; then all are gone, and one that sends byte after byte, too."""
    silent = [raw(own) for _ in range(80)]
    slow = silent[0]
    refused = [connection for connection in silent[70:] if rest_within(connection, 2.0) == b""]
    assert len(refused) >= 5
    begun = time.monotonic()
    while time.monotonic() - begun < 15.0:
        try:
            slow.sendall(b"\0")
        except OSError:
            break
        sleep(0.2)
    assert time.monotonic() - begun < 14.0
    result = CoSimulation(star(make_fmu("heavy"), own.host, "a"), [], "jacobi", 0.1).simulate(0.1)
    assert result.message == ""
    for connection in silent:
        connection.close()


def rest_within(connection: socket.socket, seconds: float) -> bytes | None:
    connection.settimeout(seconds)
    try:
        greeting_or_nothing = rest(connection)
    except TimeoutError:
        return None
    return greeting_or_nothing


def test_a_few_silent_connections_do_not_delay_a_run(make_fmu: MakeFmu, server: Server) -> None:
    silent = [raw(server) for _ in range(20)]
    result = CoSimulation(star(make_fmu("heavy"), server.host, "a"), [], "jacobi", 0.1).simulate(0.1)
    assert result.message == ""
    for connection in silent:
        connection.close()


def test_garbage_behind_a_right_token_ends_that_process_alone(make_fmu: MakeFmu, server: Server) -> None:
    loop = CoSimulation(star(make_fmu("heavy"), server.host, "a"), [], "jacobi", 0.1)
    sent = []

    kinds = [
        b"\xff" * 100,
        HEAD.pack(9, 9) + b"[[1,2,3]]",
        HEAD.pack(7, 7) + b'{"a":1}',
        HEAD.pack(2, 2) + b"17",
    ]

    def disturb(time_: float, values: Any) -> None:
        """Of the run's two points, each has half of them."""
        for garbage in kinds[len(sent) :][:2]:
            made = connect(Host.of(server.host))
            made.socket.sendall(garbage)
            made.socket.shutdown(socket.SHUT_WR)
            sent.append(rest(made.socket))
            made.close()

    assert loop.simulate(0.1, observe=disturb).message == ""
    assert len(sent) == 4 and server.process.poll() is None


def test_wrong_no_and_short_tokens(
    make_fmu: MakeFmu, own: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = ProcessParticipant(make_fmu("heavy"), host=own.host)

    def refusal() -> str:
        with pytest.raises(cosim.CosimError) as caught:
            part.initialize(0.0, None, {})
        part.close()
        return str(caught.value)

    monkeypatch.delenv("COSIM_TOKEN_FILE")
    monkeypatch.delenv("COSIM_TOKEN", raising=False)
    assert "set COSIM_TOKEN_FILE" in refusal()
    monkeypatch.setenv("COSIM_TOKEN", "x" * 15)
    assert "15 characters, needs" in refusal()
    monkeypatch.setenv("COSIM_TOKEN", "x" * 16)
    assert refusal() == f"{own.host}: it has refused the token: both machines need the same one"
    assert "know the token" in own.log.read_text()
    file = tmp_path / "token"
    file.write_bytes(own.token.read_bytes())
    file.chmod(0o640)
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(file))
    assert f"others can read this token: chmod 600 {file}" in refusal()
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(tmp_path / "missing"))
    assert "the token cannot be read" in refusal()
    monkeypatch.delenv("COSIM_TOKEN_FILE")
    monkeypatch.setenv("COSIM_TOKEN", own.token.read_text())
    part.initialize(0.0, None, {})
    (worker,) = own.workers()
    token = own.token.read_bytes().strip()
    for process in (worker, own.process.pid):
        for file_name in ("cmdline", "environ"):
            assert token not in Path(f"/proc/{process}/{file_name}").read_bytes()
    part.close()
    assert token.decode() not in own.log.read_text()


def fake_server(answer: Callable[[socket.socket], None]) -> tuple[str, threading.Thread]:
    """A server that does something else, once."""
    listening = socket.create_server(("127.0.0.1", 0))

    def take() -> None:
        connection, _ = listening.accept()
        with connection, listening:
            try:
                answer(connection)
            except OSError:
                pass

    thread = threading.Thread(target=take)
    thread.start()
    return f"tcp://127.0.0.1:{listening.getsockname()[1]}", thread


TOKEN = "0123456789abcdef"


def welcome(version: str, refused: str = "") -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        assert greeting.greet_client(connection, TOKEN.encode())
        Channel(connection.fileno(), connection.fileno()).send({"cosim": version, "refused": refused})
        connection.recv(1)

    return answer


def without_token(connection: socket.socket) -> None:
    nonce = os.urandom(32)
    connection.sendall(greeting.MAGIC + bytes((greeting.VERSION, 1)) + nonce)
    connection.recv(64)
    connection.sendall(bytes(32))
    connection.recv(1)


SERVERS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "other cosim": (
        welcome("0.0.1"),
        "has cosim 0.0.1, here is .*: install the same version on both machines",
    ),
    "full": (
        welcome(cosim.__version__, "64 processes of participants are running there: try later"),
        "try later",
    ),
    "no token": (lambda c: c.sendall(greeting.open_greeting()), "it asks for no token"),
    "false": (without_token, "it does not know the token: another server answers there"),
    "other messages": (
        lambda c: c.sendall(greeting.MAGIC + bytes((greeting.VERSION + 1, 1)) + bytes(32)),
        f"its messages have version {greeting.VERSION + 1}, ours {greeting.VERSION}",
    ),
    "http": (
        lambda c: c.sendall(b"HTTP/1.1 400 Bad Request\r\n" + bytes(100)),
        "no server of cosim answers there",
    ),
    "closed": (lambda c: None, "the connection was closed before a server of cosim answered"),
}


@pytest.mark.parametrize("name", SERVERS)
def test_other_servers_are_named_and_get_no_fmu(
    make_fmu: MakeFmu, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COSIM_TOKEN_FILE", raising=False)
    monkeypatch.setenv("COSIM_TOKEN", TOKEN)
    answer, said = SERVERS[name]
    host, thread = fake_server(answer)
    part = ProcessParticipant(make_fmu("heavy"), host=host)
    with pytest.raises(cosim.CosimError, match=f"^{host}: .*{said}"):
        part.initialize(0.0, None, {})
    thread.join(10.0)
    assert not thread.is_alive()


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        sleep(0.02)
    return condition()
