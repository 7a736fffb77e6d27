"""Closed loops of direct feedthrough that the algorithm cannot resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cosim
from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.coupling.directed_graph import closed_path
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.feedthrough import is_assumed
from cosim_master.coupling.instant_graph import (
    Port,
    feedthrough_loops,
    instant_graph,
    looped_outputs,
    path_text,
)
from cosim_master.coupling.link import Link
from cosim_master.coupling.ports import Descriptions


def check_loops(
    descriptions: Descriptions,
    links: Sequence[Link],
    step_multiple: Mapping[str, int],
    algorithm: cosim.MasterAlgorithm,
    *,
    is_probed: bool,
    joint: Sequence[str] = (),
) -> list[WiringProblem]:
    """A problem for each loop that the algorithm can neither order nor iterate.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    step_multiple : mapping of str to int
        Participants that step once in so many communication steps.
    algorithm : MasterAlgorithm
        The algorithm that exchanges within a step.
    is_probed : bool
        Whether outputs have been probed, so that these loops are real. Otherwise a loop through an output
        that can be probed is not reported yet.
    joint : sequence of str
        Participants that step as one.
    """
    graph = instant_graph(descriptions, links, known_only=True)
    problems = []
    for loop in feedthrough_loops(descriptions, links, joint):
        path = _path_of(loop, graph, joint)
        if not path:
            continue  # all of it is inside the joint system, which solves it
        if not is_probed and doubtful_outputs(descriptions, links).keys() & set(path):
            continue
        reason = _refusal(loop, descriptions, step_multiple, algorithm)
        if reason:
            name, output = next(
                port for port in path if descriptions[port[0]].variables[port[1]].causality != "input"
            )
            text = (
                "direct feedthrough closes a loop, which no order of the participants resolves: "
                f"{path_text(path)}. It cannot be iterated: {reason}. "
                f"To take {name}.{output} one step late, write feedthrough = {{ {_key(output)} = [] }} in "
                f"[participants.{name}]; or take "
                '"jacobi", where all values are one step late'
            )
            problems.append(problem(("master", "algorithm"), text))
    return problems


def _path_of(loop: FeedthroughLoop, graph: Mapping[Port, Sequence[Port]], joint: Sequence[str]) -> list[Port]:
    """The ports on one way round a loop that leaves the joint system; [] if there is none."""
    inside = [port for port in graph if ".".join(port) in loop.values or port[0] in loop.participants]
    paths = (closed_path(graph, [port, *graph]) for port in inside)
    return next((path for path in paths if any(name not in joint for name, _ in path)), [])


def doubtful_outputs(descriptions: Descriptions, links: Sequence[Link]) -> dict[Port, list[str]]:
    """Outputs on loops that may not be there, and the inputs on these loops that they may not depend on.

    Only outputs of participants that can be probed: they restore their state, or have derivatives.
    """
    doubtful: dict[Port, list[str]] = {}
    outputs = {link.start for link in links}
    for members in looped_outputs(descriptions, links, known_only=False):
        for name, variable in members:
            description = descriptions[name]
            is_doubtful = variable in description.possible_feedthrough or is_assumed(description, variable)
            if (name, variable) in outputs and is_doubtful and _can_probe(description):
                doubtful[name, variable] = [v for n, v in members if n == name and (n, v) not in outputs]
    return doubtful


def unknown_outputs(descriptions: Descriptions, links: Sequence[Link]) -> list[Port]:
    """Outputs on loops whose dependencies are not known."""
    outputs = {link.start for link in links}
    return [
        (name, variable)
        for members in looped_outputs(descriptions, links, known_only=False)
        for name, variable in members
        if (name, variable) in outputs and is_assumed(descriptions[name], variable)
    ]


def _can_probe(description: ParticipantDescription) -> bool:
    """Whether changes of its inputs can show what its outputs depend on."""
    return description.can_restore or description.has_derivatives


def _refusal(
    loop: FeedthroughLoop,
    descriptions: Descriptions,
    step_multiple: Mapping[str, int],
    algorithm: cosim.MasterAlgorithm,
) -> str:
    if not algorithm.solves_loops:
        return f"{type(algorithm).__name__} with these options does not iterate"
    fixed = [name for name in loop.participants if not descriptions[name].can_restore]
    if fixed:
        return f"{', '.join(fixed)} cannot save and restore {'its' if len(fixed) == 1 else 'their'} state"
    slow = [name for name in loop.participants if step_multiple.get(name, 1) > 1]
    if slow:
        return f"{', '.join(slow)} has a longer communication step than the others"
    return "" if loop.values else "none of its values is a real number"


def _key(name: str) -> str:
    """A key of TOML."""
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else f'"{name}"'


def unknown_order(descriptions: Descriptions, links: Sequence[Link], order: Sequence[str]) -> list[str]:
    """A warning if the order of the participants depends on feedthrough that is not known."""
    unknown = unknown_outputs(descriptions, links)
    if not unknown:
        return []
    names = ", ".join(".".join(port) for port in unknown)
    depends = f"depend{'s' * (len(unknown) == 1)} on directly"
    return [
        f"which inputs {names} {depends} is not known, and that closes a loop: the participants step in "
        f"the order {' → '.join(order)}, and what one takes from those after it is one step late. Where "
        f'there is no feedthrough, write feedthrough = "none" in [participants.{unknown[0][0]}]'
    ]
