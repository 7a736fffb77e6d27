"""What depends on what at the same instant, across all participants."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.coupling.connection import Link
from cosim_master.coupling.errors import CoSimulationError

Node = TypeVar("Node", bound=Hashable)


def components(successors: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """Strongly connected components in topological order: what a component needs comes before it.

    An edge leads from what is needed to what needs it. Deterministic: it depends on the order of the
    mapping alone. Every node has to be a key.

    References
    ----------
    Tarjan: Depth-first search and linear graph algorithms. SIAM J. Comput. 1(2), 1972; without recursion.

    Examples
    --------
    >>> components({"c": [], "a": ["b"], "b": ["a", "c"]})
    [['a', 'b'], ['c']]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    waiting: set[Node] = set()
    listed: list[list[Node]] = []
    place_of = {node: place for place, node in enumerate(successors)}
    for root in successors:
        if root in index:
            continue
        work: list[tuple[Node, int]] = [(root, 0)]
        while work:
            node, child = work.pop()
            if child == 0:
                index[node] = low[node] = len(index)
                stack.append(node)
                waiting.add(node)
            else:
                low[node] = min(low[node], low[successors[node][child - 1]])
            for place in range(child, len(successors[node])):
                following = successors[node][place]
                if following not in index:
                    work += [(node, place + 1), (following, 0)]
                    break
                if following in waiting:
                    low[node] = min(low[node], index[following])
            else:
                if low[node] == index[node]:
                    members = [stack.pop()]
                    while members[-1] != node:
                        members.append(stack.pop())
                    waiting.difference_update(members)
                    listed.append(sorted(members, key=place_of.__getitem__))
    return listed[::-1]


def closed_path(successors: Mapping[Node, Sequence[Node]], members: Sequence[Node]) -> list[Node]:
    """A shortest closed path through the first member, inside `members`; [] when there is none."""
    start, inside = members[0], set(members)
    before: dict[Node, Node] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for following in successors[node]:
            if following == start:
                path = [node]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            if following in inside and following not in before:
                before[following] = node
                queue.append(following)
    return []


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
    return frozenset(with_causality(description, "input"))


def with_causality(description: ParticipantDescription, causality: str) -> list[str]:
    """The names of its inputs, or outputs."""
    return [name for name, v in description.variables.items() if v.causality == causality]


def with_feedthrough(
    description: ParticipantDescription, known: Mapping[str, frozenset[str]]
) -> ParticipantDescription:
    """The description with the inputs that these outputs depend on directly."""
    outputs = with_causality(description, "output")
    assumed = description.assumed_feedthrough if description.feedthrough is not None else frozenset(outputs)
    return replace(
        description,
        feedthrough={
            **dict.fromkeys(outputs, frozenset(with_causality(description, "input"))),
            **(description.feedthrough or {}),
            **known,
        },
        assumed_feedthrough=assumed - known.keys(),
        possible_feedthrough=description.possible_feedthrough - known.keys(),
    )


def is_assumed(description: ParticipantDescription, output: str) -> bool:
    """Whether the dependencies of an output are not known but taken to be all inputs."""
    unknown = description.feedthrough is None or output not in description.feedthrough
    return unknown or output in description.assumed_feedthrough


def passes_through(description: ParticipantDescription, into: Sequence[Link], out_of: Sequence[Link]) -> bool:
    """Whether an output of a participant may depend directly on an input of it that is connected.

    Parameters
    ----------
    description : ParticipantDescription
    into, out_of : sequence of Link
        Those that end at it, and those that begin there.
    """
    connected = {link.input for link in into}
    if not connected:
        return False
    outputs = with_causality(description, "output")
    outputs += [link.output for link in out_of]
    return any(direct_inputs(description, output) & connected for output in outputs)


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


def loops(graph: Mapping[Port, Sequence[Port]]) -> list[list[Port]]:
    """One closed path for each component of the graph that has any."""
    paths = (closed_path(graph, component) for component in components(graph))
    return [path for path in paths if path]


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
    """The closed loops of direct feedthrough that is known; those that share a participant are one.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    joint : sequence of str
        Participants that step as one: they solve the loops among themselves, and any of them is all of them.
    """
    closed: list[tuple[list[str], list[str]]] = []
    outputs = {link.start for link in links if link.source not in joint or link.target not in joint}
    for members in looped_outputs(descriptions, links, known_only=True):
        if all(name in joint for name, _ in members):
            continue
        ports = [port for port in members if port in outputs]
        names = list(
            dict.fromkeys(each for name, _ in ports for each in (joint if name in joint else [name]))
        )
        values = [".".join(port) for port in ports if descriptions[port[0]].variables[port[1]].type == "real"]
        for other in [each for each in closed if set(each[0]) & set(names)]:
            closed.remove(other)
            names, values = list(dict.fromkeys([*other[0], *names])), [*other[1], *values]
        closed.append((names, values))
    return [FeedthroughLoop(tuple(names), tuple(values)) for names, values in closed]


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


NONE = "none"


def override_feedthrough(description: ParticipantDescription, override: Any) -> ParticipantDescription:
    """The description with what the user says instead of what the participant declares.

    Parameters
    ----------
    description : ParticipantDescription
    override : object
        ``"none"``: no output depends directly on an input; ``{"y": ["u"]}``: for each output that is named
        the inputs that it depends on directly, [] for none. Arrays may be named as a whole.

    Raises
    ------
    ValueError
        With a sentence that says what is needed.
    """
    inputs = with_causality(description, "input")
    readable = [*with_causality(description, "output"), *description.readable]
    if override == NONE:
        inputs_of: dict[str, frozenset[str]] = dict.fromkeys(readable, frozenset())
    elif isinstance(override, Mapping):
        inputs_of = {}
        for output, needs in override.items():
            listed = isinstance(needs, (list, tuple, set, frozenset))
            if not listed or not all(isinstance(name, str) for name in needs):
                raise ValueError(f'{output} is {needs!r}, needs a list of inputs: {{ y = ["u"] }}')
            needed = [e for name in needs for e in _elements(description, "input", name, inputs)]
            for element in _elements(description, "output", str(output), readable):
                inputs_of[element] = frozenset(needed)
    else:
        raise ValueError(f'is {override!r}, needs "none", or inputs by outputs: {{ y = ["u"] }}')
    return with_feedthrough(description, inputs_of)


def _elements(description: ParticipantDescription, what: str, name: str, known: list[str]) -> tuple[str, ...]:
    if name in description.arrays:
        return tuple(description.arrays[name][1])
    if name not in known:
        raise ValueError(str(cosim.LookUpError(what, name, known)))
    return (name,)


def interface_derivatives(
    participants: Mapping[str, cosim.Participant],
    descriptions: Mapping[str, ParticipantDescription],
    links: Sequence[Link],
    interface: Mapping[Port, int],
    guarded: Callable[..., Any],
) -> NDArray[np.float64] | None:
    """Derivatives of the values of an interface by each other, by directional derivatives.

    Parameters
    ----------
    participants, descriptions : mapping of str
    links : sequence of Link
    interface : mapping of (str, str) to int
        The place of each connected output.
    guarded : callable
        Calls a participant, whose exceptions become errors of the co-simulation.

    Returns
    -------
    ndarray, shape (n, n), or None
        None where a participant does not tell them, or not here.
    """
    matrix = np.zeros((len(interface), len(interface)))
    for link in links:
        name, column = link.target, interface.get(link.start)
        outputs = [y for owner, y in interface if owner == name]
        outputs = [y for y in outputs if link.input in direct_inputs(descriptions[name], y)]
        if column is None or not outputs:
            continue
        if not descriptions[name].has_derivatives:
            return None
        derivatives = _derivative(participants[name], descriptions[name].can_restore, outputs, link, guarded)
        if derivatives is None:
            return None
        for output, value in zip(outputs, derivatives, strict=True):
            matrix[interface[name, output], column] += value
    return matrix if np.all(np.isfinite(matrix)) else None


def _derivative(
    participant: cosim.Participant,
    can_restore: bool,
    outputs: Sequence[str],
    link: Link,
    guarded: Callable[..., Any],
) -> Sequence[float] | None:
    """Of outputs by an input; None where the participant cannot tell, here and now: differences can."""
    token = participant.save() if can_restore else None
    try:
        slopes: Sequence[float] = guarded(
            link.target, participant.directional_derivative, outputs, [link.input], [link.factor]
        )
    except CoSimulationError:
        try:
            participant.restore(token)  # an instance goes on after an error from a saved state alone
        except Exception:
            token = None
        if token is None:
            raise
        return None
    return slopes
