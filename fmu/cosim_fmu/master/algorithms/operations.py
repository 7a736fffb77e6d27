"""The calls of which a communication step consists, for algorithms that always make the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cosim
from cosim_fmu.master.loop.compiled_steps import ADVANCE, READ, SET


class _Notes:
    """An exchange that only notes what a master algorithm does."""

    loops = ()

    def __init__(self, order: Sequence[str]) -> None:
        self.order = order
        self.operations: list[tuple[int, str]] = []

    def set_inputs(self, name: str) -> None:
        self.operations.append((SET, name))

    def advance(self, name: str, time: float, size: float) -> None:
        self.operations.append((ADVANCE, name))

    def advance_all(self, time: float, size: float) -> None:
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str) -> None:
        self.operations.append((READ, name))


def operations_of(algorithm: cosim.MasterAlgorithm, order: Sequence[str]) -> list[tuple[int, str]]:
    """*(operation, participant)*, from one run of the algorithm with an exchange that only takes notes.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        With a `fixed_sequence`.
    order : sequence of str
        Of the participants.
    """
    notes: Any = _Notes(order)
    algorithm.step(notes, 0.0, 1.0)
    found: list[tuple[int, str]] = notes.operations
    return found
