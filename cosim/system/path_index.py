"""PathIndex: the paths of variables by their places in the arrays of a State."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cosim.system.variable import Variable


class _Place(NamedTuple):
    """The place of a variable in an array, and its number among all variables."""

    offset: int
    number: int
    size: int
    path: str


class PathIndex:
    """The paths of variables by array and offset.

    Parameters
    ----------
    variables : iterable of Variable
    """

    def __init__(self, variables: Iterable[Variable]) -> None:
        self._places: dict[str, list[_Place]] = {}
        for number, variable in enumerate(variables):
            array, offset, size = variable.slot
            self._places.setdefault(array, []).append(_Place(offset, number, size, variable.path))
        for places in self._places.values():
            places.sort()
        self._longest = {array: max(place.size for place in places) for array, places in self._places.items()}

    def paths_at(self, array: str, offsets: Sequence[int]) -> list[str]:
        """Paths of the variables that lie at these offsets of an array, in the order of the variables.

        Places in brackets (``d[3]``) if no variable lies at any of them.
        """
        places, longest = self._places.get(array, []), self._longest.get(array, 0)
        path_of = {
            place.number: place.path
            for i in offsets
            for place in places[bisect_left(places, (i - longest + 1,)) : bisect_left(places, (i + 1,))]
            if i < place.offset + place.size
        }
        return [path_of[number] for number in sorted(path_of)] or [f"{array}[{i}]" for i in offsets]
