"""Operations that the interpreter of exchanges leaves to Python."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from cosim_master.abilities import NativeCalls, StepsNatively
from cosim_master.algorithms.exchange_layout import END, READ_AT_END, SET, SET_ALONG
from cosim_master.algorithms.exchange_memory import ExchangeMemory
from cosim_master.algorithms.programmed_algorithm import Call
from cosim_master.coupling.co_simulation_error import CoSimulationError
from cosim_master.exchange.algorithm_arrays import AlgorithmArrays
from cosim_master.exchange.called_in_python import CalledInPython
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import SLOPES
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.run_exchanges import (
    READ_FAILED,
    SAVE_FAILED,
    SET_FAILED,
    STEP_FAILED,
    STEP_LEFT,
)
from cosim_master.exchange.run_values import RunValues


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
