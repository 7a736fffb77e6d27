"""Participants as they are given: paths, systems or objects; and what they say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.instances import read_fmu
from cosim_master.abilities import Resizes, SharesProcess
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.participants.description_faults import description_faults
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.instance_participant import InstanceParticipant


def open_fmu(
    path: str | Path,
    name: str | None = None,
    inner_step: float | str | None = None,
    wine: bool = False,
    **options: Any,
) -> InstanceParticipant:
    """A participant for Co-Simulation or Model Exchange (FMI 1.0, 2.0 or 3.0), as the file offers it.

    Where it offers both, its own solver steps it, unless there are options for an integrator. A file that
    is not an FMU makes a participant that says so when it is asked to describe itself.

    Parameters
    ----------
    path : str or Path
    name : str, optional
        Name of the instance; the file's name when not given.
    inner_step : float or str, optional
        Of `FmuParticipant`.
    wine : bool
        Whether its library for Windows runs on Linux, in a process under wine; FMI 2.0 and 3.0.
    **options
        Of `ModelExchangeParticipant`: ``integrator``, ``accuracy`` …
    """
    try:
        interface = read_fmu(Path(path), wine=wine)[1]
    except cosim.FmuError:
        return FmuParticipant(path, name, inner_step, wine)
    if interface.model_exchange or (options and "ModelExchange" in interface.offers):
        if inner_step is not None:
            raise cosim.ModelError.of(
                "options.inner_step", "applies to Co-Simulation: this FMU is integrated by its host"
            )
        # its solver is loaded where it is needed: a process for an FMU with its own begins sooner
        from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

        return ModelExchangeParticipant(path, name, wine=wine, **options)
    if options:
        raise cosim.ModelError.of("options", "an FMU that offers Co-Simulation only takes inner_step alone")
    return FmuParticipant(path, name, inner_step, wine)


def create_participants(
    objects: Mapping[str, Any], problems: list[WiringProblem]
) -> dict[str, cosim.Participant]:
    """A participant for each name; what cannot be one is added to the problems."""
    participants: dict[str, cosim.Participant] = {}
    for name, value in objects.items():
        key = ("participants", name)
        if not name or "." in name:
            problems.append(problem(key, "the name of a participant is not empty and has no dots"))
        elif isinstance(value, cosim.Participant) or _has_contract(value):
            if any(value is other for other in participants.values()):
                text = "is the same object as another participant: make one for each name"
                problems.append(problem(key, text))
            participants[name] = value
        elif isinstance(value, (str, Path)):
            participants[name] = open_fmu(value, name)
        elif isinstance(value, (cosim.System, cosim.Model)):
            from cosim_master.participants.system_participant import SystemParticipant  # with the Step

            try:
                participants[name] = SystemParticipant(value)
            except cosim.ModelError as error:
                problems += [problem((*key, fault.where), fault.text) for fault in error.problems]
        else:
            problems.append(problem(key, _refusal(value)))
    places: dict[Any, Any] = {}
    for participant in participants.values():
        if isinstance(participant, SharesProcess):
            participant.share_process(places)
    return participants


def _has_contract(value: Any) -> bool:
    """Whether an object has all methods of a Participant, whatever it derives from."""
    return all(callable(getattr(value, name, None)) for name in cosim.Participant.__abstractmethods__)


def _refusal(value: Any) -> str:
    """Why an object cannot be a participant."""
    kind = type(value).__name__
    if callable(getattr(value, "describe", None)):
        missing = sorted(n for n in cosim.Participant.__abstractmethods__ if not hasattr(value, n))
        return f"is a {kind}, which has no {', '.join(missing)}: a participant needs that"
    return f"is a {kind}, needs the path of an FMU, a System, a Model or a Participant"


def configure(participants: Mapping[str, cosim.Participant], starts: Mapping[str, Any]) -> None:
    """Tell start values to participants whose arrays have the sizes that they say."""
    for name, participant in participants.items():
        sizes = {
            path.removeprefix(f"{name}."): value
            for path, value in starts.items()
            if path.partition(".")[0] == name
            and isinstance(value, int)
            and not isinstance(value, bool)
            and value >= 0
        }
        if isinstance(participant, Resizes) and sizes:
            with suppress(cosim.FmuError):  # `describe` says it
                participant.configure(sizes)


def described(
    participants: Mapping[str, cosim.Participant], problems: list[WiringProblem]
) -> dict[str, ParticipantDescription]:
    """The description of each participant that gives a sound one; faults are added to the problems."""
    descriptions = {}
    for name, participant in participants.items():
        try:
            description = participant.describe()
        except cosim.FmuError as error:
            problems.append(problem(("participants", name), str(error), error))
        except Exception as error:
            problems.append(
                problem(("participants", name), f"cannot describe itself: {type(error).__name__}: {error}")
            )
        else:
            faults = description_faults(description)
            problems += [problem(("participants", name), fault) for fault in faults]
            if not faults:
                descriptions[name] = description
    return descriptions
