"""Three points whose rates change at the ticks of three clocks, and the exact times of their events.

Periods, positions and rates are fractions: points reach limits and each other exactly, turn and rest there.
In a run they are multiples of a unit and of a tick that need not be binary fractions: zero is reached up to
rounding.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cosim

UNTIL = Fraction(2311, 600)
"""The end of a run, in ticks: no clock ticks there, and no point is at a limit."""
PERIODS = [Fraction(*each) for each in ((1, 3), (1, 2), (3, 10), (7, 10), (1, 7), (1, 1), (2, 3), (9, 10))]
DIRECTIONS = ("both", "rising", "falling", "both")
SET, REACHED = "set", "reached"


class Points(cosim.Component):
    """Points at `x`; each witness is a weighted sum of them less a limit, and counts its events in `seen`."""

    x = cosim.auxiliary_state(shape=3)
    rate = cosim.discrete(shape=3)
    turn = cosim.discrete(dtype=int, shape=3)
    rates = cosim.parameter(shape=9, default=(0.0,) * 9)
    shares = cosim.parameter(shape=12, default=(0.0,) * 12)
    limits = cosim.parameter(shape=4, default=(0.0,) * 4)
    seen = cosim.discrete(dtype=int, shape=4)
    first = cosim.parameter(unit="s", default=1.0)
    second = cosim.parameter(unit="s", default=1.0)
    third = cosim.parameter(unit="s", default=1.0)

    @cosim.kernel
    def derivatives(rate, x_dot):
        for i in range(3):
            x_dot[i] = rate[i]

    @cosim.every("first", does="discrete")
    def tick_first(turn, rates, rate_next, turn_next):
        rate_next[0] = rates[turn[0]]
        turn_next[0] = (turn[0] + 1) % 3

    @cosim.every("second", does="discrete")
    def tick_second(turn, rates, rate_next, turn_next):
        rate_next[1] = rates[3 + turn[1]]
        turn_next[1] = (turn[1] + 1) % 3

    @cosim.every("third", does="discrete")
    def tick_third(turn, rates, rate_next, turn_next):
        rate_next[2] = rates[6 + turn[2]]
        turn_next[2] = (turn[2] + 1) % 3

    @cosim.witness(direction="both")
    def w0(x, shares, limits):
        return shares[0] * x[0] + shares[1] * x[1] + shares[2] * x[2] - limits[0]

    @cosim.witness(direction="rising")
    def w1(x, shares, limits):
        return shares[3] * x[0] + shares[4] * x[1] + shares[5] * x[2] - limits[1]

    @cosim.witness(direction="falling")
    def w2(x, shares, limits):
        return shares[6] * x[0] + shares[7] * x[1] + shares[8] * x[2] - limits[2]

    @cosim.witness(direction="both")
    def w3(x, shares, limits):
        return shares[9] * x[0] + shares[10] * x[1] + shares[11] * x[2] - limits[3]

    @cosim.on(w0, does="discrete")
    def see_w0(seen, seen_next):
        seen_next[0] = seen[0] + 1

    @cosim.on(w1, does="discrete")
    def see_w1(seen, seen_next):
        seen_next[1] = seen[1] + 1

    @cosim.on(w2, does="discrete")
    def see_w2(seen, seen_next):
        seen_next[2] = seen[2] + 1

    @cosim.on(w3, does="discrete")
    def see_w3(seen, seen_next):
        seen_next[3] = seen[3] + 1


@dataclass(frozen=True)
class Plan:
    """A system in fractions, in units of length and ticks."""

    periods: list[Fraction]
    rates: list[Fraction]
    x: list[Fraction]
    shares: list[list[Fraction]]
    limits: list[Fraction]
    unit: float
    tick: Fraction

    def events(self) -> dict[str, list[float]]:
        """The times of the events of each witness in a run, s: see "At exactly zero" in docs/witnesses.md.

        The side of a witness is 1 or -1, or at zero `SET` (it started there) or `REACHED`.
        """
        x, rate, turn = list(self.x), [Fraction(0)] * 3, [0] * 3
        next_ticks, t = [Fraction(0)] * 3, Fraction(0)
        times: dict[str, list[float]] = {}
        sides: list[Any] = [sign(value) or SET for value in self.values(x)]
        while t < UNTIL:
            # clocks that tick now switch the rates of their points
            for i in range(3):
                if next_ticks[i] == t:
                    rate[i] = self.rates[3 * i + turn[i]]
                    turn[i] = (turn[i] + 1) % 3
                    next_ticks[i] += self.periods[i]
            slopes = [sum(a * b for a, b in zip(row, rate, strict=True)) for row in self.shares]
            # a witness at zero that moves now leaves zero
            for k, slope in enumerate(slopes):
                if sides[k] in (SET, REACHED) and slope != 0:
                    if sides[k] == SET and triggers(k, sign(slope)):
                        times.setdefault(f"it.w{k}", []).append(float(t * self.tick))
                    sides[k] = sign(slope)
            # points move until the next tick or until the first witness reaches zero
            step = min(*next_ticks, UNTIL) - t
            for value, slope in zip(self.values(x), slopes, strict=True):
                if value * slope < 0:
                    step = min(step, -value / slope)
            t += step
            x = [a + b * step for a, b in zip(x, rate, strict=True)]
            for k, value in enumerate(self.values(x)):
                if value == 0 and sides[k] not in (SET, REACHED):
                    if triggers(k, -sides[k]) and t < UNTIL:
                        times.setdefault(f"it.w{k}", []).append(float(t * self.tick))
                    sides[k] = REACHED
        return times

    def values(self, x: list[Fraction]) -> list[Fraction]:
        """The values of the four witnesses."""
        sums = [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in self.shares]
        return [total - limit for total, limit in zip(sums, self.limits, strict=True)]

    def model(self) -> cosim.Model:
        """A model of this system."""
        periods = [f"{(p * self.tick).numerator}/{(p * self.tick).denominator} s" for p in self.periods]
        model = cosim.Model("points")
        model.add(
            Points,
            "it",
            x=[float(value) * self.unit for value in self.x],
            rates=[float(value) * self.unit / float(self.tick) for value in self.rates],
            shares=[float(value) for row in self.shares for value in row],
            limits=[float(value) * self.unit for value in self.limits],
            first=periods[0],
            second=periods[1],
            third=periods[2],
        )
        return model


def sign(value: Fraction) -> int:
    """1, 0 or -1."""
    return (value > 0) - (value < 0)


def triggers(k: int, side: int) -> bool:
    """Whether a change to this side, 1 or -1, is an event of witness number `k`."""
    return DIRECTIONS[k] == "both" or (DIRECTIONS[k] == "rising") == (side > 0)


def random_plan(seed: int) -> Plan:
    """A random system; most of its limits are where points turn, and periods may be equal or double."""
    draw = random.Random(seed)
    periods = [draw.choice(PERIODS) for _ in range(3)]
    if draw.random() < 0.4:
        periods = [periods[0], periods[0] * draw.choice([1, 2]), periods[0]]
    rates: list[Fraction] = []
    for _ in range(3):
        a = Fraction(draw.choice([1, 2, -1, 1, 3, -2]))
        rates += draw.choice(
            [[a, Fraction(0), -a], [a, -a, Fraction(0)], [2 * a, -a, -a], [Fraction(0), a, -a]]
        )
    x = [Fraction(draw.randint(-2, 2), 2) * period for period in periods]
    shares = [[Fraction(draw.choice([-1, 0, 1])) for _ in range(3)] for _ in range(4)]
    for row in shares:
        if not any(row):
            row[draw.randrange(3)] = Fraction(1)
    limits = [
        sum(
            (
                share
                * (x[i] + draw.choice([Fraction(0), Fraction(1), Fraction(1, 2)]) * periods[i] * rates[3 * i])
                for i, share in enumerate(row)
            ),
            Fraction(0),
        )
        for row in shares
    ]
    unit = draw.choice([1.0, 0.1, 1 / 3, 0.7, 1e-6, 1e5])
    tick = draw.choice([Fraction(1), Fraction(1, 10), Fraction(1, 3), Fraction(7, 10)])
    return Plan(periods, rates, x, shares, limits, unit, tick)
