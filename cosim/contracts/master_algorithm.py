"""What a co-simulation master algorithm is: how participants exchange values and step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol


class Exchange(Protocol):
    """What the master offers to its algorithm: the three things that can be done with a participant.

    Between the participants lies a board with the last values read of every output.

    Attributes
    ----------
    order : sequence of str
        Names of the participants, in the order in which they are stepped.
    """

    order: Sequence[str]

    def set_inputs(self, name: str) -> None:
        """Write the connected inputs of a participant from the board, converted to their units."""

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant from `time` by `size` (s); an early return is recorded and continued."""

    def read_outputs(self, name: str) -> None:
        """Read the outputs of a participant onto the board."""


class MasterAlgorithm(ABC):
    """One communication step of a co-simulation with a fixed step.

    Before the first step the master has initialized every participant and made inputs and outputs
    consistent at the start; the board holds the outputs at the present communication point. After
    `step` every participant has reached the next one and the board holds the outputs there.

    Attributes
    ----------
    exchanges_within_step : bool
        Whether a participant sees results that others reached in the same step. The participants then
        go in the order of their dependencies, and a closed loop of declared direct feedthrough is
        refused, since no order resolves it; otherwise they go in the order in which they were given.
    fixed_sequence : bool
        Whether `step` does the same calls in the same order in every step, whatever the values. The master
        then notes them once and repeats them in compiled code.

    Examples
    --------
    >>> class Parallel(MasterAlgorithm):
    ...     '''All step from the same values.'''
    ...     exchanges_within_step = False
    ...     def step(self, exchange, time, size):
    ...         for name in exchange.order: exchange.set_inputs(name)
    ...         for name in exchange.order: exchange.advance(name, time, size)
    ...         for name in exchange.order: exchange.read_outputs(name)
    """

    exchanges_within_step: ClassVar[bool] = False
    fixed_sequence: ClassVar[bool] = False

    @abstractmethod
    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Take all participants from the communication point `time` to ``time + size`` (s)."""
