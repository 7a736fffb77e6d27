"""Algorithms in the arrays of the interpreter, and the exchange that algorithms in Python use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.joint import Joint
from cosim_master.algorithms.loop_iteration import LoopExchange
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory, ProgrammedAlgorithm, operations_of
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import Algorithm, Progress
from cosim_master.exchange.exchange_machine import ExchangeMachine

if TYPE_CHECKING:
    from cosim_master.exchange.compiled_loop import CompiledLoop
    from cosim_master.exchange.run_values import RunValues

Vector = NDArray[np.float64]


class AlgorithmArrays:
    """The arrays of the master's algorithm, or of the iteration of a loop, for the interpreter.

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
        The slots of the outputs that make its interface.
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
        The parts of a saved state that are in Python: of the participants, and of the co-simulation.
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
        """Operations as pairs of integers, for the interpreter."""
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
    in_python : MasterAlgorithm or None
        The algorithm, if it decides in Python.
    along : bool
        Whether inputs may run along lines.
    saves_states : bool
        Whether states are saved in compiled code.
    """

    def __init__(self, algorithm: cosim.MasterAlgorithm, coupled: CoupledParticipants) -> None:
        self._coupled = coupled
        self._algorithm = algorithm = exchanging_algorithm(algorithm)
        programmed = None
        if isinstance(algorithm, ProgrammedAlgorithm) and type(algorithm).step is ProgrammedAlgorithm.step:
            programmed = algorithm
        self._programmed = programmed
        self.in_python = None if programmed is not None or algorithm.fixed_sequence else algorithm
        self.along = self.in_python is not None or (programmed is not None and programmed.reads_interface)
        self._loops = () if programmed is None else tuple(coupled.loops)
        self.saves_states = (programmed is not None and programmed.saves_states) or bool(self._loops)

    def arrays(self, machine: ExchangeMachine, exchange: Exchange) -> list[AlgorithmArrays]:
        """The arrays of the master's algorithm, then of its loops.

        Parameters
        ----------
        machine : ExchangeMachine
        exchange : Exchange
            For an algorithm that decides in Python.
        """
        coupled, programmed = self._coupled, self._programmed
        loop_numbers = {loop.participants[0]: i + 1 for i, loop in enumerate(self._loops)}
        memory, operations = ExchangeMemory(len(coupled.interface.names)), list[Call]()
        if programmed is not None:
            memory, operations = programmed.memory, programmed.calls(coupled.order, self._loops)
        elif self.in_python is None:
            memory, operations = ExchangeMemory(), operations_of(self._algorithm, coupled.order)
        main = AlgorithmArrays(
            memory,
            self._of_members(operations, coupled.order),
            numbers=machine.number,
            loops=loop_numbers,
            ports=machine.ports,
            members=machine.names,
            outputs=machine.outputs.size,
            programmed=programmed,
            exchange=exchange,
        )
        if programmed is None:
            return [main]
        return [main, *(self._loop_arrays(programmed, loop, machine, exchange) for loop in self._loops)]

    def _loop_arrays(
        self,
        programmed: ProgrammedAlgorithm,
        loop: FeedthroughLoop,
        machine: ExchangeMachine,
        exchange: Exchange,
    ) -> AlgorithmArrays:
        """The arrays of the iteration of a loop."""
        iteration, loop_exchange = programmed.iteration(loop), LoopExchange(exchange, loop)
        return AlgorithmArrays(
            iteration.memory,
            self._of_members(iteration.calls(loop.participants), loop.participants),
            numbers=machine.number,
            loops={},
            ports=[machine.ports[place] for place in loop_exchange.places.tolist()],
            members=[member for name in loop.participants for member in self._coupled.units[name]],
            outputs=machine.outputs.size,
            programmed=iteration,
            exchange=loop_exchange,
        )

    def _of_members(self, calls: Sequence[Call], order: Sequence[str]) -> list[Call]:
        """The calls by participant: a call that steps all, or a joint system, becomes one for each."""
        units, of_members = self._coupled.units, list[Call]()
        for call, name in calls:
            if call in (layout.ADVANCE, layout.ADVANCE_ALL):
                stepping = order if call == layout.ADVANCE_ALL else [name]
                further_members = [member for unit in stepping for member in units[unit][1:]]
                of_members += [(layout.NOTE_COURSE, member) for member in further_members]
                of_members += [(layout.ADVANCE, unit) for unit in stepping]
            elif call in (layout.PUT_END, layout.ITERATE):
                of_members.append((call, name))
            else:
                of_members += [(call, member) for member in units[name]]
        return of_members


def exchanging_algorithm(algorithm: cosim.MasterAlgorithm) -> cosim.MasterAlgorithm:
    """The algorithm that exchanges values: of `Joint` the algorithm between the system and the others."""
    return algorithm.others if isinstance(algorithm, Joint) else algorithm


class _Saved(NamedTuple):
    """States of participants, the values that were read of them, and the lengths of the records."""

    states: dict[str, Any]
    outputs: dict[str, list[Any]]
    marks: Any


class ExchangeFace:
    """`Exchange` over the operations of the interpreter.

    Before the first step, in `MasterAlgorithm.initialize`, participants may be set and read, but not stepped.

    Parameters
    ----------
    coupled : CoupledParticipants
    """

    def __init__(self, coupled: CoupledParticipants) -> None:
        self._coupled = coupled
        self._loop: CompiledLoop | None = None
        self.order: Sequence[str] = coupled.order
        self.can_restore, self.bonds = coupled.can_restore, coupled.interface.bonds
        self.loops: Sequence[FeedthroughLoop] = coupled.loops
        self.interface_names: Sequence[str] = coupled.interface.names
        self.interface_owners: Sequence[str] = coupled.interface.owners
        self.interface_held: Sequence[bool] = coupled.interface.held

    def bind(self, loop: CompiledLoop) -> None:
        """Let the interpreter carry out all operations from now on."""
        self._loop = loop

    @property
    def _running(self) -> CompiledLoop:
        if self._loop is None:
            text = "a master algorithm steps participants in `step`, not in `initialize`"
            raise CoSimulationError(self._coupled.time, text)
        return self._loop

    @property
    def values(self) -> RunValues:
        """The values of the participants as Python has them."""
        return self._running.values

    @property
    def _memory(self) -> ExchangeMemory:
        return self._running.memory

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Write the connected inputs of a participant, from the board or from a course."""
        if self._loop is None:
            self._coupled.set_inputs(name, course)
            return
        if course is not None:
            self._memory.row(layout.MIDDLE)[:] = course.middle
            self._memory.row(layout.SLOPE)[:] = course.slope
            self._memory.numbers[layout.LENGTH] = course.size
        for member in self._coupled.units[name]:
            self._loop.operate(layout.SET if course is None else layout.SET_ALONG, member)

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant from `time` by `size` (s)."""
        loop = self._running
        self._memory.numbers[layout.TIME] = time
        self._memory.numbers[layout.LENGTH] = size
        first, *further_members = self._coupled.units[name]
        for member in further_members:  # they are solved jointly with the first one
            loop.operate(layout.NOTE_COURSE, member)
        loop.operate(layout.ADVANCE, first)

    def advance_all(self, time: float, size: float) -> None:
        """Step all participants, in threads if that is faster."""
        self._memory.numbers[layout.TIME] = time
        self._memory.numbers[layout.LENGTH] = size
        if self._running.advance_together(self.order):
            return
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read the outputs of a participant."""
        if self._loop is None:
            self._coupled.read_outputs(name, end)
            return
        if end is not None:
            self._memory.row(layout.END)[:] = end
        for member in self._coupled.units[name]:
            self._loop.operate(layout.READ if end is None else layout.READ_AT_END, member)

    def interface(self) -> Vector:
        """A copy of the values of the interface."""
        return np.array(self._coupled.values(), dtype=np.float64)

    def put(self, values: Vector) -> None:
        """Write values of the interface."""
        for (name, place), value in zip(self._coupled.interface.places, values.tolist(), strict=True):
            self._coupled.board[name][place] = value

    def derivatives(self) -> Vector | None:
        """The derivatives of the interface by itself; None if they are not known."""
        return self._coupled.derivatives()

    def save(self, names: Sequence[str] | None = None) -> _Saved:
        """The states of these participants, the values that were read of them, and the records so far."""
        coupled = self._coupled
        coupled.collect()
        members = {m for name in (self.order if names is None else names) for m in coupled.units[name]}
        saved_names = [name for name in coupled.participants if name in members]
        states = {name: coupled.guarded(name, coupled.participants[name].save) for name in saved_names}
        if self._loop is None:
            outputs = {name: list(coupled.board[name]) for name in saved_names}
        else:
            self._loop.values.resume(saved_names)
            outputs = {name: self._loop.values.read(name) for name in saved_names}
        return _Saved(states, outputs, coupled.marks())

    def restore(self, token: _Saved) -> None:
        """Restore the states, and undo all records since then."""
        coupled = self._coupled
        coupled.collect()
        for name, state in token.states.items():
            coupled.guarded(name, coupled.participants[name].restore, state)
            if self._loop is None:
                coupled.board[name] = list(token.outputs[name])
            else:
                self._loop.values.put(name, token.outputs[name])
        if self._loop is not None:
            self._loop.values.resume(token.states)
        coupled.revert_to(token.marks)
