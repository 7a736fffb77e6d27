"""A progress bar on one line of a terminal."""

from __future__ import annotations

from typing import TextIO

WIDTH = 28


class ProgressBar:
    r"""``━━━━━━━━━━━━━━                50 %  1.000 s``, drawn over itself.

    A context manager; leaving it ends the line, so that an error message starts on its own.

    Parameters
    ----------
    stream : file
        A terminal.
    start, until : float
        Simulated time, s.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO()
    >>> with ProgressBar(text, 0.0, 2.0) as bar:
    ...     bar.show(2.0, "18× real time")
    >>> text.getvalue().endswith("100 %  2.000 s   18× real time\n")
    True
    """

    def __init__(self, stream: TextIO, start: float, until: float) -> None:
        self._stream, self._start, self._span = stream, start, until - start
        self._length = 0

    def __enter__(self) -> ProgressBar:
        self.show(self._start)
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.write("\n")
        self._stream.flush()

    def show(self, time: float, more: str = "") -> None:
        """Draw the bar at a simulated time (s)."""
        part = min(1.0, (time - self._start) / self._span) if self._span > 0.0 else 1.0
        bar = "━" * round(part * WIDTH)
        text = f"{bar:<{WIDTH}} {100.0 * part:3.0f} %  {time:.3f} s" + (f"   {more}" if more else "")
        self._stream.write("\r" + text.ljust(self._length))
        self._stream.flush()
        self._length = len(text)
