"""The functions by which the interpreter of exchanges calls a participant that is Python."""

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
    """The C functions of a participant that is Python: its methods, called from compiled code.

    What a step brings about (early returns, events, values inside it, an error) is recorded as after a step
    in Python.

    Parameters
    ----------
    coupled : CoupledParticipants
    name : str
        The name of the participant.
    machine : ExchangeMachine
    numbers : ValueNumbers
    noticed : callable
        Called when a step has brought something about.
    enter : callable
        Called before a step: time and number of the communication step are those under way.
    limit_table : callable
        Called when text or binary data have been read: the table that holds them may be crowded now.

    Attributes
    ----------
    raised : BaseException or None
        The exception of a method; the function has returned `NOT_OK`.
    waits : bool
        Whether the result of a step waits for `record_waiting_step`, since others step at the same time.
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
        self._members = {each: types_of(coupled, each)[0] for each in coupled.units.get(name, [name])}
        native = self._participant
        self._native = native if isinstance(native, StepsNatively) else None
        self._state = ctypes.c_void_p()
        self.raised: BaseException | None = None
        self.waits, self._waiting_step = False, None

    def calls(self) -> NativeCalls:
        """All functions, for the interpreter; `remember` saves the state and `forget` restores it."""
        # a value that cannot be set is set once more by `OperationsInPython`, which raises its error
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
        """Functions in which Python reads the participant; the others are the given ones."""
        get = ARRAY_CALL(self._answering(self._get))
        keep = calls.keep, self, get
        return replace(calls, get=_address(get), output_references=0, output_count=None, keep=keep)

    def pop_error(self) -> BaseException:
        """The exception, once: `raised` is None afterwards."""
        error, self.raised = self.raised, None
        assert error is not None
        return error

    def _answering(self, function: Callable[..., None], *, keeps_error: bool = True) -> Callable[..., int]:
        """The function as C code calls it, which takes no exception: it answers `OK` or `NOT_OK`."""

        def call(*arguments: Any) -> int:
            try:
                function(*arguments)
            except BaseException as error:
                self.raised = error if keeps_error else None
                return NOT_OK
            return OK

        return call

    # the functions themselves; their arguments are those that `NativeCalls` explains

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
        """Record the result of a step that was taken while others stepped, if there was one."""
        step, self._waiting_step = self._waiting_step, None
        if step is not None:
            self._record_step(step)

    def _take_step(self, time: float, size: float) -> StepOutcome:
        """StepOutcome in Python with the inputs that the interpreter holds; those of Python are put back."""
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

    def _record_step(self, step: StepOutcome) -> None:
        before = self._coupled.marks()
        record_step(self._coupled, self._name, step)
        if self._coupled.marks() != before:
            self._noticed()


def _address(function: Any) -> int:
    """The address of a function that ctypes has made."""
    return int(ctypes.cast(function, ctypes.c_void_p).value or 0)
