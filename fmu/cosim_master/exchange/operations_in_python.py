"""Operations that the interpreter of exchanges leaves to Python, and the exchange as an algorithm sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Course, FeedthroughLoop
from cosim_master.abilities import NativeCalls, StepsNatively
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_layout import END, READ_AT_END, SET, SET_ALONG
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import SLOPES
from cosim_master.exchange.exchange_machine import AlgorithmArrays, ExchangeMachine
from cosim_master.exchange.native_participants import CalledInPython
from cosim_master.exchange.run_exchanges import READ_FAILED, SAVE_FAILED, SET_FAILED, STEP_FAILED, STEP_LEFT
from cosim_master.exchange.run_values import RunValues

if TYPE_CHECKING:
    from cosim_master.exchange.compiled_loop import CompiledLoop


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
        self.can_restore, self.bonds = coupled.can_restore, coupled.bonds
        self.loops: Sequence[FeedthroughLoop] = coupled.loops
        self.interface_names: Sequence[str] = coupled.interface_names
        self.interface_owners: Sequence[str] = coupled.interface_owners
        self.interface_held: Sequence[bool] = coupled.interface_held

    def bind(self, loop: CompiledLoop) -> None:
        """From now on the interpreter does what is called here."""
        self._loop = loop

    @property
    def _running(self) -> CompiledLoop:
        if self._loop is None:
            text = "a master algorithm steps participants in `step`, not in `initialize`"
            raise CoSimulationError(self._coupled.time, text)
        return self._loop

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
        for (name, place), value in zip(self._coupled.places, values.tolist(), strict=True):
            self._coupled.board[name][place] = value

    def derivatives(self) -> Vector | None:
        """How the values of the interface depend on each other directly."""
        return self._coupled.derivatives()

    def save(self, names: Sequence[str] | None = None) -> _Saved:
        """The state of these participants, what was read of them, and what has happened."""
        coupled = self._coupled
        coupled.collect()
        members = {m for name in (self.order if names is None else names) for m in coupled.units[name]}
        wanted = [name for name in coupled.participants if name in members]
        states = {name: coupled.guarded(name, coupled.participants[name].save) for name in wanted}
        if self._loop is None:
            outputs = {name: list(coupled.board[name]) for name in wanted}
        else:
            self._loop.values.resume(wanted)
            outputs = {name: self._loop.values.read(name) for name in wanted}
        return _Saved(states, outputs, coupled.marks())

    def restore(self, token: _Saved) -> None:
        """Go back; events since then have not happened."""
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
        coupled.go_back_to(token.marks)


class OperationsInPython:
    """Does what was not as usual by the methods of the participants, so that errors say the same everywhere.

    Parameters
    ----------
    coupled : CoupledParticipants
    machine : ExchangeMachine
    values : RunValues
    calls : mapping of str to NativeCalls
        What the interpreter calls.
    called : mapping of str to CalledInPython
        Participants of which some of that is Python.
    in_python : mapping of str to str
        Participants of which all of it is.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        machine: ExchangeMachine,
        values: RunValues,
        calls: Mapping[str, NativeCalls],
        called: Mapping[str, CalledInPython],
        in_python: Mapping[str, str],
    ) -> None:
        self._coupled, self._machine, self._values = coupled, machine, values
        self._calls, self._called, self._in_python = calls, called, in_python

    def do(self, index: int, memory: ExchangeMemory, operation: Call, code: int, status: int) -> None:
        """Do an operation that was not as usual, in the communication step `index`.

        Parameters
        ----------
        memory : ExchangeMemory
            Of the algorithm whose operation it is.
        operation : (int, str)
        code, status : int
            The stop code, and what the participant answered.
        """
        coupled = self._coupled
        call, part = operation
        coupled.begin_step(index)
        coupled.time = self._machine.clock.begin
        participant, called = coupled.participants[part], self._called.get(part)
        if called is not None and called.raised is not None:
            raise called.taken()
        if part in self._in_python:
            self._call(call, part, memory)
            return
        assert isinstance(participant, StepsNatively)
        if code in (STEP_FAILED, STEP_LEFT):
            attempt = (
                participant.step if code == STEP_LEFT else partial(participant.after_native_step, status)
            )
            members = coupled.units.get(part, [part])
            for member in members:
                coupled.note_slopes(member, self._values.lines(member))
                coupled.held[member] = self._values.held(member)
            length = coupled.length(part, memory.time, memory.length)
            coupled.finish_step(part, memory.time, length, attempt)
            self._values.take_over(members)
            self._values.resume(members)
            return
        if code in (SET_FAILED, READ_FAILED) and called is None:
            verb = "Set" if code == SET_FAILED else "Get"
            coupled.guarded(part, participant.after_native_access, verb, status)
        self._call(call, part, memory)

    def _call(self, call: int, part: str, memory: ExchangeMemory) -> None:
        """Set or read a participant by its methods of Python."""
        coupled = self._coupled
        with self._values.of_python():
            if call in (SET, SET_ALONG):
                coupled.set_member_inputs(part, memory.course if call == SET_ALONG else None)
            else:
                coupled.read_member_outputs(part, memory.row(END) if call == READ_AT_END else None)
        self._values.resume([part])
        if call in (SET, SET_ALONG):
            self._machine.inputs_of(part, SLOPES)[:] = coupled.slopes(part)

    def remember(self, algorithm: AlgorithmArrays, *, is_saved: bool) -> None:
        """What Python knows as it was when the state was saved, or is about to be."""
        if algorithm.remembered is None:
            coupled = self._coupled
            told = {}
            for name in algorithm.members:
                calls = self._calls[name]
                remember = (calls.remember_saved if is_saved else None) or calls.remember
                if remember is not None:
                    told[name] = coupled.guarded(name, remember)
            algorithm.remembered = told, coupled.marks()

    def forget(self, algorithm: AlgorithmArrays) -> None:
        """What Python has done since the state was saved has not happened."""
        assert algorithm.remembered is not None
        told, marks = algorithm.remembered
        self._coupled.collect()
        self._coupled.go_back_to(marks)
        for name, memory in told.items():
            forget = self._calls[name].forget
            if forget is not None:
                self._coupled.guarded(name, forget, memory)

    def raise_failed_state(self, name: str, code: int, status: int) -> None:
        """Raise what saving or restoring a state would have raised."""
        verb = "save" if code == SAVE_FAILED else "restore"
        after = self._calls[name].after_state
        if after is not None:
            self._coupled.guarded(name, after, verb, status)
        raise CoSimulationError(self._coupled.time, f"cannot {verb} its state (status {status})", name)
