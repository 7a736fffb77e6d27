"""Numbers that follow from a run, with how they change with its recorded signals.

An objective is a function of a `Result` that returns a number and its cotangents: by the paths of signals how
it changes with each of their recorded values, in their shape. You may write one of your own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosim.errors import LookUpError
from cosim.simulation.result import Result

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
        wanted = target(result.time) if callable(target) else target
        deviation = numbers_of(result, path) - np.asarray(wanted, dtype=float)
        weights = widths_of(result)
        return float(weights @ deviation**2), {path: 2.0 * weights * deviation}

    return evaluate


def numbers_of(result: Result, path: str) -> Reals:
    """A recorded signal that is one number at each time; `ValueError` where it has several."""
    if path not in result.signals:
        raise LookUpError("signal", path, result.signals)
    values: Reals = np.asarray(result[path], dtype=float)
    if values.ndim != 1:
        raise ValueError(f"{path} has {values[0].size} values at each time: name an element, {path}[0]")
    return values


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
    for path, weights in cotangents.items():
        if path not in result.signals:
            raise LookUpError("signal", path, result.signals)
        array = np.asarray(weights, dtype=float)
        if array.shape != result[path].shape:
            raise ValueError(
                f"the cotangents of {path} have the shape {array.shape}, but its values {result[path].shape}"
            )
        checked[path] = array
    return float(value), checked
