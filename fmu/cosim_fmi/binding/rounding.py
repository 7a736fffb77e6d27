"""The rounding mode of the processor: code of an FMU may change it for the whole process.

Libraries that are built with ``-ffast-math`` take very small numbers for 0 from then on; others leave another
direction of rounding behind. Three sums tell, in a few nanoseconds, after each call.
"""

from __future__ import annotations

import ctypes

import numpy as np

from cosim.kit import call_with_array, foreign
from cosim_fmi.binding.process_guard import SUMS, first_environment, floating_point_functions

integers_at, reals_at = foreign.integers_at, foreign.reals_at

REAL = 8
"""Bytes of a double."""
_block = np.zeros(len(SUMS) + 2)
"""The memory that compiled code reads: `SUMS`, then two addresses, of ``fesetenv`` and of its argument."""


def restore_rounding(at):
    """Restore the rounding mode of before the call; `at` is `ROUNDING_AT`, 0 if it cannot be restored."""
    if at == 0:
        return
    sums = reals_at(at, 5)
    rounds_down = sums[0] + sums[2] == sums[0]
    if sums[0] + sums[1] != sums[0] or rounds_down or sums[3] - sums[4] == 0.0:
        words = integers_at(at + REAL * 5, 2)
        call_with_array(words[0], words[1], 0, 0, 0, 0)


def round_as_before(at):
    """Restore the rounding mode and return 0, for callers in C that need a result."""
    restore_rounding(at)
    return 0


def _address_of_block() -> int:
    functions = floating_point_functions()
    if functions is None:
        return 0
    _block[: len(SUMS)] = SUMS
    words = _block[len(SUMS) :].view(np.int64)
    words[0] = ctypes.cast(functions.fesetenv, ctypes.c_void_p).value or 0
    words[1] = ctypes.addressof(first_environment)
    return int(_block.ctypes.data)


ROUNDING_AT = _address_of_block()
"""Address of the memory that `restore_rounding` reads; 0 where the C library has no such functions."""
