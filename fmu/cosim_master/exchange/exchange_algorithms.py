"""Algorithms in the arrays of the interpreter: the master's, and the iterations of loops in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Exchange
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.joint import exchanging_algorithm
from cosim_master.algorithms.programmed_algorithm import (
    Call,
    ExchangeMemory,
    ProgrammedAlgorithm,
    operations_of,
)
from cosim_master.algorithms.waveform_iteration import LoopExchange
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import Algorithm, Progress
from cosim_master.exchange.exchange_machine import ExchangeMachine


class AlgorithmArrays:
    """The arrays of an algorithm for the interpreter: of the master's, or of the iteration of a loop.

    Parameters
    ----------
    memory : ExchangeMemory
    operations : sequence of (int, str)
        The operations of one exchange; ITERATE with the first participant of the loop.
    numbers : mapping of str to int
        The numbers of the participants.
    loops : mapping of str to int
        The numbers of loops by their first participants, for ITERATE.
    ports : sequence of int
        Outputs that are the values of its interface.
    members : sequence of str
        Participants whose states it saves.
    outputs : int
        The number of all outputs.
    programmed : ProgrammedAlgorithm or None
        The algorithm; None for one that always makes the same operations.
    exchange : Exchange
        The exchange for an algorithm that decides in Python.

    Attributes
    ----------
    arrays : Algorithm
    progress : Progress
    remembered : tuple or None
        The memory of Python when a state was saved: of the participants, and of the co-simulation.
    """

    def __init__(
        self,
        memory: ExchangeMemory,
        operations: Sequence[Call],
        *,
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
    def saves_states(self) -> bool:
        """Whether it saves states."""
        return self.programmed is not None and self.programmed.saves_states


class ExchangePrograms:
    """The algorithm of the master, and the iterations of the loops in it.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        Initialized.
    coupled : CoupledParticipants

    Attributes
    ----------
    asked : MasterAlgorithm or None
        The algorithm, if it decides in Python.
    along : bool
        Whether inputs may run along lines.
    goes_back : bool
        Whether states are saved in compiled code.
    """

    def __init__(self, algorithm: cosim.MasterAlgorithm, coupled: CoupledParticipants) -> None:
        self._coupled = coupled
        self._algorithm = algorithm = exchanging_algorithm(algorithm)
        programmed = None
        if isinstance(algorithm, ProgrammedAlgorithm) and type(algorithm).step is ProgrammedAlgorithm.step:
            programmed = algorithm
        self._programmed = programmed
        self.asked = None if programmed is not None or algorithm.fixed_sequence else algorithm
        self.along = self.asked is not None or (programmed is not None and programmed.reads_interface)
        self._loops = () if programmed is None else tuple(coupled.loops)
        self.saves_states = (programmed is not None and programmed.saves_states) or bool(self._loops)

    def arrays(self, machine: ExchangeMachine, exchange: Exchange) -> list[AlgorithmArrays]:
        """The arrays of the master's algorithm, then of its loops; algorithms in Python get this exchange."""
        coupled, size = self._coupled, len(self._coupled.interface.names)
        numbers, outputs = machine.number, machine.outputs.size
        programmed = self._programmed
        operations: Sequence[Call] = ()
        memory = ExchangeMemory(size)
        if programmed is not None:
            memory, operations = programmed.memory, programmed.calls(coupled.order, self._loops)
        elif self.asked is None:
            memory, operations = ExchangeMemory(), operations_of(self._algorithm, coupled.order)
        first = {loop.participants[0]: i + 1 for i, loop in enumerate(self._loops)}
        algorithms = [
            AlgorithmArrays(
                memory,
                self._of_members(operations, coupled.order),
                numbers=numbers,
                loops=first,
                ports=machine.ports,
                members=machine.names,
                outputs=outputs,
                programmed=programmed,
                exchange=exchange,
            )
        ]
        for loop in self._loops:
            assert programmed is not None
            iteration = programmed.iteration(loop)
            part = LoopExchange(exchange, loop)
            members = [member for name in loop.participants for member in coupled.units[name]]
            ports = [machine.ports[place] for place in part.places.tolist()]
            calls = self._of_members(iteration.calls(loop.participants), loop.participants)
            algorithms.append(
                AlgorithmArrays(
                    iteration.memory,
                    calls,
                    numbers=numbers,
                    loops={},
                    ports=ports,
                    members=members,
                    outputs=outputs,
                    programmed=iteration,
                    exchange=part,
                )
            )
        return algorithms

    def _of_members(self, calls: Sequence[Call], order: Sequence[str]) -> list[Call]:
        """The calls by participant: a call that steps all, or a joint system, becomes one for each."""
        units, of_members = self._coupled.units, list[Call]()
        for call, name in calls:
            if call in (layout.ADVANCE, layout.ADVANCE_ALL):
                stepping = order if call == layout.ADVANCE_ALL else [name]
                others = [member for unit in stepping for member in units[unit][1:]]
                of_members += [(layout.NOTE_COURSE, member) for member in others]
                of_members += [(layout.ADVANCE, unit) for unit in stepping]
            elif call in (layout.PUT_END, layout.ITERATE):
                of_members.append((call, name))
            else:
                of_members += [(call, member) for member in units[name]]
        return of_members
