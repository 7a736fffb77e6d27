"""Equations with a delay, a source and a delay that varies, and the closed form of one of them."""

from __future__ import annotations

import math

import cosim

BY = ["late.delay", "x.gain", "x.y"]
"""The variables of `behind` with a delay, in the order of the derivatives of `late_decay`."""


class Late(cosim.Component):
    """Law: y' = gain past."""

    gain = cosim.parameter(default=-1.0)
    y = cosim.auxiliary_state(start=1.0)
    past = cosim.input()

    @cosim.kernel
    def derivatives(gain, past, y_dot):
        y_dot[0] = gain * past


class Wave(cosim.Component):
    """Law: out = a sin(w t)."""

    a = cosim.parameter(default=1.3)
    w = cosim.parameter(default=4.0)
    out = cosim.output()

    @cosim.kernel
    def calc(t, a, w, out):
        out[0] = a * math.sin(w * t)


class Lag(cosim.Component):
    """Law: y' = 2 t, so y = t^2; lag = c + b t + s z, and z' = the delayed y."""

    c = cosim.parameter(unit="s", default=0.5)
    b = cosim.parameter(default=0.25)
    s = cosim.parameter(unit="s", default=0.0)
    y = cosim.auxiliary_state()
    z = cosim.auxiliary_state()
    past = cosim.input()
    lag = cosim.output(unit="s")

    @cosim.kernel
    def derivatives(t, past, y_dot, z_dot):
        y_dot[0] = 2.0 * t
        z_dot[0] = past

    @cosim.kernel
    def calc(t, c, b, s, z, lag):
        lag[0] = c + b * t + s * z


class Sum(cosim.Component):
    """Law: y' = a + b; `sample` is y at 0.7 s."""

    y = cosim.auxiliary_state()
    sample = cosim.discrete()
    a = cosim.input()
    b = cosim.input()

    @cosim.kernel
    def derivatives(a, b, y_dot):
        y_dot[0] = a + b

    @cosim.every(1.0, offset=0.7, does="discrete")
    @cosim.kernel
    def take_sample(y, sample_next):
        sample_next[0] = y


def behind(
    measure: str, source: str, parts: dict[str, cosim.Component] | None = None, **options
) -> cosim.Model:
    """A model with y' = gain past, part ``x``, where the measure ``late`` gives the past."""
    model = cosim.Model("m")
    for name, part in (parts or {}).items():
        model.add(part, name)
    model.add(Late(), "x")
    model.add(f"measures.{measure}", "late", source=source, **options)
    model.connect("late.value", "x.past")
    return model


def late_decay(t: float, delay: float) -> list[float]:
    """Of y' = g y(t - delay), y = y0 before 0: y and its derivatives by delay, g and y0, at g = -1, y0 = 1.

    y(t) = y0 sum_k (g (t - (k - 1) delay))^k / k!, of all k for which the time in brackets is positive.
    """
    y, by_delay, by_gain, by_start, k = 1.0, 0.0, 0.0, 1.0, 1
    while (time := t - (k - 1) * delay) > 0.0:
        coefficient = (-1.0) ** k / math.factorial(k)
        y += coefficient * time**k
        by_delay -= coefficient * k * (k - 1) * time ** (k - 1)
        by_gain -= coefficient * k * time**k
        by_start += coefficient * time**k
        k += 1
    return [y, by_delay, by_gain, by_start]


def lagging() -> cosim.Model:
    """A delay that is an output of the part that it delays.

    At s = 0: z(T) = ((1 - b) T - c)^3 / (3 (1 - b)).
    """
    model = cosim.Model("m")
    model.add(Lag(), "x")
    model.add("measures.variable_delay", "late", source="x.y", delay="x.lag")
    model.connect("late.value", "x.past")
    return model


def slopes_of_lagging(end: float) -> list[float]:
    """The derivatives of z at the end by c and b, at the values that `Lag` declares."""
    b, c = 0.25, 0.5
    reached = (1.0 - b) * end - c
    by_c = -(reached**2) / (1.0 - b)
    by_b = reached**3 / (3.0 * (1.0 - b) ** 2) - reached**2 * end / (1.0 - b)
    return [by_c, by_b]


def behind_a_step() -> cosim.Model:
    """y = 1 - height (t - start_time - delay) behind a step of height 2 at 0.4 s and a delay of 0.3 s."""
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add(Late(), "x")
    model.add("measures.delay", "late", source="s", delay=0.3)
    model.connect("late.value", "x.past")
    return model


def behind_two_delays(delays: tuple[float, float]) -> cosim.Model:
    """The sum of one step, at 0.4 s, through two delays, ``a`` and ``b``."""
    model = cosim.Model("m")
    model.add("signals.step", "s", start_time=0.4, height=2.0)
    model.add(Sum(), "x")
    for name, delay in zip("ab", delays, strict=True):
        model.add("measures.delay", name, source="s", delay=delay)
        model.connect(f"{name}.value", f"x.{name}")
    return model
