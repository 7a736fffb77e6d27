"""Which outputs follow which inputs at once: inputs are moved, and outputs compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any


def find_feedthrough(
    answers: Callable[[Mapping[str, Any]], Sequence[Any]],
    outputs: Sequence[str],
    inputs: Mapping[str, Any],
    others: Callable[[str, Any], Iterable[Any]],
) -> dict[str, frozenset[str]]:
    """For each output the inputs with which it changes.

    Parameters
    ----------
    answers : callable
        Gives the outputs where the inputs have these values.
    outputs : sequence of str
    inputs : mapping of str to object
        Their present values.
    others : callable
        Gives other values of an input, of its name and its present value.
    """
    found: dict[str, set[str]] = {output: set() for output in outputs}
    before = answers(inputs)
    for name, value in inputs.items():
        for other in others(name, value):
            after = answers({**inputs, name: other})
            for output, one, another in zip(outputs, before, after, strict=True):
                if _differ(one, another):
                    found[output].add(name)
    return {output: frozenset(names) for output, names in found.items()}


def moved_a_little(name: str, value: float) -> list[float]:
    """Another value of a real input, so near that no event is between."""
    return [value + max(1.0, abs(value)) * 2.0**-10]


def _differ(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return False
    return bool(one != other)
