"""Memory that the matrices of elimination fronts share: each has a place only while it is needed.

A front eliminates variables at its turn (`elimination_fronts`). What is left of its matrix is added to that
of its parent, a later front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cosim_dynamics.mechanism import NOWHERE


class SharedPlaces(NamedTuple):
    """The places of several matrices, and the memory that they take together."""

    starts: list[int]
    size: int


class _Room(NamedTuple):
    """A piece of the memory; the smallest that fits is taken first."""

    size: int
    start: int


def share_places(sizes: Sequence[int], parents: Sequence[int]) -> SharedPlaces:
    """Place the matrices of fronts so that those that are not needed at the same time share memory.

    A matrix is needed from the first front that it takes over to its own.

    Parameters
    ----------
    sizes, parents : sequence of int
        Of each matrix; the index of the front that takes it over, negative where there is none.
    """
    starts = [NOWHERE] * len(sizes)
    free: list[_Room] = []
    room_of: dict[int, _Room] = {}
    end = 0
    for i, parent in enumerate(parents):
        for needed in (i, parent):  # the parent, too: what is left of front i is added to it
            if needed >= 0 and starts[needed] == NOWHERE:
                fitting = [room for room in free if room.size >= sizes[needed]]
                room = min(fitting, default=_Room(sizes[needed], end))
                if fitting:
                    free.remove(room)
                else:
                    end += sizes[needed]
                starts[needed], room_of[needed] = room.start, room
        free.append(room_of.pop(i))
    return SharedPlaces(starts, end)
