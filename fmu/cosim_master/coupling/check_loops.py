"""Closed loops of direct feedthrough that the algorithm cannot resolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cosim
from cosim.kit import FeedthroughLoop
from cosim_master.coupling.directed_graph import closed_path
from cosim_master.coupling.doubtful_loops import doubtful_outputs
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.instant_graph import (
    Port,
    feedthrough_loops,
    instant_graph,
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
            continue  # it stays among the participants that step as one
        if not is_probed and doubtful_outputs(descriptions, links).keys() & set(path):
            continue
        reason = _refusal(loop, descriptions, step_multiple, algorithm)
        if reason:
            problems.append(problem(("master", "algorithm"), _refused_loop(path, reason, descriptions)))
    return problems


def _refused_loop(path: Sequence[Port], reason: str, descriptions: Descriptions) -> str:
    """A sentence about a loop that cannot be iterated, and what its user can write."""
    name, output = next(
        port for port in path if descriptions[port[0]].variables[port[1]].causality != "input"
    )
    return (
        "direct feedthrough closes a loop, which no order of the participants resolves: "
        f"{path_text(path)}. It cannot be iterated: {reason}. "
        f"To take {name}.{output} one step late, write feedthrough = {{ {_toml_key(output)} = [] }} in "
        f"[participants.{name}]; or take "
        '"jacobi", where all values are one step late'
    )


def _path_of(loop: FeedthroughLoop, graph: Mapping[Port, Sequence[Port]], joint: Sequence[str]) -> list[Port]:
    """The ports on one way round a loop that leaves the participants that step as one; [] where none does."""
    inside = [port for port in graph if ".".join(port) in loop.values or port[0] in loop.participants]
    paths = (closed_path(graph, [port, *graph]) for port in inside)  # through the port, anywhere
    return next((path for path in paths if any(name not in joint for name, _ in path)), [])


def _refusal(
    loop: FeedthroughLoop,
    descriptions: Descriptions,
    step_multiple: Mapping[str, int],
    algorithm: cosim.MasterAlgorithm,
) -> str:
    """Why an algorithm cannot iterate a loop; "" if it can."""
    if not algorithm.solves_loops:
        return f"{type(algorithm).__name__} with these options does not iterate"
    fixed = [name for name in loop.participants if not descriptions[name].can_restore]
    if fixed:
        return f"{', '.join(fixed)} cannot save and restore {'its' if len(fixed) == 1 else 'their'} state"
    slow = [name for name in loop.participants if step_multiple.get(name, 1) > 1]
    if slow:
        return f"{', '.join(slow)} has a longer communication step than the others"
    return "" if loop.values else "none of its values is a real number"


def _toml_key(name: str) -> str:
    """A name as a key of TOML, in quotes where they are needed."""
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else f'"{name}"'
