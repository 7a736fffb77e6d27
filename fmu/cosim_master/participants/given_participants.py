"""Participants as they are given: paths, systems, models, objects."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.abilities import Resizes
from cosim_master.coupling.description_faults import description_faults
from cosim_master.coupling.wiring_problem import WiringProblem, problem
from cosim_master.participants.open_fmu import open_fmu
from cosim_master.participants.system_participant import SystemParticipant


def made_participants(
    given: Mapping[str, Any], problems: list[WiringProblem]
) -> dict[str, cosim.Participant]:
    """A participant for each name; what cannot be one is added to the problems."""
    made: dict[str, cosim.Participant] = {}
    for name, what in given.items():
        key = ("participants", name)
        if not name or "." in name:
            problems.append(problem(key, "the name of a participant is not empty and has no dots"))
        elif isinstance(what, cosim.Participant) or _has_contract(what):
            if any(what is other for other in made.values()):
                problems.append(
                    problem(key, "is the same object as another participant: make one for each name")
                )
            made[name] = what
        elif isinstance(what, (str, Path)):
            made[name] = open_fmu(what, name)
        elif isinstance(what, (cosim.System, cosim.Model)):
            try:
                made[name] = SystemParticipant(what)
            except cosim.ModelError as error:
                problems += [problem((*key, fault.where), fault.text) for fault in error.problems]
        elif callable(getattr(what, "describe", None)):
            missing = sorted(n for n in cosim.Participant.__abstractmethods__ if not hasattr(what, n))
            text = f"is a {type(what).__name__}, which has no {', '.join(missing)}: a participant needs that"
            problems.append(problem(key, text))
        else:
            text = f"is a {type(what).__name__}, needs the path of an FMU, a System, a Model or a Participant"
            problems.append(problem(key, text))
    return made


def configure(participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any]) -> None:
    """Tell start values to participants whose arrays have the sizes that they say."""
    for name, participant in participants.items():
        own = {k.partition(".")[2]: v for k, v in starts.items() if k.partition(".")[0] == name}
        sizes = {k: v for k, v in own.items() if isinstance(v, int) and not isinstance(v, bool) and v >= 0}
        if isinstance(participant, Resizes) and sizes:
            with suppress(cosim.FmuError):  # `describe` says it
                participant.configure(sizes)


def described(
    participants: Mapping[str, cosim.Participant], problems: list[WiringProblem]
) -> dict[str, ParticipantDescription]:
    """The description of each participant that gives a sound one; faults are added to the problems."""
    found = {}
    for name, participant in participants.items():
        try:
            told = participant.describe()
        except cosim.FmuError as error:
            problems.append(problem(("participants", name), str(error), error))
        except Exception as error:
            problems.append(
                problem(("participants", name), f"cannot describe itself: {type(error).__name__}: {error}")
            )
        else:
            faults = description_faults(told)
            problems += [problem(("participants", name), fault) for fault in faults]
            if not faults:
                found[name] = told
    return found


def _has_contract(what: Any) -> bool:
    """Whether an object has all methods of a Participant, whatever it derives from."""
    return all(callable(getattr(what, name, None)) for name in cosim.Participant.__abstractmethods__)
