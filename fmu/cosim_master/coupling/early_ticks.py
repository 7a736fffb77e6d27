"""Clocks that tick too early where values are exchanged within a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cosim
from cosim_master.abilities import WaitsForInputs
from cosim_master.coupling.link import Link


def early_ticks(participants: Mapping[str, cosim.Participant], links: Sequence[Link]) -> list[str]:
    """A warning where ticks are passed on to a participant that answers with ticks of its own, such as a bus.

    An algorithm that exchanges within a step has the receiver tick where its step begins, with what the
    sender says where its step ends.
    """
    waiting = {
        name for name, p in participants.items() if isinstance(p, WaitsForInputs) and p.ticks_follow_inputs
    }
    found = [link for link in links if link.target in waiting and link.source not in waiting]
    if not found:
        return []
    names = ", ".join(sorted({link.target for link in found}))
    return [
        f"{names} answers what arrives with ticks of its own: messages come up to a step early with an "
        'algorithm that exchanges within a step; take algorithm = "jacobi"'
    ]
