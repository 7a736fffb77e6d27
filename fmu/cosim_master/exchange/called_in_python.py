"""The C functions by which the interpreter of exchanges calls a participant in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_arrays import COURSES
from cosim_master.exchange.exchange_machine import ExchangeMachine, shows_tables
from cosim_master.exchange.participant_steps import StepOutcome, record_step, take_step
from cosim_master.exchange.run_values import ValueNumbers, types_of
from cosim_master.native_calls import NativeCalls, StepsNatively

WORD, REAL = ctypes.c_int64, ctypes.c_double
ARRAY_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, WORD, WORD, WORD, WORD)
STEP_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, REAL, REAL, WORD, WORD, WORD, WORD, WORD)
OK, NOT_OK = 0, 3


class CalledInPython:
    """The methods of a participant in Python as C functions, which compiled code calls.

    Early returns, events, values inside a step and errors are recorded as after a step in Python.

    Parameters
    ----------
    coupled : CoupledParticipants
    name : str
        The name of the participant.
    machine : ExchangeMachine
    numbers : ValueNumbers
    noticed : callable
        Called when a step has added a record: an event, a stop, or values inside it.
    enter : callable
        Called before a step, to set the time and number of the communication step.
    limit_table : callable
        Called after text or binary data were read, since their table may be full.

    Attributes
    ----------
    raised : BaseException or None
        The exception of a method; the function has returned `NOT_OK`.
    waits : bool
        Whether the outcome of a step waits for `record_waiting_step`, since others step at the same time.
    """

    _waiting_step: StepOutcome | None

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
        self._inputs, self._reads = coupled.interface.input_names[name], list(coupled.reads[name])
        self._input_types, self._read_types = types_of(coupled, name)
        # its step is also that of the participants that are solved jointly with it
        self._members = {member: types_of(coupled, member)[0] for member in coupled.units.get(name, [name])}
        native = self._participant
        self._native = native if isinstance(native, StepsNatively) else None
        self._state = ctypes.c_void_p()
        self.raised: BaseException | None = None
        self.waits, self._waiting_step = False, None

    def calls(self) -> NativeCalls:
        """All functions, for the interpreter; `remember` saves the state and `forget` restores it."""
        # `OperationsInPython` sets a refused value once more, and so raises the error
        set_inputs = ARRAY_CALL(self._answering(self._set, keeps_error=False))
        set_slopes = ARRAY_CALL(self._answering(self._set_slopes, keeps_error=False))
        get = ARRAY_CALL(self._answering(self._get))
        step = STEP_CALL(self._answering(self._step))
        do_nothing = ARRAY_CALL(lambda *arguments: OK)
        return NativeCalls(
            instance=0,
            set=_address(set_inputs),
            step=_address(step),
            get=_address(get),
            input_references=0,
            output_references=0,
            same_size=False,
            keep=(self, [do_nothing, set_inputs, set_slopes, get, step]),
            set_slopes=_address(set_slopes),
            save=_address(do_nothing),
            restore=_address(do_nothing),
            state=ctypes.addressof(self._state),
            remember=lambda: self._participant.save(),
            forget=lambda token: self._participant.restore(token),
            always_remembered=True,
        )

    def read_in_python(self, calls: NativeCalls) -> NativeCalls:
        """The functions `calls`, but with a read by Python."""
        get = ARRAY_CALL(self._answering(self._get))
        keep = calls.keep, self, get
        return replace(calls, get=_address(get), output_references=0, output_count=None, keep=keep)

    def pop_error(self) -> BaseException:
        """The exception, once: `raised` is None afterwards."""
        error, self.raised = self.raised, None
        assert error is not None
        return error

    def _answering(self, function: Callable[..., None], *, keeps_error: bool = True) -> Callable[..., int]:
        """The function for C code, which cannot pass exceptions on: it returns `OK` or `NOT_OK`."""

        def call(*arguments: Any) -> int:
            try:
                function(*arguments)
            except BaseException as error:
                self.raised = error if keeps_error else None
                return NOT_OK
            return OK

        return call

    # the functions themselves; `NativeCalls` explains their arguments

    def _set(self, handle: int, references: int, count: int, values: int, size: int) -> None:
        reals = (REAL * count).from_address(values)
        self._participant.set(self._inputs, self._numbers.values(self._input_types, reals))

    def _set_slopes(self, handle: int, references: int, count: int, orders: int, slopes: int) -> None:
        self._participant.set_slopes(self._inputs, list((REAL * count).from_address(slopes)))

    def _get(self, handle: int, references: int, count: int, values: int, size: int) -> None:
        outputs = self._coupled.get(self._name, self._reads)
        reals: Any = (REAL * count).from_address(values)
        reals[:] = self._numbers.all_of(self._read_types, outputs)
        if self._is_tabled:
            self._limit_table()
        if self._native is not None:
            self._native.resume_native()

    def _step(self, handle: int, time: float, size: float, *results: int) -> None:
        if self.waits:
            self._waiting_step = self._take_step(time, size)
            return
        self._enter()
        self._record_step(self._take_step(time, size))

    def record_waiting_step(self) -> None:
        """Record the outcome of a step that was taken while others stepped, if there was one."""
        outcome, self._waiting_step = self._waiting_step, None
        if outcome is not None:
            self._record_step(outcome)

    def _take_step(self, time: float, size: float) -> StepOutcome:
        """Step in Python with the inputs of the interpreter; those of `CoupledParticipants` are put back."""
        coupled, machine, members = self._coupled, self._machine, self._members
        held = [coupled.held[member] for member in members]
        for (member, types), values in zip(members.items(), held, strict=True):
            coupled.held[member] = self._numbers.values(types, values)
            slopes = machine.inputs_of(member, COURSES).tolist() if machine.follows(member) else None
            coupled.store_slopes(member, slopes)
        try:
            return take_step(coupled, self._name, time, size)
        finally:
            coupled.held.update(zip(members, held, strict=True))

    def _record_step(self, outcome: StepOutcome) -> None:
        marks_before = self._coupled.marks()
        record_step(self._coupled, self._name, outcome)
        if self._coupled.marks() != marks_before:
            self._noticed()


def _address(function: Any) -> int:
    """The address of a function that ctypes has made."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
