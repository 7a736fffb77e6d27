"""A level that decays, and measured data of it: what calibrations fit."""

import numpy as np

import cosim


class Decay(cosim.Component):
    """Decays at a constant rate; a second number has no effect."""

    level = cosim.auxiliary_state(unit="m", start=1.0)
    rate = cosim.parameter(unit="1/s", default=1.0)
    gain = cosim.parameter(unit="1", default=1.0)
    idle = cosim.parameter(unit="1", default=1.0)
    shown = cosim.output(unit="m")

    @cosim.kernel
    def derivatives(level, rate, level_dot):
        level_dot[0] = -rate * level

    @cosim.kernel
    def show(level, gain, shown):
        shown[0] = gain * level


class Product(Decay):
    """Shows the product of two numbers and the level."""

    @cosim.kernel
    def show(level, gain, idle, shown):
        shown[0] = gain * idle * level


def decay_model():
    """A model with a `Decay`."""
    model = cosim.Model("decay")
    model.add(Decay, "decay")
    return model


def measured(times, noise, seed, rate=2.5, gain=1.7, unit="m"):
    """Data of `Decay.shown` in the column ``seen``, with normal noise of this deviation, m."""
    values = gain * np.exp(-rate * times) + np.random.default_rng(seed).normal(0.0, noise, len(times))
    scale = 1000.0 if unit == "mm" else 1.0
    return cosim.Result(times, {"seen": scale * values}, {"seen": unit})


RANGES = {"decay.rate": "0.1 1/s..10 1/s", "decay.gain": (0.1, 10.0)}
"""Of the parameters that `measured` has values for."""


EVEN = np.linspace(0.0, 2.0, 81)
"""Evenly spaced times, s."""
