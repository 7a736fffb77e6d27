"""A finding: a deviation, or a check that cannot continue."""

from __future__ import annotations

from dataclasses import dataclass


class FailedCallError(Exception):
    """A call of an FMU was answered by discard, error, fatal or pending."""


SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One line of a report about an FMU.

    Attributes
    ----------
    severity : str
        "error": against the standard, or it fails when it is run; "warning": allowed, but tools or
        results suffer; "note": worth knowing.
    where : str
        "archive", "modelDescription.xml", or what was being tried.
    text : str
        A sentence.

    Examples
    --------
    >>> print(Finding("error", "reset", "it does not repeat itself"))
    error    reset: it does not repeat itself
    """

    severity: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.severity:<8} {self.where}: {' '.join(self.text.split())}"
