"""The arrays of a run without Python: their names, kinds and order, and what has to be saved of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from cosim.compiled.walker import compounds

Function = TypeVar("Function", bound=Callable[..., Any])

CONSTANT, GIVEN, STATE, COMPUTED, SCRATCH = "constant", "given", "state", "computed", "scratch"

ARRAYS = (
    ("table", "T", CONSTANT),  # of the system: address, start in `ints`, rows of each block
    ("ints", "I", CONSTANT),
    ("watched", "T", CONSTANT),  # as `table`, for the blocks that the witnesses need
    ("program", "I", CONSTANT),  # see `layout`
    ("numbers", "F", GIVEN),  # see `layout`
    ("coefficients", "F", GIVEN),  # of the integrator, as the next two
    ("settings", "F", GIVEN),
    ("slots", "I", CONSTANT),
    ("y", "F", STATE),
    ("p", "F", STATE),
    ("d", "F", STATE),
    ("k", "I", STATE),
    ("h", "F", STATE),  # grows
    ("c", "F", COMPUTED),
    ("memory", "F", STATE),  # of the integrator
    ("agenda", "I", STATE),  # see `layout`
    ("clock", "F", STATE),  # see `layout`
    ("work", "F", SCRATCH),  # of the integrator
    ("scratch", "F", SCRATCH),  # see `layout`
    ("held_table", "T", CONSTANT),  # as `table`, where witnesses are held
    ("held_ints", "I", SCRATCH),  # as `ints`, with what is held behind it
    ("probe", "I", SCRATCH),  # see `cosim.simulation.crossing`
    ("places", "I", SCRATCH),  # see `layout`
)
"""Name, letter of the type and role of each array. After a state was put back, ``places[STAGE]`` has to be
set to NOTHING: what is COMPUTED follows from the rest, SCRATCH needs no saving. What is GIVEN is each
instance's own and follows from the accuracy that ``lowered_accuracy`` was called with, if it was."""

ENTRY_SIGNATURE = "".join(letter for _, letter, _ in ARRAYS) + "f>i"
"""Of every entry point: all arrays, a time; the answer is one of `codes`."""


class Arrays(NamedTuple):
    """All arrays of one instance, as helpers take them."""

    table: Any
    ints: Any
    watched: Any
    program: Any
    numbers: Any
    coefficients: Any
    settings: Any
    slots: Any
    y: Any
    p: Any
    d: Any
    k: Any
    h: Any
    c: Any
    memory: Any
    agenda: Any
    clock: Any
    work: Any
    scratch: Any
    held_table: Any
    held_ints: Any
    probe: Any
    places: Any


PARTS: list[Callable[..., Any]] = []
"""The functions that are compiled by themselves and call each other by their symbols."""
compounds["A"] = (Arrays, "".join(letter for _, letter, _ in ARRAYS))


def part(signature: str) -> Callable[[Function], Function]:
    """Mark a helper as one that is compiled by itself, under a signature in which A stands for `Arrays`."""

    def mark(function: Function) -> Function:
        function.__dict__["__part__"] = signature
        PARTS.append(function)
        return function

    return mark
