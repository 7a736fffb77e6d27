"""The contract of streams, which write results during a run."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from cosim.attributes import AbstractClosedAttributes

if TYPE_CHECKING:
    Result = Any


class ResultStream(AbstractClosedAttributes):
    """Takes the rows of a run piece by piece; a `ResultSink` that can do so makes one.

    What has been appended is safe when the process is killed.
    """

    @abstractmethod
    def append(self, piece: Result) -> None:
        """Write the next rows; all pieces have the same signals and units."""

    @abstractmethod
    def close(self, result: Result) -> None:
        """The run has ended, with these statistics and this message; its rows have been appended."""
