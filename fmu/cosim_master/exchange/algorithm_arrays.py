"""An algorithm in the arrays of the interpreter of exchanges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Exchange
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_memory import ExchangeMemory
from cosim_master.algorithms.programmed_algorithm import Call, ProgrammedAlgorithm
from cosim_master.exchange.exchange_arrays import Algorithm, Progress


class AlgorithmArrays:
    """What the interpreter needs of an algorithm: that of the master, or the iteration of a loop.

    Parameters
    ----------
    memory : ExchangeMemory
    operations : sequence of (int, str)
        Of one exchange; ITERATE with the first participant of the loop.
    numbers : mapping of str to int
        Of the participants; of loops by their first ones, where the operation is ITERATE.
    ports : sequence of int
        Outputs that are the values of its interface.
    members : sequence of str
        Participants whose states it saves.
    outputs : int
        How many there are in all.
    programmed : ProgrammedAlgorithm or None
        Who decides; None for one that always does the same.
    exchange : Exchange
        What it is told where it is asked in Python.

    Attributes
    ----------
    arrays : Algorithm
    progress : Progress
    remembered : tuple or None
        What Python knew when a state was saved: of the participants, and of the co-simulation.
    """

    def __init__(
        self,
        memory: ExchangeMemory,
        operations: Sequence[Call],
        numbers: Mapping[str, int],
        loops: Mapping[str, int],
        ports: Sequence[int],
        members: Sequence[str],
        outputs: int,
        programmed: ProgrammedAlgorithm | None,
        exchange: Exchange,
    ) -> None:
        self.memory, self.operations, self.members = memory, list(operations), list(members)
        self._numbers, self._loops = numbers, loops
        self.programmed, self.exchange = programmed, exchange
        self.progress = Progress()
        self.progress.request = -1
        self.remembered: tuple[dict[str, Any], Any] | None = None
        self.arrays = Algorithm(
            program=self.program_of(operations),
            ports=np.array(ports, dtype=np.int64),
            members=np.array([numbers[name] for name in members], dtype=np.int64),
            saved=np.zeros(outputs),
            counts=memory.counts,
            numbers=memory.numbers,
            table=memory.table,
            bonds=memory.bonds,
            progress_words=np.frombuffer(self.progress, dtype=np.int64),
        )

    def program_of(self, operations: Sequence[Call]) -> NDArray[np.int64]:
        """Operations as the interpreter has them."""
        rows = [
            (call, self._loops[name] if call == layout.ITERATE else self._numbers.get(name, 0))
            for call, name in operations
        ]
        return np.array(rows, dtype=np.int64).reshape(-1)

    @property
    def goes_back(self) -> bool:
        """Whether it saves states."""
        return self.programmed is not None and self.programmed.goes_back
