"""Algorithms of ours: calls that are always the same, and a decision how often to make them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

import cosim
from cosim.kit import Exchange, FeedthroughLoop, compile_function
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_memory import ExchangeMemory
from cosim_master.algorithms.extrapolate import take_known
from cosim_master.algorithms.next_request import SIGNATURE, next_request
from cosim_master.coupling.co_simulation_error import CoSimulationError
from cosim_master.coupling.step_discarded import StepDiscardedError

Call = tuple[int, str]
MANY = 100
"""Values of the interface from which on a decision in plain Python takes longer than to compile it."""


class ProgrammedAlgorithm(cosim.MasterAlgorithm):
    """A master algorithm that the compiled loop can run, too.

    What is called in an exchange is a list (`calls`); what comes next is decided on arrays by a kernel
    function (`next_request`). The compiled loop carries out the same list and asks the same function; `step`
    does it with any `Exchange`.

    Attributes
    ----------
    memory : ExchangeMemory
        Made anew for each run.
    """

    def __init__(self) -> None:
        self.memory = ExchangeMemory()
        self._calls: list[Call] = []

    @abstractmethod
    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """The calls of one exchange, each with a participant, in their order.

        Parameters
        ----------
        order : sequence of str
            Of the participants.
        loops : sequence of FeedthroughLoop
            Whose participants are iterated.
        """

    def rows(self, size: int) -> int:
        """Of the table, for an interface with so many values."""
        return layout.ROWS

    def settle(self, memory: ExchangeMemory) -> None:
        """Write the options into the memory of a run; its kind first."""

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        size = len(exchange.interface_names)
        self.memory = ExchangeMemory(size, exchange.bonds, self.rows(size))
        self.memory.counts[layout.GOES_BACK] = exchange.can_restore
        self.memory.counts[layout.WORST] = -1
        self._calls = self.calls(exchange.order, exchange.loops)
        self.settle(self.memory)

    def next_request(self, exchange: Exchange, time: float, size: float) -> int:
        """What has to be done before this is asked again; the interface is in the memory."""
        memory = self.memory
        decide = next_request if memory.counts[layout.SIZE] < MANY else _compiled()
        with np.errstate(over="ignore", invalid="ignore"):  # what explodes is told where it is passed on
            return int(decide(memory.counts, memory.numbers, memory.table, memory.bonds, time, size))

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Exchange until the decision is that it is enough."""
        memory, token = self.memory, None
        complaint: cosim.CosimError | None = None
        memory.counts[layout.PHASE] = layout.BEGIN
        while True:
            if self.looks:
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
                complaint = None
                try:
                    self._exchange(exchange)
                except CoSimulationError as error:  # too long for a participant
                    if not self.takes_discarded or not StepDiscardedError.is_cause_of(error):
                        raise
                    memory.counts[layout.DISCARDED], complaint = 1, error

    def derive(self, exchange: Exchange) -> None:
        """Write what directional derivatives tell of the interface into the memory, where it is asked for."""

    @property
    def looks(self) -> bool:
        """Whether its decisions depend on the interface."""
        counts = self.memory.counts
        return bool(counts[layout.KIND] != layout.ONCE or counts[layout.ALONG])

    @property
    def takes_discarded(self) -> bool:
        """Whether it tries a shorter exchange where a participant has discarded one."""
        counts = self.memory.counts
        return bool(counts[layout.KIND] == layout.ADAPTIVE and counts[layout.GOES_BACK])

    @property
    def goes_back(self) -> bool:
        """Whether it saves states."""
        counts = self.memory.counts
        return bool(counts[layout.KIND] != layout.ONCE and (self.restores or counts[layout.GOES_BACK]))

    def failure(self, exchange: Exchange, time: float) -> cosim.SimulationError:
        """The error where the answer is FAILED, in a step from `time` (s)."""
        return cosim.SimulationError(self.time_of_failure(time), self.complaint(exchange))

    def time_of_failure(self, time: float) -> float:
        """That an error names, s, in a step from `time`."""
        return time

    def complaint(self, exchange: Exchange) -> str:
        """What to say where the answer is FAILED."""
        return "the interface did not settle"

    def iteration(self, loop: FeedthroughLoop) -> ProgrammedAlgorithm:
        """What iterates a loop of direct feedthrough."""
        raise NotImplementedError

    def iterate(self, exchange: Exchange, name: str, time: float, size: float) -> None:
        """Step the loop of direct feedthrough that begins with a participant."""
        raise NotImplementedError

    def _exchange(self, exchange: Exchange) -> None:
        """All calls of one exchange."""
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
                self._take_known(exchange, name)

    def _take_known(self, exchange: Exchange, name: str) -> None:
        memory, values = self.memory, exchange.interface()
        for place, owner in enumerate(exchange.interface_owners):
            if owner == name:
                take_known(memory.counts, memory.numbers, memory.table, place, float(values[place]))


@cache
def _compiled() -> Callable[..., int]:
    """The decision, as the compiled loop makes it."""
    return compile_function(next_request, SIGNATURE)
