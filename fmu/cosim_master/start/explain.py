"""Who sees which value when, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import cosim
from cosim.kit import FeedthroughLoop, ParticipantDescription
from cosim_master.algorithms.exchange_layout import ADVANCE, READ, SET
from cosim_master.algorithms.programmed_algorithm import operations_of
from cosim_master.coupling.connection import Link

if TYPE_CHECKING:
    from cosim_master.joint.joint_system import JointSystem


def explain(
    algorithm: cosim.MasterAlgorithm,
    order: Sequence[str],
    links: Sequence[Link],
    step_multiple: Mapping[str, int],
    step: float,
    descriptions: Mapping[str, ParticipantDescription],
    loops: Sequence[FeedthroughLoop] = (),
    joint: JointSystem | None = None,
) -> str:
    """The calls of one communication step, and for each connection how late it is and why.

    Parameters
    ----------
    algorithm : MasterAlgorithm
    order : sequence of str
        Of the participants.
    links : sequence of Link
    step_multiple : mapping of str to int
        Participants that step once in so many communication steps.
    step : float
        Communication step, s.
    descriptions : mapping of str to ParticipantDescription
        Who follows slopes.
    loops : sequence of FeedthroughLoop
        That the algorithm iterates.
    joint : JointSystem, optional
        Participants that step as one.
    """
    kind = type(algorithm).__name__
    units = {name: name for name in order} | (
        {} if joint is None else dict.fromkeys(joint.names, joint.names[0])
    )
    titles = {} if joint is None else {joint.names[0]: str(joint)}
    if not algorithm.fixed_sequence:
        lines = [f"{kind}: the calls of a step depend on the values.", *filter(None, [algorithm.about])]
        courses = (f"  {link}{_course(algorithm, order, link, descriptions)}" for link in links)
        return "\n".join([*lines, "", *courses])
    operations = operations_of(algorithm, list(dict.fromkeys(units[name] for name in order)))
    together = {name: loop for loop in loops for name in loop.participants}
    lines = [f"{kind}, from t = i * {step:g} s to t + {step:g} s:"]
    for kind_of_call, name in operations:
        loop = together.get(name)
        if loop is not None:
            if kind_of_call == SET and name == loop.participants[0]:
                lines.append(
                    f"  {', '.join(loop.participants)} step together, again and again from t, until "
                    f"the inputs are what {', '.join(loop.values)} gives at t + {step:g} s"
                )
            continue
        slow = (
            f" (every {step_multiple[name]} steps, {step_multiple[name] * step:g} s far)"
            if step_multiple.get(name, 1) > 1
            else ""
        )
        words = {SET: "inputs of {} are set", ADVANCE: "{} steps", READ: "outputs of {} are read"}
        lines.append(
            f"  {words[kind_of_call].format(titles.get(name, name))}{slow if kind_of_call == ADVANCE else ''}"
        )
    lines += ["", "connections:"]
    for link in links:
        iterated = any(f"{link.source}.{link.output}" in loop.values for loop in loops) and (
            together.get(link.source) is together.get(link.target)
        )
        late = "not late: iterated" if iterated else _lateness(link, operations, step_multiple, step, units)
        lines.append(f"  {link}: {late}")
    return "\n".join(lines)


def _course(
    algorithm: cosim.MasterAlgorithm,
    order: Sequence[str],
    link: Link,
    descriptions: Mapping[str, ParticipantDescription],
) -> str:
    """What an input does over a step, where the algorithm tells it (`course_of_inputs`)."""
    words = algorithm.course_of_inputs(order.index(link.source) < order.index(link.target))
    if not words:
        return ""
    if descriptions[link.source].variables[link.output].type != "real":
        return f": {link.target} holds the last value"
    does = "follows" if descriptions[link.target].follows_slopes else "holds the mean of"
    return f": {link.target} {does} {words}"


def _lateness(
    link: Link,
    operations: Sequence[tuple[int, str]],
    step_multiple: Mapping[str, int],
    step: float,
    units: Mapping[str, str],
) -> str:
    places = {operation: place for place, operation in enumerate(operations)}
    fresh = places[READ, units[link.source]] < places[SET, units[link.target]]
    slow = step_multiple.get(link.source, 1)
    held = step_multiple.get(link.target, 1)
    if fresh:
        text = f"not late: {link.source} has stepped to t + {step:g} s before {link.target} takes its value"
    else:
        text = (
            f"late by {step:g} s: {link.target} steps with the value at t, "
            f"as {'' if link.source == link.target else link.source + ' '}has not stepped yet"
        )
    if slow > 1:
        text += f"; {link.source} gives a new value every {slow} steps only, {slow * step:g} s"
    if held > 1:
        text += f"; {link.target} holds it for {held} steps, {held * step:g} s"
    return text
