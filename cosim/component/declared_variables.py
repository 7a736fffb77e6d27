"""The variables of the State that a component declares: continuous states, discrete variables, timers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cosim.component.class_line import class_line
from cosim.component.declaration import Declaration
from cosim.component.declared_quantity import Shape, declare_quantity
from cosim.component.declared_types import check_bounds, check_dtype
from cosim.errors import ContractError
from cosim.options import options_checked
from cosim.stage import Stage
from cosim.value_text import quote


@options_checked
def position(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0.0,
    description: str = "",
    nominal: float | None = None,
    elements: Sequence[str] = (),
) -> Any:
    """A generalized coordinate: part of q; its derivative is ``<name>_dot``."""
    return _declare_coordinate("position", unit, shape, start, description, nominal, elements)


@options_checked
def speed(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0.0,
    description: str = "",
    nominal: float | None = None,
    elements: Sequence[str] = (),
) -> Any:
    """A generalized speed: part of u; its derivative is ``<name>_dot``."""
    return _declare_coordinate("speed", unit, shape, start, description, nominal, elements)


def _declare_coordinate(
    kind: str,
    unit: str | Sequence[str] | None,
    shape: Shape,
    start: Any,
    description: str,
    nominal: float | None,
    elements: Sequence[str],
) -> Any:
    """A position or a speed."""
    return declare_quantity(
        kind,
        unit,
        shape,
        start,
        infers_unit=False,
        description=description,
        elements=elements,
        nominal=nominal,
    )


@options_checked
def auxiliary_state(
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0.0,
    description: str = "",
    minimum: float | None = None,
    nominal: float | None = None,
    diagnostic: bool = False,
    band: int | None = None,
) -> Any:
    """An auxiliary continuous state: part of z; its derivative is ``<name>_dot``.

    With `minimum` smaller values are refused where it is set; integration is not checked. A `diagnostic`
    (an energy that is added up) is shown by an FMU only if its export names it. With `band` element i of the
    derivative depends on elements i - band … i + band of vectors that are as long, and on all of others: for
    methods in plain Python, which implicit integrators cannot follow. A wrong one makes them slow.
    """
    check_bounds(minimum=minimum)
    if band is not None and (not isinstance(band, int) or isinstance(band, bool) or band < 0):
        raise ContractError(
            f"{class_line()}: auxiliary_state: band is {quote(band)}, needs a number of elements: 0, 1, 2 …"
        )
    return declare_quantity(
        "auxiliary",
        unit,
        shape,
        start,
        description=description,
        diagnostic=diagnostic,
        minimum=minimum,
        nominal=nominal,
        options={} if band is None else {"band": band},
    )


@options_checked
def discrete(
    dtype: type = float,
    unit: str | Sequence[str] | None = None,
    shape: Shape = (),
    start: Any = 0,
    invalidates: Stage | str = Stage.TIME,
    description: str = "",
    internal: bool = False,
    diagnostic: bool = False,
) -> Any:
    """A discrete variable, changed by event handlers only; its next value is ``<name>_next``.

    Parameters
    ----------
    dtype : type
        ``float``, ``int`` or ``bool`` (1 or 0, which an FMU shows as a Boolean).
    invalidates : Stage or str
        A change drops the State below this stage; or the name of an option that says which, in small
        letters.
    internal : bool
        Not listed among the variables of a system, so in no FMU and no result; part of the State all
        the same.
    diagnostic : bool
        An FMU shows it only if its export names it.
    """
    check_dtype(dtype, "discrete")
    if not isinstance(invalidates, (Stage, str)):
        raise ContractError(f"{class_line()}: discrete: invalidates is {quote(invalidates)}, needs a Stage")
    kind = "discrete" if dtype is float else "integer"
    return declare_quantity(
        kind,
        unit,
        shape,
        start,
        description=description,
        diagnostic=diagnostic,
        invalidates=invalidates,
        options={"internal": internal},
        dtype=dtype,
    )


@options_checked
def timer(start: float = math.inf, description: str = "") -> Any:
    """A discrete variable that holds the time, s, at which its handlers (`cosim.on`) run next; inf: never.

    A handler names the next time by writing to ``<name>_next``; until then the timer rests.

    Examples
    --------
    >>> import cosim
    >>> class Echo(cosim.Component):
    ...     '''Waits longer and longer.'''
    ...     again = cosim.timer(start=1.0)
    ...     @cosim.on(again, does="discrete")
    ...     def repeat(t, again_next):
    ...         again_next[0] = 2.0 * t
    """
    options = {"timer": True}
    return Declaration("discrete", "", (), ("s",), start, description=description, options=options)
