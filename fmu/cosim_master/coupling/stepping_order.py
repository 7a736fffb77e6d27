"""The order in which a sequential master steps its participants."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence

from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.coupling.link import Link

Unit = frozenset[str]
"""A participant, or those of a loop, which step together."""
Needs = dict[Unit, set[Unit]]
"""For each unit others whose outputs it reads."""


def stepping_order(
    names: Sequence[str],
    descriptions: Mapping[str, ParticipantDescription],
    links: Sequence[Link],
    loops: Sequence[FeedthroughLoop] = (),
) -> list[str]:
    """The order for a sequential master.

    An output without feedthrough is known at the communication point, so its reader may be stepped first. An
    output that depends directly on connected inputs is not: its reader comes after its source. Among the
    participants that can be next, the one that waits for the fewest others comes first, then the order of
    `names` decides. The participants of a loop stay together. Timed inputs come last: the others use their
    value at the start of the step.
    """
    together = {name: frozenset(loop.participants) for loop in loops for name in loop.participants}
    units = list(dict.fromkeys(together.get(name, frozenset([name])) for name in names))
    place_of = {name: place for place, name in enumerate(names)}
    order = [
        name
        for unit in _order_of_units(units, *_needs(units, descriptions, links))
        for name in sorted(unit, key=place_of.__getitem__)
    ]
    return sorted(order, key=lambda name: descriptions[name].over_time)


def _needs(
    units: Sequence[Unit], descriptions: Mapping[str, ParticipantDescription], links: Sequence[Link]
) -> tuple[Needs, Needs]:
    """The units that each unit reads: those that it has to wait for, and all.

    It has to wait for an output that depends directly on connected inputs.
    """
    unit_of = {name: unit for unit in units for name in unit}
    awaited: Needs = {unit: set() for unit in units}
    read: Needs = {unit: set() for unit in units}
    driven = {link.end for link in links}
    for link in links:
        source, target = unit_of[link.source], unit_of[link.target]
        if source == target:
            continue
        read[target].add(source)
        direct = direct_inputs(descriptions[link.source], link.output)
        if any((link.source, name) in driven for name in direct):
            awaited[target].add(source)
    return awaited, read


def _order_of_units(units: Sequence[Unit], awaited: Needs, read: Needs) -> Iterator[Unit]:
    """The units in their order: next is the one that waits for the fewest, then that reads the fewest others.

    Both sets of needs are emptied.
    """
    readers: dict[Unit, list[Unit]] = {unit: [] for unit in units}
    for unit in units:
        for source in read[unit]:
            readers[source].append(unit)
    number = {unit: i for i, unit in enumerate(units)}  # of the units that have had no turn

    def next_turn(unit: Unit) -> tuple[int, int, int]:
        return len(awaited[unit]), len(read[unit]), number[unit]

    queue = [next_turn(unit) for unit in units]
    heapq.heapify(queue)
    while queue:
        turn = heapq.heappop(queue)
        unit = units[turn[2]]
        if unit not in number or turn != next_turn(
            unit
        ):  # an entry from before it had its turn or waited for fewer
            continue
        del number[unit]
        yield unit
        for reader in readers[unit]:
            awaited[reader].discard(unit)
            read[reader].discard(unit)
            if reader in number:
                heapq.heappush(queue, next_turn(reader))
