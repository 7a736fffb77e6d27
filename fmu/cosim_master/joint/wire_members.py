"""Wires the members of a joint system when it begins: finds feedthrough that FMUs do not declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs, with_feedthrough
from cosim_master.coupling.link import Link
from cosim_master.joint.joint_errors import member_error
from cosim_master.joint.joint_wiring import JointWiring
from cosim_master.model_exchange.fmu_model import find_feedthrough, moved_a_little


class WiredMembers(NamedTuple):
    """The connections of the members, and the names of members whose outputs lag."""

    wiring: JointWiring
    lagging: frozenset[str]


def wire_members(
    members: Mapping[str, Any],
    links: Sequence[Link],
    declared: Mapping[str, ParticipantDescription],
    first: Mapping[str, Mapping[str, float]],
    start: float,
) -> WiredMembers:
    """Wire the members of a joint system.

    Parameters
    ----------
    members : mapping of str to ModelExchangeParticipant
    links : sequence of Link
        The connections between members.
    declared : mapping of str to ParticipantDescription
        Descriptions with the user's declarations of feedthrough.
    first : mapping of str to mapping of str to float
        The first values of the continuous inputs of each member.
    start : float
        s
    """
    continuous = {name: member.continuous_inputs() for name, member in members.items()}
    descriptions = {name: member.describe() for name, member in members.items()} | {**declared}
    lagging = set()
    feeding = [link for link in links if link.input in continuous[link.target]]
    for name, member in members.items():
        outputs = list(dict.fromkeys(link.output for link in feeding if link.source == name))
        real = [output for output in outputs if descriptions[name].variables[output].type == "real"]
        try:
            descriptions[name] = _probed(member, descriptions[name], real, first[name])
            if member.outputs_lag(real):
                lagging.add(name)
        except Exception as error:
            failure = member_error(error, members, name, start)
            raise failure from failure.__cause__
    wiring = JointWiring(links, members, descriptions, continuous)
    wiring.start_from({x.end: first[x.target][x.input] for x in wiring.continuous})
    return WiredMembers(wiring, frozenset(lagging))


def _probed(
    member: Any, description: ParticipantDescription, outputs: Sequence[str], inputs: Mapping[str, float]
) -> ParticipantDescription:
    """The description with the feedthrough that shows when each doubtful input is moved a little."""
    declared = {output: direct_inputs(description, output) for output in outputs}
    doubtful = [output for output in outputs if inputs.keys() - declared[output]]
    if not doubtful:
        return description
    dependencies = find_feedthrough(partial(member.answers, doubtful), doubtful, inputs, moved_a_little)
    member.answers(doubtful, inputs)
    return with_feedthrough(
        description, {output: declared[output] | needs for output, needs in dependencies.items()}
    )
