"""The progress of a study, with its rate and the remaining time."""

from __future__ import annotations

import sys
import time as wall
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from cosim.kit import raw_stream

Report = Callable[[int, int, int], None]
LINE_EVERY = 30.0
"""Time between two lines if there is no terminal, s."""


class _Pace:
    """The rate of a study; points that were there at its start do not count."""

    def __init__(self) -> None:
        self._began = wall.perf_counter()
        self._first: int | None = None

    def text(self, ended: int, total: int, failed: int) -> str:
        """The progress in words."""
        if self._first is None:
            self._first = ended
        spent = wall.perf_counter() - self._began
        rate = (ended - self._first) / spent if spent > 0.0 else 0.0
        text = f"{ended} of {total} points"
        if rate > 0.0:
            text += f", {rate:.3g}/s, {duration((total - ended) / rate)} left"
        return text + (f", {failed} failed" if failed else "")


@contextmanager
def study_progress() -> Iterator[Report]:
    """A bar on a terminal, else a line from time to time; yields the function that `Study.run` calls."""
    stream = raw_stream(sys.stderr)
    with _bar(stream) if stream.isatty() else _lines(stream) as report:
        yield report


@contextmanager
def _lines(stream: TextIO) -> Iterator[Report]:
    pace, last_line = _Pace(), wall.perf_counter()

    def report(ended: int, total: int, failed: int) -> None:
        nonlocal last_line
        text = pace.text(ended, total, failed)
        if wall.perf_counter() > last_line + LINE_EVERY:
            last_line = wall.perf_counter()
            print(text, file=stream, flush=True)

    yield report


@contextmanager
def _bar(stream: TextIO) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    pace, columns = _Pace(), [BarColumn(), TextColumn("{task.fields[pace]}")]
    with Progress(*columns, console=Console(file=stream), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=1, pace="")

        def report(ended: int, total: int, failed: int) -> None:
            text = pace.text(ended, total, failed)
            bar.update(task, total=total, completed=ended, pace=text, refresh=True)

        yield report


def duration(seconds: float) -> str:
    """A duration in words.

    Examples
    --------
    >>> duration(4.2), duration(75.0), duration(7300.0)
    ('4 s', '1 min 15 s', '2 h 1 min')
    """
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60} min"
