"""Closed loops of feedthrough that may not be there, looked into at the start of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmu.master.loop.begin import begin
from cosim_fmu.master.loop.co_simulation_statistics import CoSimulationStatistics
from cosim_fmu.master.loop.communication_points import CommunicationPoints
from cosim_fmu.master.loop.coupled_participants import CoupledParticipants
from cosim_fmu.master.loop.probe_feedthrough import probe_feedthrough
from cosim_fmu.master.loop.step_threads import StepThreads
from cosim_fmu.master.participants.same_folder import same_folder
from cosim_fmu.master.wiring.check_loops import doubtful_outputs
from cosim_fmu.master.wiring.link import Link

Descriptions = Mapping[str, ParticipantDescription]


def look_into_loops(
    participants: Mapping[str, cosim.Participant],
    descriptions: Descriptions,
    links: Sequence[Link],
    parameter_links: Sequence[Link],
    values: Mapping[str, Mapping[str, Any]],
    tolerances: Mapping[str, float | None],
    start: float,
    step: float,
) -> tuple[dict[str, ParticipantDescription], list[str]]:
    """Descriptions with the feedthrough that was found, and in sentences what was looked at and how.

    The participants are initialized as for a run, asked (`probe_feedthrough`), and closed; where none of
    them is in doubt nothing happens. What cannot be found out stays as it was.

    Parameters
    ----------
    participants, descriptions : mapping
    links, parameter_links : sequence of Link
    values : mapping of str to mapping
        Start values.
    tolerances : mapping of str to float or None
    start, step : float
        s.

    Raises
    ------
    CoSimulationError
        A participant cannot be initialized.
    """
    found = dict(descriptions)
    doubtful = doubtful_outputs(descriptions, links)
    remarks: list[str] = []
    if not doubtful:
        return found, remarks
    reads = {name: [link.output for link in links if link.source == name] for name in participants}
    coupled = CoupledParticipants(
        *(participants, links, list(participants), reads, CoSimulationStatistics(), descriptions),
        *(CommunicationPoints(start, start + step, step), {}, StepThreads(1)),
    )
    with same_folder(), ExitStack() as stack:
        given = begin(coupled, values, tolerances, (start, None), parameter_links, stack)
        for name in dict.fromkeys(name for name, _ in doubtful):
            wanted = {output: inputs for (n, output), inputs in doubtful.items() if n == name}
            present = {variable: value for (n, variable), value in given.items() if n == name}
            try:
                needs = probe_feedthrough(
                    participants[name], descriptions[name], wanted, present, start, step
                )
            except Exception as error:
                remarks.append(
                    f"{name}: what {', '.join(wanted)} depends on could not be found out ({error})"
                )
                continue
            found[name] = _with(descriptions[name], wanted, needs)
            how = "changed inputs" if descriptions[name].can_restore else "directional derivatives"
            remarks += [_sentence(name, output, wanted[output], needs[output], how) for output in wanted]
    return found, remarks


def _with(
    description: ParticipantDescription,
    wanted: Mapping[str, Sequence[str]],
    needs: Mapping[str, frozenset[str]],
) -> ParticipantDescription:
    inputs = frozenset(v.name for v in description.variables.values() if v.causality == "input")
    outputs = [v.name for v in description.variables.values() if v.causality == "output"]
    known = dict.fromkeys(outputs, inputs) | dict(description.feedthrough or {})
    assumed = description.assumed_feedthrough
    if description.feedthrough is None:
        assumed = frozenset(outputs)
    for output, asked in wanted.items():
        known[output] = known.get(output, inputs) - frozenset(asked) | needs[output]
    return replace(
        description,
        feedthrough=known,
        assumed_feedthrough=assumed - wanted.keys(),
        possible_feedthrough=description.possible_feedthrough - wanted.keys(),
    )


def _sentence(name: str, output: str, asked: Sequence[str], needs: frozenset[str], how: str) -> str:
    none = [f"{name}.{each}" for each in asked if each not in needs]
    some = [f"{name}.{each}" for each in asked if each in needs]
    parts = [f"depends directly on {', '.join(some)}"] * bool(some)
    parts += [f"does not depend directly on {', '.join(none)}"] * bool(none)
    return f"{name}.{output} {' and '.join(parts)}: found at the start with {how}"
