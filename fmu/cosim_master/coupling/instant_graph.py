"""The ports along which a value passes at one instant, across all participants; closed loops of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.coupling.directed_graph import closed_path, components
from cosim_master.coupling.feedthrough import direct_inputs, is_assumed
from cosim_master.coupling.link import Link

Port = tuple[str, str]
"""A participant and the name of its variable."""


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
    ports_of: dict[str, list[Port]] = {}
    for port in graph:
        ports_of.setdefault(port[0], []).append(port)
    for name, output in outputs:
        description = descriptions[name]
        if known_only and is_assumed(description, output):
            continue
        needs = direct_inputs(description, output, initializing=initializing)
        if initializing:  # whatever is calculated may depend on every parameter
            needs |= {n for _, n in ports_of[name] if description.variables[n].causality == "parameter"}
        for port in ports_of[name]:
            if port[1] in needs and port not in outputs:
                graph[port].append((name, output))
    return graph


def path_text(path: Sequence[Port]) -> str:
    """A closed path in words: ``a.force → b.f → b.x → a.x_other → a.force``."""
    return " → ".join(".".join(port) for port in [*path, path[0]])


def looped_outputs(
    descriptions: Mapping[str, ParticipantDescription], links: Sequence[Link], *, known_only: bool
) -> list[list[Port]]:
    """For each tangle of closed loops its outputs and inputs, in the order of the graph."""
    graph = instant_graph(descriptions, links, known_only=known_only)
    return [members for members in components(graph) if closed_path(graph, members)]


def feedthrough_loops(
    descriptions: Mapping[str, ParticipantDescription],
    links: Sequence[Link],
    joint: Sequence[str] = (),
) -> list[FeedthroughLoop]:
    """The closed loops of direct feedthrough that is known; loops that share a participant are joined.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    joint : sequence of str
        Participants that step as one: they solve the loops among themselves, and a loop through one of them
        goes through all.
    """
    loops: list[FeedthroughLoop] = []
    outputs = {link.start for link in links if link.source not in joint or link.target not in joint}
    for members in looped_outputs(descriptions, links, known_only=True):
        if all(name in joint for name, _ in members):
            continue
        ports = [port for port in members if port in outputs]
        names = [n for name, _ in ports for n in (joint if name in joint else [name])]
        values = [".".join(port) for port in ports if descriptions[port[0]].variables[port[1]].type == "real"]
        for loop in [loop for loop in loops if set(loop.participants) & set(names)]:
            loops.remove(loop)
            names, values = [*loop.participants, *names], [*loop.values, *values]
        loops.append(FeedthroughLoop(tuple(dict.fromkeys(names)), tuple(values)))
    return loops
