"""ParticipantTangents: the interface for tangents of one participant in a run with derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Finding

Reals = NDArray[np.float64]


class StepRecord(NamedTuple):
    """A step of a participant, for `ParticipantTangents.follow`."""

    time: float  # s
    size: float  # s
    inputs: list[Any]  # the connected ones, as they were written
    slopes: list[float] | None  # per s
    piece: Any  # the return value of `ParticipantTangents.end_step`


class ReadRecord(NamedTuple):
    """A read of outputs, for `ParticipantTangents.read`."""

    inputs: list[Any] | None  # those that were written just before
    piece: Any  # the return value of `ParticipantTangents.at_read`


class ParticipantTangents(ABC):
    """Tangents of a participant, one for each direction; those of its inputs are given.

    While the participant runs, `start_step`, `end_step` and `at_read` record its steps and reads. Afterwards
    `follow` and `read` compute the tangents of these; after `restore` they may do so again.
    """

    @abstractmethod
    def start(self, names: Sequence[str]) -> Reals:
        """The tangents of these outputs before the first events, shape (directions, outputs)."""

    @abstractmethod
    def exit_initialization(self) -> None:
        """Move the tangents over the first events."""

    def start_step(self) -> None:  # noqa: B027
        """Prepare to record a step, before the participant takes it."""

    def end_step(self) -> Any:
        """Return data for `follow` of the step that the participant has just taken."""
        return None

    def at_read(self) -> Any:
        """Return data for `read` of the outputs that have just been read."""
        return None

    @abstractmethod
    def save(self) -> Any:
        """The present tangents, for `restore`."""

    @abstractmethod
    def restore(self, token: Any) -> None:
        """Restore the tangents that `save` returned."""

    @abstractmethod
    def memory(self) -> Any:
        """The tangents at the end of a step as numbers, text and bytes, for a run in another process."""

    @abstractmethod
    def put_back(self, memory: Any) -> None:
        """Continue with tangents that `memory` returned; the participant is in the state of that time."""

    @abstractmethod
    def set_inputs(
        self, names: Sequence[str], values: Sequence[Any], dots: Reals, slopes: Reals | None = None
    ) -> None:
        """Set the tangents of inputs and of their slopes, shape (directions, inputs)."""

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
        """Release resources at the end of the run."""
