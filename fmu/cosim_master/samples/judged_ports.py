"""Which recorded variables have an error bar."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from cosim.kit import ParticipantDescription
from cosim_master.coupling.link import Link

Port = tuple[str, str]
MOST_STATES = 32
"""Of a participant that are read although they are not recorded."""
MOST_SAMPLED = 120
"""Outputs and inputs of which samples are taken; beyond what is exchanged, so many more may be judged."""
CONSTANT = ("parameter", "calculatedParameter", "structuralParameter", "constant")


def judged_ports(
    descriptions: Mapping[str, ParticipantDescription],
    recorded: Iterable[Port],
    fed: Collection[Port],
    exchanged: Collection[Port],
    most: int,
) -> tuple[list[Port], list[str]]:
    """Recorded outputs and inner variables whose errors are estimated, and the paths of the others.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    recorded : iterable of (participant, variable)
    fed : collection of (participant, variable)
        Connected inputs: what they are given is the output that feeds them, which is judged.
    exchanged : collection of (participant, variable)
        Outputs that are judged anyway.
    most : int
        More have no bars.
    """
    judged, others = list[Port](), list[str]()
    for name, variable in recorded:
        kind = descriptions[name].variables[variable]
        if (name, variable) in fed or (name, variable) in exchanged or kind.causality in CONSTANT:
            continue
        if kind.type == "real" and kind.causality != "input" and len(judged) < most:
            judged.append((name, variable))
        elif kind.causality != "input":
            others.append(f"{name}.{variable}")
    return judged, others


def with_states(
    reads: Mapping[str, Sequence[str]],
    descriptions: Mapping[str, ParticipantDescription],
    links: Iterable[Link],
) -> dict[str, list[str]]:
    """What is read of each participant, and the states of those that inputs can disturb."""
    disturbed = {link.target for link in links}
    return {
        name: list(dict.fromkeys([*read, *_few_states(descriptions[name])]))
        if name in disturbed
        else list(read)
        for name, read in reads.items()
    }


def _few_states(description: ParticipantDescription) -> Sequence[str]:
    return description.states if len(description.states) <= MOST_STATES else ()
