"""Random witnesses of time with known zeros, and the comparison of these with the events of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from kernel_parts import system_of
from scipy.optimize import brentq

import cosim

TERMS = 4
FAMILIES = ("sinusoids", "bumps", "polynomial", "all")
FINE = 40_001
"""The number of times at which signs are compared to find the zeros."""
CLOSE = 1e-4
"""Zeros that are closer to each other than this are not counted, s."""
LATE = 1e-7
"""An event that comes later than this after its zero is late, s: ten windows at the accuracy of the runs."""


def signal_value(t, amplitudes, frequencies, phases, heights, middles, widths, roots, scale, offset):
    """A sum of sinusoids and bumps, and a polynomial with `roots`."""
    value = offset
    product = scale
    for i in range(TERMS):
        value += amplitudes[i] * math.sin(frequencies[i] * t + phases[i])
        away = (t - middles[i]) / widths[i]
        value += heights[i] * math.exp(-away * away)
        product *= t - roots[i]
    return value + product


def count_event(seen, seen_next):
    seen_next[0] = seen + 1


class Signal(cosim.Component):
    """A sum of sinusoids, bumps and a polynomial over one second; its slow state allows long steps."""

    x = cosim.auxiliary_state(start=1.0)
    amplitudes = cosim.parameter(unit="1", shape=TERMS, default=(0.0,) * TERMS)
    frequencies = cosim.parameter(unit="rad/s", shape=TERMS, default=(0.0,) * TERMS)
    phases = cosim.parameter(unit="rad", shape=TERMS, default=(0.0,) * TERMS)
    heights = cosim.parameter(unit="1", shape=TERMS, default=(0.0,) * TERMS)
    middles = cosim.parameter(unit="s", shape=TERMS, default=(0.0,) * TERMS)
    widths = cosim.parameter(unit="s", shape=TERMS, default=(1.0,) * TERMS)
    roots = cosim.parameter(unit="1", shape=TERMS, default=(0.0,) * TERMS)
    scale = cosim.parameter(unit="1", default=0.0)
    offset = cosim.parameter(unit="1", default=0.0)
    seen = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.001 * x

    signal = cosim.witness(signal_value)
    count = cosim.on(signal, does="discrete")(count_event)


class SignalWithRate(Signal):
    """A signal that declares its rate."""

    signal = cosim.witness(signal_value)
    count = cosim.on(signal, does="discrete")(count_event)

    @signal.rate
    def signal_rate(t, amplitudes, frequencies, phases, heights, middles, widths, roots, scale):
        rate = 0.0
        product = scale
        slope = 0.0
        for i in range(TERMS):
            rate += amplitudes[i] * frequencies[i] * math.cos(frequencies[i] * t + phases[i])
            away = (t - middles[i]) / widths[i]
            rate -= heights[i] * math.exp(-away * away) * 2.0 * away / widths[i]
            slope = slope * (t - roots[i]) + product
            product *= t - roots[i]
        return rate + slope


Values = dict[str, np.ndarray]


def random_values(family: str, rng: np.random.Generator, fastest: float, narrowest: float) -> Values:
    """Random parameters of a signal of a family.

    Parameters
    ----------
    fastest : float, Hz
        The bound of the frequencies.
    narrowest : float, s
        The bound of the widths of bumps.
    """
    values = {name: np.zeros(TERMS) for name in ("amplitudes", "frequencies", "phases", "heights", "middles")}
    values |= {"roots": np.zeros(TERMS), "widths": np.ones(TERMS), "scale": np.zeros(1)}
    values["offset"] = rng.normal(scale=0.3, size=1)
    if family in ("sinusoids", "all"):
        n = rng.integers(1, 4)
        values["amplitudes"][:n] = rng.uniform(0.2, 1.0, n)
        values["frequencies"][:n] = 2 * np.pi * np.exp(rng.uniform(np.log(0.2), np.log(fastest), n))
        values["phases"][:n] = rng.uniform(0, 2 * np.pi, n)
    if family in ("bumps", "all"):
        n = rng.integers(1, 5)
        values["heights"][:n] = rng.choice([-1, 1], n) * rng.uniform(0.3, 1.5, n)
        values["middles"][:n] = rng.uniform(0, 1, n)
        values["widths"][:n] = np.exp(rng.uniform(np.log(narrowest), np.log(0.3), n))
    if family in ("polynomial", "all"):
        values["roots"] = rng.uniform(-0.2, 1.2, TERMS)
        values["scale"] = rng.choice([-1, 1], 1) * 10 ** rng.uniform(-1, 2, 1)
        if family == "polynomial" and rng.random() < 0.5:
            values["offset"] *= 0.0
    return values


def at(values: Values, t: np.ndarray) -> np.ndarray:
    """The value of the signal at times, by NumPy."""
    t = np.asarray(t, dtype=float)[..., None]
    waves = values["amplitudes"] * np.sin(values["frequencies"] * t + values["phases"])
    bumps = values["heights"] * np.exp(-(((t - values["middles"]) / values["widths"]) ** 2))
    return values["offset"][0] + (waves + bumps).sum(-1) + values["scale"][0] * (t - values["roots"]).prod(-1)


def zeros(values: Values) -> np.ndarray:
    """The times at which the signal changes its sign in the first second."""
    t = np.linspace(0.0, 1.0, FINE)
    v = at(values, t)
    before_zeros = np.flatnonzero(v[:-1] * v[1:] < 0.0)
    brackets = [(t[i], t[i + 1]) for i in before_zeros]
    return np.array([brentq(lambda x: float(at(values, x)), *bracket, xtol=1e-14) for bracket in brackets])


@dataclass
class Tally:
    """Counts over many signals.

    Attributes
    ----------
    signals, zeros : int
        Signals, and their zeros that are not too close to others.
    missed, doubled, late : int
        Zeros without an event, with several, or with a late one.
    incomplete : int
        Signals with a missed zero.
    """

    signals: int = 0
    zeros: int = 0
    missed: int = 0
    doubled: int = 0
    late: int = 0
    incomplete: int = 0

    def count(self, zeros: np.ndarray, events: np.ndarray) -> None:
        """Compare the zeros that are not close to others with the times of the events."""
        gaps = np.diff(zeros, prepend=-np.inf, append=np.inf)
        alone = zeros[(gaps[:-1] > CLOSE) & (gaps[1:] > CLOSE) & (zeros > 1e-6) & (zeros < 1.0 - 1e-6)]
        near = [np.abs(events - zero) < 0.4 * CLOSE for zero in alone]
        missed_before = self.missed
        self.signals += 1
        self.zeros += len(alone)
        self.missed += sum(not is_near.any() for is_near in near)
        self.doubled += sum(bool(is_near.sum() > 1) for is_near in near)
        self.late += sum(
            bool(is_near.sum() == 1 and not -1e-9 <= float(events[is_near][0] - zero) < LATE)
            for is_near, zero in zip(near, alone, strict=True)
        )
        self.incomplete += self.missed > missed_before


def tally(
    component: type[Signal],
    family: str,
    numbers: range,
    how: dict[str, Any],
    fastest: float = 60.0,
    narrowest: float = 0.01,
) -> Tally:
    """Run signals of a family with these seeds for a second, with the options `how` of the Simulator."""
    system, result = system_of(part=component()), Tally()
    for number in numbers:
        values = random_values(
            family, np.random.default_rng([number, FAMILIES.index(family)]), fastest, narrowest
        )
        state = system.default_state()
        for name, value in values.items():
            state[f"part.{name}"] = value if value.size > 1 else float(value[0])
        simulator = cosim.Simulator(system, state, **how)
        simulator.advance_to(1.0)
        events = np.array([e.time for e in simulator.events if e.time > 0.0])
        result.count(zeros(values), events)
    return result
