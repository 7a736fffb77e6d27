"""The contract of saving a run whose process was ended by code of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Recovery(ABC):
    """Knows where a run was and what it had recorded, by what its process has left (`BlackBoxReader`).

    The process of the run hands it over as the note ``"recovery"``; the one that watches uses it.
    """

    @abstractmethod
    def call(self, box: Any) -> tuple[float, list[str]]:
        """The time (s), and the functions that are being called: several where threads step."""

    @abstractmethod
    def recover(self, box: Any, why: str) -> tuple[str, dict[str, Any]]:
        """Write what was recorded; a sentence that says where it is, and what is reported to programs.

        Parameters
        ----------
        box : BlackBoxReader
        why : str
            The run has ended so.
        """
