"""The decorator `witness`, and the options by which a witness steers the Step.

An option is declared here alone: its field in `WitnessOptions`, which kernel functions of the Step read as
``run.witness_options[i]``, and the parameter of `witness` of the same name, with its default and its bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cosim.argument_checks import read_seconds
from cosim.component.class_line import class_line
from cosim.component.kernel_function import DIRECTIONS, KernelFunction, plain_function
from cosim.errors import ContractError, ModelError
from cosim.options import options_checked
from cosim_compiler.record import Record


class WitnessOptions(Record):
    """The options of a witness that the Step reads."""

    shortest_pulse: float  # s


@options_checked
def witness(
    function: Callable[..., Any] | None = None,
    *,
    direction: str = "both",
    shortest_pulse: float | str = math.inf,
    when: str = "",
    unless: str = "",
) -> Any:
    """Mark a kernel function that returns a number whose change of sign is an event, or a condition.

    A function that returns true or false is a condition: becoming true is "rising", becoming false
    "falling". NaN means that there is no value now; a finding says so, once in a run.

    Parameters
    ----------
    direction : str
        "rising" (negative to not negative), "falling" (positive to not positive) or "both".
    shortest_pulse : float, s, or str with a unit, > 0
        How long the witness stays on the other side of zero at least, when it goes there and comes back. No
        pulse that long is missed where events are isolated (with an accuracy), whatever the steps.
    when, unless : str, optional
        As of `cosim.kernel`: what has to be true (false) for a component to have this witness.
    """
    if direction not in DIRECTIONS:
        raise ContractError(
            f"{class_line()}: witness: direction '{direction}', needs one of {', '.join(DIRECTIONS)}"
        )
    options = WitnessOptions(shortest_pulse=_positive_seconds(shortest_pulse, "shortest_pulse"))

    def mark(function: Callable[..., Any]) -> KernelFunction:
        return KernelFunction(
            plain_function(function),
            role="witness",
            direction=direction,
            witness_options=options,
            when=when,
            unless=unless,
        )

    return mark if function is None else mark(function)


def _positive_seconds(value: float | str, option: str) -> float:
    """A time in seconds; `ContractError` where it is none, or not above 0."""
    try:
        seconds = read_seconds(value, option)
    except ModelError as error:
        raise ContractError(f"{class_line()}: witness: {error}") from error
    if not seconds > 0.0:
        raise ContractError(f"{class_line()}: witness: {option} is {value} s, needs more than 0")
    return seconds
