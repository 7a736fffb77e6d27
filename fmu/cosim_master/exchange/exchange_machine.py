"""Fills the arrays of the interpreter of exchanges from participants, connections and algorithms."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import black_box, c_address, head_of, is_plain
from cosim_fmi.binding.fmu_output import printed_beside
from cosim_fmi.binding.rounding import ROUNDING_AT
from cosim_master.abilities import LogsPrinted
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import (
    ENDS,
    HELD,
    MEAN_SLOPES,
    MEANS,
    REGIONS,
    Answer,
    Clock,
    Link,
    Machine,
    Part,
    Report,
    StepTimes,
)
from cosim_master.native_calls import NativeCalls, StepsNatively, StepsTypesNatively
from cosim_master.recording.text_numbers import TABLED

if TYPE_CHECKING:
    from cosim_master.exchange.exchange_algorithms import AlgorithmArrays


def number_function(function: Callable[..., int], count: int, compiled: bool) -> Callable[..., int]:
    """A kernel function of `count` integers, compiled or in plain Python; floating-point errors are ignored.

    Parameters
    ----------
    function : function
        A kernel function.
    count : int
    compiled : bool
        Whether the run is long enough for compiled code; both give the same bytes.
    """
    if compiled and not is_plain():
        return _compiled(function, count)

    def call(*numbers: int) -> int:
        with np.errstate(all="ignore"):  # as compiled code, where numbers overflow
            return int(function(*numbers))

    return call


@cache
def _compiled(function: Callable[..., int], count: int) -> Any:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * count)
    return prototype(c_address(function, signature_of(count)))


def signature_of(count: int) -> str:
    """The signature of a function of whole numbers."""
    return "i" * count + ">i"


@contextmanager
def printed_in_calls(participants: Mapping[str, cosim.Participant]) -> Iterator[Callable[[], None]]:
    """Capture printed text; the function that it yields passes the text on to the logs.

    Participants themselves capture what they print in initialization and at the end. Text is not read after
    each step, since that would take longer than a step. So with several FMUs in this process it goes to the
    log of each, with the names of all.

    Parameters
    ----------
    participants : mapping of str to Participant
    """
    with_logs = {name: p for name, p in participants.items() if isinstance(p, LogsPrinted)}
    if not with_logs:
        yield lambda: None
        return
    possible_names = tuple(with_logs) if len(with_logs) > 1 else ()

    def log_text(text: str) -> None:
        for participant in with_logs.values():
            participant.log_printed(text, possible_names)

    with printed_beside(log_text) as pass_on:
        yield pass_on


def native_participants(
    coupled: CoupledParticipants,
    points: CommunicationPoints,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
) -> dict[str, NativeCalls | str]:
    """The C functions of each participant, or why it is called in Python.

    Text and binary data are read in Python (`shows_tables`): the function reads only the other outputs.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    flags : ndarray, shape (participants, 5)
        The row that the functions of each participant write.
    along : bool
        Whether inputs run along lines.
    goes_back : bool
        Whether steps are repeated from a saved state.
    """
    functions: dict[str, NativeCalls | str] = {}
    is_short = _is_short(coupled, points)
    try:
        for name, row in zip(coupled.participants, flags, strict=True):
            try:
                functions[name] = _native_calls(coupled, name, row, along, goes_back, is_short)
            except _NoFunctionsError as reason:
                functions[name] = str(reason)
    except BaseException:
        for calls in functions.values():  # these participants are called in Python after all
            if isinstance(calls, NativeCalls) and calls.leave is not None:
                calls.leave()
        raise
    return functions


class _NoFunctionsError(Exception):
    """Why a participant is called in Python."""


def shows_tables(coupled: CoupledParticipants, name: str) -> bool:
    """Whether text or binary data of a participant are read."""
    variables = coupled.descriptions[name].variables
    return any(variables[output].type in TABLED for output in coupled.reads[name])


def _native_calls(
    coupled: CoupledParticipants,
    name: str,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
    is_short: bool,
) -> NativeCalls:
    """The C functions of a participant; `_NoFunctionsError` says why it has none here."""
    participant = coupled.participants[name]
    if not isinstance(participant, StepsNatively):
        raise _NoFunctionsError(f"a {coupled.descriptions[name].kind}")
    if is_short and participant.least_native_steps > 0:
        raise _NoFunctionsError("to load its compiled code takes longer than these few steps")
    inputs, reads = coupled.interface.input_names[name], coupled.reads[name]
    variables = coupled.descriptions[name].variables
    types = ("real", *(participant.native_types if isinstance(participant, StepsTypesNatively) else ()))
    numbers = [n for n in reads if variables[n].type not in TABLED]
    refused = [n for n in (*inputs, *numbers) if variables[n].type not in types]
    if refused:
        raise _NoFunctionsError(f"{refused[0]} is {variables[refused[0]].type}")
    try:
        calls = participant.native_calls(inputs, numbers, flags)
    except cosim.FmuError as error:
        raise CoSimulationError(coupled.time, str(error), name) from error
    except cosim.ContractError as error:
        raise _NoFunctionsError(str(error)) from error
    except cosim.ModelError as error:
        first = error.problems[0]
        raise _NoFunctionsError(f"{first.where}: {first.text}") from error
    if calls is None:
        raise _NoFunctionsError("it has arrays or types other than Float64, no solver, or lacks a function")
    reason = ""
    if along and coupled.interface.follows_lines(name) and not calls.set_slopes:
        reason = "its input slopes are set in Python"
    elif goes_back and not (calls.save and calls.restore and calls.state):
        reason = "it saves its state in Python"
    elif calls.begin and shows_tables(coupled, name):
        reason = "its texts are read by messages"
    if reason:
        if calls.leave is not None:
            calls.leave()
        raise _NoFunctionsError(reason)
    return calls


def _is_short(coupled: CoupledParticipants, points: CommunicationPoints) -> bool:
    """Whether loading the compiled code of participants takes longer than the whole run in Python."""
    natives = [p for p in coupled.participants.values() if isinstance(p, StepsNatively)]
    worthwhile_steps = [p.least_native_steps for p in natives if p.least_native_steps > 0]
    return bool(worthwhile_steps) and points.count * sum(1.0 / steps for steps in worthwhile_steps) < 1.0


Vector = NDArray[np.float64]
NEVER = math.inf


class ExchangeMachine:
    """The memory of `run_steps`, with names for Python.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    recorded : sequence of (str, int, bool)
        The recorded variables: `Recorder.sources`.
    along : bool
        Whether inputs may run along lines.

    Attributes
    ----------
    inputs : ndarray, shape (REGIONS, inputs)
    outputs : ndarray, shape (outputs,)
    report, clock : Report, Clock
    columns : int
        The number of columns of a row.
    arrays : Machine
        All arrays, once `follow` has been called.
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
        self.first_input = _starts([len(coupled.interface.input_names[n]) for n in self.names])
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
        """Store the source and conversion of each input, and the owners of the values of the interface."""
        coupled = self._coupled
        # sorted by target; stable, so that each target has its links in their order
        links = sorted(coupled.links, key=lambda link: self.number[link.target])
        places = {
            (name, output): self.output_slot(name, place)
            for name in self.names
            for place, output in enumerate(coupled.reads[name])
        }
        self._links = records(Link, len(links))
        scales, pairs = list[float](), list[float]()
        for i, link in enumerate(links):
            place = link.add_conversion(scales, pairs)
            self._links[i] = Link(places[link.start], coupled.interface.number_of(link), *place, link.check)
        self._scales, self._pairs = np.array(scales, dtype=np.float64), np.array(pairs, dtype=np.float64)
        self.ports = [self.output_slot(name, place) for name, place in coupled.interface.places]
        self._sampled_ports = [self.output_slot(name, place) for name, place in coupled.sampled.places]
        own_values: list[int] = []
        values_of: dict[str, list[int]] = {name: [] for name in self.names}
        for k, (owner, _) in enumerate(coupled.interface.places):
            values_of[owner].append(k)
        for name, part in zip(self.names, self.parts, strict=True):
            values = values_of[name]
            part.first_value, part.values = len(own_values), len(values)
            own_values += values
        self._own_values = np.array(own_values, dtype=np.int64)

    def _choose_columns(self, recorded: Sequence[tuple[str, int, bool]]) -> None:
        """Choose the columns of a row: first the recorded values, then those that show the coupling error."""
        coupled = self._coupled
        columns = [
            -1 - self.input_slot(name, place) if is_held else self.output_slot(name, place)
            for name, place, is_held in recorded
        ]
        inputs = [self.input_slot(sampled.target, sampled.place) for sampled in coupled.samples.inputs]
        slots = self.inputs.shape[1]
        region = MEANS if self._along else HELD
        means = [-1 - (region * slots + slot) for slot in inputs]
        slopes, ends = (
            [-1 - (row * slots + slot) for slot in inputs] * self._along for row in (MEAN_SLOPES, ENDS)
        )
        recorded_slots = set(columns)
        columns += [
            slot
            for slot in dict.fromkeys([*self._sampled_ports, *means, *slopes, *ends])
            if slot not in recorded_slots
        ]
        first = {slot: i for i, slot in reversed(list(enumerate(columns)))}
        self.sampled = tuple(
            [first[slot] for slot in kind] for kind in (self._sampled_ports, means, slopes, ends)
        )
        self._columns = np.array(columns, dtype=np.int64)
        self.columns = len(columns)

    def call(self, calls: Mapping[str, NativeCalls]) -> None:
        """Call these functions from now on."""
        coupled = self._coupled
        self._calls = dict(calls)  # keeps the memory of the functions alive
        if black_box.box is not None:
            black_box.box.send_note("functions", [(name, calls[name].names) for name in self.names])
        for i, (name, part) in enumerate(zip(self.names, self.parts, strict=True)):
            follows = self._along and coupled.interface.follows_lines(name)
            inputs, outputs = (first[i + 1] - first[i] for first in (self.first_input, self.first_output))
            connect_part(part, calls[name], inputs, outputs, self._orders.ctypes.data)
            part.set_slopes_at *= follows
            part.step_multiple = coupled.step_multiple[name]
            part.rereads_inputs = int(coupled.rereads_inputs[name])
            part.first_input, part.first_output = self.first_input[i], self.first_output[i]

    def follow(self, algorithms: Sequence[AlgorithmArrays]) -> None:
        """Let these algorithms decide: the master's, then those of its loops."""
        self.algorithms = list(algorithms)
        words = [head_of(algorithm.arrays) for algorithm in algorithms]
        self._algorithm_words = np.concatenate(words)
        self._lay_out()

    def run_program(self, algorithm: int, program: NDArray[np.int64]) -> None:
        """Replace the operations of an algorithm from its next exchange on."""
        arrays = self.algorithms[algorithm].arrays = self.algorithms[algorithm].arrays._replace(
            program=program
        )
        width = 2 * len(arrays)
        self._algorithm_words[width * algorithm :][:2] = program.ctypes.data, program.size

    def use_rows(self, rows: Vector) -> None:
        """Write rows to this array, from its first row on."""
        self._rows = rows
        self.report.rows = 0
        self._head[2 * Machine._fields.index("rows") :][:2] = rows.ctypes.data, rows.size

    def _lay_out(self) -> None:
        """Put all arrays together under one address."""
        self.arrays = Machine(
            part_words=numbers_of(self.parts),
            link_words=numbers_of(self._links),
            scales=self._scales,
            pairs=self._pairs,
            own_values=self._own_values,
            columns=self._columns,
            inputs=self.inputs.reshape(-1),
            outputs=self.outputs,
            answer_words=numbers_of(self.answers, np.float64),
            step_time_words=numbers_of(self.step_times, np.float64),
            rows=self._rows,
            report_words=numbers_of(self.report),
            clock_words=numbers_of(self.clock, np.float64),
            grid=self._grid,
            algorithm_words=self._algorithm_words,
        )
        self._head = head_of(self.arrays)
        self.address = int(self._head.ctypes.data)

    def output_slot(self, name: str, place: int) -> int:
        """The place of a value that is read of a participant."""
        return self.first_output[self.number[name]] + place

    def input_slot(self, name: str, place: int) -> int:
        """The place of a connected input of a participant."""
        return self.first_input[self.number[name]] + place

    def inputs_of(self, name: str, region: int = HELD) -> Vector:
        """The view of the inputs of a participant in one of the regions; always the same object."""
        return self._inputs_of[region][self.number[name]]

    def outputs_of(self, name: str) -> Vector:
        """The view of the values that were read of a participant; always the same object."""
        return self._outputs_of[self.number[name]]

    def follows(self, name: str) -> bool:
        """Whether a participant takes slopes by its function."""
        return bool(self.parts[self.number[name]].set_slopes_at)


def records(cls: Any, count: int) -> Any:
    """An array of records."""
    return (cls * count)()


def connect_part(part: Any, calls: NativeCalls, inputs: int, outputs: int, orders: int) -> None:
    """Let a record call these functions.

    Parameters
    ----------
    part : Part
    calls : NativeCalls
    inputs, outputs : int
        The numbers of inputs and outputs.
    orders : int
        Address of an array of ones, one for each input.
    """
    part.instance, part.access = calls.instance, calls.access or calls.instance
    part.set_at, part.step_at, part.get_at = calls.set, calls.step, calls.get
    part.begin_at, part.set_slopes_at = calls.begin, calls.set_slopes
    part.input_references, part.output_references = calls.input_references, calls.output_references
    part.input_count = inputs if calls.input_count is None else calls.input_count
    part.output_count = outputs if calls.output_count is None else calls.output_count
    part.save_at, part.restore_at, part.free_at = calls.save, calls.restore, calls.free
    part.state_at, part.same_size = calls.state, int(calls.same_size)
    part.inputs, part.outputs, part.slope_orders = inputs, outputs, orders
    part.rounding_at = ROUNDING_AT


def outliving(cls: Any, count: int) -> Any:
    """Records in memory that a watching process shares, if there is one."""
    size = count * ctypes.sizeof(cls)
    if black_box.box is None:
        return (cls * count).from_buffer(black_box.unforked(size)) if size else records(cls, count)
    rows = (cls * count).from_buffer(black_box.box.shared_memory(cls.__name__, size))
    ctypes.memset(rows, 0, ctypes.sizeof(rows))
    return rows


def numbers_of(records: Any, kind: Any = np.int64) -> NDArray[Any]:
    """Records, or one, as the numbers that they are; without a copy."""
    return np.frombuffer(records, dtype=kind) if ctypes.sizeof(records) else np.zeros(0, dtype=kind)


def _starts(sizes: Sequence[int]) -> list[int]:
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    return starts


def _pieces(values: Vector, starts: Sequence[int]) -> list[Vector]:
    return [values[first:end] for first, end in pairwise(starts)]
