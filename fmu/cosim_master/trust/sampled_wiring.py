"""The wiring of the sampled outputs and inputs: which output feeds which input of which participant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.kit import ParticipantDescription
from cosim_master.coupling.feedthrough import direct_inputs

if TYPE_CHECKING:
    from cosim_master.exchange.coupled_participants import CoupledParticipants


class WiredPart(NamedTuple):
    """The sampled outputs and inputs of a participant, by their places among the samples.

    Attributes
    ----------
    outputs, inputs : list of int
    direct : list of int
        The inputs on which one of its outputs depends at the same instant.
    """

    outputs: list[int]
    inputs: list[int]
    direct: list[int]


class Wiring(NamedTuple):
    """The assignment of outputs and inputs to participants, by their places among the samples.

    Attributes
    ----------
    sources : ndarray of int, shape (inputs,)
        The output that feeds each input.
    parts : list of WiredPart
        One for each participant.
    direct : list of list of int
        For each output the inputs on which it depends at the same instant.
    surely_direct : list of list of int
        `direct` without dependencies that are only possible: many FMUs declare that all outputs depend on
        all inputs.
    held, straight : ndarray of int
        Outputs that are constant during an exchange, and those that run along straight lines.
    """

    sources: NDArray[np.intp]
    parts: list[WiredPart]
    direct: list[list[int]]
    surely_direct: list[list[int]]
    held: NDArray[np.intp]
    straight: NDArray[np.intp]

    @property
    def driven(self) -> list[int]:
        """Places of outputs of participants that have inputs."""
        return [place for part in self.parts if part.inputs for place in part.outputs]


def wiring_of(coupled: CoupledParticipants) -> Wiring:
    """The wiring of the sampled outputs and inputs."""
    direct = _direct_places(coupled)
    held = coupled.samples.jumping
    over_time = [
        i for i, (name, _) in enumerate(coupled.sampled.ports) if coupled.descriptions[name].over_time
    ]
    return Wiring(
        sources=np.array([sampled.source for sampled in coupled.samples.inputs], dtype=np.intp),
        parts=_wired_parts(coupled, direct),
        direct=direct,
        surely_direct=[
            [] if _is_doubtful(coupled.descriptions[name], output) else places
            for (name, output), places in zip(coupled.sampled.ports, direct, strict=True)
        ],
        held=held,
        straight=np.setdiff1d(np.array(over_time, dtype=np.intp), held),
    )


def _direct_places(coupled: CoupledParticipants) -> list[list[int]]:
    """For each output the places of the inputs on which it depends at the same instant."""
    inputs = coupled.samples.inputs
    places_of: dict[tuple[str, str], list[int]] = {}  # by participant and input
    for i, sampled in enumerate(inputs):
        places_of.setdefault((sampled.target, sampled.input), []).append(i)
    needs = [direct_inputs(coupled.descriptions[name], output) for name, output in coupled.sampled.ports]
    direct = [
        sorted(place for read in names for place in places_of.get((name, read), ()))
        for (name, _), names in zip(coupled.sampled.ports, needs, strict=True)
    ]
    if coupled.joint is None:
        return direct
    members = set(coupled.joint.names)  # inside it, outputs may follow inputs of other members at once
    inputs_of_members = [i for i, each in enumerate(inputs) if each.target in members]
    return [
        inputs_of_members if name in members and names else places
        for (name, _), names, places in zip(coupled.sampled.ports, needs, direct, strict=True)
    ]


def _wired_parts(coupled: CoupledParticipants, direct: Sequence[Sequence[int]]) -> list[WiredPart]:
    """The outputs and inputs of each participant; those of a joint system belong to its first member."""
    unit_of = {member: name for name, members in coupled.units.items() for member in members}
    outputs_of: dict[str, list[int]] = {name: [] for name in coupled.units}
    inputs_of: dict[str, list[int]] = {name: [] for name in coupled.units}
    for i, owner in enumerate(coupled.sampled.owners):
        outputs_of[owner].append(i)
    for i, each in enumerate(coupled.samples.inputs):
        inputs_of[unit_of[each.target]].append(i)
    return [part_of(direct, outputs_of[name], inputs_of[name]) for name in coupled.units]


def reliable_jumps(coupled: CoupledParticipants) -> list[int]:
    """Places of discrete outputs; none if samples were dropped: the exchange of a tick may be among them."""
    return [] if coupled.samples.is_thinned else coupled.samples.jumping.tolist()


def part_of(direct: Sequence[Sequence[int]], outputs: list[int], inputs: list[int]) -> WiredPart:
    """A participant with these outputs and inputs; `direct` holds the direct inputs of all outputs."""
    return WiredPart(outputs, inputs, sorted({i for place in outputs for i in direct[place]}))


def _is_doubtful(description: ParticipantDescription, output: str) -> bool:
    """Whether it is not known that an output depends on inputs directly."""
    is_declared = description.feedthrough is not None and output in description.feedthrough
    return not is_declared or output in description.possible_feedthrough | description.assumed_feedthrough
