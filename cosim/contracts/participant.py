"""What a co-simulation master needs from whatever takes part in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.registration.kinds import plugin_kind


@dataclass(frozen=True)
class ParticipantVariable:
    """A variable that a participant shows to the master.

    Attributes
    ----------
    name : str
    causality : str
        "input", "output", "parameter" or "local".
    type : str
        "real", "integer", "boolean", "string", "binary" or "clock" (true where it has ticked).
    unit : str
        Modelica unit expression, "1" when there is none.
    start : object
        Start value, None when the participant declares none.
    description : str
    """

    name: str
    causality: str
    type: str = "real"
    unit: str = "1"
    start: Any = None
    description: str = ""


@dataclass(frozen=True)
class ParticipantDescription:
    """What a participant says about itself before anything is instantiated.

    Attributes
    ----------
    kind : str
        For people: "FMI 2.0 Co-Simulation", "cosim system", "Python object".
    variables : dict of str to ParticipantVariable
    feedthrough : dict of str to frozenset of str, or None
        For each output the inputs that it depends on directly, at the same instant; None when it is
        not known (then every output has to be taken as depending on every input).
    can_restore : bool
        Whether `save` and `restore` work.
    can_serialize : bool
        Whether `serialize` works.
    follows_slopes : bool
        Whether `set_slopes` works.
    steps_in_threads : bool
        Whether `step` may be called from another thread than the other methods are, while other
        participants step.
    """

    kind: str
    variables: Mapping[str, ParticipantVariable]
    feedthrough: Mapping[str, frozenset[str]] | None = None
    can_restore: bool = False
    can_serialize: bool = False
    follows_slopes: bool = False
    steps_in_threads: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


class InnerPoint(NamedTuple):
    """Values of a participant at an instant inside a step.

    A jump is two points at one time: before and after.

    Attributes
    ----------
    time : float
        s
    names : sequence of str
    values : sequence of object
    """

    time: float
    names: Sequence[str]
    values: Sequence[Any]


@plugin_kind("participant")
class Participant(ABC):
    """One side of a co-simulation: an FMU, a system of ours, or any Python object with these methods.

    The master calls them in this order: `describe`, `initialize`, then any mix of `set`, `step`,
    `get`, `save`, `restore`, `serialize`, and at last `close`, which is called whatever happened before.
    """

    @abstractmethod
    def describe(self) -> ParticipantDescription:
        """Names, types, units and capabilities; callable before `initialize`, without side effects."""

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
        """Derivatives of real inputs (per s) over the next step, in which they are no longer held.

        Called after `set`, which ends the slopes of an earlier step; only when `follows_slopes`.
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

    def watch(self, names: Sequence[str], where: str = "events") -> None:  # noqa: B027 - most know nothing
        """Before `initialize`: what is wanted from inside the steps.

        Parameters
        ----------
        names : sequence of str
            Whose values.
        where : str
            "events": at both sides of events; "steps": also where steps of the participant's own end.
        """

    def inside(self) -> Sequence[InnerPoint]:
        """What happened since the last call, in order: both sides of events, values inside steps."""
        return ()

    def save(self) -> Any:
        """A token for the whole present state; only when `can_restore`."""
        raise NotImplementedError(f"{type(self).__name__} cannot save its state")

    def restore(self, token: Any) -> None:
        """Go back to a saved state."""
        raise NotImplementedError(f"{type(self).__name__} cannot restore its state")

    def serialize(self, token: Any) -> bytes:
        """A saved state as bytes; only when `can_serialize`."""
        raise NotImplementedError(f"{type(self).__name__} cannot serialize its state")

    @abstractmethod
    def close(self) -> None:
        """Terminate and free everything; may be called twice, never raises."""
