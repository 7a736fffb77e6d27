"""Reference solutions in extended precision: the midpoint rule extrapolated in decimal arithmetic.

Its coefficients are rational numbers, so nothing is limited by printed digits. With 40 digits, twelve columns
(order 24) and steps so short that halving them changes nothing printed, the error is rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, getcontext

Number = Decimal
Law = Callable[[Sequence[Number]], Sequence[Number]]

DIGITS = 40
COLUMNS = 12


def midpoint(law: Law, y: Sequence[Number], step: Number, parts: int) -> list[Number]:
    """Gragg's modified midpoint rule, with smoothing; its error has even powers of the step alone."""
    h = step / parts
    before, now = list(y), [a + h * b for a, b in zip(y, law(y), strict=True)]
    for _ in range(parts - 1):
        before, now = now, [a + 2 * h * b for a, b in zip(before, law(now), strict=True)]
    return [(a + b + h * c) / 2 for a, b, c in zip(before, now, law(now), strict=True)]


def macro_step(law: Law, y: Sequence[Number], step: Number) -> list[Number]:
    """Aitken and Neville's scheme over the even numbers of parts."""
    table: list[list[Number]] = []
    for i in range(COLUMNS):
        row = [midpoint(law, y, step, 2 * (i + 1))]
        for j in range(i):
            ratio = Decimal(i + 1) / Decimal(i - j)
            weight = ratio * ratio - 1
            row.append([a + (a - b) / weight for a, b in zip(row[j], table[j], strict=True)])
        table = row
    return table[-1]


def solve(law: Law, start: Sequence[float | str], until: float | str, steps: int) -> list[float]:
    """The solution of the autonomous law at `until`."""
    getcontext().prec = DIGITS
    y = [Decimal(value) for value in start]
    step = Decimal(until) / steps
    for _ in range(steps):
        y = macro_step(law, y, step)
    return [float(value) for value in y]
