"""What participants do not declare and a run needs to know, looked into before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding.fmi_error import is_fatal
from cosim_fmi.instances.same_folder import same_folder
from cosim_master.coupling.check_loops import doubtful_outputs
from cosim_master.coupling.co_simulation_error import CoSimulationError
from cosim_master.coupling.communication_points import CommunicationPoints
from cosim_master.coupling.feedthrough import direct_inputs, passes_through, with_feedthrough
from cosim_master.coupling.link import Link, links_from, links_into
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.printed_in_calls import printed_in_calls
from cosim_master.exchange.step_threads import StepThreads
from cosim_master.results.co_simulation_statistics import CoSimulationStatistics
from cosim_master.start.initialize_participants import initialize_participants
from cosim_master.start.probe_feedthrough import NotFoundOutError, probe_feedthrough

if TYPE_CHECKING:
    from cosim_master.joint.joint_system import JointSystem

Descriptions = Mapping[str, ParticipantDescription]


class Findings(NamedTuple):
    """What was found out about participants.

    Attributes
    ----------
    descriptions : dict of str to ParticipantDescription
        With the feedthrough that was found.
    unreadable_before_step : frozenset of str
        Participants that refuse to be read after their inputs were set, before the next step: FMI 2.0.4 lets
        an FMU do so (section 4.2.1).
    remarks : list of str
        What was looked at, how, and what came of it, in sentences.
    warnings : list of str
        Participants that failed meanwhile; the run has new instances of them.
    """

    descriptions: dict[str, ParticipantDescription]
    unreadable_before_step: frozenset[str]
    remarks: list[str]
    warnings: list[str]


def probe_participants(
    participants: Mapping[str, cosim.Participant],
    descriptions: Descriptions,
    links: Sequence[Link],
    parameter_links: Sequence[Link],
    values: Mapping[str, Mapping[str, Any]],
    tolerances: Mapping[str, float | None],
    start: float,
    step: float,
    algorithm: cosim.MasterAlgorithm,
    joint: JointSystem | None = None,
) -> Findings:
    """Find out which loops of feedthrough are real, and who may be read between setting and stepping.

    The first is asked for algorithms that exchange within a step, the second for those that do not always
    make the same calls. The participants are initialized as for a run, asked, and closed; where none of
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
    algorithm : MasterAlgorithm
    joint : JointSystem, optional
        Participants that step as one.

    Raises
    ------
    CoSimulationError
        A participant cannot be initialized; or it reported a fatal error, after which no other instance
        of it is to be trusted.
    """
    found, remarks, warnings = dict(descriptions), list[str](), list[str]()
    doubtful = doubtful_outputs(descriptions, links) if algorithm.exchanges_within_step else {}
    into, out_of = links_into(links), links_from(links)
    unsure = (
        []
        if algorithm.fixed_sequence
        else [n for n in participants if _may_refuse(descriptions[n], into[n], out_of[n])]
    )
    if not doubtful and not unsure:
        return Findings(found, frozenset(), remarks, warnings)
    reads = {name: [link.output for link in out_of[name]] for name in participants}
    coupled = CoupledParticipants(
        *(participants, links, list(participants), reads, CoSimulationStatistics(), descriptions),
        *(CommunicationPoints(start, start + step, step), {}, StepThreads(1), (), joint),
    )
    unreadable_before_step = set()
    with same_folder(), printed_in_calls(participants), ExitStack() as stack:
        given = initialize_participants(coupled, values, tolerances, (start, None), parameter_links, stack)
        for name in dict.fromkeys([*unsure, *(name for name, _ in doubtful)]):
            present = {variable: value for (n, variable), value in given.items() if n == name}
            if name in unsure and _refuses(participants[name], present, reads[name]):
                unreadable_before_step.add(name)
                remarks.append(
                    f"{name} refuses to be read between setting and stepping: what depends directly on its "
                    "inputs is what it was for the inputs of the step"
                )
                continue
            wanted = {output: inputs for (n, output), inputs in doubtful.items() if n == name}
            try:
                needs = probe_feedthrough(
                    *(participants[name], descriptions[name], wanted, present, start, step)
                )
            except Exception as error:
                if is_fatal(error):
                    raise CoSimulationError(start, str(error), name) from error
                remarks.append(
                    f"{name}: what {', '.join(wanted)} depends on could not be found out ({error})"
                )
                if not isinstance(error, NotFoundOutError):
                    warnings.append(
                        f"{name} failed before the run, which begins with a new instance, when it was asked "
                        f"what {', '.join(wanted)} depends on: {error}"
                    )
                continue
            found[name] = with_feedthrough(
                descriptions[name],
                {
                    output: direct_inputs(descriptions[name], output) - frozenset(asked) | needs[output]
                    for output, asked in wanted.items()
                },
            )
            how = "changed inputs" if descriptions[name].can_restore else "directional derivatives"
            remarks += [_sentence(name, output, wanted[output], needs[output], how) for output in wanted]
    return Findings(found, frozenset(unreadable_before_step), remarks, warnings)


def _may_refuse(description: ParticipantDescription, into: Sequence[Link], out_of: Sequence[Link]) -> bool:
    """Whether it has to be read there, and is an FMU of which that is not known."""
    in_doubt = bool(description.possible_feedthrough or description.assumed_feedthrough)
    return in_doubt and passes_through(description, into, out_of)


def _refuses(participant: cosim.Participant, values: Mapping[str, Any], outputs: Sequence[str]) -> bool:
    """Whether outputs cannot be read after inputs were set, to the values that they have."""
    try:
        participant.set(list(values), list(values.values()))
        participant.get(outputs)
    except Exception:
        return True
    return False


def _sentence(name: str, output: str, asked: Sequence[str], needs: frozenset[str], how: str) -> str:
    none = [f"{name}.{each}" for each in asked if each not in needs]
    some = [f"{name}.{each}" for each in asked if each in needs]
    parts = [f"depends directly on {', '.join(some)}"] * bool(some)
    parts += [f"does not depend directly on {', '.join(none)}"] * bool(none)
    return f"{name}.{output} {' and '.join(parts)}: found at the start with {how}"
