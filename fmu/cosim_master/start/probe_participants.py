"""Probes participants before a run, for direct feedthrough, and for outputs that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding.fmu_library import is_fatal
from cosim_fmi.binding.process_guard import same_folder
from cosim_master.coupling.check_loops import doubtful_outputs
from cosim_master.coupling.coupling import Coupling
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.coupling.feedthrough import direct_inputs, passes_through, with_feedthrough
from cosim_master.coupling.link import Link, links_from, links_into
from cosim_master.coupling.run_settings import CommunicationPoints
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import printed_in_calls
from cosim_master.recording.co_simulation_result import CoSimulationStatistics
from cosim_master.start.initialize_participants import initialize_participants
from cosim_master.start.probe_feedthrough import UndeterminedError, probe_feedthrough

Port = tuple[str, str]
"""A participant and its output."""


class Findings(NamedTuple):
    """Results of probing participants.

    Attributes
    ----------
    descriptions : dict of str to ParticipantDescription
        With the feedthrough that was determined.
    unreadable_before_step : frozenset of str
        Participants whose outputs cannot be read after inputs are set and before the next step: FMI 2.0.4
        permits it (section 4.2.1).
    remarks : list of str
        The probes, their methods and their results, in sentences.
    warnings : list of str
        Participants that failed while they were probed; the run has new instances of them.
    """

    descriptions: dict[str, ParticipantDescription]
    unreadable_before_step: frozenset[str]
    remarks: list[str]
    warnings: list[str]


def probe_participants(coupling: Coupling) -> Findings:
    """Determine which loops of feedthrough are real, and which participants can be read before a step.

    Loops matter to algorithms that exchange within a step; reading between setting and stepping matters to
    algorithms whose calls depend on values. If there is any doubt, the participants are initialized as for a
    run, probed, and closed. Dependencies that cannot be determined stay as they are declared.

    Raises
    ------
    CoSimulationError
        A participant cannot be initialized; or it reported a fatal error, after which no instance of it can
        be trusted.
    """
    algorithm, links = coupling.algorithm, coupling.links
    assert algorithm is not None
    doubtful = doubtful_outputs(coupling.descriptions, links) if algorithm.exchanges_within_step else {}
    unsure = [] if algorithm.fixed_sequence else _unsure(coupling)
    if not doubtful and not unsure:
        return Findings(dict(coupling.descriptions), frozenset(), [], [])
    return _probe(coupling, doubtful, unsure)


def _unsure(coupling: Coupling) -> list[str]:
    """The participants of which it is unknown whether they can be read before a step."""
    into, out_of = links_into(coupling.links), links_from(coupling.links)
    return [
        name
        for name, description in coupling.descriptions.items()
        if _may_refuse(description, into[name], out_of[name])
    ]


def _probe(coupling: Coupling, doubtful: Mapping[Port, Sequence[str]], unsure: Sequence[str]) -> Findings:
    """Initialize all participants, probe some, and close all.

    Parameters
    ----------
    coupling : Coupling
    doubtful : mapping of (str, str) to sequence of str
        The inputs on which each output may depend.
    unsure : sequence of str
        Participants that may refuse to be read.
    """
    participants, start, step = coupling.participants, coupling.start, coupling.step
    findings = Findings(dict(coupling.descriptions), frozenset(), [], [])
    out_of = links_from(coupling.links)
    reads = {name: [link.output for link in out_of[name]] for name in participants}
    points = CommunicationPoints(start, start + step, step)
    coupled = CoupledParticipants(coupling, reads, CoSimulationStatistics(), points)
    unreadable: set[str] = set()
    with same_folder(), printed_in_calls(participants), ExitStack() as stack:
        initial_values = initialize_participants(coupled, coupling, None, stack)
        for name in dict.fromkeys([*unsure, *(name for name, _ in doubtful)]):
            values = {variable: value for (n, variable), value in initial_values.items() if n == name}
            if name in unsure and _refuses(participants[name], values, reads[name]):
                unreadable.add(name)
                findings.remarks.append(
                    f"{name} refuses to be read between setting and stepping: what depends directly on its "
                    "inputs is what it was for the inputs of the step"
                )
                continue
            pairs = {output: inputs for (n, output), inputs in doubtful.items() if n == name}
            _probe_outputs(coupling, name, pairs, values, findings)
    return findings._replace(unreadable_before_step=frozenset(unreadable))


def _probe_outputs(
    coupling: Coupling,
    name: str,
    pairs: Mapping[str, Sequence[str]],
    values: Mapping[str, Any],
    findings: Findings,
) -> None:
    """Add the dependencies of a participant's doubtful outputs to the findings, or why they are unknown."""
    description = coupling.descriptions[name]
    try:
        needs = probe_feedthrough(
            coupling.participants[name], description, pairs, values, coupling.start, coupling.step
        )
    except Exception as error:
        if is_fatal(error):
            raise CoSimulationError(coupling.start, str(error), name) from error
        outputs = ", ".join(pairs)
        findings.remarks.append(f"{name}: what {outputs} depends on could not be determined ({error})")
        if not isinstance(error, UndeterminedError):
            findings.warnings.append(
                f"{name} failed before the run, which begins with a new instance, while it was probed for "
                f"what {outputs} depends on: {error}"
            )
        return
    findings.descriptions[name] = with_feedthrough(
        description,
        {
            output: direct_inputs(description, output) - frozenset(inputs) | needs[output]
            for output, inputs in pairs.items()
        },
    )
    how = "changed inputs" if description.can_restore else "directional derivatives"
    findings.remarks.extend(_sentence(name, output, pairs[output], needs[output], how) for output in pairs)


def _may_refuse(description: ParticipantDescription, into: Sequence[Link], out_of: Sequence[Link]) -> bool:
    """Whether a participant may refuse to be read before a step: an FMU of unknown direct feedthrough."""
    in_doubt = bool(description.possible_feedthrough or description.assumed_feedthrough)
    return in_doubt and passes_through(description, into, out_of)


def _refuses(participant: cosim.Participant, values: Mapping[str, Any], outputs: Sequence[str]) -> bool:
    """Whether outputs cannot be read after inputs were set, to their present values."""
    try:
        participant.set(list(values), list(values.values()))
        participant.get(outputs)
    except Exception:
        return True
    return False


def _sentence(name: str, output: str, inputs: Sequence[str], needs: frozenset[str], how: str) -> str:
    """A sentence about the dependencies of an output."""
    direct = [f"{name}.{input}" for input in inputs if input in needs]
    indirect = [f"{name}.{input}" for input in inputs if input not in needs]
    parts = [f"depends directly on {', '.join(direct)}"] * bool(direct)
    parts += [f"does not depend directly on {', '.join(indirect)}"] * bool(indirect)
    return f"{name}.{output} {' and '.join(parts)}: found at the start with {how}"
