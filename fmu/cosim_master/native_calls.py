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

    Status: 0 is OK, 1 a warning; any other number stops the compiled loop, and the participant is asked what
    to do about it (`StepsNatively`). All may be called without the GIL and from several threads one after the
    other.

    Attributes
    ----------
    instance : int
        First argument of each function.
    set, get : int
        ``int f(void *instance, const uint32_t references[], size_t n, double values[], size_t n)``; functions
        of FMI 2.0, without the last argument, will do.
    step : int
        ``int f(void *instance, double time, double size, int keeps_no_state, bool *event, bool *terminate,
        bool *early, double *reached)``; functions of FMI 2.0, without the last four, will do. An event, an
        end or a requested early return stops the compiled loop, too.
    begin : int
        Of a function with the same arguments as `step`, which is called before it with the same numbers and
        returns at once, where the step takes place elsewhere; 0 where there is none. In place of the integer
        behind `size` it gets 0 where others of the same process follow (`BeginsSteps`), else 1.
    input_references, output_references : int
        Addresses of the arrays `references` for the variables that were asked for.
    input_count, output_count : int, optional
        How many references these are; one for each variable unless given (a whole array has one).
    same_size : bool
        Whether every step but the last has to have the very same length.
    keep : object
        An object that has to live while the addresses are in use.
    access : int
        First argument of `set` and `get`, where it is another one than `instance`.
    set_slopes : int
        ``int f(void *instance, const uint32_t references[], size_t n, const int orders[], const double
        slopes[])``: slopes of all inputs over the next step, per s, all orders 1; 0 where there is none.
    save, restore, free : int
        ``int f(void *instance, void **state)``, ``int f(void *instance, void *state)`` and, where a state has
        to be freed before the next one is saved, ``int f(void *instance, void **state)``; 0 where there is
        none.
    state : int
        Address of the state that `save` writes.
    remember : callable, optional
        What Python knows of the participant besides, as it is now; for `forget`.
    remember_saved : callable, optional
        The same as it was when a state was saved last, where functions of C have changed it since; asked in
        place of `remember` after that.
    forget : callable, optional
        Called with what `remember` gave, before `restore`, where Python had to do something in between.
    always_remembered : bool
        Whether both are called whenever a state is saved or restored.
    after_state : callable, optional
        Called with "save" or "restore" and a status that is not OK: raises what that means; True where it is
        done after all: then the function is called once more, and says so.
    leave : callable, optional
        Called when the functions are not used after all.
    names : mapping of str to str
        What these functions are called, by attribute: ``{"step": "fmi2DoStep"}``; for words about a process
        that one of them has ended.
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

    Where all participants can, and the algorithm always makes the same calls
    (`MasterAlgorithm.fixed_sequence`), a master may run its loop in compiled code. What happens there has to
    be the same as in `set`, `step` and `get`, to the last bit.

    Attributes
    ----------
    least_native_steps : int
        For fewer steps than that it is not worth the preparation.
    """

    @property
    def least_native_steps(self) -> int:
        """Number of steps from which on it pays."""

    def native_calls(
        self, inputs: Sequence[str], reads: Sequence[str], flags: NDArray[np.float64]
    ) -> NativeCalls | None:
        """Addresses of functions that write `inputs`, advance, and read `reads`; None if there are none.

        Called after `exit_initialization`, with real variables alone unless others are taken
        (`StepsTypesNatively`).

        Parameters
        ----------
        inputs, reads : sequence of str
        flags : ndarray, shape (5,)
            The first four are what `step` answers (bytes, and a time in s); the participant writes to the
            last one the time (s) beyond which the compiled loop shall call `step` of Python instead.

        Raises
        ------
        ModelError
            Why it cannot run so; the loop then runs in Python.
        """

    def finish_native_step(self, status: int, time: float, size: float) -> float:
        """React to a status and flags as `step` does: return the time reached, or raise an error."""

    def check_native_access(self, verb: str, status: int) -> None:
        """Raise the error of `set` ("Set") or `get` ("Get"); Python calls it again if none is raised."""

    def resume_native(self) -> None:
        """Let the compiled loop continue after calls of step, set or get by Python."""


@runtime_checkable
class StepsTypesNatively(StepsNatively, Protocol):
    """A participant whose C functions take more than real variables.

    Attributes
    ----------
    native_types : tuple of str
        Types of variables that `native_calls` takes beside real ones: "integer", "boolean". They are handed
        over as reals that are whole.
    """

    @property
    def native_types(self) -> tuple[str, ...]:
        """Types besides "real"."""
