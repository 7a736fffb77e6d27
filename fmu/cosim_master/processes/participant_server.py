"""A server for participants of runs on other machines."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from time import monotonic
from typing import Any

import cosim
from cosim_master.processes.channel import Channel
from cosim_master.processes.greeting import SECONDS_TO_GREET, greet_client, open_greeting
from cosim_master.processes.process_worker import ENDED, log_file
from cosim_master.processes.refusals import Refusals
from cosim_master.processes.sent_fmus import log
from cosim_master.processes.worker_process import SECONDS_TO_END, WorkerProcess

MOST_GREETINGS = 64
"""Connections at a time that have not shown that they know the token."""
MOST_PROCESSES = 64
"""Processes of runs at a time."""
SECONDS_BETWEEN_LOOKS = 0.1
"""Time between checks of the process, and of the other end of its connection, s."""
SECONDS_TO_NOTICE = 30
"""Time between probes of a silent client, s."""
LOOKS = 4
MOST_LOG = 1 << 20
"""Bytes of a log that are sent after the end of a process."""
BACKLOG = 32


class ParticipantServer:
    """Accepts runs on a port; each has a process of its own here, and nothing is shared between them.

    Parameters
    ----------
    address : str
    port : int
        0 for any that is free.
    token : bytes
        Who does not know it gets nothing.

    Attributes
    ----------
    port : int

    Raises
    ------
    OSError
        The address cannot be had.
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
            who = f"{peer[0]}:{peer[1]}"
            if not self._greetings.acquire(blocking=False):
                connection.close()
                self._refusals.add(who, "too many connections have not shown a token")
                continue
            threading.Thread(target=self._take, args=(connection, who), name=who, daemon=True).start()

    def close(self) -> None:
        """Accept nothing more."""
        self._socket.close()
        self._refusals.close()

    def _take(self, connection: socket.socket, who: str) -> None:
        with connection:
            try:
                try:
                    is_known = _is_known(connection, self._token)
                finally:
                    self._greetings.release()
                if not is_known:
                    self._refusals.add(who, "it does not know the token")
                    return
                _stay_awake(connection)
                if not self._places.acquire(blocking=False):
                    self._refusals.add(who, f"{MOST_PROCESSES} processes are running")
                    handle = connection.fileno()
                    text = f"{MOST_PROCESSES} processes of participants are running there: try later"
                    Channel(handle, handle).send(welcome(text))
                    return
                try:
                    host_participants(connection.fileno(), connection.fileno(), who)
                finally:
                    self._places.release()
            except Exception as error:
                log(2, who, f"ended: {type(error).__name__}: {error}")


def _is_known(connection: socket.socket, token: bytes) -> bool:
    """Whether the other end knows the token, which it shows in time, and in few bytes."""
    timer = threading.Timer(SECONDS_TO_GREET, _cut, [connection])  # also of one that sends byte after byte
    timer.daemon = True
    timer.start()
    try:
        connection.settimeout(SECONDS_TO_GREET)
        return greet_client(connection, token)
    except (OSError, EOFError):
        return False
    finally:
        timer.cancel()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _stay_awake(connection: socket.socket) -> None:
    """Detect, without a message, that the machine at the other end is lost."""
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        *(("TCP_KEEPIDLE", SECONDS_TO_NOTICE), ("TCP_KEEPINTVL", SECONDS_TO_NOTICE), ("TCP_KEEPCNT", LOOKS)),
        ("TCP_USER_TIMEOUT", 1000 * SECONDS_TO_NOTICE * LOOKS),
    ):
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def serve_pipes() -> None:
    """Host one run over standard input and output, for a client that ssh has let in."""
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(2, 1)  # nothing else may be written there
    left = open_greeting()
    while left:
        left = left[os.write(writing, left) :]
    host_participants(reading, writing, os.environ.get("SSH_CONNECTION", "ssh").partition(" ")[0])


def welcome(refused: str = "") -> dict[str, Any]:
    """The first message."""
    return {"cosim": cosim.__version__, "refused": refused}


def host_participants(reading: int, writing: int, who: str) -> None:
    """Start a process for a run, and report at its end how it has ended.

    Parameters
    ----------
    reading, writing : int
        Handles of the connection, over which that process itself answers.
    who : str
        The other end, for the log.
    """
    channel = Channel(reading, writing)
    log(2, who, "connected")
    try:
        worker = WorkerProcess(reading, writing, dies_with_thread=True, host_of=who)
    except OSError as error:
        channel.send(welcome(f"no process can be started there: {error.strerror}"))
        raise
    try:
        channel.send(welcome())
        is_gone = _wait(worker, reading)
        code = worker.process.poll()
        if is_gone or code == 0:
            log(2, who, "disconnected" if code == 0 else "disconnected in a call: its process was killed")
            return
        number, name = worker.call_under_way()
        ending, printed = worker.ending(), worker.last_printed()
        log(2, who, f"{ending} in {name or 'no call'}")
        rest = [[n, *_end_of(log_file(worker.folder, n))] for n in _logging(worker)]
        with suppress(OSError):
            channel.send({ENDED: f"{ending}\n{printed}", "number": number, "name": name, "logs": rest})
    finally:
        worker.end(0.0)


def _wait(worker: WorkerProcess, reading: int) -> bool:
    """Wait for the end of the process. Returns whether it was killed because the other end was lost."""
    watched = select.poll()
    watched.register(reading, getattr(select, "POLLRDHUP", 0))
    until = None
    while worker.process.poll() is None:
        if until is None:
            try:
                worker.process.wait(SECONDS_BETWEEN_LOOKS)
            except subprocess.TimeoutExpired:
                if watched.poll(0):
                    until = monotonic() + SECONDS_TO_END
        elif monotonic() > until:
            worker.kill()
            worker.process.wait()
            return True
        else:
            threading.Event().wait(SECONDS_BETWEEN_LOOKS)
    return False


def _logging(worker: WorkerProcess) -> list[int]:
    """Numbers of the participants that have logged."""
    names = [path.name.removeprefix("log-") for path in worker.folder.glob("log-*")]
    return sorted(int(number) for number in names if number.isdigit())


def _end_of(path: Any) -> tuple[int, bytes]:
    """The last bytes of a file, and their place."""
    with suppress(OSError), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        place = max(0, size - MOST_LOG)
        file.seek(place)
        return place, file.read()
    return 0, b""


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
