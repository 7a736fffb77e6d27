"""Tangents that are not followed from what a function says: an author's own, and those of two of ours.

`tangent_of` marks a function with its tangent. What compares with ``==`` to be exact at a point, as `interp`
at its nodes, is followed in a form without that branch.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable
from typing import Any, TypeVar

from cosim_compiler import functions
from cosim_compiler.errors import ContractError
from cosim_compiler.language import special

Tangent = TypeVar("Tangent", bound=Callable[..., Any])
OWN_TANGENT = "__own_tangent__"
WITH_VALUES = "__with_values__"
LEAVES_FIXED = "__leaves_fixed__"
IN_LANES = "__in_lanes__"


def tangent_of(
    function: Any, with_values: bool = False, leaves_fixed: bool = False
) -> Callable[[Tangent], Tangent]:
    """Mark a kernel function as the tangent of another one, which the compiler then does not follow.

    It takes the arguments of that function and behind them, in their order, a tangent for each argument that
    is a real, a tuple with reals or a view of reals. It returns the tangent of the result; of a function that
    writes into views it writes their tangents. It is called behind the function.

    Parameters
    ----------
    function : function
        A helper, or a kernel function of a component.
    with_values : bool
        Whether the tangent also does what the function does, and returns its result, which does not vary: it
        is then called in place of the function. Views that do not vary it takes as they are.
    leaves_fixed : bool
        Whether nothing that it writes varies: an adjoint does not go back over it.

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
    """Mark a function as what an author's tangent is in lanes: its tangents are numbers for each lane.

    Without one the compiler takes the tangent as it is, for numbers of that kind.
    """

    def mark(own: Tangent) -> Tangent:
        tangent.__dict__[IN_LANES] = own
        return own

    return mark


def in_lanes_of(tangent: types.FunctionType) -> types.FunctionType:
    """What an author's tangent is in lanes."""
    own: types.FunctionType = tangent.__dict__.get(IN_LANES, tangent)
    return own


def own_tangent(function: types.FunctionType) -> types.FunctionType | None:
    """The tangent that its author has written, if there is one."""
    tangent: types.FunctionType | None = function.__dict__.get(OWN_TANGENT)
    return tangent


def digamma(x):
    """The derivative of the logarithm of the gamma function."""
    if math.isnan(x) or x == math.inf:
        return x
    if x == -math.inf or (x <= 0.0 and x == math.floor(x)):
        return math.nan
    y, value = x, 0.0
    if x < 0.5:
        y = 1.0 - x
        part = x - math.floor(x)
        value = -math.pi * math.cos(math.pi * part) / math.sin(math.pi * part)
    while y < 12.0:
        value -= 1.0 / y
        y += 1.0
    z = 1.0 / (y * y)
    series = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12)))))
    )
    return value + math.log(y) - 0.5 / y - series


@tangent_of(special.gamma)
def gamma_tangent(x, rate):
    """The tangent of the gamma function."""
    return 0.0 if rate == 0.0 else special.gamma(x) * digamma(x) * rate


@tangent_of(special.log_of_gamma)
def log_of_gamma_tangent(x, rate):
    """The tangent of the logarithm of the absolute value of the gamma function."""
    return 0.0 if rate == 0.0 else digamma(x) * rate


def interp_line(x, xp, fp):
    """Interpolate as `functions.interp`, at a node on the line behind it; at the last one before it."""
    count = len(xp)
    if x < xp[0] or count == 1:
        return fp[0] * 1.0
    if x > xp[count - 1]:
        return fp[count - 1] * 1.0
    i, end = 0, count - 1
    while end - i > 1:
        middle = (i + end) // 2
        if x < xp[middle]:
            end = middle
        else:
            i = middle
    return fp[i] + (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * (x - xp[i])


FOLLOWED_AS: dict[Any, Any] = {functions.interp: interp_line}
"""What is followed in place of a function, for its tangent alone."""
RECORDED: dict[Any, tuple[Any, Any]] = {}
"""By function the two functions of an adjoint that its author has written; see `recorded_by`."""


def recorded_by(function: Any, reverse: Any) -> Callable[[Tangent], Tangent]:
    """Mark a function as the one that records another one on a tape, beside the function that goes back.

    The recording one takes the arguments, the tangents of reals and of views that vary, for each such view
    where in its root it begins, and the tape; it returns the result, which does not vary. The reverse one
    takes the roots of these views and the tape, and returns the adjoints of the reals; see
    `recording_writer`.
    """

    def mark(recording: Tangent) -> Tangent:
        RECORDED[function] = recording, reverse
        return recording

    return mark
