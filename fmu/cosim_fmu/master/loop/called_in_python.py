"""A participant of which the compiled loop calls the methods of Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import cosim
from cosim_fmu.abilities import NativeCalls
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants

WORD, REAL = ctypes.c_int64, ctypes.c_double
ARRAY_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, WORD, WORD, WORD, WORD)
STEP_CALL: Any = ctypes.CFUNCTYPE(ctypes.c_int32, WORD, REAL, REAL, WORD, WORD, WORD, WORD, WORD)
OK, NOT_OK = 0, 3
MOST = 2**53
"""Integers beyond are not exact among reals."""


class CalledInPython:
    """C functions that call a participant's methods of Python at their place.

    What a step brings about (early returns, events, values inside it, an error) goes the same way as in the
    loop in Python.

    Parameters
    ----------
    coupled : CoupledParticipants
    name : str
        Of the participant.
    slopes : callable
        Gives the slopes of its inputs, per s, or None.
    noticed : callable
        Called when a step has brought something about.
    enter : callable
        Called before a step: time and number of the communication step are those under way.

    Attributes
    ----------
    raised : BaseException or None
        What a method raised; the function has answered `NOT_OK`.
    """

    def __init__(
        self,
        coupled: CoupledParticipants,
        name: str,
        slopes: Callable[[str], list[float] | None],
        noticed: Callable[[], None],
        enter: Callable[[], None],
    ) -> None:
        self._coupled, self._name, self._participant = coupled, name, coupled.participants[name]
        self._slopes, self._noticed, self._enter = slopes, noticed, enter
        self._inputs, self._reads = coupled.input_names[name], list(coupled.reads[name])
        variables = coupled.descriptions[name].variables
        self._types = [variables[input].type for input in self._inputs]
        self._state = ctypes.c_void_p()
        self.raised: BaseException | None = None

    def calls(self) -> NativeCalls:
        """For the compiled loop; a state is saved when it is remembered."""
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
            remember=self._participant.save,
            forget=self._participant.restore,
            always_remembered=True,
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
        numbers = (REAL * count).from_address(values)
        given = [_as_type(kind, value) for kind, value in zip(self._types, numbers, strict=True)]
        self._participant.set(self._inputs, given)

    def _set_slopes(self, handle: int, references: int, count: int, orders: int, slopes: int) -> None:
        self._participant.set_slopes(self._inputs, list((REAL * count).from_address(slopes)))

    def _get(self, handle: int, references: int, count: int, values: int, size: int) -> None:
        found = self._coupled.get(self._name, self._reads)
        for output, value in zip(self._reads, found, strict=True):
            if isinstance(value, int) and abs(value) > MOST:
                text = f"{self._name}.{output} is {value}: beyond 2**53 it is not passed on"
                raise cosim.SimulationError(self._coupled.time, text)
        (REAL * count).from_address(values)[:] = found

    def _step(self, handle: int, time: float, size: float, *more: int) -> None:
        coupled = self._coupled
        self._enter()
        before = coupled.marks()
        coupled.drive(self._name, self._slopes(self._name))
        coupled.finish_step(self._name, time, size, self._participant.step)
        if coupled.marks() != before:
            self._noticed()


def _as_type(kind: str, value: float) -> Any:
    """A number as a variable of a type takes it; what it does not take stays, for its error."""
    if kind == "integer" and value.is_integer():
        return int(value)
    if kind == "boolean" and value in (0.0, 1.0):
        return bool(value)
    return value
