"""Numbers that follow from a run, with how they change with its recorded signals.

An objective is a function of a `Result` that returns a number and its cotangents: by the paths of signals how
it changes with each of their recorded values, in their shape. You may write one of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosim.errors import LookUpError
from cosim.simulation.result import Result, names_of
from cosim_compiler import native
from cosim_compiler.derivatives.tape_ends import HEAD, clear_tape
from cosim_compiler.errors import FullTapeError

REDUCTION_SIGNATURE = "FF>f"
Reals = NDArray[np.float64]
Objective = Callable[[Result], tuple[float, dict[str, Reals]]]


def end_value(path: str) -> Objective:
    """The last recorded value of a signal, which is one number.

    Examples
    --------
    >>> import numpy, cosim
    >>> run = cosim.Result(numpy.array([0.0, 1.0]), {"x": numpy.array([3.0, 5.0])})
    >>> end_value("x")(run)
    (5.0, {'x': array([0., 1.])})
    """

    def evaluate(result: Result) -> tuple[float, dict[str, Reals]]:
        values = numbers_of(result, path)
        weights = np.zeros_like(values)
        weights[-1] = 1.0
        return float(values[-1]), {path: weights}

    return evaluate


def integral(path: str) -> Objective:
    """The integral of a signal over the recorded times, by the trapezoidal rule.

    Examples
    --------
    >>> import numpy, cosim
    >>> run = cosim.Result(numpy.array([0.0, 1.0, 3.0]), {"x": numpy.array([0.0, 2.0, 4.0])})
    >>> integral("x")(run)
    (7.0, {'x': array([0.5, 1.5, 1. ])})
    """

    def evaluate(result: Result) -> tuple[float, dict[str, Reals]]:
        values = numbers_of(result, path)
        weights = widths_of(result)
        return float(weights @ values), {path: weights}

    return evaluate


def integral_of_square(path: str, target: ArrayLike | Callable[[Reals], ArrayLike] = 0.0) -> Objective:
    """The integral of the square of a signal minus a target, over the recorded times.

    Parameters
    ----------
    path : str
        Of a signal that is one number.
    target : float, array_like or callable
        A number, one for each recorded time, or a function of the times.

    Examples
    --------
    >>> import numpy, cosim
    >>> run = cosim.Result(numpy.array([0.0, 1.0]), {"x": numpy.array([3.0, 5.0])})
    >>> integral_of_square("x", 1.0)(run)
    (10.0, {'x': array([2., 4.])})
    """

    def evaluate(result: Result) -> tuple[float, dict[str, Reals]]:
        target_values = target(result.time) if callable(target) else target
        deviation = numbers_of(result, path) - np.asarray(target_values, dtype=float)
        weights = widths_of(result)
        return float(weights @ deviation**2), {path: 2.0 * weights * deviation}

    return evaluate


def reduced_by(function: Any, paths: Sequence[str]) -> Objective:
    """The objective that a kernel function of *(times, values)* computes; its adjoint is the gradient.

    Parameters
    ----------
    function : function
        Takes the recorded times, and the values of one signal behind those of another; returns a number.
    paths : sequence of str
        Of signals that are one number each.

    Raises
    ------
    NoTangentError, ContractError
        The function has no adjoint.

    Examples
    --------
    >>> import numpy, cosim
    >>> def largest(times, values):
    ...     found = values[0]
    ...     for i in range(len(values)):
    ...         found = max(found, values[i])
    ...     return found
    >>> run = cosim.Result(numpy.array([0.0, 1.0, 2.0]), {"x": numpy.array([3.0, 5.0, 4.0])})
    >>> reduced_by(largest, ["x"])(run)
    (5.0, {'x': array([0., 1., 0.])})
    """
    from cosim_compiler.derivatives.adjoints import adjoint_function  # a run without gradients needs none

    adjoint = adjoint_function(function, REDUCTION_SIGNATURE, frozenset({0}))
    record = native.compile_function(adjoint.record, adjoint.record_signature)
    reverse = native.compile_function(adjoint.reverse, adjoint.reverse_signature)

    def evaluate(result: Result) -> tuple[float, dict[str, Reals]]:
        values = np.concatenate([numbers_of(result, path) for path in paths])
        direction = np.random.default_rng(0).uniform(0.5, 1.5, values.size)
        tape = np.zeros(HEAD + 100 * (1 + values.size))
        while True:
            clear_tape(tape)
            try:
                value = float(record(result.time, values.copy(), direction.copy(), 0, tape, np.zeros(1)))
                break
            except FullTapeError:
                tape = np.zeros(4 * tape.size)
        root = np.zeros_like(values)
        reverse(root, 1.0, tape)
        return value, dict(zip(paths, np.split(root, len(paths)), strict=True))

    return evaluate


def numbers_of(result: Result, path: str) -> Reals:
    """A recorded signal that is one number at each time; `ValueError` where it has several."""
    values: Reals = np.asarray(result.signals[recorded_name(result, path)], dtype=float)
    if values.ndim != 1:
        raise ValueError(f"{path} has {values[0].size} values at each time: name an element, {path}[0]")
    return values


def recorded_name(result: Result, name: str) -> str:
    """The name under which a signal is recorded; raises `LookUpError` where it is not."""
    for candidate in names_of(name):
        if candidate in result.signals:
            return candidate
    raise LookUpError("signal", name, result.signals)


def widths_of(result: Result) -> Reals:
    """The weights of the trapezoidal rule at the recorded times."""
    half = 0.5 * np.diff(result.time)
    weights = np.zeros(len(result))
    weights[:-1] += half
    weights[1:] += half
    return weights


def value_of(objective: Any, result: Result) -> tuple[float, dict[str, Reals]]:
    """An objective of a run, checked; text is the path of a signal, for its end value."""
    value, cotangents = (end_value(objective) if isinstance(objective, str) else objective)(result)
    checked = {}
    for name, weights in cotangents.items():
        path = recorded_name(result, name)
        array = np.asarray(weights, dtype=float)
        if array.shape != result[path].shape:
            raise ValueError(
                f"the cotangents of {path} have the shape {array.shape}, but its values {result[path].shape}"
            )
        checked[path] = array
    return float(value), checked
