"""What a terminal shows while a simulation runs."""

from __future__ import annotations

import logging
import os
import time as wall
from contextlib import ExitStack
from types import TracebackType
from typing import Any, TextIO

WIDTH = 28
INTERVAL = 0.05  # s, between two drawings
COMPILER = "cosim.native"


class Progress:
    """A bar with percent, simulated time and times real time; on anything but a terminal, nothing.

    A context manager. `show` is the `progress` of `cosim.simulate`. When kernel functions are compiled
    meanwhile, one line says so.

    Parameters
    ----------
    stream : file
    start, until : float
        Simulated time, s.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> with Progress(stream, 0.0, 2.0) as progress:
    ...     progress.show(1.0)
    >>> stream.getvalue()
    ''
    """

    def __init__(self, stream: TextIO, start: float, until: float) -> None:
        self._stream, self._start, self._until = stream, start, until
        self._bar: Any = None
        self._task: Any = None
        self._began = self._drawn = 0.0
        self._exit = ExitStack()

    def __enter__(self) -> Progress:
        if not self._stream.isatty() or os.environ.get("TERM") == "dumb":
            return self
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        texts = ("{task.percentage:3.0f} %", "{task.fields[at]:.3f} s", " {task.fields[pace]}")
        columns = [TextColumn(text, style="none", markup=False) for text in texts]
        console = Console(file=self._stream, highlight=False)
        self._bar = Bar(BarColumn(WIDTH), *columns, console=console, auto_refresh=False)
        self._task = self._bar.add_task("", total=self._until - self._start, at=self._start, pace="")
        self._exit.callback(watch_compiler(self._bar.console))
        self._exit.enter_context(self._bar)
        self._began = wall.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    def show(self, time: float) -> None:
        """Draw the bar at a simulated time (s), when there is one and the last drawing is old enough."""
        if self._bar is None:
            return
        now = wall.perf_counter()
        if now - self._drawn < INTERVAL and time < self._until:
            return
        self._drawn, done = now, time - self._start
        self._bar.update(self._task, completed=done, at=time, pace=pace(done, now - self._began))
        self._bar.refresh()


def pace(simulated: float, spent: float) -> str:
    """``18× real time``.

    >>> pace(2.0, 0.11), pace(2.0, 0.0)
    ('18× real time', '')
    """
    return f"{simulated / spent:.3g}× real time" if simulated > 0.0 and spent > 0.0 else ""


class CompilerNotice(logging.Handler):
    """Says once that functions are compiled, and passes warnings on."""

    def __init__(self, console: Any) -> None:
        super().__init__(logging.INFO)
        self._console = console
        self._said = False

    def emit(self, record: logging.LogRecord) -> None:
        """Say what the compiler logs, as far as people need it."""
        message = record.getMessage()
        if record.levelno >= logging.WARNING:
            self._console.print(message, markup=False)
        elif message.startswith("compil") and not self._said:
            self._said = True
            self._console.print("compiling … (first run on this machine)")


def watch_compiler(console: Any) -> Any:
    """Attach a `CompilerNotice`; what is returned takes it off again."""
    logger, notice = logging.getLogger(COMPILER), CompilerNotice(console)
    level = logger.level
    logger.addHandler(notice)
    logger.setLevel(logging.INFO)

    def stop() -> None:
        logger.removeHandler(notice)
        logger.setLevel(level)

    return stop
