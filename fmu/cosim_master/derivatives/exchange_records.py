"""Records of the exchanges of an algorithm in a communication step, without those that it has undone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ProgrammedAlgorithm
from cosim_master.derivatives.participant_tangents import ParticipantTangents, ReadRecord, StepRecord
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import ExchangeFace

Vector = NDArray[np.float64]


@dataclass
class ExchangeRecord:
    """An exchange: the memory of the algorithm before it, and the steps and reads of each participant."""

    index: int  # of the communication step
    counts: NDArray[np.int64]
    numbers: Vector
    steps: dict[str, StepRecord] = field(default_factory=dict)
    reads: dict[str, list[ReadRecord]] = field(default_factory=lambda: defaultdict(list))
    earlier: list[ExchangeRecord] = field(default_factory=list)  # from the same start, with other inputs


class RecordedExchange:
    """Passes calls on to the exchange of a run, and records them.

    Parameters
    ----------
    exchange : ExchangeFace
    coupled : CoupledParticipants
    algorithm : ProgrammedAlgorithm
    calls : sequence of (int, str)
        The calls of one exchange.
    tangents : mapping of str to ParticipantTangents
    index : int
        The number of the communication step.
    """

    def __init__(
        self,
        exchange: ExchangeFace,
        coupled: CoupledParticipants,
        algorithm: ProgrammedAlgorithm,
        calls: Sequence[Call],
        tangents: Mapping[str, ParticipantTangents],
        index: int,
    ) -> None:
        self._exchange, self._coupled, self._algorithm = exchange, coupled, algorithm
        self._tangents, self._index = tangents, index
        self._length = sum(call not in (layout.TAKE_KNOWN, layout.PUT_END) for call, _ in calls)
        self._has_one_exchange = bool(algorithm.memory.counts[layout.KIND] == layout.ONCE)
        self._calls_done = 0
        self.records: list[ExchangeRecord] = []
        self._earlier: list[ExchangeRecord] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._exchange, name)

    def _next(self) -> ExchangeRecord:
        """The record of the exchange to which the next call belongs."""
        if self._calls_done == 0 and not (self._has_one_exchange and self.records):
            memory = self._algorithm.memory
            self.records.append(ExchangeRecord(self._index, memory.counts.copy(), memory.numbers.copy()))
            self.records[-1].earlier, self._earlier = self._earlier, []
        self._calls_done = (self._calls_done + 1) % self._length
        return self.records[-1]

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Write the inputs of a participant."""
        self._next()
        self._exchange.set_inputs(name, course)

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant."""
        record = self._next()
        self._advance(record, name, time, size)

    def advance_all(self, time: float, size: float) -> None:
        """Step all participants, one after the other."""
        record = self._next()
        for name in self._exchange.order:
            self._advance(record, name, time, size)

    def _advance(self, record: ExchangeRecord, name: str, time: float, size: float) -> None:
        coupled, members = self._coupled, self._coupled.members([name])
        if coupled.rests(name):
            self._exchange.advance(name, time, size)
            return
        for member in members:
            self._tangents[member].start_step()
        self._exchange.advance(name, time, size)
        values, length = self._exchange.values, coupled.length(name, time, size)
        for member in members:
            begun = values.began(member), values.lines(member)
            record.steps[member] = StepRecord(time, length, *begun, self._tangents[member].end_step())

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read the outputs of a participant."""
        record = self._next()
        self._exchange.read_outputs(name, end)
        coupled = self._coupled
        for member in coupled.members([name]):
            is_set = end is not None and coupled.rereads_inputs[member]
            inputs = self._exchange.values.held(member) if is_set else None
            record.reads[member].append(ReadRecord(inputs, self._tangents[member].at_read()))

    def save(self, names: Sequence[str] | None = None) -> Any:
        """Save states, and what has been recorded."""
        return self._exchange.save(names), len(self.records)

    def restore(self, token: Any) -> None:
        """Restore saved states and drop the records since then, because a loop repeats these exchanges.

        An exchange that is repeated along the line to its own result depends on the ones before: its record
        keeps them as `earlier`.
        """
        states, count = token
        self._exchange.restore(states)
        if not self._has_one_exchange:
            self._earlier = []
            if self._is_repeated:
                for record in self.records[count:]:
                    self._earlier += [*record.earlier, record]
            del self.records[count:]
            self._calls_done = 0

    @property
    def _is_repeated(self) -> bool:
        """Whether the exchange that is restored is repeated, and not replaced by a shorter one."""
        counts = self._algorithm.memory.counts
        return bool(counts[layout.KIND] == layout.ADAPTIVE and counts[layout.PHASE] == layout.AFTER_PASS)


class RecordedAlgorithm(cosim.MasterAlgorithm):
    """An algorithm in a run with derivatives, whose exchange is replaced in each communication step.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        One that is initialized.
    wrap : callable
        Makes the exchange of a step from the exchange of the run.
    follow : callable
        Called after each step with the exchange of the step and its end (s).
    """

    def __init__(
        self,
        algorithm: cosim.MasterAlgorithm,
        wrap: Callable[[ExchangeFace], Any],
        follow: Callable[[Any, float], None],
    ) -> None:
        self._algorithm, self._wrap, self._follow = algorithm, wrap, follow
        self.exchanges_within_step = algorithm.exchanges_within_step
        self.restores = algorithm.restores

    def initialize(self, exchange: Any, time: float) -> None:
        """The algorithm is initialized already."""

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of inputs that the algorithm declares."""
        return self._algorithm.course_of_inputs(stepped)

    def step(self, exchange: Any, time: float, size: float) -> None:
        """Let the algorithm take a step, then compute its tangents."""
        wrapped = self._wrap(exchange)
        self._algorithm.step(wrapped, time, size)
        self._follow(wrapped, time + size)
