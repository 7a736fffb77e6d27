"""The greeting by which both ends of a connection to another machine check each other.

====== =======================================================================================
server `MAGIC`, the version of the messages, whether it wants a token, a number used once
client a number used once, HMAC-SHA256 of both numbers with the token   (if it wants a token)
server HMAC-SHA256 of both numbers with the token, for the other end    (if it wants a token)
server the first message: its version of cosim, or why it refuses
====== =======================================================================================

The token itself is never sent, and an answer is valid for one connection only. A client without the
token learns only that this is a server of this program; after `SECONDS_TO_GREET` it is disconnected.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import cosim

MAGIC = b"cosim participants\n"
VERSION = 2
"""Version of the messages; both ends have to agree."""
NONCE, PROOF = 32, 32
HEAD = len(MAGIC) + 2 + NONCE
MOST_NOISE = 1 << 16
"""Bytes that a login shell may print before the server begins."""
SECONDS_TO_GREET = 10.0
TOKEN, TOKEN_FILE = "COSIM_TOKEN", "COSIM_TOKEN_FILE"
"""Environment variables with the token, or with the path of its file."""
SHORTEST_TOKEN = 16


class GreetingError(cosim.CosimError):
    """The other end is not a participant server, or not a client."""


def read_token(file: Path | None = None) -> bytes:
    """The token, from a file or from the environment.

    Raises
    ------
    CosimError
        There is none, it is too short, or others can read the file.
    """
    name = os.environ.get(TOKEN_FILE)
    if file is None and name:
        file = Path(name)
    if file is None:
        text = os.environ.get(TOKEN, "")
        if not text:
            raise cosim.CosimError(
                f"no token is set: set {TOKEN_FILE} to the path of its file, or {TOKEN} to the token "
                "(a secret that both machines have)"
            )
        return _checked(text, TOKEN)
    try:
        facts = file.stat()
        if os.name != "nt" and facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise cosim.CosimError(f"{file}: others can read this token: chmod 600 {file}")
        return _checked(file.read_text("utf-8"), str(file))
    except (OSError, ValueError) as error:
        raise cosim.CosimError(f"{file}: the token cannot be read: {error}") from None


def _checked(text: str, where: str) -> bytes:
    token = text.strip().encode()
    if len(token) < SHORTEST_TOKEN:
        raise cosim.CosimError(
            f"{where}: this token has {len(token)} characters, needs at least {SHORTEST_TOKEN}: "
            "python3 -c 'import secrets; print(secrets.token_hex(32))'"
        )
    return token


def _proof(token: bytes, role: bytes, server: bytes, client: bytes) -> bytes:
    return hmac.digest(token, role + b"\n" + MAGIC + server + client, "sha256")


def greet_client(connection: socket.socket, token: bytes) -> bool:
    """The server's part, with a token; whether the client knows it.

    Raises
    ------
    OSError
        It is too slow, or has gone.
    """
    nonce = secrets.token_bytes(NONCE)
    connection.sendall(MAGIC + bytes((VERSION, 1)) + nonce)
    answer = _read(connection.recv, NONCE + PROOF)
    client = answer[:NONCE]
    if not hmac.compare_digest(answer[NONCE:], _proof(token, b"client", nonce, client)):
        return False
    connection.sendall(_proof(token, b"server", nonce, client))
    return True


def open_greeting() -> bytes:
    """The server's part over ssh, which has authenticated the client."""
    return MAGIC + bytes((VERSION, 0)) + bytes(NONCE)


def greet_server(connection: socket.socket, token: bytes | None) -> None:
    """The client's part.

    Parameters
    ----------
    connection : socket
    token : bytes or None
        None over ssh.

    Raises
    ------
    GreetingError
        At the other end there is no server of this program, another version, or one without this token.
    OSError
        It does not answer, or has gone.
    """
    head = _head(connection, 0 if token is not None else MOST_NOISE)
    version, wants_token = head[len(MAGIC)], head[len(MAGIC) + 1]
    if version != VERSION:
        raise GreetingError(
            f"its messages have version {version}, ours {VERSION}: install the same cosim on both machines"
        )
    if bool(wants_token) != (token is not None):
        raise GreetingError("it asks for no token" if token is not None else "it asks for a token")
    if token is None:
        return
    server, client = head[-NONCE:], secrets.token_bytes(NONCE)
    connection.sendall(client + _proof(token, b"client", server, client))
    try:
        proof = _read(connection.recv, PROOF)
    except EOFError:
        raise GreetingError("it has refused the token: both machines need the same one") from None
    if not hmac.compare_digest(proof, _proof(token, b"server", server, client)):
        raise GreetingError("it does not know the token: another server answers there")


def _head(connection: socket.socket, most_noise: int) -> bytes:
    """The greeting, behind what a login shell has printed."""
    received = b""
    while True:
        place = received.find(MAGIC)
        if place >= 0 and len(received) >= place + HEAD:
            return received[place : place + HEAD]
        if place < 0 and len(received) >= most_noise + HEAD:
            raise GreetingError("no server of cosim answers there")
        try:
            received += _piece(connection.recv, HEAD - len(received) if most_noise == 0 else 1)
        except EOFError:
            raise GreetingError("the connection was closed before a server of cosim answered") from None


def _read(receive: Callable[[int], bytes], size: int) -> bytes:
    data = b""
    while len(data) < size:
        data += _piece(receive, size - len(data))
    return data


def _piece(receive: Callable[[int], bytes], size: int) -> bytes:
    piece = receive(size)
    if not piece:
        raise EOFError
    return piece
