"""Which participants are solved jointly, and which run in processes of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import cosim
from cosim.kit import matches
from cosim_master.algorithms.joint import Joint
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.joint.joint_system import JointSystem
from cosim_master.model_exchange.model_exchange_system import INTEGRATOR
from cosim_master.participants.instance_participant import InstanceParticipant
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant
from cosim_master.participants.process_participant import ProcessParticipant


class Isolation(NamedTuple):
    """What the command line says beside a scenario.

    Attributes
    ----------
    patterns : tuple of str or None
        Names of participants; None leaves it to the scenario, nothing among them means none.
    """

    patterns: tuple[str, ...] | None = None

    @classmethod
    def of(cls, isolate: str | None, in_process: bool) -> Isolation:
        """As it was typed: ``--isolate``, ``--isolate "plant,wheel_*"``, ``--in-process``."""
        if in_process:
            return cls(())
        return cls() if isolate is None else cls(tuple(text.strip() for text in isolate.split(",")))

    def applies(self, name: str, said: bool) -> bool:
        """Whether a participant runs in a process of its own, if the scenario says it, or does not."""
        if self.patterns is None:
            return said
        if not self.patterns:
            return False
        return said or any(matches(name, pattern) for pattern in self.patterns)

    def check(self, names: Iterable[str]) -> None:
        """Raise `LookUpError` for a pattern that means none of the participants."""
        known = list(names)
        for pattern in self.patterns or ():
            if not any(matches(name, pattern) for name in known):
                raise cosim.LookUpError("participant for --isolate", pattern, known)


AS_SAID = Isolation()
"""As the scenario says."""


def places_of_fmus(participants: Mapping[str, cosim.Participant]) -> dict[str, list[str]]:
    """Names of FMUs whose code runs ``inside`` the process of the run, ``isolated`` and ``remote`` ones."""
    others = {name: part for name, part in participants.items() if isinstance(part, ProcessParticipant)}
    return {
        "inside": [name for name, part in participants.items() if isinstance(part, InstanceParticipant)],
        "isolated": [name for name, part in others.items() if part.host is None],
        "remote": [name for name, part in others.items() if part.host is not None],
    }


def hosts_of_fmus(participants: Mapping[str, cosim.Participant]) -> dict[str, list[str]]:
    """Names of FMUs whose code runs on another machine, by its address."""
    found: dict[str, list[str]] = {}
    for name, part in participants.items():
        if isinstance(part, ProcessParticipant) and part.host is not None:
            found.setdefault(str(part.host), []).append(name)
    return found


Participants = Mapping[str, cosim.Participant]


MEMBERS = ("master", "options", "members")


def joined(
    participants: Participants, algorithm: Joint, problems: list[WiringProblem]
) -> tuple[dict[str, cosim.Participant], JointSystem | None]:
    """The participants, with members in the places of those that are solved jointly, and their system.

    Parameters
    ----------
    participants : mapping of str to Participant
    algorithm : Joint
    problems : list of WiringProblem
        What is wrong is added.
    """
    chosen = algorithm.members
    problems += [
        problem(MEMBERS, str(cosim.LookUpError("participant", name, participants)))
        for name in chosen or ()
        if name not in participants
    ]
    given = {}
    for name, participant in participants.items():
        if chosen is not None and name not in chosen:
            continue
        reason = _refusal(participant)
        if not reason:
            given[name] = participant
        elif chosen is not None or (isinstance(participant, ProcessParticipant) and reason != NO_FMU):
            problems.append(problem(("participants", name), reason))
    if not given:
        if not problems:
            text = "solves Model Exchange FMUs as one system, and there are none: take gauss_seidel"
            problems.append(problem(("master", "algorithm"), text))
        return dict(participants), None
    options = _options(given, algorithm, problems)
    system = JointSystem(*options)
    made = {name: ModelExchangeParticipant.joined(what, name, system) for name, what in given.items()}
    system.members.update(made)
    return {name: made.get(name, participant) for name, participant in participants.items()}, system


NO_FMU = "is no FMU that offers Model Exchange, so it cannot be solved jointly with others"


def _refusal(participant: cosim.Participant) -> str:
    """Why a participant cannot be solved jointly; "" when it can."""
    if isinstance(participant, ProcessParticipant):
        try:
            kind = participant.describe().kind
        except Exception:  # said where it is described
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
        except cosim.FmuError:  # said where it is described
            return NO_FMU
    return NO_FMU


def _options(
    given: Participants, algorithm: Joint, problems: list[WiringProblem]
) -> tuple[str, float | None, dict[str, Any]]:
    """Integrator, accuracy and options: what the algorithm says, or else what the FMUs' own options say."""
    own = {name: p for name, p in given.items() if isinstance(p, ModelExchangeParticipant)}
    integrator = algorithm.integrator
    if integrator is None:
        said = {name: p.integrator for name, p in own.items() if p.integrator != INTEGRATOR}
        kinds = list(dict.fromkeys(said.values()))
        if len(kinds) > 1:
            text = f"{' and '.join(said)} name different integrators: name one in options.integrator"
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
