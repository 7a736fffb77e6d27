"""The contract of participants of a co-simulation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import AbstractClosedAttributes
from cosim.contracts.participant_description import ParticipantDescription
from cosim.registration.kinds import plugin_kind


@plugin_kind("participant")
class Participant(AbstractClosedAttributes):
    """One side of a co-simulation: an FMU, a system of ours, or any Python object with these methods.

    The master calls them in this order: `describe`, `initialize`, then any mix of `set`, `step`,
    `get`, `save`, `restore`, `serialize`, and at last `close`, which is called whatever happened before.
    A master may use further abilities, each of which is a protocol; those of our master are in
    `cosim_fmu.abilities`. A participant has an ability if it has the members of the protocol; nothing has to
    be registered.
    """

    @abstractmethod
    def describe(self) -> ParticipantDescription:
        """Names, types, units and capabilities; callable before `initialize`, without side effects."""

    def inspect(self) -> tuple[ParticipantDescription, list[str]]:
        """The description, also of a participant that cannot run here, with remarks: abilities, obstacles."""
        return self.describe(), []

    @abstractmethod
    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Instantiate at time `start` (s), with start values of parameters and inputs.

        Inputs may be set and outputs read afterwards, before the first step.
        """

    @abstractmethod
    def set(self, names: Sequence[str], values: NDArray[np.float64] | Sequence[Any]) -> None:
        """Write inputs; they are held until they are written again."""

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Set the slopes (per s) that real inputs follow over the next step.

        Called after `set`, which ends the slopes of an earlier step; only if `follows_slopes`.
        """
        raise NotImplementedError(f"{type(self).__name__} holds its inputs")

    @abstractmethod
    def step(self, time: float, size: float) -> float:
        """Advance from `time` by `size` (s) and return the time that was reached.

        Less than ``time + size`` is an early return. An error that it raises names the participant.
        """

    @abstractmethod
    def get(self, names: Sequence[str]) -> NDArray[np.float64] | list[Any]:
        """Values at the present time."""

    def directional_derivative(
        self, outputs: Sequence[str], inputs: Sequence[str], seed: Sequence[float]
    ) -> Sequence[float]:
        """Derivatives of real outputs along a direction of real inputs, at the present time and state.

        Only when `has_derivatives`.

        Parameters
        ----------
        outputs, inputs : sequence of str
        seed : sequence of float
            The direction: a number for each input.

        Returns
        -------
        sequence of float
            For each output the sum of d output / d input times seed.
        """
        raise NotImplementedError(f"{type(self).__name__} has no directional derivatives")

    def save(self) -> Any:
        """A token for the whole present state; only when `can_restore`."""
        raise NotImplementedError(f"{type(self).__name__} cannot save its state")

    def restore(self, token: Any) -> None:
        """Go back to a saved state."""
        raise NotImplementedError(f"{type(self).__name__} cannot restore its state")

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes; only when `can_serialize`."""
        raise NotImplementedError(f"{type(self).__name__} cannot serialize its state")

    def deserialize(self, data: bytes) -> Any:
        """The token that was serialized, for `restore` of this participant or an equal one.

        Only when `can_serialize`.

        Raises
        ------
        CosimError
            The bytes are not a state of this participant.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot serialize its state")

    @abstractmethod
    def close(self) -> None:
        """Terminate and free everything; may be called twice, never raises."""
