"""Kernel functions with the signatures by which the Step calls a method, made of readable ones.

A function of a method takes the system and the arrays of the method as two groups:

    def step(system, method, t, t_stop, limit): ...
    def redo(system, method, t_event): ...

`cosim.contracts.method_layout` explains both groups, and what the functions return.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim.contracts.method_layout import OdeSystem


def step_entry(arrays: type, step: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function with `STEP_SIGNATURE` that calls ``step(system, method, t, t_stop, limit)``.

    Parameters
    ----------
    arrays : type
        `MethodArrays`, or the class of a family of methods that derives from it.
    step : function
        A kernel function; its result is the code of the step.
    """

    def step_by_address(
        table, ints, first, last, t, y, p, d, k, h, c,
        coefficients, settings, memory, work, slots, t_stop, limit,
    ):  # fmt: skip
        system = OdeSystem(table, ints, first, last, y, p, d, k, h, c)
        method = arrays(y.shape[0], coefficients, settings, memory, work, slots)
        return step(system, method, t, t_stop, limit)

    step_by_address.__doc__ = step.__doc__
    return step_by_address


def redo_entry(arrays: type, function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function with `REDO_SIGNATURE` that calls ``function(system, method, t)``.

    Parameters
    ----------
    arrays : type
        As `step_entry`.
    function : function
        A kernel function that takes the last step again, begins a run, goes on after a jump or completes
        dense output; its result is the code of a step, and for the last one 0 or 1 + the index of a block.
    """

    def call_by_address(
        table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots
    ):
        system = OdeSystem(table, ints, first, last, y, p, d, k, h, c)
        return function(system, arrays(y.shape[0], coefficients, settings, memory, work, slots), t)

    call_by_address.__doc__ = function.__doc__
    return call_by_address


def by_address(system, method, t):
    """The arguments of a method's function that is called by its address; a step has two more."""
    return system[0:4] + (t,) + system[4:10] + method[1:6]
