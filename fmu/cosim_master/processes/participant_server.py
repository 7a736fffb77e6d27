"""A server that accepts runs of other machines: over a port, or over the pipes of ssh."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import suppress

from cosim_master.processes.channel import Channel
from cosim_master.processes.greeting import SECONDS_TO_GREET, greet_client, open_greeting
from cosim_master.processes.hosted_run import host_participants, welcome
from cosim_master.processes.refusals import Refusals
from cosim_master.processes.sent_fmus import log

MOST_GREETINGS = 64
"""The largest number of connections that have not shown the token yet."""
MOST_PROCESSES = 64
"""The largest number of processes of runs at a time."""
SECONDS_TO_NOTICE = 30
"""Time between probes of a silent client, s."""
PROBES = 4
"""Probes without an answer after which a connection is lost."""
BACKLOG = 32


class ParticipantServer:
    """Accepts runs on a port; each has its own process, and shares nothing with others.

    Parameters
    ----------
    address : str
    port : int
        0 for any that is free.
    token : bytes
        Clients that do not know it are refused.

    Attributes
    ----------
    port : int

    Raises
    ------
    OSError
        The address is in use, or not one of this machine.
    """

    def __init__(self, address: str, port: int, token: bytes) -> None:
        self._token = token
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._socket = socket.create_server((address, port), family=family, backlog=BACKLOG)
        self.port = int(self._socket.getsockname()[1])
        self._greetings = threading.BoundedSemaphore(MOST_GREETINGS)
        self._places = threading.BoundedSemaphore(MOST_PROCESSES)
        self._refusals = Refusals()

    def serve(self) -> None:
        """Accept connections until this is interrupted; the processes end with this one."""
        while True:
            try:
                connection, peer = self._socket.accept()
            except ConnectionError:
                continue
            except OSError as error:  # too many files are open
                log(2, "-", f"cannot accept a connection: {error.strerror}")
                threading.Event().wait(1.0)
                continue
            host, port, *_ = peer
            client = f"{host}:{port}"
            if not self._greetings.acquire(blocking=False):
                connection.close()
                self._refusals.add(client, "too many connections have not shown a token")
                continue
            arguments = (connection, client)
            threading.Thread(target=self._serve_client, args=arguments, name=client, daemon=True).start()

    def close(self) -> None:
        """Accept no further connections."""
        self._socket.close()
        self._refusals.close()

    def _serve_client(self, connection: socket.socket, client: str) -> None:
        """Host the run of a client that knows the token, if there is a place for its process."""
        with connection:
            try:
                if not self._knows_token(connection):
                    self._refusals.add(client, "it does not know the token")
                    return
                _detect_loss(connection)
                self._host(connection.fileno(), client)
            except Exception as error:
                log(2, client, f"ended: {type(error).__name__}: {error}")

    def _knows_token(self, connection: socket.socket) -> bool:
        """Whether the client knows the token; afterwards another one may be asked."""
        try:
            return _shows_token(connection, self._token)
        finally:
            self._greetings.release()

    def _host(self, handle: int, client: str) -> None:
        """Host a run if there is a place for its process; else say so to the client."""
        if not self._places.acquire(blocking=False):
            self._refusals.add(client, f"{MOST_PROCESSES} processes are running")
            text = f"{MOST_PROCESSES} processes of participants are running there: try later"
            Channel(handle, handle).send(welcome(text))
            return
        try:
            host_participants(handle, handle, client)
        finally:
            self._places.release()


def _shows_token(connection: socket.socket, token: bytes) -> bool:
    """Whether the other end shows the token in time, and in few bytes."""
    timer = threading.Timer(SECONDS_TO_GREET, _shut_down, [connection])  # it may send byte after byte
    timer.daemon = True
    timer.start()
    try:
        connection.settimeout(SECONDS_TO_GREET)
        return greet_client(connection, token)
    except (OSError, EOFError):
        return False
    finally:
        timer.cancel()


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _detect_loss(connection: socket.socket) -> None:
    """Detect, without a message, that the machine at the other end is lost."""
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        *(("TCP_KEEPIDLE", SECONDS_TO_NOTICE), ("TCP_KEEPINTVL", SECONDS_TO_NOTICE), ("TCP_KEEPCNT", PROBES)),
        ("TCP_USER_TIMEOUT", 1000 * SECONDS_TO_NOTICE * PROBES),
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def serve_pipes() -> None:
    """Host one run over standard input and output, for a client that ssh has let in."""
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # other output would disturb the messages
    unsent = open_greeting()
    while unsent:
        unsent = unsent[os.write(writing, unsent) :]
    host_participants(reading, writing, os.environ.get("SSH_CONNECTION", "ssh").partition(" ")[0])


def print_serving(server: ParticipantServer, address: str) -> None:
    """Print the address of a server."""
    machine = f"[{address}]" if ":" in address else address
    print(f"serving participants at tcp://{machine}:{server.port}", flush=True)
    if address not in ("127.0.0.1", "::1", "localhost"):
        print(
            "other machines can reach this port: what goes over it is not encrypted, and who knows the token "
            "runs code as this user",
            file=sys.stderr,
        )
