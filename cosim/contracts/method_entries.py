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
from cosim.walker import Walked
from cosim_compiler.calls import gathering

ARGUMENTS = (*Walked._fields, "coefficients", "settings", "memory", "work", "slots", "t_stop", "limit")
"""What a step is called with; the other functions lack the last two."""
AT_TIME, AT_Y, AT_METHOD, AT_STOP = 4, 5, 11, 16
"""Where in the arguments the time stands, the states, the arrays of the method, and what only a step has."""


def step_entry(arrays: type, step: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function with `STEP_SIGNATURE` that calls ``step(system, method, t, t_stop, limit)``.

    Parameters
    ----------
    arrays : type
        `MethodArrays`, or the class of a family of methods that derives from it.
    step : function
        A kernel function; its result is the code of the step.
    """

    @gathering(ARGUMENTS)
    def step_by_address(*arguments):
        return step(
            system_of(arguments),
            arrays(arguments[AT_Y].shape[0], *arguments[AT_METHOD:AT_STOP]),
            arguments[AT_TIME],
            *arguments[AT_STOP:],
        )

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
    return step_entry(arrays, function)


def by_address(system, method, t):
    """The arguments of a method's function that is called by its address; a step has two more."""
    return system.walked_at(t) + (  # noqa: RUF005
        method.coefficients,
        method.settings_numbers,
        method.memory_numbers,
        method.work_numbers,
        method.slot_numbers,
    )


def system_of(arguments):
    """The system among such arguments."""
    return OdeSystem(*arguments[:AT_TIME], *arguments[AT_Y:AT_METHOD])
