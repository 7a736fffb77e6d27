"""Sources of delays of all kinds, each with its exact value as a function of time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import cosim

Reals = NDArray[np.float64]
DELAY, UNTIL = 0.7, 6.0
JUMP = 1.23456


class Polynomial(cosim.Component):
    """An output that is a polynomial in time."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        s = t / 6.0
        y[0] = 1.0 + s * (2.0 - s * (3.0 - s * (1.0 + s * s)))


class Sine(cosim.Component):
    """An output sin 6 t without a state and without a derivative."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        y[0] = math.sin(6.0 * t)


class Chirp(cosim.Component):
    """An output whose frequency grows to 40 rad/s."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        y[0] = math.sin(t * (1.0 + 3.0 * t))


class Lookup(cosim.Component):
    """A piecewise linear table: a kink every 0.35 s."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        place = t / 0.35
        index = math.floor(place)
        low = math.sin(2.0 * index)
        high = math.sin(2.0 * (index + 1.0))
        y[0] = low + (place - index) * (high - low)


class Square(cosim.Component):
    """An output with feedthrough: the square of the input less a half."""

    u = cosim.input()
    y = cosim.output()

    @cosim.kernel
    def outputs(u, y):
        y[0] = u * u - 0.5


class Oscillator(cosim.Component):
    """A state sin 3 t."""

    x = cosim.auxiliary_state()
    v = cosim.auxiliary_state(start=3.0)

    @cosim.kernel
    def derivatives(x, v, x_dot, v_dot):
        x_dot[0] = v
        v_dot[0] = -9.0 * x


class SlowState(cosim.Component):
    """A state that decays slowly and is coupled to nothing."""

    x = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.01 * x


class Jumping(cosim.Component):
    """An output that jumps at `JUMP` without an event."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        y[0] = 0.25 + 0.5 * t if t < 1.23456 else -1.0


class Ending(cosim.Component):
    """An output that is NaN at most times."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        y[0] = t if abs(4.0 * t - math.floor(4.0 * t + 0.5)) < 0.2 else math.nan


def sine(t: Reals) -> Reals:
    return np.sin(6.0 * t)


def table(t: Reals) -> Reals:
    index = np.floor(t / 0.35)
    return np.sin(2.0 * index) + (t / 0.35 - index) * (np.sin(2.0 * index + 2.0) - np.sin(2.0 * index))


def polynomial(t: Reals) -> Reals:
    s = t / 6.0
    return 1.0 + s * (2.0 - s * (3.0 - s * (1.0 + s * s)))


def chained(t: Reals) -> Reals:
    return (sine(t) ** 2 - 0.5) ** 2 - 0.5


@dataclass(frozen=True)
class Source:
    """A source as the table of the documentation names it.

    Attributes
    ----------
    name : str
    build : callable
        Adds the parts to a model and returns the path of the source.
    exact : callable
        Its values at times from 0 on.
    finding : str
        Kind of the finding that is reported in place of the promised accuracy.
    avoid : tuple of float
        Times around which nothing is promised, s.
    """

    name: str
    build: Callable[[cosim.Model], str]
    exact: Callable[[Reals], Reals]
    finding: str = ""
    avoid: tuple[float, ...] = field(default=())


def one_part(cls: type) -> Callable[[cosim.Model], str]:
    """Return a function that adds this component, whose output y is the source."""

    def build(model: cosim.Model) -> str:
        model.add(cls, "source")
        return "source.y"

    return build


def chain(model: cosim.Model) -> str:
    """Add a sinusoid through two parts with feedthrough, beside a state."""
    for name, part in (("wave", Sine), ("first", Square), ("source", Square), ("slow_state", SlowState)):
        model.add(part, name)
    model.connect("wave.y", "first.u")
    model.connect("first.y", "source.u")
    return "source.y"


def state(model: cosim.Model) -> str:
    """Add an oscillator, whose state is the source."""
    model.add(Oscillator, "oscillator")
    return "oscillator.x"


def function_of_state(model: cosim.Model) -> str:
    """Add an oscillator and the square of its state."""
    model.add(Oscillator, "oscillator")
    model.add(Square, "source")
    model.connect("oscillator.x", "source.u")
    return "source.y"


def delayed(source: Callable[[cosim.Model], str]) -> Callable[[cosim.Model], str]:
    """Return a function that adds a source and a first delay, of 0.3 s."""

    def build(model: cosim.Model) -> str:
        model.add("measures.delay", "first_delay", source=source(model), delay=0.3)
        return "first_delay"

    return build


def measure(model: cosim.Model) -> str:
    """Add the measure of a sinusoid, which has derivatives."""
    model.add("measures.sinusoid", "source", amplitude=1.0, frequency=6.0)
    return "source"


def late(exact: Callable[[Reals], Reals], delay: float) -> Callable[[Reals], Reals]:
    """Return the same course some time later; it is constant before."""
    return lambda t: exact(np.maximum(t - delay, 0.0))


SOURCES = [
    Source("polynomial", one_part(Polynomial), polynomial),
    Source("sinusoid", one_part(Sine), sine),
    Source("sinusoid with derivatives", measure, sine),
    Source("chirp", one_part(Chirp), lambda t: np.sin(t * (1.0 + 3.0 * t))),
    Source("table with kinks", one_part(Lookup), table),
    Source("chain with feedthrough", chain, chained),
    Source("state", state, lambda t: np.sin(3.0 * t)),
    Source("function of a state", function_of_state, lambda t: np.sin(3.0 * t) ** 2 - 0.5),
    Source("delayed sinusoid", delayed(one_part(Sine)), late(sine, 0.3)),
    Source("delayed state", delayed(state), late(lambda t: np.sin(3.0 * t), 0.3)),
    Source(
        "jumping",
        one_part(Jumping),
        lambda t: np.where(t < JUMP, 0.25 + 0.5 * t, -1.0),
        "not smooth",
        (JUMP,),
    ),
]
ENDING = Source("without values between", one_part(Ending), lambda t: t, "not known inside steps")


def run(source: Source, integrator: str, accuracy: float, **options: object) -> tuple[float, cosim.Result]:
    """Return the largest error of the delayed signal at 2000 recorded times, and the result."""
    model = cosim.Model("delayed")
    path = source.build(model)
    model.add("measures.delay", "late", source=path, delay=DELAY, **options)
    settings = {"integrator": f"integrators.{integrator}", "accuracy": accuracy}
    result = model.simulate(until=UNTIL, output_interval=UNTIL / 1999, **settings)
    error = np.abs(result["late"] - late(source.exact, DELAY)(result.time))
    for time in source.avoid:
        error[np.abs(result.time - time - DELAY) < 1e-3] = 0.0
    return float(np.nanmax(error)), result
