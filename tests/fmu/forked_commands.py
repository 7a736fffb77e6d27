"""Runs commands in forks of one process, so that Python starts and imports once (see `command_server`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Done(NamedTuple):
    """The exit status of a command, negative when a signal ended it, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class ForkedCommands:
    """A process that runs ``cosim`` commands."""

    def __init__(self) -> None:
        server = [sys.executable, str(Path(__file__).with_name("command_server.py"))]
        self.process = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(
        self, folder: Path, words: Sequence[str], environment: Mapping[str, str] = {}, forks: bool = True
    ) -> Done:
        """Run a command in a folder; without a fork, later commands share what it compiles and imports."""
        status = self._ask("fork" if forks else "here", str(folder), dict(environment), list(words))
        return self._done(folder, status)

    def begin(self, folder: Path, words: Sequence[str]) -> Callable[[], Done]:
        """Start a command in a folder, in parallel to others; return a function that waits for its end."""
        process = self._ask("start", str(folder), {}, list(words))
        return lambda: self._done(folder, self._ask("wait", process))

    def begin_program(
        self, folder: Path, words: Sequence[str], environment: Mapping[str, str] = {}
    ) -> tuple[int, Callable[[], Done]]:
        """As `begin`, run as a program, whose run another process outlives; also return its process id."""
        process = self._ask("start program", str(folder), dict(environment), list(words))
        return process, lambda: self._done(folder, self._ask("wait", process))

    def begin_in_background(
        self, folder: Path, words: Sequence[str], environment: Mapping[str, str] = {}
    ) -> tuple[int, Callable[[], Done]]:
        """As `begin_program`, started as scripts start a program in the background: Ctrl-C is ignored."""
        process = self._ask("start in background", str(folder), dict(environment), list(words))
        return process, lambda: self._done(folder, self._ask("wait", process))

    def close(self) -> None:
        """End the process; it kills commands that still run."""
        self.process.communicate(timeout=10.0)

    def _ask(self, *request: Any) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    @staticmethod
    def _done(folder: Path, status: int) -> Done:
        return Done(status, *((folder / name).read_text() for name in ("out", "err")))
