"""Why the FMU of a co-simulation needs Python."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_export.interface.fmu_variable import FmuVariable
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.algorithms.interface_newton import InterfaceNewton
from cosim_master.coupling.feedthrough import direct_inputs
from cosim_master.participants.fmu_participant import FmuParticipant
from cosim_master.participants.system_participant import SystemParticipant
from cosim_master.participants.timed_changes import Changes, TriggeredChanges
from cosim_master.participants.timed_inputs import TimedInputs


def native_refusals(loop: CoSimulation, *, sources: bool = False) -> list[cosim.Problem]:
    """Why the FMU of a co-simulation needs Python; empty where it needs none.

    Parameters
    ----------
    loop : CoSimulation
    sources : bool
        Whether all of it has to be C.
    """
    problems = [
        cosim.Problem(f"participants.{name}", why)
        for name, participant in loop.participants.items()
        if (why := _why_python(participant, loop.descriptions[name], sources))
    ]
    if loop.joint is not None or loop.algorithm is None:
        problems.append(cosim.Problem("master.algorithm", "joint systems are solved in Python"))
    problems += [
        cosim.Problem(str(link.input), "connected parameters are set in Python")
        for link in loop.parameter_links
    ]
    if loop.derived:
        problems.append(
            cosim.Problem("connectors", "outputs of the top-level system's connectors are computed in Python")
        )
    problems += [
        cosim.Problem(f"participants.{name}", "its directional derivatives are read in Python")
        for name in _whose_derivatives_are_used(loop)
    ]
    return list({(each.where, each.text): each for each in problems}.values())


def refuse_used_texts(texts: Iterable[FmuVariable], loop: CoSimulation) -> None:
    """Refuse text that has another start than the usual one, or is computed: an FMU without Python cannot.

    Parameters
    ----------
    texts : iterable of FmuVariable
        The variables of the container that are text.
    loop : CoSimulation

    Raises
    ------
    ModelError
        Naming the first of them.
    """
    for variable in texts:
        name, _, own = variable.path.partition(".")
        if not variable.is_settable or own in loop.start_values.get(name, ()):
            raise cosim.ModelError.of(variable.name, "text is set and read in Python")


def _whose_derivatives_are_used(loop: CoSimulation) -> list[str]:
    """Participants of which others use directional derivatives."""
    able = [name for name, description in loop.descriptions.items() if description.has_derivatives]
    if loop.loops:
        return able
    starts = {link.start for link in loop.links}
    passing = [
        link.target
        for link in loop.links
        if any(
            name == link.target and link.input in direct_inputs(loop.descriptions[name], output)
            for name, output in starts
        )
    ]
    # where one participant with feedthrough does not tell them, those of the others are not used either
    is_used = type(loop.algorithm) is InterfaceNewton and set(passing) <= set(able)
    return [name for name in able if name in passing] if is_used else []


def _why_python(participant: Any, description: ParticipantDescription, sources: bool) -> str:
    """Why a participant is led by Python; "" where none is needed."""
    if type(participant) in (SystemParticipant, TimedInputs, Changes, TriggeredChanges):
        return ""
    if type(participant) is not FmuParticipant:
        return f"a {description.kind}, which runs in Python"
    if sources:
        return "an FMU, for which there are no C sources"
    why: str = participant.why_not_plain()
    return why
