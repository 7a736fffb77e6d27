"""The ability of participants to be set, stepped and read by C functions, without Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cosim_master.ability import Ability


@dataclass(frozen=True)
class NativeCalls:
    """Addresses of C functions that set, step and get an instance whose variables are all real.

    Status: 0 is OK, 1 a warning; any other number stops the compiled loop, and the participant handles it
    (`StepsNatively`). All functions may be called without the GIL, and from several threads one after the
    other.

    Attributes
    ----------
    instance : int
        First argument of each function.
    set, get : int
        ``int f(void *instance, const uint32_t references[], size_t n, double values[], size_t n)``; also
        functions of FMI 2.0, without the last argument.
    step : int
        ``int f(void *instance, double time, double size, int keeps_no_state, bool *event, bool *terminate,
        bool *early, double *reached)``; also functions of FMI 2.0, without the last four arguments. An event,
        an end or a requested early return stops the compiled loop, too.
    begin : int
        A function with the same arguments as `step`, for a step in another process: it is called before
        `step` with the same numbers and returns at once; 0 if there is none. Its integer after `size` is 0 if
        further steps of the same process follow (`BeginsSteps`), else 1.
    input_references, output_references : int
        Addresses of the arrays `references` for the requested variables.
    input_count, output_count : int, optional
        The numbers of references; by default one for each variable (a whole array has one).
    same_size : bool
        Whether every step but the last has to have the same length to the bit.
    keep : object
        An object that has to live while the addresses are in use.
    access : int
        First argument of `set` and `get`, if it is not `instance`.
    set_slopes : int
        ``int f(void *instance, const uint32_t references[], size_t n, const int orders[], const double
        slopes[])``: slopes of all inputs over the next step, per s, all orders 1; 0 if there is none.
    save, restore, free : int
        ``int f(void *instance, void **state)``, ``int f(void *instance, void *state)`` and, if a state has to
        be freed before the next one is saved, ``int f(void *instance, void **state)``; 0 if there is none.
    state : int
        Address of the state that `save` writes.
    remember : callable, optional
        Returns the present part of the participant's state that is in Python, for `forget`.
    remember_saved : callable, optional
        Returns that part as it was when compiled code saved the last state; called in place of `remember`
        after that.
    forget : callable, optional
        Restores the result of `remember`, before `restore`, if Python was called in between.
    always_remembered : bool
        Whether `remember` and `forget` are called whenever a state is saved or restored.
    after_state : callable, optional
        Called with "save" or "restore" and a status that is not OK: raises the error, or returns True if the
        call has succeeded after all, and is to be repeated.
    leave : callable, optional
        Called when the functions are not used after all.
    names : mapping of str to str
        The names of the functions by attribute, ``{"step": "fmi2DoStep"}``, for messages about a process that
        one of them has ended.
    """

    instance: int
    set: int
    step: int
    get: int
    input_references: int
    output_references: int
    same_size: bool
    keep: object
    begin: int = 0
    access: int = 0
    input_count: int | None = None
    output_count: int | None = None
    set_slopes: int = 0
    save: int = 0
    restore: int = 0
    free: int = 0
    state: int = 0
    remember: Callable[[], Any] | None = None
    remember_saved: Callable[[], Any] | None = None
    forget: Callable[[Any], None] | None = None
    always_remembered: bool = False
    after_state: Callable[[str, int], bool | None] | None = None
    leave: Callable[[], None] | None = None
    names: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class StepsNatively(Ability, Protocol):
    """A participant that can be set, stepped and read by C functions, without Python.

    A master calls the functions in compiled code. Their results have to be the same as those of `set`, `step`
    and `get`, to the last bit.

    Attributes
    ----------
    least_native_steps : int
        For fewer steps the preparation takes longer than it saves.
    """

    @property
    def least_native_steps(self) -> int:
        """The number of steps from which on compiled code is faster."""

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Addresses of functions that write `inputs`, advance, and read `reads`; None if there are none.

        Called after `exit_initialization`, with real variables, and others that the participant accepts
        (`StepsTypesNatively`).

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            The first four are results of the C function `step` (three bytes, and a time in s). To the last
            one the participant writes the time (s) beyond which `step` is called in Python instead.

        Raises
        ------
        ModelError
            The reason why it cannot be stepped by C functions; it is then called in Python.
        """

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """Finish a step with this status, and these flags, as `step` does: the time reached, or an error."""

    def check_native_access(self, verb: str, status: int) -> None:
        """Raise the error of `set` ("Set") or `get` ("Get"); Python calls it again if none is raised."""

    def resume_native(self) -> None:
        """Let the compiled loop continue after calls of step, set or get by Python."""


@runtime_checkable
class StepsTypesNatively(StepsNatively, Protocol):
    """A participant whose C functions accept further types than real.

    Attributes
    ----------
    native_types : tuple of str
        Types of variables that `native_calls` accepts besides real ones: "integer", "boolean". Their values
        are passed as real numbers.
    """

    @property
    def native_types(self) -> tuple[str, ...]:
        """Types besides "real"."""
