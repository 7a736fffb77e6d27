"""Closed loops of direct feedthrough that may not be there, since dependencies of outputs are not known."""

from __future__ import annotations

from collections.abc import Sequence

from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import is_assumed
from cosim_master.coupling.instant_graph import Port, looped_outputs
from cosim_master.coupling.link import Link
from cosim_master.coupling.ports import Descriptions


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


def unknown_order(descriptions: Descriptions, links: Sequence[Link], order: Sequence[str]) -> list[str]:
    """A warning where the order of the participants follows from what is not known of them."""
    unknown = unknown_outputs(descriptions, links)  # a joint system finds out by itself
    if not unknown:
        return []
    names = ", ".join(".".join(port) for port in unknown)
    depends = f"depend{'s' * (len(unknown) == 1)} on directly"
    return [
        f"which inputs {names} {depends} is not known, and that closes a loop: the participants step in "
        f"the order {' → '.join(order)}, and what one takes from those after it is one step late. Where "
        f'there is no feedthrough, write feedthrough = "none" in [participants.{unknown[0][0]}]'
    ]
