"""What depends on what at the same instant, across all participants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosim.kit import ParticipantDescription
from cosim_fmu.master.wiring.graph import closed_path, components
from cosim_fmu.master.wiring.link import Link

Port = tuple[str, str]


def direct_inputs(
    description: ParticipantDescription, output: str, *, initializing: bool = False
) -> frozenset[str]:
    """Inputs that an output depends on directly; all of them when the participant does not tell.

    In initialization mode it may depend on others than in a run.
    """
    known: Mapping[str, frozenset[str]] = description.initial_feedthrough
    if initializing and output in known:
        return known[output]
    if description.feedthrough is not None and output in description.feedthrough:
        return description.feedthrough[output]
    return frozenset(name for name, v in description.variables.items() if v.causality == "input")


def is_assumed(description: ParticipantDescription, output: str) -> bool:
    """Whether the dependencies of an output are not known but taken to be all inputs."""
    unknown = description.feedthrough is None or output not in description.feedthrough
    return unknown or output in description.assumed_feedthrough


def instant_graph(
    descriptions: Mapping[str, ParticipantDescription],
    links: Sequence[Link],
    *,
    known_only: bool,
    initializing: bool = False,
) -> dict[Port, list[Port]]:
    """Connected ports and the edges along which a value passes at one instant.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    known_only : bool
        Leave out dependencies that are only assumed.
    initializing : bool
        Take the dependencies of initialization mode.

    Returns
    -------
    dict of tuple to list of tuple
        For each port (participant, variable) those that depend on it directly.
    """
    graph: dict[Port, list[Port]] = {}
    for link in links:
        graph.setdefault(link.start, []).append(link.end)
        graph.setdefault(link.end, [])
    outputs = dict.fromkeys(link.start for link in links)
    for name, output in outputs:
        description = descriptions[name]
        if known_only and is_assumed(description, output):
            continue
        needs = direct_inputs(description, output, initializing=initializing)
        if initializing:  # whatever is calculated may depend on every parameter
            needs |= {n for p, n in graph if p == name and description.variables[n].causality == "parameter"}
        for port in graph:
            if port[0] == name and port[1] in needs and port not in outputs:
                graph[port].append((name, output))
    return graph


def loops(graph: Mapping[Port, Sequence[Port]]) -> list[list[Port]]:
    """One closed path for each component of the graph that has any."""
    found = (closed_path(graph, component) for component in components(graph))
    return [path for path in found if path]


def path_text(path: Sequence[Port]) -> str:
    """A closed path in words: ``a.force → b.f → b.x → a.x_other → a.force``."""
    return " → ".join(".".join(port) for port in [*path, path[0]])


def stepping_order(
    names: Sequence[str], descriptions: Mapping[str, ParticipantDescription], links: Sequence[Link]
) -> list[str]:
    """The order for a sequential master.

    A participant goes after those whose outputs it reads when these depend directly on *their* inputs,
    since such an output is worth most when it is fresh; an output without feedthrough is known at the
    communication point, and its reader may go first. Among those that may go next, the one that
    waits for the fewest others comes first, then the order in which they were given.
    """
    strong: dict[str, set[str]] = {name: set() for name in names}
    weak: dict[str, set[str]] = {name: set() for name in names}
    driven = {link.end for link in links}
    for link in links:
        if link.source != link.target:
            weak[link.target].add(link.source)
            needs = direct_inputs(descriptions[link.source], link.output)
            if any((link.source, name) in driven for name in needs):
                strong[link.target].add(link.source)
    left, order = list(names), []
    while left:
        order.append(min(left, key=lambda name: (len(strong[name] & set(left)), len(weak[name] & set(left)))))
        left.remove(order[-1])
    return order
