"""A server admits clients with its token only, and a client sends an FMU to a server with its token only."""

from __future__ import annotations

import hmac
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from remote_star import own_server, star
from serving import Server

import cosim
from cosim_fmu import CoSimulation, ProcessParticipant
from cosim_master.processes import greeting
from cosim_master.processes.channel import HEAD, Channel
from cosim_master.processes.host import Host, connect

assert own_server  # a fixture
MakeFmu = Callable[..., Path]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
TOKEN = "0123456789abcdef"
FORGED_GREETINGS = {
    "nothing": b"",
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(200),
    "zeros": bytes(64),
    "noise": bytes(range(256)) * 4096,
    "short": b"\1" * 63,
    "a message": HEAD.pack(4, 4) + b"null" + bytes(64),
}


def connect_to(server: Server) -> socket.socket:
    """A connection without a greeting."""
    return socket.create_connection((server.address, server.port), 10.0)


def receive_greeting(connection: socket.socket) -> bytes:
    """The first message of the server."""
    received = b""
    while len(received) < greeting.HEAD:
        piece = connection.recv(greeting.HEAD - len(received))
        assert piece
        received += piece
    return received


def receive_rest(connection: socket.socket) -> bytes:
    """All bytes until the server closes the connection."""
    received = b""
    try:
        while piece := connection.recv(4096):
            received += piece
    except ConnectionResetError:
        pass
    return received


def receive_rest_within(connection: socket.socket, seconds: float) -> bytes | None:
    """As `receive_rest`; None if the server does not close the connection in time."""
    connection.settimeout(seconds)
    try:
        return receive_rest(connection)
    except TimeoutError:
        return None


def fake_server(answer: Callable[[socket.socket], None]) -> tuple[str, threading.Thread]:
    """A server that answers one connection; its address and thread."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer_once() -> None:
        connection, _ = listening.accept()
        with connection, listening:
            try:
                answer(connection)
            except OSError:
                pass

    thread = threading.Thread(target=answer_once)
    thread.start()
    return f"tcp://127.0.0.1:{listening.getsockname()[1]}", thread


def welcome(version: str, refused: str = "") -> Callable[[socket.socket], None]:
    """The answer of a server with the token, of a version of cosim."""

    def answer(connection: socket.socket) -> None:
        assert greeting.greet_client(connection, TOKEN.encode())
        Channel(connection.fileno(), connection.fileno()).send({"cosim": version, "refused": refused})
        connection.recv(1)

    return answer


def pretend_to_know_token(connection: socket.socket) -> None:
    """The answer of a server with a proof of zeros."""
    nonce = os.urandom(32)
    connection.sendall(greeting.MAGIC + bytes((greeting.VERSION, 1)) + nonce)
    connection.recv(64)
    connection.sendall(bytes(32))
    connection.recv(1)


OTHER_SERVERS: dict[str, tuple[Callable[[socket.socket], None], str]] = {
    "other cosim": (
        welcome("0.0.1"),
        "has cosim 0.0.1, here is .*: install the same version on both machines",
    ),
    "full": (
        welcome(cosim.__version__, "64 processes of participants are running there: try later"),
        "try later",
    ),
    "no token": (lambda c: c.sendall(greeting.open_greeting()), "it asks for no token"),
    "false": (pretend_to_know_token, "it does not know the token: another server answers there"),
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


@pytest.mark.parametrize("name", FORGED_GREETINGS)
def test_a_client_without_the_token_gets_no_answer_and_starts_no_process(server: Server, name: str) -> None:
    before = server.log.read_text().count(" connected")
    with connect_to(server) as connection:
        receive_greeting(connection)
        try:
            connection.sendall(FORGED_GREETINGS[name])
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        assert receive_rest(connection) == b""
    assert server.process.poll() is None and server.log.read_text().count(" connected") == before


def test_a_proof_cannot_be_repeated_or_reflected(server: Server) -> None:
    token = server.token.read_text().strip().encode()

    def proof(role: bytes, server_nonce: bytes, nonce_of_client: bytes) -> bytes:
        return hmac.digest(token, role + b"\n" + greeting.MAGIC + server_nonce + nonce_of_client, "sha256")

    client_nonce = bytes(32)
    with connect_to(server) as connection:
        first_nonce = receive_greeting(connection)[-32:]
        valid_proof = client_nonce + proof(b"client", first_nonce, client_nonce)
        connection.sendall(valid_proof)
        assert connection.recv(32) == proof(b"server", first_nonce, client_nonce)

    # on another connection: the same proof, and that of the role of the server
    for is_reflected in (False, True):
        with connect_to(server) as connection:
            nonce = receive_greeting(connection)[-32:]
            assert nonce != first_nonce
            reflected_proof = client_nonce + proof(b"server", nonce, client_nonce)
            connection.sendall(reflected_proof if is_reflected else valid_proof)
            assert receive_rest(connection) == b""


@pytest.mark.thorough
def test_silent_connections_are_closed_and_do_not_block_the_server(
    make_fmu: MakeFmu, own_server: Server
) -> None:
    """More than the server greets at a time; one sends a byte now and then, and is closed like the others."""
    silent = [connect_to(own_server) for _ in range(80)]
    slow = silent[0]
    refused = [connection for connection in silent[70:] if receive_rest_within(connection, 2.0) == b""]
    assert len(refused) >= 5
    start = time.monotonic()
    while time.monotonic() - start < 15.0:
        try:
            slow.sendall(b"\0")
        except OSError:
            break
        time.sleep(0.2)
    assert time.monotonic() - start < 14.0
    result = CoSimulation(star(make_fmu("heavy"), own_server.host, "a"), [], "jacobi", 0.1).simulate(0.1)
    assert result.message == ""
    for connection in silent:
        connection.close()


def test_a_few_silent_connections_do_not_delay_a_run(make_fmu: MakeFmu, server: Server) -> None:
    silent = [connect_to(server) for _ in range(20)]
    result = CoSimulation(star(make_fmu("heavy"), server.host, "a"), [], "jacobi", 0.1).simulate(0.1)
    assert result.message == ""
    for connection in silent:
        connection.close()


def test_garbage_after_a_valid_greeting_ends_one_process_only(make_fmu: MakeFmu, server: Server) -> None:
    loop = CoSimulation(star(make_fmu("heavy"), server.host, "a"), [], "jacobi", 0.1)
    answers = []
    messages = [
        b"\xff" * 100,
        HEAD.pack(9, 9) + b"[[1,2,3]]",
        HEAD.pack(7, 7) + b'{"a":1}',
        HEAD.pack(2, 2) + b"17",
    ]

    def disturb(time_: float, values: Any) -> None:
        """Send half of the messages at each of the two points of the run."""
        for garbage in messages[len(answers) :][:2]:
            session = connect(Host.of(server.host))
            session.socket.sendall(garbage)
            session.socket.shutdown(socket.SHUT_WR)
            answers.append(receive_rest(session.socket))
            session.close()

    assert loop.simulate(0.1, observe=disturb).message == ""
    assert len(answers) == 4 and server.process.poll() is None


def test_each_problem_with_a_token_is_named(
    make_fmu: MakeFmu, own_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = ProcessParticipant(make_fmu("heavy"), host=own_server.host)

    def refusal() -> str:
        with pytest.raises(cosim.CosimError) as caught:
            part.initialize(0.0, None, {})
        part.close()
        return str(caught.value)

    # in the environment: none, a short one, another one
    monkeypatch.delenv("COSIM_TOKEN_FILE")
    monkeypatch.delenv("COSIM_TOKEN", raising=False)
    assert "set COSIM_TOKEN_FILE" in refusal()
    monkeypatch.setenv("COSIM_TOKEN", "x" * 15)
    assert "15 characters, needs" in refusal()
    monkeypatch.setenv("COSIM_TOKEN", "x" * 16)
    assert refusal() == f"{own_server.host}: it has refused the token: both machines need the same one"
    assert "know the token" in own_server.log.read_text()

    # in a file: others can read it, it does not exist
    file = tmp_path / "token"
    file.write_bytes(own_server.token.read_bytes())
    file.chmod(0o640)
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(file))
    assert f"others can read this token: chmod 600 {file}" in refusal()
    monkeypatch.setenv("COSIM_TOKEN_FILE", str(tmp_path / "missing"))
    assert "the token cannot be read" in refusal()

    # the right one; no command line, environment or log shows it
    monkeypatch.delenv("COSIM_TOKEN_FILE")
    monkeypatch.setenv("COSIM_TOKEN", own_server.token.read_text())
    part.initialize(0.0, None, {})
    (worker,) = own_server.workers()
    token = own_server.token.read_bytes().strip()
    for process in (worker, own_server.process.pid):
        for file_name in ("cmdline", "environ"):
            assert token not in Path(f"/proc/{process}/{file_name}").read_bytes()
    part.close()
    assert token.decode() not in own_server.log.read_text()


@pytest.mark.parametrize("name", OTHER_SERVERS)
def test_other_servers_are_refused(make_fmu: MakeFmu, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COSIM_TOKEN_FILE", raising=False)
    monkeypatch.setenv("COSIM_TOKEN", TOKEN)
    answer, message = OTHER_SERVERS[name]
    host, thread = fake_server(answer)
    part = ProcessParticipant(make_fmu("heavy"), host=host)
    with pytest.raises(cosim.CosimError, match=f"^{host}: .*{message}"):
        part.initialize(0.0, None, {})
    thread.join(10.0)
    assert not thread.is_alive()
