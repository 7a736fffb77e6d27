"""The choice of participants that are solved jointly, as one system."""

from __future__ import annotations

from collections.abc import Mapping
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


def join_participants(
    participants: Participants, algorithm: Joint, problems: list[WiringProblem]
) -> tuple[dict[str, cosim.Participant], JointSystem | None]:
    """The participants, with members in the places of those that are solved jointly, and their system.

    Parameters
    ----------
    participants : mapping of str to Participant
    algorithm : Joint
    problems : list of WiringProblem
        Problems are added.
    """
    chosen = algorithm.members
    problems += [
        problem(MEMBERS, str(cosim.LookUpError("participant", name, participants)))
        for name in chosen or ()
        if name not in participants
    ]
    members = {}
    for name, participant in participants.items():
        if chosen is not None and name not in chosen:
            continue
        reason = _refusal(participant)
        if not reason:
            members[name] = participant
        elif chosen is not None or (isinstance(participant, ProcessParticipant) and reason != NO_FMU):
            problems.append(problem(("participants", name), reason))
    if not members:
        if not problems:
            text = "solves Model Exchange FMUs as one system, and there are none: take gauss_seidel"
            problems.append(problem(("master", "algorithm"), text))
        return dict(participants), None
    options = _options(members, algorithm, problems)
    system = JointSystem(*options)
    joined = {name: ModelExchangeParticipant.joined(each, name, system) for name, each in members.items()}
    system.members.update(joined)
    return {name: joined.get(name, participant) for name, participant in participants.items()}, system


NO_FMU = "is not an FMU that offers Model Exchange, so it cannot be solved jointly with others"


def _refusal(participant: cosim.Participant) -> str:
    """Why a participant cannot be solved jointly; "" when it can."""
    if isinstance(participant, ProcessParticipant):
        try:
            kind = participant.describe().kind
        except Exception:  # reported where it is described
            return NO_FMU
        if "Model Exchange" in kind:
            key = "process = true" if participant.host is None else "its host"
            return (
                f"has a process of its own, and the system runs in this one: leave out {key}, or "
                "name the others in options.members"
            )
        return NO_FMU
    if isinstance(participant, ModelExchangeParticipant):
        return ""
    if isinstance(participant, InstanceParticipant):
        try:
            return "" if "ModelExchange" in participant._read_interface().offers else NO_FMU
        except cosim.FmuError:  # reported where it is described
            return NO_FMU
    return NO_FMU


def _options(
    members: Participants, algorithm: Joint, problems: list[WiringProblem]
) -> tuple[str, float | None, dict[str, Any]]:
    """Integrator, accuracy and options: those of the algorithm, or else those of the FMUs themselves."""
    own = {name: p for name, p in members.items() if isinstance(p, ModelExchangeParticipant)}
    integrator = algorithm.integrator
    if integrator is None:
        named = {name: p.integrator for name, p in own.items() if p.integrator != INTEGRATOR}
        kinds = list(dict.fromkeys(named.values()))
        if len(kinds) > 1:
            text = f"{' and '.join(named)} name different integrators: name one in options.integrator"
            problems.append(problem(("master", "algorithm"), text))
        integrator = kinds[0] if kinds else INTEGRATOR
    accuracies = [p.accuracy for p in own.values() if p.accuracy]
    accuracy = algorithm.accuracy or min(accuracies, default=None)
    options = algorithm.integrator_options
    if not options:
        listed = [p.integrator_options for p in own.values() if p.integrator_options]
        options = listed[0] if listed else {}
        if any(each != options for each in listed):
            text = "the FMUs' own options for their integrator differ: give options.integrator_options"
            problems.append(problem(("master", "algorithm"), text))
    return integrator, accuracy, dict(options)
