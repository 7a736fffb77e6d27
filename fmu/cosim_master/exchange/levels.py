"""Which calls of a communication step may be made at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from cosim_master.algorithms.exchange_layout import READ, SET
from cosim_master.coupling.link import Link


def levels(operations: Sequence[tuple[int, str]], links: Sequence[Link]) -> list[list[int]]:
    """Calls in levels: those of one level do not care in which order they are made.

    Two calls keep their order when they are of the same participant, or when one reads outputs that the
    other hands on as inputs.

    Parameters
    ----------
    operations : sequence of (int, str)
        What is done with which participant, as `operations_of` gives it.
    links : sequence of Link

    Returns
    -------
    list of list of int
        Places in `operations`, in their order within a level.

    Examples
    --------
    >>> from cosim_master.algorithms.exchange_layout import ADVANCE
    >>> levels([(ADVANCE, "a"), (READ, "a"), (SET, "b"), (ADVANCE, "b")], [Link("a", "y", "b", "u")])
    [[0], [1], [2], [3]]
    >>> levels([(ADVANCE, "a"), (READ, "a"), (SET, "b"), (ADVANCE, "b")], [])
    [[0, 2], [1, 3]]
    """
    fed: dict[str, set[str]] = {}
    feeding: dict[str, set[str]] = {}
    for link in links:
        fed.setdefault(link.source, set()).add(link.target)
        feeding.setdefault(link.target, set()).add(link.source)
    after: dict[tuple[int, str], int] = {}  # the level after the last call of this kind
    busy: dict[str, int] = {}  # and after the last one of this participant
    found: list[list[int]] = []
    for place, (kind, name) in enumerate(operations):
        others = fed.get(name, ()) if kind == READ else feeding.get(name, ()) if kind == SET else ()
        against = SET if kind == READ else READ
        level = max([busy.get(name, 0), *(after.get((against, other), 0) for other in others)])
        after[kind, name] = max(after.get((kind, name), 0), level + 1)
        busy[name] = level + 1
        if level == len(found):
            found.append([])
        found[level].append(place)
    return found
