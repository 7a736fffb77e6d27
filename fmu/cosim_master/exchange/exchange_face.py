"""ExchangeFace: the exchange that is offered to a master algorithm, over operations of the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Course, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.exchange.coupled_participants import CoupledParticipants

if TYPE_CHECKING:
    from cosim_master.exchange.compiled_loop import CompiledLoop
    from cosim_master.exchange.run_values import RunValues

Vector = NDArray[np.float64]


class _Saved(NamedTuple):
    """States of participants, and what was read of them."""

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
        """Write the connected inputs of a participant, from what was read or from a course."""
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
        first, *others = self._coupled.units[name]
        for member in others:  # they are solved jointly with the first one
            loop.operate(layout.NOTE_COURSE, member)
        loop.operate(layout.ADVANCE, first)

    def advance_all(self, time: float, size: float) -> None:
        """Step all participants, side by side in threads where that is faster."""
        self._memory.numbers[layout.TIME] = time
        self._memory.numbers[layout.LENGTH] = size
        if self._running.advance_together(self.order):
            return
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read what is wanted of a participant."""
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
        """The state of these participants, what was read of them, and what has happened."""
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
