"""Starts, watches and ends a process in which participants run; `process_worker` is the other side."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from typing import Any

from cosim.kit import (
    private_folder,
    python_command,
    python_environment,
    remove_folder,
    signals_held,
    start_process,
)
from cosim_master.processes.process_worker import CALLING, LONGEST_NAME, PRINTED
from cosim_master.processes.served_member import call_of_parts

START = "from cosim_master.processes.process_worker import main; main()"
START_ELSEWHERE = (
    "from cosim_master.participants.create_participants import open_fmu; "
    "from cosim_master.processes.process_worker import main; main(open_fmu)"
)
SECONDS_TO_END = 5.0
"""Time that a process may take after it was asked to end, s."""
SECRET = ("COSIM_TOKEN", "COSIM_TOKEN_FILE")
"""Environment variables that the process does not get, because it runs code of others."""


class WorkerProcess:
    """A process of participants with a folder for temporary files, and with its output after its end.

    Parameters
    ----------
    reading, writing : int
        Its ends of the connection.
    dies_with_thread : bool
        Whether the system kills the process when the thread that makes this object ends.
    host_of : str
        The client on another machine, for the log of the server; "" if the run is on this machine.

    Attributes
    ----------
    process : subprocess.Popen
    folder : Path
    """

    def __init__(self, reading: int, writing: int, *, dies_with_thread: bool, host_of: str = "") -> None:
        self.folder = private_folder("process")
        (self.folder / CALLING).write_bytes(bytes(LONGEST_NAME))
        folder = str(self.folder)
        environment = python_environment({"TMPDIR": folder, "TEMP": folder, "TMP": folder})
        for name in SECRET:
            environment.pop(name, None)
        arguments = str(reading), str(writing), str(os.getpid()), folder, str(int(dies_with_thread)), host_of
        handles = sorted({reading, writing})
        inherited: dict[str, Any] = {"pass_fds": handles}
        if os.name == "nt":
            os.set_handle_inheritable(reading, True)  # type: ignore[attr-defined]
            startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles})  # type: ignore[attr-defined]
            inherited = {"startupinfo": startup}
        try:
            with signals_held():
                self.process = start_process(
                    python_command("-c", START_ELSEWHERE if host_of else START, *arguments),
                    stdin=subprocess.DEVNULL,
                    env=environment,
                    **inherited,
                )
        except BaseException:
            remove_folder(self.folder)
            raise

    def call_under_way(self) -> tuple[int, str]:
        """The number of the participant that is being called, and the name of the call; "" between calls."""
        with suppress(OSError, ValueError):
            text = (self.folder / CALLING).read_bytes().rstrip(b"\0").decode("ascii")
            number, _, name = text.partition(" ")
            if name:
                return int(number), name
        return call_of_parts(self.folder)

    def last_printed(self) -> str:
        """The last line that an FMU has printed, as the end of a sentence; "" when there is none."""
        with suppress(OSError):
            lines = (self.folder / PRINTED).read_bytes()[-2000:].decode("utf-8", "replace").split("\n")
            last = next((line.strip() for line in reversed(lines) if line.strip()), "")
            return f'. It printed: "{last[:300]}"' if last else ""
        return ""

    def ending(self) -> str:
        """The end of the process, as the beginning of a sentence."""
        try:
            code = self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            return "its process closed the connection"
        if code < 0:
            with suppress(ValueError):
                return f"its process was killed by {signal.Signals(-code).name}"
        return f"its process ended by itself with exit code {code}"

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()

    def end(self, seconds: float = SECONDS_TO_END) -> None:
        """Wait some seconds for the end of the process, then kill it; remove its folder."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        if self.process.poll() is None:
            self.process.kill()
        with suppress(Exception):
            self.process.wait(SECONDS_TO_END)
        remove_folder(self.folder)
