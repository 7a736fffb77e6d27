"""What takes the results of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cosim.result import Result


class ResultSink(ABC):
    """Writes a result somewhere: a file, a picture."""

    @abstractmethod
    def write(self, result: Result, path: Path | None) -> Any:
        """Write the result.

        Parameters
        ----------
        result : Result
        path : Path or None
            None where the sink can do without a file (a figure on the screen).
        """
