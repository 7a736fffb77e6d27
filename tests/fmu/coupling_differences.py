"""Compares derivatives of co-simulations with differences of whole runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import how_many
import numpy as np
from coupled_oscillators import (
    STARTS,
)

import cosim
from cosim_fmu import CoSimulation

Make = Callable[[Mapping[str, float]], CoSimulation]
UNTIL = 0.3
"""Six exchanges; extrapolation by parabolas starts with the third."""
TWO_STARTS = {name: STARTS[name] for name in ("one.m.k", "one.m.x")}
"""A parameter and a start value."""


def directional_differences(
    make: Make, starts: Mapping[str, float], weights: Mapping[str, float], names: Sequence[str], until: float
) -> Any:
    """The derivatives of signals in a direction, by differences of sixth order between whole runs."""
    step = 2e-2

    def values(moved: float) -> Any:
        changed = {by: starts[by] + weight * moved for by, weight in weights.items()}
        result = make({**starts, **changed}).simulate(until, inside="nothing", record=names)
        return np.array([result[name] for name in names])

    parts = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
    return sum(part * (values(i * step) - values(-i * step)) for i, part in parts.items()) / step


def differences_by(make: Make, by: str, start: float, names: Sequence[str], until: float) -> Any:
    """The derivatives of signals by one start that is not 0, by differences of sixth order."""
    return directional_differences(make, {by: start}, {by: start}, names, until) / start


def small_differences(
    make: Make, starts: Mapping[str, float], by: str, names: Sequence[str], until: float
) -> Any:
    """The derivatives of signals by one start, by differences of fourth order with steps of 1e-4.

    They are small enough that no event moves to another communication step.
    """
    step = 1e-4
    low, lower, upper, high = (
        make({**starts, by: starts[by] + moved}).simulate(until, inside="nothing", record=names)
        for moved in (-2 * step, -step, step, 2 * step)
    )
    return [(8.0 * (upper[n] - lower[n]) - (high[n] - low[n])) / (12.0 * step) for n in names]


def direction_of(starts: Mapping[str, float]) -> dict[str, float]:
    """A direction that moves all starts, by different shares, so that errors do not cancel."""
    return {by: (-0.83) ** i * (abs(start) or 1.0) for i, (by, start) in enumerate(starts.items())}


def directional_derivatives(result: cosim.Result, weights: Mapping[str, float], names: Sequence[str]) -> Any:
    """The derivatives of signals in a direction, from those of a run."""
    return sum(
        weight * np.array([result.derivative(name, by) for name in names]) for by, weight in weights.items()
    )


def check(
    make: Make,
    starts: Mapping[str, float],
    names: Sequence[str],
    largest_difference: float,
    until: float = UNTIL,
) -> cosim.Result:
    """Compare the derivatives of a coupling by `starts` with differences; return the result of the run.

    A short run moves all starts together, the thorough one each of them alone.
    """
    result = make(starts).simulate(until, record=names, derivatives=list(starts))
    weights = direction_of(starts)
    single_directions = [{by: weight} for by, weight in weights.items()] if how_many.FACTOR > 1 else []
    for direction in (weights, *single_directions):
        expected = directional_differences(make, starts, direction, names, until)
        derivatives = directional_derivatives(result, direction, names)
        sizes = np.maximum(1.0, np.abs(expected).max(axis=1))  # signals have different units
        assert (np.abs(derivatives - expected).max(axis=1) / sizes).max() < largest_difference, direction
    return result
