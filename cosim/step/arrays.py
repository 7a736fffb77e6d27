"""The arrays of a run: their names, kinds, roles and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cosim.compiled import walker
from cosim.step.layout import HEADER, OPTIONAL_PARTS

Function = TypeVar("Function", bound=Callable[..., Any])
Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

CONSTANT, GIVEN, STATE, COMPUTED, SCRATCH = "constant", "given", "state", "computed", "scratch"


class Arrays(NamedTuple):
    """All arrays of one run, as the functions of the Step take them; `ROLES` says what each is for."""

    table: Integers  # of the system: address, start in `ints`, rows of each block
    ints: Integers
    watched: Integers  # as `table`, for the blocks that the witnesses need
    program: Integers  # see `layout`
    numbers: Reals  # see `layout`
    coefficients: Reals  # of the integrator, as the next two
    settings: Reals
    slots: Integers
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    h: Reals  # grows
    c: Reals
    memory: Reals  # of the integrator
    agenda: Integers  # see `layout`
    clock: Reals  # see `layout`
    work: Reals  # of the integrator
    scratch: Reals  # see `layout`
    held_table: Integers  # as `table`, where witnesses are held
    held_ints: Integers  # as `ints`, with what is held behind it
    probe: Integers  # see `crossing`
    places: Integers  # see `layout`
    reach: Integers  # see `touched`
    choice: Integers  # see `recording`
    rows: Reals  # see `recording`
    log: Reals  # see `event_log`


LETTERS = dict(
    zip(
        Arrays._fields,
        ("T", "I", "T", "I", "F", "F", "F", "I", *"FFFIFF", *"FIF", *"FF", "T", *"III", *"II", *"FF"),
        strict=True,
    )
)
"""The letter of each array's type, as in `cosim.compiled.native`."""

ROLES = {
    **dict.fromkeys(("table", "ints", "watched", "program", "slots", "held_table", "reach", "choice"), CONSTANT),
    **dict.fromkeys(("numbers", "coefficients", "settings"), GIVEN),
    **dict.fromkeys(("y", "p", "d", "k", "h", "memory", "agenda", "clock"), STATE),
    "c": COMPUTED,
    **dict.fromkeys(("work", "scratch", "held_ints", "probe", "places", "rows", "log"), SCRATCH),
}
"""What is STATE belongs to a State and is saved; what is COMPUTED follows from it. CONSTANT and SCRATCH need no
saving. What is GIVEN follows from the accuracy of the run."""

ARRAYS = tuple((name, LETTERS[name], ROLES[name]) for name in Arrays._fields)
"""Name, letter of the type and role of each array, in the order in which the entry points take them."""

ENTRY_SIGNATURE = "".join(LETTERS.values()) + "f>i"
"""Of every entry point: all arrays, a time; the answer is one of `codes`."""

PARTS: list[Callable[..., Any]] = []
"""The functions that are compiled by themselves and call each other by their symbols."""
walker.compounds["A"] = (Arrays, "".join(LETTERS.values()))
walker.optional_parts[:] = OPTIONAL_PARTS

OPTIONAL: dict[int, Callable[..., Any]] = {}
"""Those of PARTS that only some runs need, by the place in `program` where the Step finds their addresses."""


def part(signature: str, needed_for: str = "") -> Callable[[Function], Function]:
    """Mark a helper as one that is compiled by itself, under a signature in which A stands for `Arrays`.

    Parameters
    ----------
    signature : str
    needed_for : str
        What a run has that needs it: "handlers", "schedule", "witnesses", "holds", "memories", "constraints" or
        "rows". Without that it is not compiled, and a call of it does nothing and answers 0.
    """

    def mark(function: Function) -> Function:
        function.__dict__["__part__"] = signature
        PARTS.append(function)
        if needed_for:
            function.__dict__["__needed_for__"] = needed_for
            place = HEADER + OPTIONAL_PARTS.index(function.__name__)
            function.__dict__["__optional__"] = (Arrays._fields.index("program"), place)
            OPTIONAL[place] = function
        return function

    return mark
