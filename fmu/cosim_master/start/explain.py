"""The times at which participants see values, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.algorithms.exchange_layout import ADVANCE, READ, SET
from cosim_master.algorithms.programmed_algorithm import operations_of
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.link import Link


def explain(coupling: Coupling, algorithm: cosim.MasterAlgorithm) -> list[str]:
    """The calls of one communication step, and for each connection how late it is and why: lines.

    Parameters
    ----------
    coupling : Coupling
        Its order settled.
    algorithm : MasterAlgorithm
        The algorithm that exchanges values at communication points.
    """
    links, order, step = coupling.links, coupling.order, coupling.step
    step_multiple, loops, joint = coupling.step_multiple, coupling.loops, coupling.joint
    kind = type(algorithm).__name__
    units = {name: name for name in order} | (
        {} if joint is None else dict.fromkeys(joint.names, joint.names[0])
    )
    titles = {} if joint is None else {joint.names[0]: str(joint)}
    if not algorithm.fixed_sequence:
        lines = [f"{kind}: the calls of a step depend on the values.", *filter(None, [algorithm.about])]
        courses = (f"  {link}{_course(algorithm, order, link, coupling.descriptions)}" for link in links)
        return [*lines, "", *courses, *_constant(coupling)]
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
    return [*lines, *_constant(coupling)]


def _constant(coupling: Coupling) -> list[str]:
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
