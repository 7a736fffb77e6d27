"""A communication step in words: its calls, and the delay of each connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import cosim
from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.algorithms.exchange_layout import ADVANCE, READ, SET
from cosim_master.algorithms.programmed_algorithm import operations_of
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.link import Link

CALLS = {SET: "inputs of {} are set", ADVANCE: "{} steps", READ: "outputs of {} are read"}


def explain(coupling: Coupling, algorithm: cosim.MasterAlgorithm) -> list[str]:
    """Lines with the calls of one communication step, and the delay of each connection with its reason.

    Parameters
    ----------
    coupling : Coupling
        With its final order.
    algorithm : MasterAlgorithm
        The algorithm that exchanges values at communication points.
    """
    kind = type(algorithm).__name__
    if not algorithm.fixed_sequence:
        lines = [f"{kind}: the calls of a step depend on the values.", *filter(None, [algorithm.about])]
        courses = [
            f"  {link}{_course(algorithm, coupling.order, link, coupling.descriptions)}"
            for link in coupling.links
        ]
        return [*lines, "", *courses, *_further_links(coupling)]
    joint = coupling.joint
    units = {name: name for name in coupling.order}
    if joint is not None:
        units |= dict.fromkeys(joint.names, joint.names[0])
    operations = operations_of(algorithm, list(dict.fromkeys(units[name] for name in coupling.order)))
    return [
        f"{kind}, from t = i * {coupling.step:g} s to t + {coupling.step:g} s:",
        *_calls(coupling, operations),
        "",
        "connections:",
        *(f"  {link}: {_lateness(coupling, link, operations, units)}" for link in coupling.links),
        *_further_links(coupling),
    ]


def _calls(coupling: Coupling, operations: Sequence[tuple[int, str]]) -> Iterator[str]:
    """The calls of one communication step, in words; a loop that is iterated is one line."""
    joint, step, loop_of = coupling.joint, coupling.step, _loops_by_participant(coupling)
    for call, name in operations:
        if (loop := loop_of.get(name)) is not None:
            if call == SET and name == loop.participants[0]:
                yield (
                    f"  {', '.join(loop.participants)} step together, again and again from t, until "
                    f"the inputs are what {', '.join(loop.values)} gives at t + {step:g} s"
                )
            continue
        title = str(joint) if joint is not None and name == joint.names[0] else name
        multiple = coupling.step_multiple.get(name, 1)
        is_slow_step = call == ADVANCE and multiple > 1
        note = f" (every {multiple} steps, {multiple * step:g} s far)" if is_slow_step else ""
        yield f"  {CALLS[call].format(title)}{note}"


def _loops_by_participant(coupling: Coupling) -> dict[str, FeedthroughLoop]:
    """The loop that is iterated, for each participant in one."""
    return {name: loop for loop in coupling.loops for name in loop.participants}


def _further_links(coupling: Coupling) -> list[str]:
    """The links inside a joint system, and those that are passed once, in words."""
    inside = [] if coupling.joint is None else ["", *coupling.joint.lines()]
    return [*inside, *(f"  {link}: once, in initialization" for link in coupling.parameter_links)]


def _course(
    algorithm: cosim.MasterAlgorithm,
    order: Sequence[str],
    link: Link,
    descriptions: Mapping[str, ParticipantDescription],
) -> str:
    """The course of an input over a step, if the algorithm describes it (`course_of_inputs`)."""
    words = algorithm.course_of_inputs(order.index(link.source) < order.index(link.target))
    if not words:
        return ""
    if descriptions[link.source].variables[link.output].type != "real":
        return f": {link.target} holds the last value"
    does = "follows" if descriptions[link.target].follows_slopes else "holds the mean of"
    return f": {link.target} {does} {words}"


def _lateness(
    coupling: Coupling, link: Link, operations: Sequence[tuple[int, str]], units: Mapping[str, str]
) -> str:
    """The delay of a connection, and its reason."""
    step, step_multiple, loop_of = coupling.step, coupling.step_multiple, _loops_by_participant(coupling)
    is_value_of_loop = any(f"{link.source}.{link.output}" in loop.values for loop in coupling.loops)
    if is_value_of_loop and loop_of.get(link.source) is loop_of.get(link.target):
        return "not late: iterated"
    places = {operation: place for place, operation in enumerate(operations)}
    is_fresh = places[READ, units[link.source]] < places[SET, units[link.target]]
    source_steps, target_steps = step_multiple.get(link.source, 1), step_multiple.get(link.target, 1)
    if is_fresh:
        text = f"not late: {link.source} has stepped to t + {step:g} s before {link.target} takes its value"
    else:
        text = (
            f"late by {step:g} s: {link.target} steps with the value at t, "
            f"as {'' if link.source == link.target else link.source + ' '}has not stepped yet"
        )
    if source_steps > 1:
        every = f"every {source_steps} steps only, {source_steps * step:g} s"
        text += f"; {link.source} gives a new value {every}"
    if target_steps > 1:
        text += f"; {link.target} holds it for {target_steps} steps, {target_steps * step:g} s"
    return text
