"""Built-in algorithms: a fixed list of calls, and a decision how often to make them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, Exchange, FeedthroughLoop, compile_function
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_layout import ADVANCE, ADVANCE_ALL
from cosim_master.algorithms.extrapolate import follow_value
from cosim_master.algorithms.next_request import SIGNATURE, next_request
from cosim_master.algorithms.noted_calls import Call, noted_calls
from cosim_master.coupling.errors import CoSimulationError, StepDiscardedError, WiringProblem, problem


def split_into_single_calls(calls: Sequence[Call], order: Sequence[str]) -> list[Call]:
    """The calls with one for each participant in place of one that steps all."""
    sequence = []
    for call, name in calls:
        sequence += [(ADVANCE, member) for member in order] if call == ADVANCE_ALL else [(call, name)]
    return sequence


def operations_of(algorithm: cosim.MasterAlgorithm, order: Sequence[str]) -> list[Call]:
    """*(operation, participant)* of one exchange.

    Parameters
    ----------
    algorithm : MasterAlgorithm
        A built-in one, or one with a `fixed_sequence`.
    order : sequence of str
        The participants in order.
    """
    if isinstance(algorithm, ProgrammedAlgorithm):
        return split_into_single_calls(algorithm.calls(order), order)
    return noted_calls(algorithm, order)


HIGHEST_ORDER = 2


def check_order(order: int) -> None:
    """Refuse another degree of the polynomial than 0 to 2.

    Raises
    ------
    ModelError
    """
    if isinstance(order, bool) or order not in range(HIGHEST_ORDER + 1):
        raise cosim.ModelError.of("extrapolation", f"is {order!r}, needs 0, 1 or 2")


def continued(order: int) -> str:
    """The continued quantity, in words."""
    name = {1: "line", 2: "parabola"}.get(order, "value")
    return f"the {name} through the values at the last {order + 1} communication points, continued"


Vector = NDArray[np.float64]


class ExchangeMemory:
    """The memory of an algorithm: the interface, and its own numbers; `exchange_layout` explains the indices.

    Parameters
    ----------
    size : int
        Number of values of the interface.
    bonds : sequence of (int, int)
        Places of both outputs of each power bond.
    rows : int
        The number of rows of the table.
    """

    def __init__(self, size: int = 0, bonds: Sequence[tuple[int, int]] = (), rows: int = layout.ROWS) -> None:
        self.counts = np.zeros(layout.COUNTS, dtype=np.int64)
        self.numbers = np.zeros(layout.NUMBERS)
        self.table = np.zeros(rows * size)
        self.bonds = np.array([place for bond in bonds for place in bond], dtype=np.int64)
        self.counts[layout.SIZE] = size

    def row(self, row: int) -> Vector:
        """A view of a row of the table."""
        size = int(self.counts[layout.SIZE])
        return self.table[row * size : (row + 1) * size]

    @property
    def time(self) -> float:
        """The begin of the present exchange, s."""
        return float(self.numbers[layout.TIME])

    @property
    def length(self) -> float:
        """The length of the present exchange, s."""
        return float(self.numbers[layout.LENGTH])

    @property
    def course(self) -> Course:
        """The course of the interface over the present exchange."""
        return Course(self.row(layout.MIDDLE), self.row(layout.SLOPE), self.length)


MANY = 100
"""Values of the interface from which on loading compiled code is faster than deciding in plain Python."""


class ProgrammedAlgorithm(cosim.MasterAlgorithm):
    """A master algorithm that the compiled loop can run, too.

    The calls of an exchange are a list (`calls`); a kernel function decides on arrays what comes next
    (`next_request`). The compiled loop carries out the same list and calls the same function; `step` does so
    with any `Exchange`.
    """

    is_iterated: ClassVar[bool] = False
    """Whether each step is repeated until the exchanged values converge."""

    def __init__(self) -> None:
        self._memory = ExchangeMemory()
        self._calls: list[Call] = []

    @property
    def memory(self) -> ExchangeMemory:
        """The memory of the present run, or of the last one."""
        return self._memory

    @abstractmethod
    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """The calls of one exchange, each with a participant, in their order.

        Parameters
        ----------
        order : sequence of str
            The participants in order.
        loops : sequence of FeedthroughLoop
            The loops whose participants are iterated.
        """

    def rows(self, size: int) -> int:
        """The number of rows of the table for an interface with this number of values."""
        return layout.ROWS

    def write_options(self, memory: ExchangeMemory) -> None:
        """Write the kind of the algorithm and its options into the memory of a run."""

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        size = len(exchange.interface_names)
        self._memory = ExchangeMemory(size, exchange.bonds, self.rows(size))
        self.memory.counts[layout.GOES_BACK] = exchange.can_restore
        self.memory.counts[layout.WORST] = -1
        self._calls = self.calls(exchange.order, exchange.loops)
        self.write_options(self.memory)

    def next_request(self, exchange: Exchange, time: float, size: float) -> int:
        """The next operation; the interface is in the memory."""
        memory = self.memory
        decide = next_request if memory.counts[layout.SIZE] < MANY else _compiled()
        with np.errstate(over="ignore", invalid="ignore"):  # reported where values are passed on
            return int(decide(memory.counts, memory.numbers, memory.table, memory.bonds, time, size))

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Exchange until the decision is FINISHED."""
        memory, token = self.memory, None
        complaint: cosim.CosimError | None = None
        memory.counts[layout.PHASE] = layout.BEGIN
        while True:
            if self.reads_interface:
                memory.row(layout.NOW)[:] = exchange.interface()
            request = self.next_request(exchange, time, size)
            if request == layout.FINISHED:
                return
            if request == layout.FAILED:
                raise complaint or self.failure(exchange, time)
            if request & layout.DERIVE:
                self.derive(exchange)
            if request & layout.SAVE:
                token = exchange.save()
            if request & layout.RESTORE:
                exchange.restore(token)
            if request & layout.PASS:
                complaint = self._try_exchange(exchange)
                memory.counts[layout.DISCARDED] = complaint is not None

    def _try_exchange(self, exchange: Exchange) -> CoSimulationError | None:
        """Make one exchange; the error if a participant has discarded it and a shorter one is tried."""
        try:
            self._exchange(exchange)
        except CoSimulationError as error:
            if not self.retries_discarded or not StepDiscardedError.is_cause_of(error):
                raise
            return error
        return None

    def derive(self, exchange: Exchange) -> None:
        """Write the interface's directional derivatives into the memory, where the algorithm uses them."""

    @property
    def reads_interface(self) -> bool:
        """Whether its decisions depend on the interface."""
        counts = self.memory.counts
        return bool(counts[layout.KIND] != layout.ONCE or counts[layout.ALONG])

    @property
    def retries_discarded(self) -> bool:
        """Whether it tries a shorter exchange when a participant has discarded one."""
        counts = self.memory.counts
        return bool(counts[layout.KIND] == layout.ADAPTIVE and counts[layout.GOES_BACK])

    @property
    def saves_states(self) -> bool:
        """Whether it saves states."""
        counts = self.memory.counts
        return bool(counts[layout.KIND] != layout.ONCE and (self.restores or counts[layout.GOES_BACK]))

    def failure(self, exchange: Exchange, time: float) -> cosim.SimulationError:
        """The error where the answer is FAILED, in a step from `time` (s)."""
        return cosim.SimulationError(self.time_of_failure(time), self.complaint(exchange))

    def time_of_failure(self, time: float) -> float:
        """The time that an error names, s, in a step from `time`."""
        return time

    def complaint(self, exchange: Exchange) -> str:
        """The message for the answer FAILED."""
        return "the interface did not settle"

    def iteration(self, loop: FeedthroughLoop) -> ProgrammedAlgorithm:
        """The algorithm that iterates a loop of direct feedthrough."""
        raise NotImplementedError

    def iterate(self, exchange: Exchange, name: str, time: float, size: float) -> None:
        """Step the loop of direct feedthrough that begins with a participant."""
        raise NotImplementedError

    def _exchange(self, exchange: Exchange) -> None:
        """Make all calls of one exchange."""
        memory = self.memory
        time, length, end = memory.time, memory.length, memory.row(layout.END)
        for call, name in self._calls:
            if call == layout.SET:
                exchange.set_inputs(name)
            elif call == layout.SET_ALONG:
                exchange.set_inputs(name, memory.course)
            elif call == layout.ADVANCE:
                exchange.advance(name, time, length)
            elif call == layout.ADVANCE_ALL:
                exchange.advance_all(time, length)
            elif call == layout.READ:
                exchange.read_outputs(name)
            elif call == layout.READ_AT_END:
                exchange.read_outputs(name, end)
            elif call == layout.PUT_END:
                exchange.put(end)
            elif call == layout.ITERATE:
                self.iterate(exchange, name, time, length)
            else:
                self._follow_value(exchange, name)

    def _follow_value(self, exchange: Exchange, name: str) -> None:
        memory, values = self.memory, exchange.interface()
        for place, owner in enumerate(exchange.interface_owners):
            if owner == name:
                follow_value(memory.counts, memory.numbers, memory.table, place, float(values[place]))


@cache
def _compiled() -> Callable[..., int]:
    """The decision, as the compiled loop makes it."""
    return compile_function(next_request, SIGNATURE)


def create_algorithm(
    choice: Any, options: Mapping[str, Any]
) -> tuple[cosim.MasterAlgorithm | None, list[WiringProblem]]:
    """The algorithm of an id, a class or an instance, with its options; None with the problems."""
    key = ("master", "algorithm")
    if isinstance(choice, str):
        try:
            choice = cosim.registry().get("master_algorithm", choice if "." in choice else f"fmu.{choice}")
        except cosim.LookUpError as error:
            return None, [problem(key, str(error))]
    if isinstance(choice, type) and issubclass(choice, cosim.MasterAlgorithm):
        return _instantiate(choice, options)
    if not isinstance(choice, cosim.MasterAlgorithm):
        text = f'is {choice!r}, needs the id of a master algorithm ("jacobi"), a class or an instance'
        return None, [problem(key, text)]
    return choice, []


def _instantiate(
    kind: type[cosim.MasterAlgorithm], options: Mapping[str, Any]
) -> tuple[cosim.MasterAlgorithm | None, list[WiringProblem]]:
    """The algorithm of a class; None with the problems of its options."""
    names = [name for name in signature(kind).parameters if name != "self"]
    problems = [
        problem(
            ("master", "options", name), str(cosim.LookUpError(f"option of {kind.__name__}", name, names))
        )
        for name in options
        if name not in names
    ]
    if problems:
        return None, problems
    try:
        return kind(**options), []
    except cosim.ModelError as error:
        return None, [problem(("master", "options", fault.where), fault.text) for fault in error.problems]
