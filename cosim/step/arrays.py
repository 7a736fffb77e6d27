"""The arrays of a run: their names, kinds, roles and order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.step.layout import CLOCK_HEADER, ENTRIES, ENTRIES_AT, FIRST_ENTRY, WITNESS_MEMORY, WITNESSES
from cosim.step.records import GivenTime, Grid, Handler, Result, Timing, Witness
from cosim_compiler.calls import GROUP_AT
from cosim_compiler.convention import compounds
from cosim_compiler.foreign import integers_at, reals_at, table_at
from cosim_compiler.record import rows_of

Reals = NDArray[np.float64]
Integers = NDArray[np.int64]

CONSTANT, GIVEN, STATE, COMPUTED, SCRATCH = "constant", "given", "state", "computed", "scratch"


class Arrays(NamedTuple):
    """All arrays of one run, as the functions of the Step take them; `ROLES` says what each is for."""

    table: Integers  # of the system: address, start in `ints`, rows of each block
    ints: Integers
    watched: Integers  # as `table`, for the blocks that witnesses and histories inside steps need
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

    @property
    def handlers(run):
        """All handlers, by their numbers."""
        return rows_of(Handler, run.program, run.program[ENTRIES_AT], run.program[ENTRIES])

    def results_of(run, handler):
        """The variables that a handler may change."""
        return rows_of(Result, run.program, handler.results_at, handler.results)

    def time_given(run, place):
        """The period or the offset that stands at a place of `program`."""
        return rows_of(GivenTime, run.program, place, 1)[0]

    @property
    def next_index(run):
        """Of each handler: which occurrence comes next, or whether it is pending."""
        return run.agenda[FIRST_ENTRY : FIRST_ENTRY + run.program[ENTRIES]]

    @property
    def timings(run):
        """Of each handler: when it comes."""
        return rows_of(Timing, run.clock, CLOCK_HEADER, run.program[ENTRIES])

    @property
    def witnesses(run):
        """What is remembered of each witness, by their numbers."""
        return rows_of(Witness, run.clock, run.program[WITNESS_MEMORY], run.program[WITNESSES])

    @property
    def grids(run):
        """Of each handler: the grid of its times."""
        return rows_of(Grid, run.agenda, FIRST_ENTRY + run.program[ENTRIES], run.program[ENTRIES])


LETTERS = dict(
    zip(
        Arrays._fields,
        ("T", "I", "T", "I", "F", "F", "F", "I", *"FFFIFF", *"FIF", *"FF", "T", *"III", *"II", *"FF"),
        strict=True,
    )
)
"""The letter of each array's type, as in `cosim_compiler.native`."""

ROLES = {
    **dict.fromkeys(
        ("table", "ints", "watched", "program", "slots", "held_table", "reach", "choice"), CONSTANT
    ),
    **dict.fromkeys(("numbers", "coefficients", "settings"), GIVEN),
    **dict.fromkeys(("y", "p", "d", "k", "h", "memory", "agenda", "clock"), STATE),
    "c": COMPUTED,
    **dict.fromkeys(("work", "scratch", "held_ints", "probe", "places", "rows", "log"), SCRATCH),
}
"""What is STATE belongs to a State and is saved; what is COMPUTED follows from it. CONSTANT and SCRATCH need
no saving. What is GIVEN follows from the accuracy of the run."""

ARRAYS = tuple((name, LETTERS[name], ROLES[name]) for name in Arrays._fields)
"""Name, letter of the type and role of each array, in the order in which the entry points take them."""

ADDRESS, LENGTH, ARRAY_WIDTH = range(3)
"""Of each array, in a head."""
WHOLE_HEAD = ARRAY_WIDTH * len(ARRAYS) + 4
"""Length of a head, with room for four numbers of who calls the Step by addresses."""

ENTRY_SIGNATURE = "Af>i"
"""Of every entry point: all arrays, a time; the answer is one of `codes`."""


def _arrays_at() -> Any:
    """The function that finds all arrays by the address of a head; written out: loops cannot be compiled."""
    at = {"F": "reals_at", "I": "integers_at", "T": "table_at"}
    members = ", ".join(
        f"{at[letter]}(head[{ARRAY_WIDTH * i + ADDRESS}], head[{ARRAY_WIDTH * i + LENGTH}])"
        for i, letter in enumerate(LETTERS.values())
    )
    namespace: dict[str, Any] = {
        **{"Arrays": Arrays, "reals_at": reals_at, "integers_at": integers_at, "table_at": table_at},
        "__name__": __name__,
    }
    first = f"def arrays_at(address):\n    head = integers_at(address, {ARRAY_WIDTH * len(LETTERS)})\n"
    source = f"{first}    return Arrays({members})\n"
    exec(compile(source, "<arrays of a run>", "exec"), namespace)  # noqa: S102
    return namespace["arrays_at"]


arrays_at = _arrays_at()
arrays_at.__dict__[GROUP_AT] = "A"


compounds["A"] = (Arrays, "".join(LETTERS.values()))
