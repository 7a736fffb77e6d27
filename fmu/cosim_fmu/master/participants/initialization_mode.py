"""An optional ability of participants."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class InitializationMode(Protocol):
    """A participant that wants to know when the values at the start are consistent.

    The master calls `exit_initialization` once, after the initial exchange and before the first step;
    outputs may change by it and are exchanged once more. A participant without it is ready at once.
    """

    def exit_initialization(self) -> None:
        """The inputs at the start are set: initialize from them."""
