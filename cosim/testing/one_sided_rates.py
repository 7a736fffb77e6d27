"""The rates of a quantity along a motion, at kinks on either side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

CENTRAL = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))
"""Places and weights of a central difference of fourth order."""
FORWARD = ((0.0, -25.0 / 12.0), (1.0, 4.0), (2.0, -3.0), (3.0, 4.0 / 3.0), (4.0, -0.25))
"""Of one on one side."""
ROUNDING = 4e-15
SMALLER = 0.25
SIZES = 5
AGREE = 1e-4
"""Differences of two sizes on one side agree within this part of their size: no kink lies between."""


def possible_rates(quantity: Callable[[float], float], step: float) -> Iterator[tuple[float, float, float]]:
    """The possible rates of a quantity at time 0: from, to, and the noise of both.

    First the central difference, which is right where the quantity is smooth. Where that is not what is
    expected (the caller asks on), left and right differences at two sizes show whether a kink lies there:
    those that agree on their side are the rates there, and at a kink any rate between both will do. A
    difference across a kink counts for nothing. Nothing more comes where no side is smooth at any size.

    Parameters
    ----------
    quantity : callable
        At a time, s, before or after.
    step : float
        Of the differences, s.

    Examples
    --------
    >>> [(low, high) for low, high, _ in possible_rates(lambda t: abs(t), 0.5)][-1]
    (-1.0, 1.0)
    """
    rate, largest = _difference(quantity, CENTRAL, step)
    yield rate, rate, ROUNDING * largest / step
    former_rates: dict[float, float] = {}
    for i in range(SIZES):
        size = step * SMALLER**i
        rates, noise = {}, 0.0
        for side in (-1.0, 1.0):
            rate, largest = _difference(quantity, FORWARD, side * size)
            rounding = 10.0 * ROUNDING * largest / size
            former = former_rates.get(side)
            former_rates[side] = rate
            if former is None:
                continue
            change = abs(rate - former)
            if change <= AGREE * max(abs(rate), abs(former)) + rounding:
                rates[side] = rate
                noise = max(noise, change + rounding)
        if rates:
            yield min(rates.values()), max(rates.values()), noise


def is_possible_rate(
    claimed: float, quantity: Callable[[float], float], step: float, tolerance: float
) -> bool:
    """Whether a rate that is claimed is one of the `possible_rates`, or nothing is smooth there.

    Parameters
    ----------
    claimed : float
    quantity, step
        As for `possible_rates`.
    tolerance : float
        Absolute.

    Examples
    --------
    >>> [is_possible_rate(rate, lambda t: max(t, 0.0), 0.5, 1e-9) for rate in (0.0, 1.0, 2.0)]
    [True, True, False]
    """
    first, *sides = possible_rates(quantity, step)
    return (
        any(
            low - tolerance - noise <= claimed <= high + tolerance + noise
            for low, high, noise in [first, *sides]
        )
        or not sides
    )


def _difference(
    quantity: Callable[[float], float], stencil: tuple[tuple[float, float], ...], step: float
) -> tuple[float, float]:
    """The rate by one stencil, and the largest value in it."""
    total = largest = 0.0
    for place, weight in stencil:
        value = quantity(place * step)
        total += weight * value
        largest = max(largest, abs(value)) if math.isfinite(value) else math.inf
    return total / step, largest
