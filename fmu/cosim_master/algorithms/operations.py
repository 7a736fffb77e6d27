"""The calls of which a communication step consists, for algorithms that always make the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cosim
from cosim_master.algorithms.exchange_layout import ADVANCE, ADVANCE_ALL, READ, SET
from cosim_master.algorithms.programmed_algorithm import Call, ProgrammedAlgorithm


class _Notes:
    """An exchange that only notes what a master algorithm does."""

    loops = ()

    def __init__(self, order: Sequence[str]) -> None:
        self.order = order
        self.operations: list[Call] = []

    def set_inputs(self, name: str) -> None:
        self.operations.append((SET, name))

    def advance(self, name: str, time: float, size: float) -> None:
        self.operations.append((ADVANCE, name))

    def advance_all(self, time: float, size: float) -> None:
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str) -> None:
        self.operations.append((READ, name))


def one_by_one(calls: Sequence[Call], order: Sequence[str]) -> list[Call]:
    """The calls with one for each participant in place of one that steps all."""
    found = []
    for call, name in calls:
        found += [(ADVANCE, each) for each in order] if call == ADVANCE_ALL else [(call, name)]
    return found


def operations_of(
    algorithm: cosim.MasterAlgorithm, order: Sequence[str], *, together: bool = False
) -> list[Call]:
    """*(operation, participant)* of one exchange.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        With a `fixed_sequence`, or one of ours that says its calls; else it is run once with an exchange that
        only takes notes.
    order : sequence of str
        Of the participants.
    together : bool
        Whether a call that steps all stays one.
    """
    if isinstance(algorithm, ProgrammedAlgorithm):
        calls = algorithm.calls(order)
        return calls if together else one_by_one(calls, order)
    notes: Any = _Notes(order)
    algorithm.step(notes, 0.0, 1.0)
    noted: list[Call] = notes.operations
    return noted
