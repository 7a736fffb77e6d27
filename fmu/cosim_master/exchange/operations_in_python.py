"""Operations that the interpreter of exchanges leaves to Python, and the exchange as an algorithm sees it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim_master.abilities import NativeCalls, StepsNatively
from cosim_master.algorithms.exchange_layout import END, READ_AT_END, SET, SET_ALONG
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.exchange.coupled_participants import CoupledParticipants, Step
from cosim_master.exchange.exchange_algorithms import AlgorithmArrays
from cosim_master.exchange.exchange_arrays import COURSES, SLOPES
from cosim_master.exchange.exchange_machine import ExchangeMachine, shows_tables
from cosim_master.exchange.run_exchanges import READ_FAILED, SAVE_FAILED, SET_FAILED, STEP_FAILED, STEP_LEFT
from cosim_master.exchange.run_values import RunValues, ValueNumbers, types_of

Vector = NDArray[np.float64]


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

    def complete(self, index: int, memory: ExchangeMemory, operation: Call, code: int, status: int) -> None:
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
        coupled.start_step(index)
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
                coupled.store_slopes(member, self._values.lines(member))
                coupled.held[member] = self._values.held(member)
            length = coupled.length(part, memory.time, memory.length)
            coupled.finish_step(part, memory.time, length, attempt)
            self._values.copy_from_python(members)
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
            memories = {}
            for name in algorithm.members:
                calls = self._calls[name]
                remember = (calls.remember_saved if is_saved else None) or calls.remember
                if remember is not None:
                    memories[name] = coupled.guarded(name, remember)
            algorithm.remembered = memories, coupled.marks()

    def forget(self, algorithm: AlgorithmArrays) -> None:
        """What Python has done since the state was saved has not happened."""
        assert algorithm.remembered is not None
        memories, marks = algorithm.remembered
        self._coupled.collect()
        self._coupled.revert_to(marks)
        for name, memory in memories.items():
            forget = self._calls[name].forget
            if forget is not None:
                self._coupled.guarded(name, forget, memory)

    def check_failed_state(self, name: str, code: int, status: int) -> None:
        """Raise what saving or restoring a state would have raised; else the state is requested once more."""
        verb = "save" if code == SAVE_FAILED else "restore"
        after = self._calls[name].after_state
        if after is None or not self._coupled.guarded(name, after, verb, status):
            raise CoSimulationError(self._coupled.time, f"cannot {verb} its state (status {status})", name)


WORD, REAL = ctypes.c_int64, ctypes.c_double


ARRAY_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, WORD, WORD, WORD, WORD)


STEP_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, REAL, REAL, WORD, WORD, WORD, WORD, WORD)


OK, NOT_OK = 0, 3


class CalledInPython:
    """C functions that call a participant's methods of Python at their place.

    What a step brings about (early returns, events, values inside it, an error) goes the same way as what the
    interpreter leaves to Python.

    Parameters
    ----------
    coupled : CoupledParticipants
    name : str
        Of the participant.
    machine : ExchangeMachine
    numbers : ValueNumbers
    noticed : callable
        Called when a step has brought something about.
    enter : callable
        Called before a step: time and number of the communication step are those under way.
    limit_table : callable
        Called when text or binary data have been read.

    Attributes
    ----------
    raised : BaseException or None
        What a method raised; the function has answered `NOT_OK`.
    waits : bool
        Whether what comes of a step waits for `record_waiting_step`, since others step at the same time.
    """

    _taken: Step | None

    def __init__(
        self,
        coupled: CoupledParticipants,
        name: str,
        machine: ExchangeMachine,
        numbers: ValueNumbers,
        noticed: Callable[[], None],
        enter: Callable[[], None],
        limit_table: Callable[[], None],
    ) -> None:
        self._coupled, self._name, self._participant = coupled, name, coupled.participants[name]
        self._machine, self._numbers, self._noticed, self._enter = machine, numbers, noticed, enter
        self._limit_table, self._is_tabled = limit_table, shows_tables(coupled, name)
        self._inputs, self._reads = coupled.input_names[name], list(coupled.reads[name])
        self._input_types, self._read_types = types_of(coupled, name)
        # it steps for those, too, that are solved jointly with it
        self._members = {each: types_of(coupled, each)[0] for each in coupled.units.get(name, [name])}
        native = self._participant
        self._native = native if isinstance(native, StepsNatively) else None
        self._state = ctypes.c_void_p()
        self.raised: BaseException | None = None
        self.waits, self._taken = False, None

    def calls(self) -> NativeCalls:
        """For the interpreter; a state is saved when it is remembered."""
        made = [
            ARRAY_CALL(lambda *words: OK),
            # what cannot be written is written once more, for its error
            *(ARRAY_CALL(self._safely(f, keeps=False)) for f in (self._set, self._set_slopes)),
            *(ARRAY_CALL(self._safely(self._get)), STEP_CALL(self._safely(self._step))),
        ]
        nothing, written, led, read, stepped = (ctypes.cast(f, ctypes.c_void_p).value or 0 for f in made)
        return NativeCalls(
            instance=0,
            set=written,
            step=stepped,
            get=read,
            input_references=0,
            output_references=0,
            same_size=False,
            keep=(self, made),
            set_slopes=led,
            save=nothing,
            restore=nothing,
            state=ctypes.addressof(self._state),
            remember=lambda: self._participant.save(),
            forget=lambda token: self._participant.restore(token),
            always_remembered=True,
        )

    def read_in_python(self, calls: NativeCalls) -> NativeCalls:
        """The same, but what is read of the participant goes through Python."""
        read = ARRAY_CALL(self._safely(self._get))
        address = ctypes.cast(read, ctypes.c_void_p).value or 0
        return replace(
            calls, get=address, output_references=0, output_count=None, keep=(calls.keep, self, read)
        )

    def taken(self) -> BaseException:
        """What was raised; it is forgotten here."""
        error, self.raised = self.raised, None
        assert error is not None
        return error

    def _safely(self, function: Callable[..., None], *, keeps: bool = True) -> Callable[..., int]:
        """The same for C code, which takes no exception: it is kept, or forgotten."""

        def call(*words: Any) -> int:
            try:
                function(*words)
            except BaseException as error:
                self.raised = error if keeps else None
                return NOT_OK
            return OK

        return call

    def _set(self, handle: int, references: int, count: int, values: int, size: int) -> None:
        given = (REAL * count).from_address(values)
        self._participant.set(self._inputs, self._numbers.values(self._input_types, given))

    def _set_slopes(self, handle: int, references: int, count: int, orders: int, slopes: int) -> None:
        self._participant.set_slopes(self._inputs, list((REAL * count).from_address(slopes)))

    def _get(self, handle: int, references: int, count: int, values: int, size: int) -> None:
        read = self._coupled.get(self._name, self._reads)
        numbers: Any = (REAL * count).from_address(values)
        numbers[:] = self._numbers.all_of(self._read_types, read)
        if self._is_tabled:
            self._limit_table()
        if self._native is not None:
            self._native.resume_native()

    def _step(self, handle: int, time: float, size: float, *more: int) -> None:
        if self.waits:
            self._taken = self._take_step(time, size)
            return
        self._enter()
        self._record_step(self._take_step(time, size))

    def record_waiting_step(self) -> None:
        """Tell what came of a step that has been taken beside others, if there was one."""
        step, self._taken = self._taken, None
        if step is not None:
            self._record_step(step)

    def _take_step(self, time: float, size: float) -> Step:
        coupled, machine, members = self._coupled, self._machine, self._members
        held = [coupled.held[member] for member in members]
        for (member, types), values in zip(members.items(), held, strict=True):
            coupled.held[member] = self._numbers.values(types, values)
            slopes = machine.inputs_of(member, COURSES).tolist() if machine.follows(member) else None
            coupled.store_slopes(member, slopes)
        try:
            return coupled.take_step(self._name, time, size)
        finally:
            coupled.held.update(zip(members, held, strict=True))

    def _record_step(self, step: Step) -> None:
        before = self._coupled.marks()
        self._coupled.record_step(self._name, step)
        if self._coupled.marks() != before:
            self._noticed()
