"""PythonCalls: a participant without the functions that compiled code calls."""

from __future__ import annotations

from typing import Any

NATIVE = ("native_calls", "native_types", "least_native_steps")


class PythonCalls:
    """Another participant, called by its methods of Python alone: for comparisons.

    Parameters
    ----------
    participant : Participant
    """

    def __init__(self, participant: Any) -> None:
        self._participant = participant

    def __getattr__(self, name: str) -> Any:
        if name in NATIVE or name == "_participant":
            raise AttributeError(name)
        return getattr(self._participant, name)
