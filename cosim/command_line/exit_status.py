"""The exit status of a command."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit statuses of ``cosim``; a test holds the page about the command line to them."""

    meaning: str

    DONE = 0, "done"
    FAILED = 1, "a run failed, a check or comparison failed, or a plugin has a fault"
    BAD_INPUT = 2, "bad input: options, a model, a file; nothing was run"
    INTERRUPTED = 130, "interrupted by Ctrl-C; results so far are kept"
    TERMINATED = 143, "ended by SIGTERM; results so far are kept"

    def __new__(cls, number: int, meaning: str) -> ExitStatus:
        """A number with what it says."""
        status = int.__new__(cls, number)
        status._value_ = number
        status.meaning = meaning
        return status


def exit_statuses(failure: str = "") -> str:
    """The part of a ``--help`` that lists them.

    Parameters
    ----------
    failure : str
        What 1 means for one command; what it means for all unless given.
    """
    rows = {status: status.meaning for status in ExitStatus}
    rows[ExitStatus.FAILED] = failure or ExitStatus.FAILED.meaning
    return "\n".join(["exit status:", *(f"  {status.value:<3}  {text}" for status, text in rows.items())])
