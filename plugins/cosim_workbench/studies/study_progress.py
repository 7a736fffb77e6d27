"""The progress of a study, with its rate and the remaining time."""

from __future__ import annotations

import sys
import time as wall
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cosim.kit import raw_stream

Report = Callable[[int, int, int], None]
LINE_EVERY = 30.0
"""s, between two lines where there is no terminal."""


@contextmanager
def study_progress() -> Iterator[Report]:
    """A bar on a terminal, else a line from time to time; gives what `Study.run` calls."""
    stream = raw_stream(sys.stderr)
    # a study that goes on has points already: the rate is that of the points since the first report
    began, first, shown = wall.perf_counter(), -1, wall.perf_counter()

    def pace(ended: int, total: int, failed: int) -> str:
        spent = wall.perf_counter() - began
        rate = (ended - first) / spent if spent > 0.0 else 0.0
        text = f"{ended} of {total} points"
        if rate > 0.0:
            text += f", {rate:.3g}/s, {duration((total - ended) / rate)} left"
        return text + (f", {failed} failed" if failed else "")

    if not stream.isatty():

        def line(ended: int, total: int, failed: int) -> None:
            nonlocal first, shown
            first = ended if first < 0 else first
            if wall.perf_counter() > shown + LINE_EVERY:
                shown = wall.perf_counter()
                print(pace(ended, total, failed), file=stream, flush=True)

        yield line
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = [BarColumn(), TextColumn("{task.fields[pace]}")]
    with Progress(*columns, console=Console(file=stream), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=1, pace="")

        def draw(ended: int, total: int, failed: int) -> None:
            nonlocal first
            first = ended if first < 0 else first
            bar.update(task, total=total, completed=ended, pace=pace(ended, total, failed), refresh=True)

        yield draw


def duration(seconds: float) -> str:
    """A time as people say it.

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
