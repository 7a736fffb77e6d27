"""Determines by trial which inputs the outputs of a participant depend on directly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmi.binding.fmu_library import is_fatal
from cosim_master.model_exchange.fmu_model import find_feedthrough

Pairs = set[tuple[str, str]]
"""Outputs, each with an input that it depends on directly."""


class UndeterminedError(Exception):
    """Feedthrough cannot be determined, although the participant has not failed."""


RELATIVE_CHANGE = 1e-3
NOISE = 1e-12
"""Smaller relative differences of two steps are rounding errors."""
SHORTER = 16.0
"""The ratio of the lengths of two trial steps."""
NEARLY_ALL = 0.999
"""A participant that covers a smaller part of a step has returned early."""
REMAINS = 0.5
"""If the shorter step has more than this part of the change, the change is feedthrough."""


def probe_feedthrough(
    participant: cosim.Participant,
    description: ParticipantDescription,
    inputs_of: Mapping[str, Sequence[str]],
    values: Mapping[str, Any],
    time: float,
    size: float,
) -> dict[str, frozenset[str]]:
    """The inputs on which each output depends directly at the present state.

    If the participant saves its state, by differences: each input gets other values, one after the other,
    from two starting points. Since outputs may be computed only in steps, steps of two lengths are compared
    as well: a change that does not shrink with the step is feedthrough. Otherwise by directional derivatives.

    Parameters
    ----------
    participant : Participant
        Between `exit_initialization` and its first step; it cannot be used afterwards.
    description : ParticipantDescription
    inputs_of : mapping of str to sequence of str
        For each output the inputs in question.
    values : mapping of str to object
        The present values of these inputs.
    time, size : float
        The start and the communication step, s.

    Raises
    ------
    UndeterminedError
        A variable can be neither changed nor differentiated, or is refused.
    Exception
        Any error of the participant.
    """
    inputs = list(dict.fromkeys(name for names in inputs_of.values() for name in names))
    outputs = list(inputs_of)
    if description.can_restore:
        pairs = _by_differences(participant, description, outputs, inputs, values)
        if description.variable_step:
            with suppress(UndeterminedError):  # if steps are not possible, the differences are the result
                pairs |= _by_steps(participant, description, outputs, inputs, values, time, size)
    else:
        pairs = _by_derivatives(participant, description, outputs, inputs)
    return {
        output: frozenset(name for name in inputs_of[output] if (output, name) in pairs) for output in outputs
    }


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn a refusal of inputs or of a step into `UndeterminedError`; a fatal error passes."""
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
    """Dependencies from outputs that change at once when an input gets another value."""
    token = participant.save()

    def answers(input_values: Mapping[str, Any]) -> list[Any]:
        participant.restore(token)
        with _refusals():
            participant.set(inputs, [input_values[name] for name in inputs])
            return list(participant.get(outputs))

    elsewhere = {name: _other_values(description, name, values[name])[0] for name in inputs}
    pairs: Pairs = set()
    for start in ({name: values[name] for name in inputs}, elsewhere):
        needs = find_feedthrough(answers, outputs, start, partial(_other_values, description))
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
    """Dependencies from steps of two lengths: the part of a change that does not shrink is feedthrough."""
    pairs: Pairs = set()
    token = participant.save()

    def answers(input_values: Mapping[str, Any], length: float) -> list[Any]:
        participant.restore(token)
        with _refusals():
            participant.set(inputs, [input_values[name] for name in inputs])
            if participant.step(time, length) < time + NEARLY_ALL * length:
                raise ValueError("its step returned early")
            return list(participant.get(outputs))

    lengths = (size, size / SHORTER)
    before = [answers(values, length) for length in lengths]
    for name in inputs:
        changed = {**values, name: _other_values(description, name, values[name])[0]}
        after = [answers(changed, length) for length in lengths]
        for i, output in enumerate(outputs):
            far, near = (_distance(b[i], a[i]) for b, a in zip(before, after, strict=True))
            if far > NOISE * _size(before[0][i]) and near > REMAINS * far:
                pairs.add((output, name))
    participant.restore(token)
    return pairs


def _by_derivatives(
    participant: cosim.Participant,
    description: ParticipantDescription,
    outputs: Sequence[str],
    inputs: Sequence[str],
) -> Pairs:
    """Dependencies from directional derivatives that are not zero."""
    not_real = [n for n in (*outputs, *inputs) if description.variables[n].type != "real"]
    if not_real:
        raise UndeterminedError(f"{not_real[0]} is not real, so it has no derivative")
    return {
        (output, name)
        for name in inputs
        for output, slope in zip(
            outputs, participant.directional_derivative(outputs, [name], [1.0]), strict=True
        )
        if slope != 0.0
    }


def _other_values(description: ParticipantDescription, name: str, value: Any) -> list[Any]:
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
    raise UndeterminedError(f"the probe does not vary inputs of type {kind}, such as {name}")


def _size(value: Any) -> float:
    """The magnitude of a real value, with which rounding is compared."""
    return abs(value) if isinstance(value, float) else 0.0


def _distance(first: Any, second: Any) -> float:
    """The absolute difference of two numbers; of second values 0 if they are equal, else 1."""
    if isinstance(first, (bool, int, float)) and isinstance(second, (bool, int, float)):
        return abs(float(first) - float(second))
    return float(first != second)
