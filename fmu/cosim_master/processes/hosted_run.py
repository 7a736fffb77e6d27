"""The process of one run of another machine, and the last message, which says how that process ended."""

from __future__ import annotations

import os
import select
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import cosim
from cosim_master.processes.channel import Channel
from cosim_master.processes.process_worker import ENDED, log_file
from cosim_master.processes.sent_fmus import log
from cosim_master.processes.worker_process import SECONDS_TO_END, WorkerProcess

SECONDS_BETWEEN_LOOKS = 0.1
"""Time between checks of the process, and of the other end of its connection, s."""
MOST_LOG = 1 << 20
"""Bytes of a log that are sent after the end of a process."""


def welcome(refused: str = "") -> dict[str, Any]:
    """The first message to a client, with the reason if its run is refused."""
    return {"cosim": cosim.__version__, "refused": refused}


def host_participants(reading: int, writing: int, client: str) -> None:
    """Start a process for a run, and report how it ended.

    Parameters
    ----------
    reading, writing : int
        Handles of the connection, over which the process itself answers.
    client : str
        The name of the other end in the log.
    """
    channel = Channel(reading, writing)
    log(2, client, "connected")
    try:
        worker = WorkerProcess(reading, writing, dies_with_thread=True, host_of=client)
    except OSError as error:
        channel.send(welcome(f"no process can be started there: {error.strerror}"))
        raise
    try:
        channel.send(welcome())
        was_killed = _wait_for_end(worker, reading)
        code = worker.process.poll()
        if was_killed or code == 0:
            log(2, client, "disconnected" if code == 0 else "disconnected in a call: its process was killed")
            return
        number, name = worker.call_under_way()
        ending, printed = worker.ending(), worker.last_printed()
        log(2, client, f"{ending} in {name or 'no call'}")
        logs = [[n, *_end_of(log_file(worker.folder, n))] for n in _logging_participants(worker)]
        with suppress(OSError):
            channel.send({ENDED: f"{ending}\n{printed}", "number": number, "name": name, "logs": logs})
    finally:
        worker.end(0.0)


def _wait_for_end(worker: WorkerProcess, reading: int) -> bool:
    """Wait for the end of the process. Returns whether it was killed because the other end was lost."""
    watched = select.poll()
    watched.register(reading, getattr(select, "POLLRDHUP", 0))
    while not _has_ended(worker, SECONDS_BETWEEN_LOOKS):
        if watched.poll(0):
            if _has_ended(worker, SECONDS_TO_END):
                return False
            worker.kill()
            worker.process.wait()
            return True
    return False


def _has_ended(worker: WorkerProcess, seconds: float) -> bool:
    """Wait for the end of the process, at most so long. Returns whether it has ended."""
    try:
        worker.process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _logging_participants(worker: WorkerProcess) -> list[int]:
    """Numbers of the participants that have logged."""
    names = [path.name.removeprefix("log-") for path in worker.folder.glob("log-*")]
    return sorted(int(number) for number in names if number.isdigit())


def _end_of(path: Path) -> tuple[int, bytes]:
    """The last bytes of a file, and their place."""
    with suppress(OSError), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        place = max(0, size - MOST_LOG)
        file.seek(place)
        return place, file.read()
    return 0, b""
