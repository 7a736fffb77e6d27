"""Commands in forks of one process: Python is started, and all is imported, once (see `command_server`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Done(NamedTuple):
    """How a command ended, negative when by a signal, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class ForkedCommands:
    """A process that runs ``cosim`` with the words that it is given."""

    def __init__(self) -> None:
        words = [sys.executable, str(Path(__file__).with_name("command_server.py"))]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(
        self, folder: Path, words: Sequence[str], environment: Mapping[str, str] = {}, forks: bool = True
    ) -> Done:
        """Run a command in a folder; without a fork, what it compiles and imports is there for all others."""
        status = self._ask("forked" if forks else "here", str(folder), dict(environment), list(words))
        return self._done(folder, status)

    def begin(self, folder: Path, words: Sequence[str]) -> Callable[[], Done]:
        """Begin a command in a folder, beside others; the answer waits for its end."""
        number = self._ask("begun", str(folder), {}, list(words))
        return lambda: self._done(folder, self._ask("ended", number))

    def begin_program(self, folder: Path, words: Sequence[str]) -> tuple[int, Callable[[], Done]]:
        """The same as a program, which outlives its run; with its process."""
        number = self._ask("program", str(folder), {}, list(words))
        return number, lambda: self._done(folder, self._ask("ended", number))

    def close(self) -> None:
        """End it."""
        self.process.communicate(timeout=10.0)

    def _ask(self, *request: Any) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())

    @staticmethod
    def _done(folder: Path, status: int) -> Done:
        return Done(status, *((folder / name).read_text() for name in ("out", "err")))
