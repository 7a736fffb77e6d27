"""How the interpreter of exchanges calls participants: their C functions, or their methods in Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import black_box
from cosim_fmi.binding.fmu_output import printed_beside
from cosim_master.abilities import NativeCalls, StepsNatively, StepsTypesNatively, TakesPrinted
from cosim_master.coupling.communication_points import CommunicationPoints
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.exchange.coupled_participants import CoupledParticipants, Step
from cosim_master.exchange.exchange_arrays import COURSES
from cosim_master.exchange.exchange_machine import ExchangeMachine
from cosim_master.recording.recorded_rows import TABLED as TABLED


@contextmanager
def printed_in_calls(participants: Mapping[str, cosim.Participant]) -> Iterator[Callable[[], None]]:
    """Take what is printed inside; the function that this gives hands it over to the logs.

    Participants themselves see to what is printed while they begin and end. Nothing is done about it step
    by step, since a step takes less than a look would: where several FMUs are stepped in this process,
    what is printed goes to the log of each, with the names of all.

    Parameters
    ----------
    participants : mapping of str to Participant
    """
    able = {name: p for name, p in participants.items() if isinstance(p, TakesPrinted)}
    if not able:
        yield lambda: None
        return
    by = tuple(able) if len(able) > 1 else ()

    def add(text: str) -> None:
        for participant in able.values():
            participant.take_printed(text, by)

    with printed_beside(add) as take:
        yield take


MOST = 2**53
"""Integers beyond are not exact among reals."""


class ValueNumbers:
    """Integers and booleans are whole numbers; texts and binary data get a number each.

    Attributes
    ----------
    size : int
        Characters and bytes of all that have a number.

    Examples
    --------
    >>> numbers = ValueNumbers()
    >>> numbers.of("boolean", True), numbers.of("string", "on"), numbers.of("string", "off")
    (1.0, 0.0, 1.0)
    >>> numbers.value("string", 0.0), numbers.value("integer", 3.0), numbers.value("real", 0.5)
    ('on', 3, 0.5)
    """

    def __init__(self) -> None:
        self._numbers: dict[Any, float] = {}
        self._values: dict[float, Any] = {}
        self._next, self.size = 0.0, 0

    def of(self, kind: str, value: Any) -> float:
        """The number of a value of a type; what is no number is a `TypeError` or `ValueError`."""
        if kind not in TABLED:
            return float(value)
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = self._next
            self._values[found] = value
            self._next += 1.0
            self.size += len(value)
            if black_box.box is not None and isinstance(value, str | bytes):
                black_box.box.write(("value", (found, value), {}))
        return found

    def value(self, kind: str, number: float) -> Any:
        """The value of a number; one that its type does not take stays a number."""
        if kind in TABLED:
            return self._values[number]
        if kind == "integer" and number.is_integer():
            return int(number)
        if kind in ("boolean", "clock") and number in (0.0, 1.0):
            return bool(number)
        return number

    def all_of(self, kinds: Sequence[str], values: Iterable[Any]) -> list[float]:
        """The numbers of several values."""
        return [self.of(kind, value) for kind, value in zip(kinds, values, strict=True)]

    def values(self, kinds: Sequence[str], numbers: Iterable[float]) -> list[Any]:
        """The values of several numbers."""
        return [self.value(kind, float(number)) for kind, number in zip(kinds, numbers, strict=True)]

    def keep(self, numbers: Iterable[float]) -> None:
        """Forget all values of the table but those with these numbers."""
        wanted = set(numbers)
        self._values = {number: value for number, value in self._values.items() if number in wanted}
        self._numbers = {value: number for number, value in self._values.items()}
        self.size = sum(map(len, self._numbers))


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


def native_participants(
    coupled: CoupledParticipants,
    points: CommunicationPoints,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
) -> dict[str, NativeCalls | str]:
    """The C functions of each participant, or why it is called in Python at its place.

    Where text or binary data are read (`shows_tables`), the function that reads is for all else.

    Parameters
    ----------
    coupled : CoupledParticipants
    points : CommunicationPoints
    flags : ndarray, shape (participants, 5)
        A row for each, which its functions write.
    along : bool
        Whether inputs run along lines.
    goes_back : bool
        Whether steps are repeated from a saved state.
    """
    found: dict[str, NativeCalls | str] = {}
    is_short = _is_short(coupled, points)
    try:
        for name, row in zip(coupled.participants, flags, strict=True):
            try:
                found[name] = _native_calls(coupled, name, row, along, goes_back, is_short)
            except _NoFunctionsError as reason:
                found[name] = str(reason)
    except BaseException:
        for calls in found.values():  # these participants are called in Python after all
            if isinstance(calls, NativeCalls) and calls.leave is not None:
                calls.leave()
        raise
    return found


class _NoFunctionsError(Exception):
    """Why a participant is called in Python."""


def shows_tables(coupled: CoupledParticipants, name: str) -> bool:
    """Whether text or binary data of a participant are read."""
    variables = coupled.descriptions[name].variables
    return any(variables[output].type in TABLED for output in coupled.reads[name])


def _native_calls(
    coupled: CoupledParticipants,
    name: str,
    flags: NDArray[np.float64],
    along: bool,
    goes_back: bool,
    is_short: bool,
) -> NativeCalls:
    participant = coupled.participants[name]
    if not isinstance(participant, StepsNatively):
        raise _NoFunctionsError(f"a {coupled.descriptions[name].kind}")
    if is_short and participant.least_native_steps > 0:
        raise _NoFunctionsError("its compiled code takes longer to load than so few steps")
    inputs, reads = coupled.input_names[name], coupled.reads[name]
    variables = coupled.descriptions[name].variables
    known = ("real", *(participant.native_types if isinstance(participant, StepsTypesNatively) else ()))
    numbers = [n for n in reads if variables[n].type not in TABLED]
    other = [n for n in (*inputs, *numbers) if variables[n].type not in known]
    if other:
        raise _NoFunctionsError(f"{other[0]} is {variables[other[0]].type}")
    try:
        calls = participant.native_calls(inputs, numbers, flags)
    except cosim.FmuError as error:
        raise CoSimulationError(coupled.time, str(error), name) from error
    except cosim.ContractError as error:  # nothing is compiled here
        raise _NoFunctionsError(str(error)) from error
    except cosim.ModelError as error:
        first = error.problems[0]
        raise _NoFunctionsError(f"{first.where}: {first.text}") from error
    if calls is None:
        raise _NoFunctionsError("no solver of its own, arrays, types other than Float64, or a function lacks")
    if along and coupled.follows_lines(name) and not calls.set_slopes:
        raise _NoFunctionsError("it takes slopes of its inputs in Python")
    if goes_back and not (calls.save and calls.restore and calls.state):
        raise _NoFunctionsError("it saves its state in Python")
    return calls


def _is_short(coupled: CoupledParticipants, points: CommunicationPoints) -> bool:
    """Whether preparing participants takes as long as the whole run in Python."""
    natives = [p for p in coupled.participants.values() if isinstance(p, StepsNatively)]
    least = [p.least_native_steps for p in natives if p.least_native_steps > 0]
    return bool(least) and points.count * sum(1.0 / steps for steps in least) < 1.0
