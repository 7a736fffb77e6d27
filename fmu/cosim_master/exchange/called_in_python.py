"""A participant of which the interpreter of exchanges calls methods of Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import cosim
from cosim_master.abilities import NativeCalls, StepsNatively
from cosim_master.exchange.coupled_participants import CoupledParticipants, Step
from cosim_master.exchange.exchange_arrays import COURSES
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.exchange.native_participants import shows_tables
from cosim_master.exchange.value_numbers import MOST, ValueNumbers

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
        Whether what comes of a step waits for `tell`, since others step at the same time.
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
        links = [link for link in coupled.links if link.source == name]
        self._connected = {link.output for link in links}
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
        found = self._coupled.get(self._name, self._reads)
        for output, value in zip(self._reads, found, strict=True):
            if isinstance(value, int) and abs(value) > MOST and output in self._connected:
                text = f"{self._name}.{output} is {value}: beyond 2**53 it is not passed on"
                raise cosim.SimulationError(self._coupled.time, text)
        numbers: Any = (REAL * count).from_address(values)
        numbers[:] = self._numbers.all_of(self._read_types, found)
        if self._is_tabled:
            self._limit_table()
        if self._native is not None:
            self._native.resume_native()

    def _step(self, handle: int, time: float, size: float, *more: int) -> None:
        if self.waits:
            self._taken = self._take_step(time, size)
            return
        self._enter()
        self._tell(self._take_step(time, size))

    def tell(self) -> None:
        """Tell what came of a step that has been taken beside others, if there was one."""
        step, self._taken = self._taken, None
        if step is not None:
            self._tell(step)

    def _take_step(self, time: float, size: float) -> Step:
        coupled, machine, members = self._coupled, self._machine, self._members
        held = [coupled.held[member] for member in members]
        for (member, types), values in zip(members.items(), held, strict=True):
            coupled.held[member] = self._numbers.values(types, values)
            slopes = machine.inputs_of(member, COURSES).tolist() if machine.follows(member) else None
            coupled.note_slopes(member, slopes)
        try:
            return coupled.take_step(self._name, time, size)
        finally:
            coupled.held.update(zip(members, held, strict=True))

    def _tell(self, step: Step) -> None:
        before = self._coupled.marks()
        self._coupled.tell_step(self._name, step)
        if self._coupled.marks() != before:
            self._noticed()


def types_of(coupled: CoupledParticipants, name: str) -> tuple[Sequence[str], Sequence[str]]:
    """Of the connected inputs of a participant, and of what is read of it."""
    variables = coupled.descriptions[name].variables
    return (
        [variables[input].type for input in coupled.input_names[name]],
        [variables[output].type for output in coupled.reads[name]],
    )
