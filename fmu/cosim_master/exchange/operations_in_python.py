"""Operations that the interpreter of exchanges leaves to Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from cosim_master.algorithms.exchange_layout import END, READ_AT_END, SET, SET_ALONG
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.exchange.called_in_python import CalledInPython
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_algorithms import AlgorithmArrays
from cosim_master.exchange.exchange_arrays import SLOPES
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.participant_steps import finish_step
from cosim_master.exchange.run_values import RunValues
from cosim_master.exchange.stop_codes import READ_FAILED, SAVE_FAILED, SET_FAILED, STEP_FAILED, STEP_LEFT
from cosim_master.native_calls import NativeCalls, StepsNatively


class OperationsInPython:
    """Completes by methods in Python the operations that compiled code cannot, with the same messages.

    Parameters
    ----------
    coupled : CoupledParticipants
    machine : ExchangeMachine
    values : RunValues
    calls : mapping of str to NativeCalls
        The functions that the interpreter calls.
    called : mapping of str to CalledInPython
        Participants some of whose C functions call methods in Python.
    in_python : mapping of str to str
        Participants that are called only in Python, with the reasons.
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

    def complete(self, index: int, memory: ExchangeMemory, operation: Call, code: int, status: int) -> None:
        """Complete an operation at which the interpreter stopped, in the communication step `index`.

        Parameters
        ----------
        memory : ExchangeMemory
            The memory of the algorithm that makes the operation.
        operation : (int, str)
            The operation (`exchange_layout`), and the participant.
        code, status : int
            The stop code of the interpreter (`stop_codes`), and the status of the participant.
        """
        coupled = self._coupled
        kind, name = operation
        coupled.start_step(index)
        coupled.time = self._machine.clock.begin
        participant, called = coupled.participants[name], self._called.get(name)
        if called is not None and called.raised is not None:
            raise called.pop_error()
        if name in self._in_python:
            self._set_or_read(kind, name, memory)
            return
        assert isinstance(participant, StepsNatively)
        if code == STEP_LEFT:
            self._finish_step(name, memory, participant.step)
            return
        if code == STEP_FAILED:
            self._finish_step(name, memory, partial(participant.finish_native_step, status))
            return
        if code in (SET_FAILED, READ_FAILED) and called is None:
            verb = "Set" if code == SET_FAILED else "Get"
            coupled.guarded(name, participant.check_native_access, verb, status)
        self._set_or_read(kind, name, memory)

    def _finish_step(
        self, name: str, memory: ExchangeMemory, attempt: Callable[[float, float], float]
    ) -> None:
        """Step a participant, and those that are solved jointly with it, by a method of Python."""
        coupled, values = self._coupled, self._values
        members = coupled.units.get(name, [name])
        for member in members:
            coupled.store_slopes(member, values.lines(member))
            coupled.held[member] = values.held(member)
        size = coupled.length(name, memory.time, memory.length)
        finish_step(coupled, name, memory.time, size, attempt)
        values.copy_from_python(members)
        values.resume(members)

    def _set_or_read(self, kind: int, name: str, memory: ExchangeMemory) -> None:
        """Set or read a participant by its methods of Python."""
        coupled = self._coupled
        with self._values.of_python():
            if kind in (SET, SET_ALONG):
                coupled.set_member_inputs(name, memory.course if kind == SET_ALONG else None)
            else:
                coupled.read_member_outputs(name, memory.row(END) if kind == READ_AT_END else None)
        self._values.resume([name])
        if kind in (SET, SET_ALONG):
            self._machine.inputs_of(name, SLOPES)[:] = coupled.slopes(name)

    def remember(self, algorithm: AlgorithmArrays, *, is_saved: bool) -> None:
        """Store the part of a saved state that is in Python, for `forget`; once for each state.

        `is_saved` tells whether compiled code has saved its part already.
        """
        if algorithm.remembered is None:
            coupled = self._coupled
            memories = {}
            for name in algorithm.members:
                calls = self._calls[name]
                remember = (calls.remember_saved if is_saved else None) or calls.remember
                if remember is not None:
                    memories[name] = coupled.guarded(name, remember)
            algorithm.remembered = memories, coupled.marks()

    def forget(self, algorithm: AlgorithmArrays) -> None:
        """Restore the part of the saved state that is in Python, and undo all records since then."""
        assert algorithm.remembered is not None
        memories, marks = algorithm.remembered
        self._coupled.collect()
        self._coupled.revert_to(marks)
        for name, memory in memories.items():
            forget = self._calls[name].forget
            if forget is not None:
                self._coupled.guarded(name, forget, memory)

    def check_failed_state(self, name: str, code: int, status: int) -> None:
        """Raise what saving or restoring a state would have raised in Python.

        Returns if the participant reports that it is done after all; the interpreter then calls it again.
        """
        verb = "save" if code == SAVE_FAILED else "restore"
        after = self._calls[name].after_state
        if after is None or not self._coupled.guarded(name, after, verb, status):
            raise CoSimulationError(self._coupled.time, f"cannot {verb} its state (status {status})", name)
