"""What a participant carries along in a run with derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Finding

Reals = NDArray[np.float64]


class StepRecord(NamedTuple):
    """A step of a participant: what it began with, and what came of it."""

    time: float  # s
    size: float  # s
    inputs: list[Any]  # the connected ones, as they were written
    slopes: list[float] | None  # per s
    piece: Any  # what `ParticipantTangents.end_step` has answered


class ReadRecord(NamedTuple):
    """Outputs were read: the inputs written just before, and what `ParticipantTangents.at_read` answered."""

    inputs: list[Any] | None
    piece: Any


class ParticipantTangents(ABC):
    """Tangents of a participant, one for each direction; those of its inputs are given.

    While the participant runs, `start_step`, `end_step` and `at_read` record what happens. Later, `follow`
    and `read` move the tangents along it; after `restore` they may do so again.
    """

    @abstractmethod
    def start(self, names: Sequence[str]) -> Reals:
        """The tangents of these outputs before the first events, shape (directions, outputs)."""

    @abstractmethod
    def exit_initialization(self) -> None:
        """Move the tangents over the first events."""

    def start_step(self) -> None:  # noqa: B027
        """The participant is about to step."""

    def end_step(self) -> Any:
        """What `follow` needs of a step that the participant has just taken."""
        return None

    def at_read(self) -> Any:
        """What `read` needs of outputs that have just been read."""
        return None

    @abstractmethod
    def save(self) -> Any:
        """The tangents as they are."""

    @abstractmethod
    def restore(self, token: Any) -> None:
        """Restore the tangents that `save` returned."""

    @abstractmethod
    def memory(self) -> Any:
        """The tangents at the end of a step as numbers, text and bytes, for a run in another process."""

    @abstractmethod
    def put_back(self, memory: Any) -> None:
        """Go on with what `memory` returned; the participant is where it was then."""

    @abstractmethod
    def set_inputs(
        self, names: Sequence[str], values: Sequence[Any], dots: Reals, slopes: Reals | None = None
    ) -> None:
        """The tangents of inputs and of their slopes, shape (directions, inputs)."""

    @abstractmethod
    def follow(self, step: StepRecord) -> None:
        """Move the tangents over a step."""

    @abstractmethod
    def read(self, names: Sequence[str], record: ReadRecord) -> Reals:
        """The tangents of outputs, shape (directions, outputs)."""

    @property
    def findings(self) -> list[Finding]:
        """Findings: when and why derivatives ended, and how exact differences are."""
        return []

    def close(self) -> None:  # noqa: B027
        """The run is over."""
