"""The log of a participant that runs on another machine, in a file of this one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import IO

import cosim


class RemoteLog:
    """Writes the pieces of a log that come over a connection; without an open file they are dropped."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def open(self, file: Path, fmu: str) -> None:
        """Begin an empty file.

        Raises
        ------
        FmuError
            It cannot be written.
        """
        self.close()
        try:
            self._file = file.open("wb", buffering=0)
        except OSError as error:
            raise cosim.FmuError(fmu, f"its log {file} cannot be written: {error.strerror}") from error

    def write_part(self, place: int, data: bytes) -> None:
        """Write a piece at its place; a full disk is not a fault of the run."""
        if self._file is not None:
            with suppress(OSError, ValueError):
                self._file.seek(place)
                self._file.write(data)

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
