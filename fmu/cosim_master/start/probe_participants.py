"""Probes participants before a run: which inputs their outputs depend on, and when they can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding.fmu_library import is_fatal
from cosim_fmi.instances import same_folder
from cosim_master.coupling.check_loops import doubtful_outputs
from cosim_master.coupling.connection import Link, links_from, links_into
from cosim_master.coupling.coupling import CommunicationPoints, Coupling
from cosim_master.coupling.errors import CoSimulationError
from cosim_master.coupling.feedthrough import direct_inputs, passes_through, with_feedthrough
from cosim_master.exchange.coupled_participants import CoupledParticipants
from cosim_master.exchange.exchange_machine import printed_in_calls
from cosim_master.model_exchange.fmu_model import find_feedthrough
from cosim_master.recording.co_simulation_result import CoSimulationStatistics
from cosim_master.start.initialize_participants import initialize_participants

Pairs = set[tuple[str, str]]
"""Outputs, each with an input that it depends on directly."""
Descriptions = Mapping[str, ParticipantDescription]


class UndeterminedError(Exception):
    """Feedthrough cannot be determined, though no call has failed."""


RELATIVE_CHANGE = 1e-3
NOISE = 1e-12
"""Relative difference of two steps that counts as rounding."""
SHORTER = 16.0
"""Of two trial steps, one is so much shorter than the other."""


def probe_feedthrough(
    participant: cosim.Participant,
    description: ParticipantDescription,
    wanted: Mapping[str, Sequence[str]],
    values: Mapping[str, Any],
    time: float,
    size: float,
) -> dict[str, frozenset[str]]:
    """Which of these inputs each output depends on directly, at the present state.

    With a saved state by differences: each input gets other values, one after the other, from two
    starting points. An output that does not change may still be computed in steps alone: then two steps of
    different lengths are tried, and the part of a change that does not become smaller with the
    step is feedthrough. Without saved states by directional derivatives.

    Parameters
    ----------
    participant : Participant
        Between `exit_initialization` and its first step; it is of no use afterwards.
    description : ParticipantDescription
    wanted : mapping of str to sequence of str
        For each output the inputs in question.
    values : mapping of str to object
        The present values of these inputs.
    time, size : float
        The start and the communication step, s.

    Raises
    ------
    UndeterminedError
        Variables that can be neither changed nor differentiated, or are refused.
    Exception
        Whatever the participant raises: then nothing is known.
    """
    inputs = list(dict.fromkeys(name for names in wanted.values() for name in names))
    outputs = list(wanted)
    if description.can_restore:
        pairs = _by_differences(participant, description, outputs, inputs, values)
        if description.variable_step:
            with suppress(UndeterminedError):  # steps from here may not be possible: the differences stand
                pairs |= _by_steps(participant, description, outputs, inputs, values, time, size)
    else:
        pairs = _by_derivatives(participant, description, outputs, inputs)
    return {
        output: frozenset(name for name in wanted[output] if (output, name) in pairs) for output in outputs
    }


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn a refusal of inputs or of a step into `UndeterminedError`; a fatal error stays what it is."""
    try:
        yield
    except Exception as error:
        if is_fatal(error):
            raise
        raise UndeterminedError(str(error)) from error


def _by_differences(
    participant: cosim.Participant,
    description: ParticipantDescription,
    outputs: Sequence[str],
    inputs: Sequence[str],
    values: Mapping[str, Any],
) -> Pairs:
    token = participant.save()

    def answers(given: Mapping[str, Any]) -> list[Any]:
        participant.restore(token)
        with _refusals():
            participant.set(inputs, [given[name] for name in inputs])
            return list(participant.get(outputs))

    elsewhere = {name: _others(description, name, values[name])[0] for name in inputs}
    pairs: Pairs = set()
    for start in ({name: values[name] for name in inputs}, elsewhere):
        needs = find_feedthrough(answers, outputs, start, partial(_others, description))
        pairs |= {(output, name) for output, names in needs.items() for name in names}
    participant.restore(token)
    return pairs


def _by_steps(
    participant: cosim.Participant,
    description: ParticipantDescription,
    outputs: Sequence[str],
    inputs: Sequence[str],
    values: Mapping[str, Any],
    time: float,
    size: float,
) -> Pairs:
    """By steps of two lengths: feedthrough is the part of a change that does not shrink with the step."""
    pairs: Pairs = set()
    token = participant.save()

    def answers(given: Mapping[str, Any], length: float) -> list[Any]:
        participant.restore(token)
        with _refusals():
            participant.set(inputs, [given[name] for name in inputs])
            if participant.step(time, length) < time + 0.999 * length:
                raise ValueError("it returned early")
            return list(participant.get(outputs))

    lengths = (size, size / SHORTER)
    before = [answers(values, length) for length in lengths]
    for name in inputs:
        other = {**values, name: _others(description, name, values[name])[0]}
        after = [answers(other, length) for length in lengths]
        for i, output in enumerate(outputs):
            far, near = (_distance(before[k][i], after[k][i]) for k in (0, 1))
            if far > NOISE * _size(before[0][i]) and near > 0.5 * far:
                pairs.add((output, name))
    participant.restore(token)
    return pairs


def _by_derivatives(
    participant: cosim.Participant,
    description: ParticipantDescription,
    outputs: Sequence[str],
    inputs: Sequence[str],
) -> Pairs:
    other = [n for n in (*outputs, *inputs) if description.variables[n].type != "real"]
    if other:
        raise UndeterminedError(f"{other[0]} is not real, so it has no derivative")
    return {
        (output, name)
        for name in inputs
        for output, slope in zip(
            outputs, participant.directional_derivative(outputs, [name], [1.0]), strict=True
        )
        if slope != 0.0
    }


def _others(description: ParticipantDescription, name: str, value: Any) -> list[Any]:
    """Other values of an input, near the present one."""
    kind = description.variables[name].type
    if kind == "boolean":
        return [not value]
    if kind == "integer":
        items = [number for _, number in description.enumerations.get(name, ()) if number != value]
        return items or [value + 1]
    if kind == "real":
        change = RELATIVE_CHANGE * max(1.0, abs(value))
        return [value + change, value - change]
    raise UndeterminedError(f"{name} is {kind}: it is not changed here")


def _size(value: Any) -> float:
    return abs(value) if isinstance(value, float) else 0.0


def _distance(one: Any, other: Any) -> float:
    if isinstance(one, (bool, int, float)) and isinstance(other, (bool, int, float)):
        return abs(float(one) - float(other))
    return float(one != other)


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
        What was probed, how, and with which result, in sentences.
    warnings : list of str
        Participants that failed while they were probed; the run has new instances of them.
    """

    descriptions: dict[str, ParticipantDescription]
    unreadable_before_step: frozenset[str]
    remarks: list[str]
    warnings: list[str]


def probe_participants(coupling: Coupling) -> Findings:
    """Determine which loops of feedthrough are real, and which participants can be read before a step.

    Loops matter to algorithms that exchange within a step, reading between setting and stepping to those
    that do not always make the same calls. The participants are initialized as for a run, probed, and closed;
    without a doubtful one nothing happens. What cannot be determined stays as it was.

    Raises
    ------
    CoSimulationError
        A participant cannot be initialized; or it reported a fatal error, after which no other instance
        of it is to be trusted.
    """
    participants, descriptions, links = coupling.participants, coupling.descriptions, coupling.links
    algorithm, start, step = coupling.algorithm, coupling.start, coupling.step
    assert algorithm is not None
    findings = Findings(dict(descriptions), frozenset(), [], [])
    doubtful = doubtful_outputs(descriptions, links) if algorithm.exchanges_within_step else {}
    into, out_of = links_into(links), links_from(links)
    unsure = (
        []
        if algorithm.fixed_sequence
        else [n for n in participants if _may_refuse(descriptions[n], into[n], out_of[n])]
    )
    if not doubtful and not unsure:
        return findings
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
            wanted = {output: inputs for (n, output), inputs in doubtful.items() if n == name}
            _probe_outputs(coupling, name, wanted, values, findings)
    return findings._replace(unreadable_before_step=frozenset(unreadable))


def _probe_outputs(
    coupling: Coupling,
    name: str,
    wanted: Mapping[str, Sequence[str]],
    values: Mapping[str, Any],
    findings: Findings,
) -> None:
    """Add to the findings what doubtful outputs of a participant depend on, or why that is not known."""
    description = coupling.descriptions[name]
    try:
        needs = probe_feedthrough(
            coupling.participants[name], description, wanted, values, coupling.start, coupling.step
        )
    except Exception as error:
        if is_fatal(error):
            raise CoSimulationError(coupling.start, str(error), name) from error
        listed = ", ".join(wanted)
        findings.remarks.append(f"{name}: what {listed} depends on could not be determined ({error})")
        if not isinstance(error, UndeterminedError):
            findings.warnings.append(
                f"{name} failed before the run, which begins with a new instance, while it was probed for "
                f"what {listed} depends on: {error}"
            )
        return
    findings.descriptions[name] = with_feedthrough(
        description,
        {
            output: direct_inputs(description, output) - frozenset(inputs) | needs[output]
            for output, inputs in wanted.items()
        },
    )
    how = "changed inputs" if description.can_restore else "directional derivatives"
    findings.remarks.extend(_sentence(name, output, wanted[output], needs[output], how) for output in wanted)


def _may_refuse(description: ParticipantDescription, into: Sequence[Link], out_of: Sequence[Link]) -> bool:
    """Whether a participant has to be read before a step, and is an FMU of unknown feedthrough."""
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


def _sentence(name: str, output: str, inputs: Sequence[str], needs: frozenset[str], how: str) -> str:
    none = [f"{name}.{each}" for each in inputs if each not in needs]
    some = [f"{name}.{each}" for each in inputs if each in needs]
    parts = [f"depends directly on {', '.join(some)}"] * bool(some)
    parts += [f"does not depend directly on {', '.join(none)}"] * bool(none)
    return f"{name}.{output} {' and '.join(parts)}: found at the start with {how}"
