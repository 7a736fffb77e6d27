"""The progress of a run: a bar on a terminal, elsewhere a line about compiling."""

from __future__ import annotations

import logging
import math
import sys
import time as wall
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from cosim.kit import raw_stream

NOTICE = "compiling … (the first run of a model on this machine)"
INTERVAL = 0.05
"""Time between two drawings, s."""
PATIENCE = 2.0
"""Time between two lines about the work of an export, s."""
LONG_WORK = ("compiling: ", "lowering", "optimizing", "building")
"""The beginnings of log records about long work."""

Advance = Callable[[float], "bool | None"]


@contextmanager
def progress_bar(until: float, *, stream: TextIO | None = None) -> Iterator[Advance | None]:
    """A bar from time 0 to `until` (s); gives the function to call with the time, None without a terminal."""
    stream = raw_stream(sys.stderr if stream is None else stream)
    if not stream.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = [
        BarColumn(),
        TaskProgressColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[pace]}"),
    ]
    # Drawn by this thread, not by one of rich: compiling before the run may fork processes.
    with Progress(*columns, console=Console(file=stream), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=until, pace="")

        # The pace counts from the first call, so without the time for compiling.
        shown, latest, wall_begin, time_begin = -INTERVAL, 0.0, math.nan, 0.0

        def advance(time: float) -> None:
            nonlocal shown, latest, wall_begin, time_begin
            now = wall.perf_counter()
            if math.isnan(wall_begin):
                wall_begin, time_begin = now, time
            latest, spent = time, now - wall_begin
            if spent < shown + INTERVAL:  # drawing costs more than a step of a small model
                return
            shown = spent
            pace = f"   {(time - time_begin) / spent:.3g}× real time" if spent > 0.0 else ""
            bar.update(task, completed=time, pace=f"{time:.3f} s{pace}", refresh=True)

        yield advance
        shown = -INTERVAL
        advance(latest)


@contextmanager
def compile_notice(stream: TextIO | None = None) -> Iterator[None]:
    """Report once, on the standard error, that kernels are being compiled and cached.

    If it takes long, a line every few seconds says what is being done.
    """
    log = logging.getLogger("cosim.native")
    notice, level = _Notice(stream, log.getEffectiveLevel()), log.level
    log.addFilter(notice)
    log.setLevel(min(log.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        log.setLevel(level)
        log.removeFilter(notice)


class _Notice(logging.Filter):
    """Prints the notice at the first record about compiling, and passes on what would be logged without it.

    It is a filter because Python prints the warnings of a logger only as long as that has no handlers.
    """

    def __init__(self, stream: TextIO | None, level: int) -> None:
        super().__init__()
        self._stream, self._level, self._was_shown = stream, level, False
        self._begun = self._shown = wall.perf_counter()
        self._work = ""

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage() if record.levelno == logging.INFO else ""
        if not self._was_shown and "compil" in text:
            self._was_shown = True
            self._print(NOTICE)
        elif text.startswith(LONG_WORK):
            work, now = text.partition(" ")[0], wall.perf_counter()
            # Another kind of work is shown at once, since it may report nothing until it is done.
            if now > (self._shown if work == self._work else self._begun) + PATIENCE:
                self._work = work
                self._print(text)
        return record.levelno >= self._level

    def _print(self, text: str) -> None:
        self._shown = wall.perf_counter()
        # Looked up late: a progress bar replaces this stream by one that writes above the bar.
        print(text, file=self._stream or sys.stderr, flush=True)
