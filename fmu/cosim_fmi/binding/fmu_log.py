"""The log of one instance of an FMU: its last messages, and the file to which they are written."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from contextlib import suppress
from pathlib import Path

SERIOUS = ("logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
WRITTEN: dict[str, Container[int]] = {"all": range(256), "warning": (1, 2, 3, 4), "error": (3, 4)}
"""Statuses by level."""


class FmuLog:
    """The last messages of one instance, and the file to which they are written.

    Parameters
    ----------
    file : Path, optional
        Written anew.
    level : str
        From which level on messages are written: "all", "warning" or "error".

    Raises
    ------
    OSError
        The file cannot be written.

    Attributes
    ----------
    messages : deque of tuple of (int, str)
        Status and text of the last hundred messages.
    """

    def __init__(self, file: Path | None = None, level: str = "all") -> None:
        self._file = None if file is None else file.open("w", encoding="utf-8", buffering=1)
        self._level = level
        self.messages: deque[tuple[int, str]] = deque(maxlen=100)
        self.errors = self._before = 0

    def add(self, status: int, message: str) -> None:
        """Keep a message."""
        self.errors += status in (3, 4)
        self.messages.append((status, message.strip()))
        file = self._file  # a thread of the FMU may log while this one closes
        if file is not None and status in WRITTEN[self._level]:
            with suppress(OSError, ValueError):  # a full disk is not a fault of the run
                word = STATUS[status] if 0 <= status < len(STATUS) else str(status)
                file.write(f"{word}: {message.strip()}\n")

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None

    def begin(self) -> None:
        """Note that a call begins; `has_error` speaks of what has been logged since."""
        self._before = self.errors

    def has_error(self) -> bool:
        """Whether the FMU has logged an error, and not only a wish to stop, since the call began."""
        return self.errors > self._before

    def text(self, count: int = 5) -> str:
        """First lines of the last messages of at least a warning, or else of the last of any kind."""
        serious = [m for status, m in self.messages if status not in (0, 5)]
        chosen = (serious or [m for _, m in self.messages])[-count:]
        return " | ".join(dict.fromkeys(map(_headline, chosen)))


def _headline(message: str) -> str:
    """The first line; after the one in which pythonfmu says which C function of Python failed."""
    first, _, rest = message.partition("\n")
    if rest and first.endswith(("PyObject_Call", "PyObject_CallMethod")):
        first = rest.partition("\n")[0]
    return first


def is_log(path: Path) -> bool:
    """Whether a log may replace what is there: nothing, or a log."""
    try:
        with path.open("rb") as file:
            first = file.readline(64)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    word, colon, _ = first.decode("utf-8", "replace").partition(": ")
    return not first or (bool(colon) and (word in STATUS or word.lstrip("-").isdigit()))


def serious_categories(declared: Sequence[str]) -> list[str] | None:
    """Categories to switch on so that an FMU explains its failures without chattering.

    All ([]) when it declares nothing beside the standard's own: some tools log their errors under no
    category at all. None when nothing should be switched on.

    Examples
    --------
    >>> serious_categories(["logStatusError", "logAll"]), serious_categories(["logEvents", "logStatusError"])
    ([], ['logStatusError'])
    """
    if declared and {*declared} <= {*SERIOUS, "logStatusPending", "logAll"}:
        return []
    return [c for c in declared if c in SERIOUS or "error" in c.lower()] or None
