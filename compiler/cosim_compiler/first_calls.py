"""Functions that run as plain Python at first: compiling takes longer than a few calls of them.

Both give the same bytes. Where plain Python raises, the arrays get their old values and machine code is
called, so that exceptions come from machine code alone.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cosim_compiler import ahead, native, units
from cosim_compiler.callback import arguments_of
from cosim_compiler.convention import prototype

LONGEST = 0.3  # s
"""The time that functions may take together as plain Python; compiling ten of them takes about as long."""


class FirstCalls:
    """Addresses of functions of one signature, without a result and whose first argument is a number.

    Parameters
    ----------
    functions : sequence of function
        Compiled together, in several processes, once their calls have taken longer than `LONGEST`.
    signature : str
    owner : object
        The addresses are valid as long as it lives.
    """

    def __init__(self, functions: Sequence[Callable[..., Any]], signature: str, owner: object) -> None:
        self._functions, self._signature, self._owner = functions, signature, weakref.ref(owner)
        self._kinds = signature.split(">")[0]
        self._time_left = LONGEST

    def address(self, function: Any) -> int:
        """An address that compiled code can call: that of machine code where there is some already."""
        if native.is_plain() or units.is_at_hand(function, self._signature):
            return native.function_address(function, self._signature)
        compiled: Callable[..., int] | None = None

        def call(result: Any, *words: Any) -> int:
            nonlocal compiled
            if self._time_left > 0.0 and self._called_in_python(function, words):
                return 0
            if compiled is None:
                if self._time_left <= 0.0:
                    ahead.compile_ahead([(other, self._signature) for other in self._functions])
                compiled = prototype(self._signature)(native.function_address(function, self._signature))
            return compiled(result, *words)

        address = native.callback_address(prototype(self._signature)(call))
        weakref.finalize(self._owner(), native.release_address, address)
        return address

    def _called_in_python(self, function: Any, words: Sequence[Any]) -> bool:
        """Call the function in plain Python; False, with unchanged arrays, where it raised."""
        began = time.perf_counter()
        first, *others = arguments_of(self._kinds, words)
        arrays = [argument for argument in others if isinstance(argument, np.ndarray)]
        before = [array.copy() for array in arrays]
        try:
            with np.errstate(all="ignore"):
                function(np.float64(first), *others)  # as numpy's number 1 / 0 is infinite
        except Exception:
            for array, values in zip(arrays, before, strict=True):
                array[:] = values
            return False
        finally:
            self._time_left -= time.perf_counter() - began
        return True
