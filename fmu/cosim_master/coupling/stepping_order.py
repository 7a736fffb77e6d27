"""The order in which a sequential master steps its participants."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.coupling.link import Link


def stepping_order(
    names: Sequence[str],
    descriptions: Mapping[str, ParticipantDescription],
    links: Sequence[Link],
    loops: Sequence[FeedthroughLoop] = (),
) -> list[str]:
    """The order for a sequential master.

    A participant goes after those whose outputs it reads when these depend directly on *their* inputs,
    since such an output is worth most when it is fresh; an output without feedthrough is known at the
    communication point, and its reader may go first. Among those that may go next, the one that
    waits for the fewest others comes first, then the order in which they were given. The participants
    of a loop stay together; timed inputs come last: the others use their value at the start of the step.
    """
    together = {name: frozenset(loop.participants) for loop in loops for name in loop.participants}
    units = list(dict.fromkeys(together.get(name, frozenset([name])) for name in names))
    unit_of = {name: unit for unit in units for name in unit}
    strong: dict[frozenset[str], set[frozenset[str]]] = {unit: set() for unit in units}
    weak: dict[frozenset[str], set[frozenset[str]]] = {unit: set() for unit in units}
    driven = {link.end for link in links}
    for link in links:
        source, target = unit_of[link.source], unit_of[link.target]
        if source != target:
            weak[target].add(source)
            needs = direct_inputs(descriptions[link.source], link.output)
            if any((link.source, name) in driven for name in needs):
                strong[target].add(source)
    place_of = {name: place for place, name in enumerate(names)}
    needed_by: dict[frozenset[str], list[frozenset[str]]] = {unit: [] for unit in units}
    for unit in units:
        for other in weak[unit]:
            needed_by[other].append(unit)
    number = {unit: i for i, unit in enumerate(units)}

    def next_turn(unit: frozenset[str]) -> tuple[int, int, int]:
        return len(strong[unit]), len(weak[unit]), number[unit]

    queue = [next_turn(unit) for unit in units]
    heapq.heapify(queue)
    order: list[str] = []
    while queue:
        turn = heapq.heappop(queue)
        chosen = units[turn[2]]
        if chosen not in number or turn != next_turn(chosen):  # it has had its turn, or waits for fewer now
            continue
        del number[chosen]
        order += sorted(chosen, key=place_of.__getitem__)
        for unit in needed_by[chosen]:
            strong[unit].discard(chosen)
            weak[unit].discard(chosen)
            if unit in number:
                heapq.heappush(queue, next_turn(unit))
    return sorted(order, key=lambda name: descriptions[name].over_time)
