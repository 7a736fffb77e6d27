"""Derivatives that authors have written: the compiler calls them, and does not differentiate the function."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, TypeVar

from cosim_compiler.errors import ContractError

Tangent = TypeVar("Tangent", bound=Callable[..., Any])

# marks in the ``__dict__`` of functions
OWN_TANGENT = "__own_tangent__"  # of a function: its tangent
WITH_VALUES = "__with_values__"  # of a tangent: whether it is called in place of the function
LEAVES_FIXED = "__leaves_fixed__"  # of a tangent: whether nothing that it writes varies
IN_LANES = "__in_lanes__"  # of a tangent: the function that computes it in lanes

RECORDED: dict[Any, tuple[Any, Any]] = {}
"""By function: the two functions of an adjoint that its author has written, see `recorded_by`."""


def tangent_of(
    function: Any, with_values: bool = False, leaves_fixed: bool = False
) -> Callable[[Tangent], Tangent]:
    """Mark a kernel function as the tangent of another one, which the compiler then does not differentiate.

    The tangent takes the arguments of the function. Behind them come, in the same order, the tangents of the
    arguments that are reals, tuples with reals or views of reals. It returns the tangent of the result, and
    writes the tangents of the views into which the function writes. It is called behind the function.

    Parameters
    ----------
    function : function
        A helper, or a kernel function of a component.
    with_values : bool
        Whether the tangent also does what the function does, and returns its result, which does not vary. It
        is then called in place of the function, and takes views that do not vary in place of their tangents.
    leaves_fixed : bool
        Whether nothing that it writes varies, so that an adjoint skips it.

    Examples
    --------
    >>> def cube(x):
    ...     return x * x * x
    >>> @tangent_of(cube)
    ... def cube_tangent(x, x_dot):
    ...     return 3.0 * x * x * x_dot
    >>> own_tangent(cube) is cube_tangent
    True
    """
    plain = getattr(function, "function", function)
    if not isinstance(plain, types.FunctionType):
        raise ContractError(f"tangent_of() marks the tangent of a plain function, not of {function!r}")

    def mark(tangent: Tangent) -> Tangent:
        plain.__dict__[OWN_TANGENT] = tangent
        tangent.__dict__[WITH_VALUES] = with_values
        tangent.__dict__[LEAVES_FIXED] = leaves_fixed
        return tangent

    return mark


def in_lanes(tangent: Any) -> Callable[[Tangent], Tangent]:
    """Mark a function that computes an author's tangent in lanes: it takes numbers for each lane.

    Without such a function the compiler reads the tangent itself for numbers for each lane.
    """

    def mark(own: Tangent) -> Tangent:
        tangent.__dict__[IN_LANES] = own
        return own

    return mark


def in_lanes_of(tangent: types.FunctionType) -> types.FunctionType:
    """The function that computes an author's tangent in lanes."""
    own: types.FunctionType = tangent.__dict__.get(IN_LANES, tangent)
    return own


def own_tangent(function: types.FunctionType) -> types.FunctionType | None:
    """The tangent that the author of a function has written; None if there is none."""
    tangent: types.FunctionType | None = function.__dict__.get(OWN_TANGENT)
    return tangent


def recorded_by(function: Any, reverse: Any) -> Callable[[Tangent], Tangent]:
    """Mark a function that records another one on a tape, for an adjoint that goes back by `reverse`.

    The recording function takes the arguments, the tangents of the reals and views that vary, for each such
    view where it begins in its root, and the tape. It returns the result, which does not vary. The reverse
    function takes the roots of these views and the tape, and returns the adjoints of the reals. See
    `recording_writer`.
    """

    def mark(recording: Tangent) -> Tangent:
        RECORDED[function] = recording, reverse
        return recording

    return mark
