"""Functions of five integers that compiled code calls by their address."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from cosim.kit import c_address, compile_function

SIGNATURE = "iiiii>i"
PROTOTYPE: Any = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * 5)
RAISED = 3
"""What a function of Python answers that has raised an exception; FMI's *error*."""


class CalledPython:
    """A function of Python behind an address.

    Parameters
    ----------
    function : callable
        Of five integers; answers with one.

    Attributes
    ----------
    address : int
    raised : BaseException or None
        What it has raised, where it has answered `RAISED`.
    """

    def __init__(self, function: Callable[..., int]) -> None:
        self._function = function
        self.raised: BaseException | None = None
        self._callback = PROTOTYPE(self._call)
        self.address = int(ctypes.cast(self._callback, ctypes.c_void_p).value or 0)

    def _call(self, *words: int) -> int:
        try:
            return self._function(*words)
        except BaseException as error:  # nothing may pass through foreign code
            self.raised = error
            return RAISED

    def raise_kept(self) -> None:
        """Raise what is kept, once."""
        error, self.raised = self.raised, None
        if error is not None:
            raise error


class KernelAddress:
    """Where compiled code finds a kernel function; without a compiler it calls Python there.

    Attributes
    ----------
    address : int
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._plain: CalledPython | None = None
        if compile_function(function, SIGNATURE) is function:  # nothing is compiled here
            self._plain = CalledPython(function)
            self.address = self._plain.address
        else:
            self.address = c_address(function, SIGNATURE)
        self._bound = PROTOTYPE(self.address)

    def __call__(self, first: int) -> int:
        """Call it from Python; what plain Python raises is raised."""
        answer = int(self._bound(first, 0, 0, 0, 0))
        self.raise_kept()
        return answer

    def raise_kept(self) -> None:
        """Raise, once, what plain Python has raised there."""
        if self._plain is not None:
            self._plain.raise_kept()


@functools.cache
def kernel_address(function: Callable[..., Any]) -> KernelAddress:
    """The address of a kernel function, for ever the same."""
    return KernelAddress(function)
