"""The arrays of the interpreter of exchanges, made of participants, connections and algorithms."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Exchange, black_box
from cosim_master.abilities import NativeCalls
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.joint import Joint
from cosim_master.algorithms.loop_iteration import LoopExchange
from cosim_master.algorithms.programmed_algorithm import (
    Call,
    ExchangeMemory,
    ProgrammedAlgorithm,
    operations_of,
)
from cosim_master.coupling.communication_points import CommunicationPoints
from cosim_master.coupling.connection import conversions
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import (
    ALGORITHM_LETTERS,
    ENDS,
    HELD,
    LETTERS,
    MEAN_SLOPES,
    MEANS,
    REGIONS,
    Algorithm,
    Answer,
    Clock,
    Link,
    Machine,
    Part,
    Progress,
    Report,
    StepTimes,
    head_of,
)


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
        if isinstance(algorithm, Joint):
            algorithm = algorithm.others
        self._algorithm = algorithm
        programmed = None
        if isinstance(algorithm, ProgrammedAlgorithm) and type(algorithm).step is ProgrammedAlgorithm.step:
            programmed = algorithm
        self._programmed = programmed
        self.asked = None if programmed is not None or algorithm.fixed_sequence else algorithm
        self.along = self.asked is not None or (programmed is not None and programmed.looks)
        self._loops = () if programmed is None else tuple(coupled.loops)
        self.goes_back = (programmed is not None and programmed.goes_back) or bool(self._loops)

    def arrays(self, machine: ExchangeMachine, exchange: Exchange) -> list[AlgorithmArrays]:
        """The algorithm of the master first, then its loops; asked in Python they get this exchange."""
        coupled, size = self._coupled, len(self._coupled.interface_names)
        numbers, outputs = machine.number, machine.outputs.size
        programmed = self._programmed
        operations: Sequence[Call] = ()
        memory = ExchangeMemory(size)
        if programmed is not None:
            memory, operations = programmed.memory, programmed.calls(coupled.order, self._loops)
        elif self.asked is None:
            memory, operations = ExchangeMemory(), operations_of(self._algorithm, coupled.order)
        first = {loop.participants[0]: i + 1 for i, loop in enumerate(self._loops)}
        given = self._of_members(operations, coupled.order), numbers, first, machine.ports
        found = [AlgorithmArrays(memory, *given, machine.names, outputs, programmed, exchange)]
        for loop in self._loops:
            assert programmed is not None
            iteration = programmed.iteration(loop)
            part = LoopExchange(exchange, loop)
            members = [member for name in loop.participants for member in coupled.units[name]]
            ports = [machine.ports[place] for place in part.places.tolist()]
            calls = self._of_members(iteration.calls(loop.participants), loop.participants)
            found.append(
                AlgorithmArrays(
                    iteration.memory, calls, numbers, {}, ports, members, outputs, iteration, part
                )
            )
        return found

    def _of_members(self, calls: Sequence[Call], order: Sequence[str]) -> list[Call]:
        """One for each participant in place of one that steps all, or that is for several solved jointly."""
        units, found = self._coupled.units, list[Call]()
        for call, name in calls:
            if call in (layout.ADVANCE, layout.ADVANCE_ALL):
                going = order if call == layout.ADVANCE_ALL else [name]
                found += [(layout.NOTE_COURSE, member) for each in going for member in units[each][1:]]
                found += [(layout.ADVANCE, each) for each in going]
            elif call in (layout.PUT_END, layout.ITERATE):
                found.append((call, name))
            else:
                found += [(call, member) for member in units[name]]
        return found


Vector = NDArray[np.float64]
NEVER = math.inf


class ExchangeMachine:
    """What `run_steps` works on, with names for Python.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    recorded : sequence of (str, int, bool)
        What is recorded: `Recorder.sources`.
    along : bool
        Whether inputs may run along lines.

    Attributes
    ----------
    inputs : ndarray, shape (REGIONS, inputs)
    outputs : ndarray, shape (outputs,)
    report, clock : Report, Clock
    columns : int
        In a row.
    sampled : tuple of list of int
        Columns of the outputs that are sampled, of the inputs' means, their slopes, and their last values.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        points: CommunicationPoints,
        recorded: Sequence[tuple[str, int, bool]],
        along: bool,
    ) -> None:
        self.names = list(coupled.participants)
        self.number = {name: i for i, name in enumerate(self.names)}
        self._coupled, self._along = coupled, along
        self.first_input = _starts([len(coupled.input_names[n]) for n in self.names])
        self.first_output = _starts([len(coupled.reads[n]) for n in self.names])
        count, slots = len(self.names), self.first_input[-1]
        self.inputs = np.zeros((REGIONS, slots))
        self.outputs = np.zeros(self.first_output[-1])
        self._inputs_of = [_pieces(region, self.first_input) for region in self.inputs]
        self._outputs_of = _pieces(self.outputs, self.first_output)
        self.parts = outliving(Part, count)
        self.answers, self.step_times = records(Answer, count), records(StepTimes, count)
        for answer, times in zip(self.answers, self.step_times, strict=True):
            answer.latest = times.since = times.began = times.reached = NEVER
        self.report, self.clock = outliving(Report, 1)[0], outliving(Clock, 1)[0]
        self.clock.step, self.clock.until = points.step, points.until
        self._orders = np.ones(max(1, slots), dtype=np.int32)
        self._grid = np.array([*points.grid.tolist(), points.count], dtype=np.int64)
        self._connect()
        self._choose_columns(recorded)
        self.report.inputs_at = self.inputs.ctypes.data
        self.report.outputs_at = self.outputs.ctypes.data
        self.report.answers_at = ctypes.addressof(self.answers)
        self._rows = np.zeros(0)
        self.algorithms: list[AlgorithmArrays] = []

    def _connect(self) -> None:
        """What each input gets, and which values of the interface are whose."""
        coupled = self._coupled
        fed = sorted(coupled.links, key=lambda link: self.number[link.target])  # stable: in order for each
        places = {
            (name, output): self.output_slot(name, place)
            for name in self.names
            for place, output in enumerate(coupled.reads[name])
        }
        found = conversions(fed)
        self._scales, self._pairs = found.scales, found.pairs
        self._links = records(Link, len(fed))
        for i, (link, place) in enumerate(zip(fed, found.places, strict=True)):
            self._links[i] = Link(places[link.start], coupled.line_of(link), *place, int(link.is_checked))
        self.ports = [self.output_slot(name, place) for name, place in coupled.places]
        self._sampled_ports = [self.output_slot(name, place) for name, place in coupled.sampled_places]
        own: list[int] = []
        values_of: dict[str, list[int]] = {name: [] for name in self.names}
        for k, (owner, _) in enumerate(coupled.places):
            values_of[owner].append(k)
        for name, part in zip(self.names, self.parts, strict=True):
            mine = values_of[name]
            part.first_value, part.values = len(own), len(mine)
            own += mine
        self._own_values = np.array(own, dtype=np.int64)

    def _choose_columns(self, recorded: Sequence[tuple[str, int, bool]]) -> None:
        """What is recorded comes first in a row, then what is known of the coupling."""
        coupled = self._coupled
        columns = [
            -1 - self.input_slot(name, place) if is_held else self.output_slot(name, place)
            for name, place, is_held in recorded
        ]
        inputs = [self.input_slot(each.target, each.place) for each in coupled.samples.inputs]
        slots = self.inputs.shape[1]
        region = MEANS if self._along else HELD
        means = [-1 - (region * slots + slot) for slot in inputs]
        slopes, ends = (
            [-1 - (of * slots + slot) for slot in inputs] * self._along for of in (MEAN_SLOPES, ENDS)
        )
        known = set(columns)
        columns += [
            slot
            for slot in dict.fromkeys([*self._sampled_ports, *means, *slopes, *ends])
            if slot not in known
        ]
        first = {slot: i for i, slot in reversed(list(enumerate(columns)))}
        self.sampled = tuple(
            [first[slot] for slot in kind] for kind in (self._sampled_ports, means, slopes, ends)
        )
        self._columns = np.array(columns, dtype=np.int64)
        self.columns = len(columns)

    def call(self, calls: Mapping[str, NativeCalls]) -> None:
        """Have these functions called."""
        coupled = self._coupled
        self._calls = dict(calls)  # what they keep is in use
        if black_box.box is not None:
            black_box.box.note("functions", [(name, calls[name].names) for name in self.names])
        for i, (name, part) in enumerate(zip(self.names, self.parts, strict=True)):
            of = calls[name]
            follows = self._along and coupled.follows_lines(name)
            part.instance, part.access = of.instance, of.access or of.instance
            part.set_at, part.step_at, part.get_at = of.set, of.step, of.get
            part.input_references, part.output_references = of.input_references, of.output_references
            part.set_slopes_at, part.slope_orders = of.set_slopes * follows, self._orders.ctypes.data
            part.save_at, part.restore_at, part.free_at = of.save, of.restore, of.free
            part.state_at, part.same_size = of.state, int(of.same_size)
            part.step_multiple = coupled.step_multiple[name]
            part.rereads_inputs = int(coupled.rereads_inputs[name])
            part.first_input, part.first_output = self.first_input[i], self.first_output[i]
            part.inputs = self.first_input[i + 1] - self.first_input[i]
            part.outputs = self.first_output[i + 1] - self.first_output[i]
            part.input_count = part.inputs if of.input_count is None else of.input_count
            part.output_count = part.outputs if of.output_count is None else of.output_count

    def follow(self, algorithms: Sequence[AlgorithmArrays]) -> None:
        """Have these algorithms decide: the one of the master, then those of its loops."""
        self.algorithms = list(algorithms)
        words = [head_of(each.arrays, ALGORITHM_LETTERS) for each in algorithms]
        self._algorithm_words = np.concatenate(words)
        self._lay_out()

    def run_program(self, algorithm: int, program: NDArray[np.int64]) -> None:
        """Have an algorithm do these operations from its next exchange on."""
        arrays = self.algorithms[algorithm].arrays = self.algorithms[algorithm].arrays._replace(
            program=program
        )
        width = 2 * len(arrays)
        self._algorithm_words[width * algorithm :][:2] = program.ctypes.data, program.size

    def use_rows(self, rows: Vector) -> None:
        """Have rows written here; from the first one on."""
        self._rows = rows
        self.report.rows = 0
        self._head[2 * Machine._fields.index("rows") :][:2] = rows.ctypes.data, rows.size

    def _lay_out(self) -> None:
        self._arrays = Machine(
            part_words=words_of(self.parts),
            link_words=words_of(self._links),
            scales=self._scales,
            pairs=self._pairs,
            own_values=self._own_values,
            columns=self._columns,
            inputs=self.inputs.reshape(-1),
            outputs=self.outputs,
            answer_words=words_of(self.answers, np.float64),
            step_time_words=words_of(self.step_times, np.float64),
            rows=self._rows,
            report_words=words_of(self.report),
            clock_words=words_of(self.clock, np.float64),
            grid=self._grid,
            algorithm_words=self._algorithm_words,
        )
        self._head = head_of(self._arrays, LETTERS)
        self.address = int(self._head.ctypes.data)

    def output_slot(self, name: str, place: int) -> int:
        """Of what is read of a participant."""
        return self.first_output[self.number[name]] + place

    def input_slot(self, name: str, place: int) -> int:
        """Of a connected input of a participant."""
        return self.first_input[self.number[name]] + place

    def inputs_of(self, name: str, region: int = HELD) -> Vector:
        """A view of the inputs of a participant in one of the regions, always the same."""
        return self._inputs_of[region][self.number[name]]

    def outputs_of(self, name: str) -> Vector:
        """A view of what was read of a participant, always the same."""
        return self._outputs_of[self.number[name]]

    def follows(self, name: str) -> bool:
        """Whether a participant takes slopes by its function."""
        return bool(self.parts[self.number[name]].set_slopes_at)


def records(cls: Any, count: int) -> Any:
    """So many records, one after the other."""
    return (cls * count)()


def outliving(cls: Any, count: int) -> Any:
    """The same in memory that the process which watches this one sees, where one does."""
    if black_box.box is None:
        return records(cls, count)
    made = (cls * count).from_buffer(black_box.box.room(cls.__name__, count * ctypes.sizeof(cls)))
    ctypes.memset(made, 0, ctypes.sizeof(made))
    return made


def words_of(records: Any, kind: Any = np.int64) -> NDArray[Any]:
    """Records, or one, as the numbers that they are; without a copy."""
    return np.frombuffer(records, dtype=kind) if ctypes.sizeof(records) else np.zeros(0, dtype=kind)


def _starts(sizes: Sequence[int]) -> list[int]:
    found = [0]
    for size in sizes:
        found.append(found[-1] + size)
    return found


def _pieces(values: Vector, starts: Sequence[int]) -> list[Vector]:
    return [values[first:end] for first, end in pairwise(starts)]
