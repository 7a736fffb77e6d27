"""A State in a file, written from time to time while a simulation runs."""

from __future__ import annotations

import logging
import os
import stat
import time as wall
from os import PathLike
from pathlib import Path
from typing import Protocol

from cosim.argument_checks import read_seconds
from cosim.attributes import FixedAttributes
from cosim.errors import CosimError, StateError
from cosim.simulation.replaced_file import replaced_file
from cosim.system.state import State
from cosim.system.system import System

LARGEST = 1 << 32  # bytes


class HasBytes(Protocol):
    """A state that a checkpoint can store: a State, or the state of a co-simulation."""

    def to_bytes(self) -> bytes:
        """Everything that the run needs to continue, as bytes."""


log = logging.getLogger("cosim.simulation")


class Checkpoint(FixedAttributes):
    """Writes the State to a file at the end of a step, when so much time has passed since the last one.

    The file is replaced once the new one is complete, so that it can be read whenever a run dies.

    Parameters
    ----------
    path : path_like
    every : float or str
        Wall-clock time between two checkpoints: s, or text with a unit.

    Raises
    ------
    CosimError
        The file cannot be written there.
    """

    def __init__(self, path: str | PathLike[str], every: float | str = 30.0) -> None:
        path, every = Path(path), read_seconds(every, "every")
        if not every > 0.0:
            raise CosimError(f"checkpoint every {every} s: needs more than 0 s")
        folder = path.parent
        if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
            raise CosimError(f"{path}: a checkpoint cannot be written there; choose another file")
        self.path, self.every = path, every
        self._last = wall.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether it is time to write."""
        return wall.monotonic() - self._last >= self.every

    def write(self, state: HasBytes) -> None:
        """Write now; a failure is logged, since a run is worth more than a checkpoint of it."""
        try:
            with replaced_file(self.path) as draft, draft.open("wb") as file:
                file.write(state.to_bytes())
                file.flush()
                os.fsync(file.fileno())
        except CosimError as error:
            log.warning("%s; this checkpoint is left out", error)
        self._last = wall.monotonic()


def checkpoint_bytes(path: Path, largest: int = LARGEST) -> bytes:
    """The contents of a file that a `Checkpoint` wrote.

    Parameters
    ----------
    path : Path
    largest : int
        Bytes; a larger file is refused unread.

    Raises
    ------
    CosimError
        There is no such file, or it is a folder, a pipe or a device, or too large.
    """
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            raise CosimError(f"{path}: is a folder, needs the file of a checkpoint")
        if not stat.S_ISREG(facts.st_mode):
            raise CosimError(f"{path}: is a pipe or a device, needs the file of a checkpoint")
        if facts.st_size > largest:
            raise CosimError(f"{path}: has {facts.st_size / 1e9:.3g} GB, too large for a checkpoint")
        return path.read_bytes()
    except OSError as error:
        raise CosimError(f"{path}: cannot be read: {error.strerror or error}") from None


def read_checkpoint(system: System, path: str | PathLike[str]) -> State:
    """The State in a file that a `Checkpoint` wrote.

    Raises
    ------
    CosimError
        There is no such file.
    StateError
        It holds no State of this system.
    """
    path = Path(path)
    data = checkpoint_bytes(path)
    try:
        return system.state_from_bytes(data)
    except StateError as error:
        raise StateError(f"{path}: {error}") from None
