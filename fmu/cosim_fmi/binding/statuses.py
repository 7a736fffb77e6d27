"""The return values of functions of FMUs in all versions of FMI."""

from __future__ import annotations

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
STATUS_WORDS = ("ok", "warning", "discard", "error", "fatal", "pending")


def is_bad(status):
    """Whether a status is worse than a warning; some FMUs return numbers below 0, which no version has."""
    return status > WARNING or status < OK
