"""A program in which participants step at the same time."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from cosim_master.algorithms.exchange_layout import ADVANCE, ADVANCE_ALL
from cosim_master.algorithms.programmed_algorithm import Call
from cosim_master.coupling.link import Link
from cosim_master.exchange.levels import levels


class ThreadedProgram(NamedTuple):
    """The operations of another program, some of them together.

    Attributes
    ----------
    operations : list of (int, str)
        ADVANCE_ALL where several step at once.
    covers : list of list of int
        For each of them which operations of the other program it does.
    """

    operations: list[Call]
    covers: list[list[int]]


def threaded_program(
    operations: Sequence[Call], links: Sequence[Link], free: Container[str], along: bool
) -> ThreadedProgram | None:
    """Steps that do not depend on each other together; None where there are no two of them.

    Parameters
    ----------
    operations : sequence of (int, str)
    links : sequence of Link
    free : container of str
        Participants that may step in other threads.
    along : bool
        Whether inputs run along lines, or states are restored: then only steps in a row are together.
    """
    if along:
        pieces = [[0]] if operations else []
        for place in range(1, len(operations)):
            if operations[place][0] == ADVANCE == operations[place - 1][0]:
                pieces[-1].append(place)
            else:
                pieces.append([place])
        found = [(piece, [operations[p][0] == ADVANCE for p in piece]) for piece in pieces]
    else:
        found = [(level, [operations[p][0] == ADVANCE for p in level]) for level in levels(operations, links)]
    program = ThreadedProgram([], [])
    for level, steps in found:
        together = [p for p, is_step in zip(level, steps, strict=True) if is_step]
        if len(together) < 2 or not any(operations[p][1] in free for p in together):
            together = []
        for place in level:
            if place not in together:
                program.operations.append(operations[place])
                program.covers.append([place])
        if together:
            program.operations.append((ADVANCE_ALL, ""))
            program.covers.append(together)
    return program if any(len(each) > 1 for each in program.covers) else None
