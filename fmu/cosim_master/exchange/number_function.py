"""Kernel functions of whole numbers, as Python calls them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cosim.kit import c_address, is_plain


def number_function(function: Callable[..., int], count: int, compiled: bool) -> Callable[..., int]:
    """A function of so many whole numbers, which raises nothing.

    Parameters
    ----------
    function : function
        A kernel function.
    count : int
    compiled : bool
        Whether it is worth loading compiled code; else it runs as plain Python, to the same bytes.
    """
    if compiled and not is_plain():
        return _compiled(function, count)

    def call(*numbers: int) -> int:
        with np.errstate(all="ignore"):  # as compiled code, where numbers overflow
            return int(function(*numbers))

    return call


@cache
def _compiled(function: Callable[..., int], count: int) -> Any:
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_int64] * count)
    return prototype(c_address(function, signature_of(count)))


def signature_of(count: int) -> str:
    """Of a function of so many whole numbers."""
    return "i" * count + ">i"
