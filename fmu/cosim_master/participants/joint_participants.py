"""The choice of participants that are solved jointly, as one system."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum, auto
from typing import Any

import cosim
from cosim_master.algorithms.joint import Joint
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.joint.joint_system import JointSystem
from cosim_master.model_exchange.model_exchange_solver import INTEGRATOR
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_master.participants.process_participant import ProcessParticipant

Participants = Mapping[str, cosim.Participant]
MEMBERS = ("master", "options", "members")
NO_MEMBERS = "solves Model Exchange FMUs as one system, and there are none: take gauss_seidel"


class Suitability(Enum):
    """Whether a participant can be solved jointly with others."""

    SUITABLE = auto()
    NO_MODEL_EXCHANGE = auto()
    OWN_PROCESS = auto()
    """It offers Model Exchange, and runs in another process than the system."""


def join_participants(
    participants: Participants, algorithm: Joint
) -> tuple[dict[str, cosim.Participant], JointSystem | None, list[WiringProblem]]:
    """Put members of a joint system in place of the participants that are solved jointly.

    Returns
    -------
    dict of str to Participant
        All participants.
    JointSystem or None
        None if no participant is solved jointly.
    list of WiringProblem
    """
    members, problems = _select_members(participants, algorithm.members)
    if not members:
        return dict(participants), None, problems
    integrator, integrator_problems = _integrator(members, algorithm)
    options, options_problems = _integrator_options(members, algorithm)
    problems += [*integrator_problems, *options_problems]
    system = JointSystem(integrator, _accuracy(members, algorithm), options)
    joined = {name: ModelExchangeParticipant.joined(part, name, system) for name, part in members.items()}
    system.members.update(joined)
    with_members = {name: joined.get(name, participant) for name, participant in participants.items()}
    return with_members, system, problems


def _select_members(
    participants: Participants, chosen: Collection[str] | None
) -> tuple[dict[str, cosim.Participant], list[WiringProblem]]:
    """The participants to be solved jointly: the chosen ones, or else all that offer Model Exchange."""
    problems = [
        problem(MEMBERS, str(cosim.LookUpError("participant", name, participants)))
        for name in chosen or ()
        if name not in participants
    ]
    members = {}
    for name, participant in participants.items():
        if chosen is not None and name not in chosen:
            continue
        suitability = _suitability(participant)
        if suitability is Suitability.SUITABLE:
            members[name] = participant
        elif chosen is not None or suitability is Suitability.OWN_PROCESS:
            problems.append(problem(("participants", name), _refusal(participant, suitability)))
    return members, problems


def _suitability(participant: cosim.Participant) -> Suitability:
    if isinstance(participant, ModelExchangeParticipant):
        return Suitability.SUITABLE
    if isinstance(participant, ProcessParticipant):
        try:
            offers_model_exchange = "Model Exchange" in participant.describe().kind
        except Exception:  # of foreign code; reported where the participant is described
            return Suitability.NO_MODEL_EXCHANGE
        return Suitability.OWN_PROCESS if offers_model_exchange else Suitability.NO_MODEL_EXCHANGE
    if isinstance(participant, InstanceParticipant):
        try:
            offers = participant.read_interface().interfaces
        except cosim.FmuError:  # reported where the participant is described
            return Suitability.NO_MODEL_EXCHANGE
        return Suitability.SUITABLE if "ModelExchange" in offers else Suitability.NO_MODEL_EXCHANGE
    return Suitability.NO_MODEL_EXCHANGE


def _refusal(participant: cosim.Participant, suitability: Suitability) -> str:
    """Why a participant cannot be solved jointly."""
    if suitability is Suitability.OWN_PROCESS:
        has_host = isinstance(participant, ProcessParticipant) and participant.host is not None
        key = "its host" if has_host else "process = true"
        return (
            f"has a process of its own, and the system runs in this one: leave out {key}, or "
            "name the others in options.members"
        )
    return "is not an FMU that offers Model Exchange, so it cannot be solved jointly with others"


def _members_with_settings(members: Participants) -> dict[str, ModelExchangeParticipant]:
    """The members that have settings of their own."""
    return {name: p for name, p in members.items() if isinstance(p, ModelExchangeParticipant)}


def _integrator(members: Participants, algorithm: Joint) -> tuple[str, list[WiringProblem]]:
    """The integrator of the algorithm, or else that of the FMUs."""
    if algorithm.integrator is not None:
        return algorithm.integrator, []
    named = {
        n: p.integrator for n, p in _members_with_settings(members).items() if p.integrator != INTEGRATOR
    }
    kinds = list(dict.fromkeys(named.values()))
    if len(kinds) <= 1:
        return (kinds[0] if kinds else INTEGRATOR), []
    text = f"{' and '.join(named)} name different integrators: name one in options.integrator"
    return kinds[0], [problem(("master", "algorithm"), text)]


def _accuracy(members: Participants, algorithm: Joint) -> float | None:
    """The accuracy of the algorithm, or else the least one of the FMUs."""
    accuracies = [p.accuracy for p in _members_with_settings(members).values() if p.accuracy]
    return algorithm.accuracy or min(accuracies, default=None)


def _integrator_options(
    members: Participants, algorithm: Joint
) -> tuple[dict[str, Any], list[WiringProblem]]:
    """The integrator's options of the algorithm, or else those of the FMUs."""
    if algorithm.integrator_options:
        return dict(algorithm.integrator_options), []
    listed = [p.integrator_options for p in _members_with_settings(members).values() if p.integrator_options]
    options = dict(listed[0]) if listed else {}
    if all(listed_options == options for listed_options in listed):
        return options, []
    text = "the FMUs' own options for their integrator differ: give options.integrator_options"
    return options, [problem(("master", "algorithm"), text)]
