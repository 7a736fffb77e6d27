"""Other machines on which participants run: their addresses, and connections to them."""

from __future__ import annotations

import os
import re
import shlex
import socket
import struct
import subprocess
import tempfile
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import cosim
from cosim.kit import start_process
from cosim_master.processes.greeting import GreetingError, greet_server, read_token

PORT = 7364
"""The port of a server whose address names none."""
SECONDS_TO_CONNECT = 10.0
SECONDS_TO_LOG_IN = 60.0
SECONDS_TO_END = 5.0
SECONDS_TO_SEND = 20
"""Time after which a connection is lost that accepts no data, or stops inside a message, s."""
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")
PROGRAM = re.compile(r"/[A-Za-z0-9_./+ -]+")
NEEDS = 'needs "ssh://user@machine" or "tcp://machine:port"'


class Host(NamedTuple):
    """An address.

    Attributes
    ----------
    scheme : str
        "ssh" or "tcp".
    machine : str
    port : int or None
    user : str
    program : str
        Path of ``cosim`` there; "" for the one that a login shell finds.
    """

    scheme: str
    machine: str
    port: int | None = None
    user: str = ""
    program: str = ""

    @classmethod
    def of(cls, text: Any) -> Host:
        """The host of an address ``ssh://user@machine:22/opt/venv/bin/cosim`` or ``tcp://machine:7364``.

        Raises
        ------
        ModelError

        Examples
        --------
        >>> Host.of("tcp://127.0.0.1")
        Host(scheme='tcp', machine='127.0.0.1', port=7364, user='', program='')
        """
        error = cosim.ModelError.of("host", f"is {text!r}, {NEEDS}")
        if not isinstance(text, str) or not text.isprintable() or text != text.strip():
            raise error
        try:
            parts = urlsplit(text)
            port, machine = parts.port, parts.hostname or ""
        except ValueError:
            raise error from None
        is_address_only = not parts.query and not parts.fragment and parts.password is None
        if not is_address_only or not MACHINE.fullmatch(machine) or port == 0:
            raise error
        if parts.scheme == "tcp" and parts.username is None and parts.path in ("", "/"):
            return cls("tcp", machine, PORT if port is None else port)
        user = parts.username or ""
        if parts.scheme != "ssh" or (parts.username is not None and not USER.fullmatch(user)):
            raise error
        if parts.path not in ("", "/") and not PROGRAM.fullmatch(parts.path):
            raise error
        return cls("ssh", machine, port, user, parts.path.rstrip("/"))

    def __str__(self) -> str:
        user, port = f"{self.user}@" * bool(self.user), "" if self.port is None else f":{self.port}"
        machine = f"[{self.machine}]" if ":" in self.machine else self.machine
        return f"{self.scheme}://{user}{machine}{port}{self.program}"

    def ssh_words(self) -> list[str]:
        """The arguments of the command that starts a server there; they are not read by a shell here."""
        words = ["ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5"]
        words += ["-o", "ServerAliveCountMax=4", "-o", f"ConnectTimeout={SECONDS_TO_CONNECT:.0f}"]
        words += [] if self.port is None else ["-p", str(self.port)]
        words += [] if not self.user else ["-l", self.user]
        return [*words, "--", self.machine, f"{shlex.quote(self.program or 'cosim')} serve --stdio"]


class ServerConnection(NamedTuple):
    """A connection to a server, after the greeting.

    Attributes
    ----------
    socket : socket
    ssh : subprocess.Popen or None
    complaints : file or None
        The file with the output of ssh.
    """

    socket: socket.socket
    ssh: subprocess.Popen[bytes] | None = None
    complaints: Any = None

    def ssh_ending(self) -> str:
        """The status and the last output of ssh, as the end of a sentence; "" if there are none."""
        if self.ssh is None:
            return ""
        try:
            code = self.ssh.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return ""
        self.complaints.seek(0)
        lines = self.complaints.read()[-2000:].decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        output = f': "{last[:300]}"' if last else ""
        return f"; ssh ended with status {code}{output}" if code or output else ""

    def close(self) -> None:
        """Close the connection, which ends ssh."""
        with suppress(OSError):
            self.socket.close()
        if self.ssh is not None:
            try:
                self.ssh.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                self.ssh.kill()
                self.ssh.wait()
            self.complaints.close()


def connect(host: Host) -> ServerConnection:
    """Connect to a server, and check that it is one of this program.

    Raises
    ------
    CosimError
        No server can be reached, it has another version, or there is no token.
    """
    token = read_token() if host.scheme == "tcp" else None
    try:
        connection = _through_tcp(host) if host.scheme == "tcp" else _through_ssh(host)
    except OSError as error:
        raise cosim.CosimError(f"{host}: {_reason(error)}") from None
    try:
        greet_server(connection.socket, token)
        limit_waiting(connection.socket)
    except (GreetingError, OSError, EOFError) as error:
        with suppress(OSError):
            connection.socket.shutdown(socket.SHUT_RDWR)
        reason = str(error) if isinstance(error, GreetingError) else _reason(error)
        reason += connection.ssh_ending()
        connection.close()
        raise cosim.CosimError(f"{host}: {reason}") from None
    return connection


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "the server does not answer"
    if isinstance(error, ConnectionRefusedError):
        return "no server answers there: start `cosim serve` on that machine"
    return f"{getattr(error, 'strerror', None) or error or 'the connection was closed'}"


def _through_tcp(host: Host) -> ServerConnection:
    connection = socket.create_connection((host.machine, host.port or PORT), SECONDS_TO_CONNECT)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ServerConnection(connection)


def _through_ssh(host: Host) -> ServerConnection:
    if os.name == "nt":
        raise OSError("from Windows, go through tcp:// and a tunnel of ssh -L")
    ours, theirs = socket.socketpair()
    complaints = tempfile.TemporaryFile()  # noqa: SIM115
    with theirs:
        try:
            ssh = start_process(
                host.ssh_words(), stdin=theirs, stdout=theirs, stderr=complaints, start_new_session=True
            )
        except OSError as error:
            ours.close()
            complaints.close()
            raise OSError(error.errno, f"ssh cannot be started: {error.strerror}") from None
    ours.settimeout(SECONDS_TO_LOG_IN)
    return ServerConnection(ours, ssh, complaints)


def limit_waiting(connection: socket.socket) -> None:
    """Let the connection block from now on, and fail if a message stops halfway."""
    connection.settimeout(None)
    if os.name != "nt":
        limit = struct.pack("ll", SECONDS_TO_SEND, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
