"""The reduction of a run to a number, from signals over time."""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cosim import LookUpError, ModelError, System
from cosim.kit import check_rules, run_source, unit_product
from cosim_ensembles.quantile import quantile_of

CALL = re.compile(r"^\s*(?P<name>\w+)\s*\(\s*(?P<signal>[^(),]+?)\s*(?:,\s*(?P<number>[^(),]+?)\s*)?\)\s*$")
Spec = str | Callable[..., float] | Sequence[Any]


def last(times, values):
    """The value at the end of the run."""
    return values[len(values) - 1]


def first(times, values):
    """The value at its start."""
    return values[0]


def maximum(times, values):
    """The largest value; NaN where one is NaN."""
    largest = values[0]
    for i in range(len(values)):
        if values[i] > largest or values[i] != values[i]:
            largest = values[i]
    return largest


def minimum(times, values):
    """The smallest value; NaN where one is NaN."""
    smallest = values[0]
    for i in range(len(values)):
        if values[i] < smallest or values[i] != values[i]:
            smallest = values[i]
    return smallest


def span(times, values):
    """The largest value less the smallest."""
    return maximum(times, values) - minimum(times, values)


def integral(times, values):
    """The integral over the run, by trapezia."""
    total = 0.0
    for i in range(1, len(values)):
        total += 0.5 * (times[i] - times[i - 1]) * (values[i] + values[i - 1])
    return total


def mean(times, values):
    """The mean over time, by trapezia."""
    duration = times[len(times) - 1] - times[0]
    return integral(times, values) / duration if duration > 0.0 else values[0]


def rms(times, values):
    """The root of the mean square over time, by trapezia of the squares."""
    total = 0.0
    for i in range(1, len(values)):
        squares = values[i] * values[i] + values[i - 1] * values[i - 1]
        total += 0.5 * (times[i] - times[i - 1]) * squares
    duration = times[len(times) - 1] - times[0]
    return math.sqrt(total / duration) if duration > 0.0 else abs(values[0])


KNOWN: dict[str, Callable[..., float]] = {
    **{"last": last, "first": first, "max": maximum, "min": minimum, "mean": mean, "rms": rms},
    **{"span": span, "integral": integral},
}
QUANTILE = "quantile"


@dataclass(frozen=True)
class Reduction:
    """A number for each run.

    Attributes
    ----------
    name : str
    function : function
        A kernel function *(times, values)*; `values` has one signal behind the other.
    columns : tuple of int
        Which recorded values it reads.
    unit : str
        "1" for functions of the user.
    """

    name: str
    function: Callable[..., float]
    columns: tuple[int, ...]
    unit: str = "1"


def read_reductions(system: System, reduce: Sequence[Spec] | Mapping[str, Spec]) -> tuple[list[str], Any]:
    """The signals that reductions read, and a function that makes the reductions from their columns.

    Parameters
    ----------
    system : System
    reduce : sequence or mapping
        ``"max(engine.z)"`` (also last, first, min, mean, rms, span, integral),
        ``"quantile(engine.z, 0.95)"``, or a function with its signals:
        ``(overshoot, "engine.z")``. Of a mapping the keys are the names.

    Raises
    ------
    ModelError, LookUpError
        It is none of these; no such signal or reduction, with the nearest.
    """
    named = reduce.items() if isinstance(reduce, Mapping) else [(None, spec) for spec in reduce]
    read: list[tuple[str, Callable[..., float], list[str], Any]] = []
    for name, item in named:
        spec: Any = item
        function, listed = named_reduction(name or str(spec), spec)
        if name is None:
            name = spec.replace(" ", "") if isinstance(spec, str) else spec[0].__name__
        read.append((name, function, listed, spec))
    names = [item[0] for item in read]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError.of("reduce", f"two are called '{twice}': give a dictionary with names")
    paths = list(dict.fromkeys(path for _, _, listed, _ in read for path in listed))
    for path in paths:
        if system.signal(path).slot.size != 1:
            raise ModelError.of(
                "reduce", f"{path} has {system.signal(path).slot.size} elements: name one, {path}[0]"
            )

    def reductions_of(columns: Sequence[str]) -> list[Reduction]:
        return [
            Reduction(
                name,
                function,
                tuple(columns.index(path) for path in listed),
                unit_of_reduction(spec, system.signal(listed[0]).units[0]),
            )
            for name, function, listed, spec in read
        ]

    return paths, reductions_of


def named_reduction(name: str, spec: Any) -> tuple[Callable[..., float], list[str]]:
    """The function of a reduction (times, all its signals one behind the other), and these signals."""
    if isinstance(spec, str):
        function, path = _of_text(spec)
        return function, [path]
    user_function, paths = _of_function(name, spec)
    return _adapted(user_function, len(paths)), paths


def unit_of_reduction(spec: Spec, unit: str) -> str:
    """The unit of a reduction of a signal with this unit; "1" for functions of the user.

    Examples
    --------
    >>> unit_of_reduction("max(engine.z)", "m"), unit_of_reduction("integral(pump.power)", "W")
    ('m', 'N.m')
    """
    if not isinstance(spec, str):
        return "1"
    call = CALL.match(spec)
    return unit_product((unit, "s")) if call is not None and call["name"] == "integral" else unit


def _of_text(text: str) -> tuple[Callable[..., float], str]:
    call = CALL.match(text)
    if call is None:
        raise ModelError.of("reduce", f"'{text}' is not a reduction of a signal: write \"max(engine.z)\"")
    name, number = call["name"], call["number"]
    if name == QUANTILE:
        try:
            share = float(number)
        except (TypeError, ValueError):
            share = math.nan
        if not 0.0 <= share <= 1.0:
            raise ModelError.of("reduce", f"'{text}' needs a share from 0 to 1: \"quantile(engine.z, 0.95)\"")
        return quantile_of(share), call["signal"]
    if name not in KNOWN:
        raise LookUpError("reduction", name, [*KNOWN, QUANTILE])
    if number is not None:
        raise ModelError.of("reduce", f"'{text}': {name} takes a signal alone")
    return KNOWN[name], call["signal"]


def _of_function(name: str, spec: Any) -> tuple[types.FunctionType, list[str]]:
    if not isinstance(spec, (tuple, list)) or len(spec) < 2 or not isinstance(spec[0], types.FunctionType):
        raise ModelError.of(
            "reduce", f'{name}: an own reduction is a function with its signals: (overshoot, "engine.z")'
        )
    function, paths = spec[0], [str(path) for path in spec[1:]]
    check_rules(function)
    count = function.__code__.co_argcount
    if count != 1 + len(paths):
        raise ModelError.of(
            "reduce",
            f"{name}: {function.__name__} takes {count} arguments, needs {1 + len(paths)}: the times, and "
            "the values of each signal",
        )
    return function, paths


def _adapted(function: types.FunctionType, signals: int) -> types.FunctionType:
    """The function with all its signals in one array; written out, since nothing else can be compiled."""
    if signals == 1:
        return function
    parts = ", ".join(f"values[{i} * n : {i + 1} * n]" for i in range(signals))
    source = f"def reduction(times, values):\n    n = len(times)\n    return function(times, {parts})\n"
    namespace: dict[str, Any] = {"function": function, "__name__": __name__}
    run_source(source, namespace, f"reduction {function.__name__}")
    reduction: types.FunctionType = namespace["reduction"]
    return reduction
