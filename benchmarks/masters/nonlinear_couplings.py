"""Couplings that are far from linear: oscillators, chaos, chemistry, gravity, an algebraic loop, a diode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim import kit

Vector = NDArray[np.float64]
Equations = Callable[[Vector, Vector], Sequence[float]]
"""A function of states and inputs."""


class EquationParticipant(cosim.Participant):
    """x' = f(x, u), y = g(x, u) by the classical Runge-Kutta method; inputs run along lines.

    Parameters
    ----------
    rates, output_values : callable
        f and g.
    inputs, outputs : str
        Names, with blanks between them.
    start : sequence of float
    direct : str
        Inputs on which all outputs depend at the same instant.
    inner_steps : int
        Steps of the method in a communication step.
    """

    def __init__(
        self,
        rates: Equations,
        output_values: Equations,
        inputs: str,
        outputs: str,
        start: Sequence[float],
        direct: str = "",
        inner_steps: int = 4,
    ) -> None:
        self.rates, self.output_values, self.start, self.inner_steps = (
            rates,
            output_values,
            list(start),
            inner_steps,
        )
        self.inputs, self.outputs, self.direct = inputs.split(), outputs.split(), direct.split()
        self.x = self.u = self.slope = np.zeros(0)

    def describe(self) -> kit.ParticipantDescription:
        """Describe a participant that restores states and follows slopes."""
        names = {**dict.fromkeys(self.inputs, "input"), **dict.fromkeys(self.outputs, "output")}
        variables = {name: kit.ParticipantVariable(name, kind) for name, kind in names.items()}
        feedthrough = dict.fromkeys(self.outputs, frozenset(self.direct))
        return kit.ParticipantDescription(
            "equations", variables, feedthrough, can_restore=True, follows_slopes=True
        )

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Begin anew."""
        self.x = np.array(self.start)
        self.u = np.array([values.get(name, 0.0) for name in self.inputs])
        self.slope = np.zeros(len(self.inputs))

    def set(self, names: Sequence[str], values: Any) -> None:
        """Set inputs, which are held until slopes are set."""
        for name, value in zip(names, values, strict=True):
            self.u[self.inputs.index(name)] = value
        self.slope[:] = 0.0

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Set the derivatives of inputs over the next step."""
        for name, value in zip(names, slopes, strict=True):
            self.slope[self.inputs.index(name)] = value

    def step(self, time: float, size: float) -> float:
        """Make the inner steps of the method."""
        h = size / self.inner_steps
        for _ in range(self.inner_steps if self.start else 0):
            middle, end = self.u + 0.5 * h * self.slope, self.u + h * self.slope
            k1 = np.array(self.rates(self.x, self.u))
            k2 = np.array(self.rates(self.x + 0.5 * h * k1, middle))
            k3 = np.array(self.rates(self.x + 0.5 * h * k2, middle))
            k4 = np.array(self.rates(self.x + h * k3, end))
            self.x, self.u = self.x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), end
        self.slope = np.zeros(len(self.inputs))
        return time + size

    def get(self, names: Sequence[str]) -> list[float]:
        """The values of outputs."""
        values = dict(zip(self.outputs, self.output_values(self.x, self.u), strict=True))
        return [float(values[name]) for name in names]

    def save(self) -> Any:
        """The state that a step changes."""
        return self.x.copy(), self.u.copy(), self.slope.copy()

    def restore(self, token: Any) -> None:
        """Restore the state."""
        self.x, self.u, self.slope = (values.copy() for values in token)

    def close(self) -> None:
        """Close nothing: there is no open resource."""


class Coupling(NamedTuple):
    """Participants, connections, end of the run and communication step (s)."""

    parts: dict[str, EquationParticipant]
    links: list[tuple[str, str]]
    until: float
    step: float


def states(x: Vector, u: Vector) -> Vector:
    """The states, for participants whose outputs they are."""
    return x


def van_der_pol() -> Coupling:
    """Van der Pol's oscillator, position and speed apart."""
    parts = {
        "a": EquationParticipant(lambda x, u: [u[0]], states, "v", "x", [2.0]),
        "b": EquationParticipant(
            lambda x, u: [3.0 * (1.0 - u[0] ** 2) * x[0] - u[0]], states, "x", "v", [0.0]
        ),
    }
    return Coupling(parts, [("a.x", "b.x"), ("b.v", "a.v")], until=20.0, step=0.02)


def brusselator() -> Coupling:
    """A reaction that oscillates, its two substances apart."""
    parts = {
        "a": EquationParticipant(lambda x, u: [1.0 + x[0] ** 2 * u[0] - 4.0 * x[0]], states, "y", "x", [1.5]),
        "b": EquationParticipant(lambda x, u: [3.0 * u[0] - u[0] ** 2 * x[0]], states, "x", "y", [3.0]),
    }
    return Coupling(parts, [("a.x", "b.x"), ("b.y", "a.y")], until=20.0, step=0.02)


def kuramoto() -> Coupling:
    """Three oscillators with different frequencies, each drawn to the phases of the others."""

    def rhythm(rate: float, start: float) -> EquationParticipant:
        return EquationParticipant(
            lambda x, u: [rate + 0.4 * float(np.sin(u - x[0]).sum())], states, "a b", "angle", [start]
        )

    parts = {f"k{i}": rhythm(rate, 0.3 * i) for i, rate in enumerate((1.0, 1.3, 0.7))}
    links = [
        (f"k{j}.angle", f"k{i}.{port}")
        for i in range(3)
        for port, j in zip("ab", sorted({0, 1, 2} - {i}), strict=True)
    ]
    return Coupling(parts, links, until=20.0, step=0.05)


def cart_and_pendulum() -> Coupling:
    """A cart passes on its acceleration, the pendulum on it the force on the cart: an algebraic loop."""

    def swing(x: Vector, a: float) -> float:
        return float(-9.81 * np.sin(x[0]) - a * np.cos(x[0]))

    def cart(x: Vector, u: Vector) -> float:
        return float(u[0] - 8.0 * x[0] - 0.1 * x[1]) / 2.0

    def rod(x: Vector, u: Vector) -> float:
        return float(0.5 * (x[1] ** 2 * np.sin(x[0]) - swing(x, u[0]) * np.cos(x[0])) - 0.5 * u[0])

    parts = {
        "cart": EquationParticipant(
            lambda x, u: [x[1], cart(x, u)], lambda x, u: [cart(x, u)], "f", "a", [0.2, 0.0], "f"
        ),
        "rod": EquationParticipant(
            lambda x, u: [x[1], swing(x, u[0])], lambda x, u: [rod(x, u)], "a", "f", [0.8, 0.0], "a"
        ),
    }
    return Coupling(parts, [("cart.a", "rod.a"), ("rod.f", "cart.f")], until=5.0, step=0.005)


def cubic_spring(x: float, v: float) -> float:
    """Force of a spring with a damper, N."""
    return 3.0 * x + 2.0 * x**3 + 0.2 * v


def left_mass() -> EquationParticipant:
    """A mass on a spring, which takes a force."""
    return EquationParticipant(
        lambda x, u: [x[1], -x[0] - 0.05 * x[1] + u[0]], states, "f", "x v", [1.0, 0.0]
    )


def spring_by_force_and_motion() -> Coupling:
    """The right mass contains the spring between them: motion in, force out."""
    right = EquationParticipant(
        lambda x, u: [x[1], -2.0 * (x[0] + cubic_spring(x[0] - u[0], x[1] - u[1]))],
        lambda x, u: [cubic_spring(x[0] - u[0], x[1] - u[1])],
        "x v",
        "f",
        [0.0, 0.0],
        "x v",
    )
    links = [("a.x", "b.x"), ("a.v", "b.v"), ("b.f", "a.f")]
    return Coupling({"a": left_mass(), "b": right}, links, until=20.0, step=0.02)


def spring_by_motion_and_motion() -> Coupling:
    """Both masses contain the spring between them, and pass on their motion."""
    left = EquationParticipant(
        lambda x, u: [x[1], -x[0] - 0.05 * x[1] - cubic_spring(x[0] - u[0], x[1] - u[1])],
        states,
        "y w",
        "x v",
        [1.0, 0.0],
    )
    right = EquationParticipant(
        lambda x, u: [x[1], -2.0 * (x[0] + cubic_spring(x[0] - u[0], x[1] - u[1]))],
        states,
        "y w",
        "x v",
        [0.0, 0.0],
    )
    links = [("a.x", "b.y"), ("a.v", "b.w"), ("b.x", "a.y"), ("b.v", "a.w")]
    return Coupling({"a": left, "b": right}, links, until=20.0, step=0.02)


def spring_alone() -> Coupling:
    """The spring is a participant of its own, without states."""
    right = EquationParticipant(lambda x, u: [x[1], -2.0 * (x[0] + u[0])], states, "f", "x v", [0.0, 0.0])
    spring = EquationParticipant(
        lambda x, u: [],
        lambda x, u: [cubic_spring(u[2] - u[0], u[3] - u[1])],
        "x v y w",
        "f",
        [],
        "x v y w",
    )
    parts = {"a": left_mass(), "b": right, "s": spring}
    links = [("a.x", "s.x"), ("a.v", "s.v"), ("b.x", "s.y"), ("b.v", "s.w"), ("s.f", "a.f"), ("s.f", "b.f")]
    return Coupling(parts, links, until=20.0, step=0.02)


def lorenz() -> Coupling:
    """Lorenz' attractor, one participant for each state."""
    parts = {
        "a": EquationParticipant(lambda x, u: [10.0 * (u[0] - x[0])], states, "y", "x", [1.0]),
        "b": EquationParticipant(lambda x, u: [u[0] * (28.0 - u[1]) - x[0]], states, "x z", "y", [1.0]),
        "c": EquationParticipant(lambda x, u: [u[0] * u[1] - 8.0 / 3.0 * x[0]], states, "x y", "z", [1.0]),
    }
    links = [("a.x", "b.x"), ("c.z", "b.z"), ("a.x", "c.x"), ("b.y", "c.y"), ("b.y", "a.y")]
    return Coupling(parts, links, until=4.0, step=0.002)


def diode() -> Coupling:
    """A circuit that oscillates charges a capacitor through a diode."""

    def current(x: Vector, u: Vector) -> float:
        return 1e-6 * float(np.expm1(np.clip((u[0] - x[0]) / 0.05, -50.0, 50.0)))

    circuit = EquationParticipant(
        lambda x, u: [x[2] - x[0] - u[0], 2.0 * x[2], -2.0 * x[1]],
        lambda x, u: x[:1],
        "i",
        "v",
        [0.0, -1.0, 0.0],
    )
    capacitor = EquationParticipant(
        lambda x, u: [0.5 * (current(x, u) - 0.1 * x[0])],
        lambda x, u: [current(x, u)],
        "v",
        "i",
        [0.0],
        "v",
        inner_steps=24,
    )
    parts = {"a": circuit, "b": capacitor}
    return Coupling(parts, [("a.v", "b.v"), ("b.i", "a.i")], until=10.0, step=0.01)


def stirred_reactor() -> Coupling:
    """Concentration and temperature of a reactor."""

    def reaction(x: Vector, u: Vector) -> float:
        return float(1.2e9 * x[0] * np.exp(-8750.0 / max(u[0], 200.0)))

    concentration = EquationParticipant(
        lambda x, u: [1.0 - x[0] - reaction(x, u)],
        lambda x, u: [reaction(x, u)],
        "t",
        "r",
        [0.5],
        "t",
        inner_steps=12,
    )
    temperature = EquationParticipant(
        lambda x, u: [350.0 - x[0] + 209.0 * u[0] + 2.09 * (300.0 - x[0])],
        states,
        "r",
        "t",
        [350.0],
        inner_steps=12,
    )
    parts = {"a": concentration, "b": temperature}
    return Coupling(parts, [("a.r", "b.r"), ("b.t", "a.t")], until=3.0, step=0.003)


def motor() -> Coupling:
    """A motor drives a wheel with smooth Coulomb friction."""
    parts = {
        "a": EquationParticipant(
            lambda x, u: [(12.0 - 0.5 * x[0] - 0.1 * u[0]) / 5e-3], lambda x, u: 0.1 * x, "w", "m", [0.0]
        ),
        "b": EquationParticipant(
            lambda x, u: [(u[0] - 0.01 * x[0] - 0.02 * np.tanh(x[0])) / 0.02], states, "m", "w", [0.0]
        ),
    }
    return Coupling(parts, [("a.m", "b.m"), ("b.w", "a.w")], until=2.0, step=0.004)


def predators() -> Coupling:
    """Predators that are full (Holling)."""
    parts = {
        "a": EquationParticipant(
            lambda x, u: [x[0] * (1.0 - 0.1 * x[0]) - 2.0 * x[0] * u[0] / (1.0 + x[0])],
            states,
            "p",
            "n",
            [2.0],
        ),
        "b": EquationParticipant(
            lambda x, u: [x[0] * (1.2 * u[0] / (1.0 + u[0]) - 0.6)], states, "n", "p", [0.8]
        ),
    }
    return Coupling(parts, [("a.n", "b.n"), ("b.p", "a.p")], until=60.0, step=0.05)


def two_bodies() -> Coupling:
    """Two bodies in orbit around each other."""

    def pull(x: Vector, u: Vector) -> Vector:
        apart = np.array(u) - x[:2]
        return np.asarray(0.5 * apart / np.hypot(*apart) ** 3)

    def body(start: Sequence[float]) -> EquationParticipant:
        return EquationParticipant(
            lambda x, u: [*x[2:], *pull(x, u)], lambda x, u: x[:2], "u v", "x y", start
        )

    parts = {"a": body([-0.5, 0.0, 0.0, -0.45]), "b": body([0.5, 0.0, 0.0, 0.45])}
    links = [("a.x", "b.u"), ("a.y", "b.v"), ("b.x", "a.u"), ("b.y", "a.v")]
    return Coupling(parts, links, until=6.0, step=0.01)


COUPLINGS: dict[str, Callable[[], Coupling]] = {
    "van der Pol's oscillator": van_der_pol,
    "Brusselator": brusselator,
    "three rhythms (Kuramoto)": kuramoto,
    "cart and pendulum, by acceleration": cart_and_pendulum,
    "cubic spring, force and motion": spring_by_force_and_motion,
    "cubic spring, motion and motion": spring_by_motion_and_motion,
    "cubic spring between two": spring_alone,
    "Lorenz' attractor": lorenz,
    "capacitors and a diode": diode,
    "stirred reactor": stirred_reactor,
    "motor with friction": motor,
    "predators that are full (Holling)": predators,
    "two bodies in orbit": two_bodies,
}
