"""Couplings drawn at random whose exact solutions are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from cuts import TwoMasses
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.linalg import block_diag, expm
from species import Species

from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

Vector = NDArray[np.float64]
Wires = list[tuple[str, str]]
KINDS = ("masses", "pendula", "circuits", "networks", "prey", "cars", "servos", "heat")
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("jacobi", {"extrapolation": 1}),
    ("jacobi", {"extrapolation": 2}),
    ("gauss_seidel", {"extrapolation": 1}),
    ("waveform_iteration", {}),
    ("waveform_iteration", {"hold": "end"}),
    ("waveform_iteration", {"hold": "mean"}),
    ("interface_newton", {}),
    ("adaptive", {"tolerance": 1e-3, "absolute_tolerance": 1e-6}),
    ("adaptive", {"tolerance": 1e-5, "absolute_tolerance": 1e-6}),
]
FASTEST_GROWTH = 1.0
"""The fastest growth of systems that are not stable, per s."""


class Part(NamedTuple):
    """x' = A x + B u, y = C x + D u, with names of inputs and outputs, and the states at the start."""

    a: Any
    b: Any
    c: Any
    d: Any
    inputs: list[str]
    outputs: list[str]
    start: Any


class LinearCoupling(NamedTuple):
    """Linear parts by name, and the connections between them."""

    parts: dict[str, Part]
    links: Wires


class Solved(NamedTuple):
    """Linear parts, coupled.

    Attributes
    ----------
    make : callable
        The participants, which step exactly; takes whether they follow slopes of their inputs.
    exact : callable
        From times (s) to the values of all outputs.
    matrix : ndarray, shape (n, n)
        Of the whole system.
    """

    make: Callable[[bool], dict[str, LinearParticipant]]
    exact: Callable[[Vector], dict[str, Vector]]
    matrix: Vector


@dataclass(frozen=True)
class KnownCoupling:
    """A co-simulation and its solution.

    Attributes
    ----------
    kind : str
    make : callable
        The participants; takes whether they follow slopes of their inputs.
    links : list of (str, str)
    exact : callable
        From times (s) to the values of each connected output.
    until, step : float
        s
    algorithm, options
        Of the master.
    follows : bool
    """

    kind: str
    make: Callable[[bool], Mapping[str, Any]]
    links: Wires
    exact: Callable[[Vector], dict[str, Vector]]
    until: float
    step: float
    algorithm: str
    options: dict[str, Any] = field(default_factory=dict)
    follows: bool = False

    def loop(self) -> CoSimulation:
        """The co-simulation."""
        participants = self.make(self.follows)
        return CoSimulation(participants, self.links, self.algorithm, self.step, options=self.options)

    def truth(self, times: Vector) -> dict[str, Vector]:
        """The solution at these times."""
        return self.exact(times)


def draw(seed: int) -> KnownCoupling:
    """The coupling of this number; kinds take turns, all else is random."""
    random = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    algorithm, options = ALGORITHMS[int(random.integers(len(ALGORITHMS)))]
    follows = bool(random.random() < 0.4)
    if kind == "prey":
        make, links, exact, until, rate = _prey(random)
    else:
        make, links, exact, until, rate = _bounded(random, DRAWN[kind])
    step = max(_spread(random, 2e-3, 0.15) / rate, until / (25 if algorithm == "adaptive" else 700))
    return KnownCoupling(
        kind, make, links, exact, until, until / np.ceil(until / step), algorithm, options, follows
    )


class Case(NamedTuple):
    """A coupling without a master; its end (s) and its fastest rate (per s)."""

    make: Callable[[bool], Mapping[str, Any]]
    links: Wires
    exact: Callable[[Vector], dict[str, Vector]]
    until: float
    rate: float


def _bounded(
    random: np.random.Generator, draw_parts: Callable[[np.random.Generator], LinearCoupling]
) -> Case:
    """Linear parts, drawn until they do not grow too fast; the run ends before they have grown much."""
    while True:
        parts, links = draw_parts(random)
        solved = _linear(parts, links)
        values = np.linalg.eigvals(solved.matrix)
        growth = float(values.real.max())
        if growth < FASTEST_GROWTH:
            break
    rate = float(np.abs(values).max())
    slow = max(float(np.abs(values).min()), 0.1 * rate)
    until = float(random.choice([3, 10, 40])) / np.sqrt(rate * slow)
    if growth > 0.0:
        until = min(until, 5.0 / growth)
    return Case(solved.make, links, solved.exact, until, rate)


def _spread(random: np.random.Generator, low: float, high: float) -> float:
    """A number that is drawn evenly on a logarithmic scale."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _linear(parts: Mapping[str, Part], links: Wires) -> Solved:
    """Couple linear parts, and solve them as one system."""
    inputs = [f"{name}.{u}" for name, part in parts.items() for u in part.inputs]
    outputs = [f"{name}.{y}" for name, part in parts.items() for y in part.outputs]
    wired = np.zeros((len(inputs), len(outputs)))
    for source, target in links:
        wired[inputs.index(target), outputs.index(source)] = 1.0
    a, b, c, d = (
        block_diag(*map(np.atleast_2d, matrices))
        for matrices in zip(*(part[:4] for part in parts.values()), strict=True)
    )
    outputs_of_states = np.linalg.solve(np.eye(len(outputs)) - d @ wired, c)
    matrix = a + b @ wired @ outputs_of_states
    start = np.concatenate([part.start for part in parts.values()])

    def make(follows: bool) -> dict[str, LinearParticipant]:
        return {n: LinearParticipant(p[:4], p.inputs, p.outputs, p.start, follows) for n, p in parts.items()}

    def exact(times: Vector) -> dict[str, Vector]:
        maps: dict[float, Vector] = {}
        states, rows, now = start.copy(), [], float(times[0])
        for time in times.tolist():
            length = round(time - now, 13)
            if length not in maps:
                maps[length] = expm((time - now) * matrix)
            states, now = maps[length] @ states, time
            rows.append(states)
        return dict(zip(outputs, (np.array(rows) @ outputs_of_states.T).T, strict=True))

    return Solved(make, exact, matrix)


def _masses(random: np.random.Generator) -> LinearCoupling:
    """Two masses, cut by force and motion or by motion and motion."""
    damping = float(random.choice([0.0, 0.02, 0.2]))
    m1, m2, c1, c2 = (_spread(random, 0.3, 3.0) for _ in range(4))
    k1, k2, k = (_spread(random, 0.3, 10.0) for _ in range(3))
    pair = TwoMasses(
        *(m1, k1, damping * c1, m2, k2, damping * c2, k, float(random.choice([0.0, 0.05, 0.3]))),
        start=tuple(random.normal(size=4)),
    )
    cut = pair.force_and_motion() if random.random() < 0.5 else pair.motion_and_motion()
    parts = {
        name: Part(p.a, p.b, p.c, p.d, p.inputs, p.outputs, np.array(p.start))
        for name, p in cut.make(False).items()
    }
    return LinearCoupling(parts, cut.links)


def _pendula(random: np.random.Generator) -> LinearCoupling:
    """Two to four pendula at small angles, with springs between neighbours."""
    count = int(random.integers(2, 5))
    springs = [0.0, *random.uniform(0.1, 2.0, size=count - 1), 0.0]
    damping = float(random.choice([0.0, 0.05, 0.2]))
    parts: dict[str, Part] = {}
    links = []
    for i in range(count):
        sides = [("left", i - 1, springs[i])] * (i > 0) + [("right", i + 1, springs[i + 1])] * (i < count - 1)
        links += [(f"p{other}.angle", f"p{i}.{side}") for side, other, _ in sides]
        restoring = -9.81 / random.uniform(0.4, 2.0) - springs[i] - springs[i + 1]
        parts[f"p{i}"] = Part(
            a=[[0.0, 1.0], [restoring, -damping]],
            b=np.array([[0.0, stiffness] for _, _, stiffness in sides]).T,
            c=[[1.0, 0.0]],
            d=np.zeros((1, len(sides))),
            inputs=[side for side, _, _ in sides],
            outputs=["angle"],
            start=random.normal(size=2) * [0.2, 0.3],
        )
    return LinearCoupling(parts, links)


def _circuits(random: np.random.Generator) -> LinearCoupling:
    """A ladder of capacitors (currents in, voltage out) and coils (voltages in, current out)."""
    count, first = int(random.integers(2, 6)), int(random.integers(2))
    names = ["v" if (i + first) % 2 == 0 else "i" for i in range(count)]
    parts: dict[str, Part] = {}
    links = []
    for i, name in enumerate(names):
        size = random.uniform(0.3, 3.0)
        loss = 1.0 / random.uniform(0.5, 10.0) if name == "v" else float(random.choice([0.0, 0.05, 0.5]))
        sides = [("before", i - 1, 1.0)] * (i > 0) + [("behind", i + 1, -1.0)] * (i < count - 1)
        links += [(f"s{other}.{names[other]}", f"s{i}.{side}") for side, other, _ in sides]
        parts[f"s{i}"] = Part(
            a=[[-loss / size]],
            b=[[sign / size for _, _, sign in sides]],
            c=[[1.0]],
            d=np.zeros((1, len(sides))),
            inputs=[side for side, _, _ in sides],
            outputs=[name],
            start=random.normal(size=1) * (5.0 if name == "v" else 1.0),
        )
    return LinearCoupling(parts, links)


def _networks(random: np.random.Generator) -> LinearCoupling:
    """Two to five linear systems, wired at random; some pass inputs on directly to those behind them."""
    shift = float(random.choice([2.0, 1.0, 0.3]))
    parts: dict[str, Part] = {}
    for i in range(int(random.integers(2, 6))):
        n, m, r = (int(size) for size in random.integers(1, 4, size=3))
        m, r = min(m, 2), min(r, 2)
        a = random.normal(size=(n, n)) - shift * np.eye(n)
        b, c = 0.7 * random.normal(size=(n, m)), random.normal(size=(r, n))
        inputs, outputs_of_part = [f"u{j}" for j in range(m)], [f"y{j}" for j in range(r)]
        parts[f"p{i}"] = Part(a, b, c, np.zeros((r, m)), inputs, outputs_of_part, random.normal(size=n))
    order = list(parts)
    outputs = [(name, f"{name}.{y}") for name in order for y in parts[name].outputs]
    links = []
    passes = random.random() < 0.4
    for name in order:
        for j, u in enumerate(parts[name].inputs):
            source, path = outputs[int(random.choice([i for i, (n, _) in enumerate(outputs) if n != name]))]
            links.append((path, f"{name}.{u}"))
            if passes and order.index(source) < order.index(name):
                parts[name].d[:, j] = 0.5 * random.normal(size=len(parts[name].outputs))
    return LinearCoupling(parts, links)


def _cars(random: np.random.Generator) -> LinearCoupling:
    """A quarter car on a wavy road that the wheel knows, cut above or below the suspension."""
    body, wheel = random.uniform(200.0, 500.0), random.uniform(25.0, 60.0)
    k, c, tyre = random.uniform(1e4, 4e4), random.uniform(500.0, 3000.0), random.uniform(1e5, 2.5e5)
    wave, height = random.uniform(3.0, 20.0), random.uniform(0.005, 0.03)
    # states: position and speed; of the wheel also those of the road
    road = [[0.0, 1.0], [-(wave**2), 0.0]]
    above = np.array([[0.0, 1.0], [0.0, 0.0]])
    below = np.zeros((4, 4))
    below[0, 1], below[1, 0], below[1, 2], below[2:, 2:] = 1.0, -tyre / wheel, tyre / wheel, road
    body_start = random.normal(size=2) * [0.03, 0.2]
    wheel_start = np.r_[random.normal(size=2) * [0.01, 0.2], height, 0.0]
    push, pull = [[0.0], [1.0 / body]], [[0.0], [-1.0 / wheel], [0.0], [0.0]]
    spring = np.array([[k, c]])
    if random.random() < 0.5:  # the suspension belongs to the wheel: motion in, force out
        below[1, :2] -= spring[0] / wheel
        force = np.zeros((1, 4))
        force[0, :2] = spring[0]
        by_body = np.array([[0.0, 0.0], [k / wheel, c / wheel], [0.0, 0.0], [0.0, 0.0]])
        parts = {
            "body": Part(above, push, np.eye(2), np.zeros((2, 1)), ["force"], ["z", "v"], body_start),
            "wheel": Part(below, by_body, force, -spring, ["z", "v"], ["force"], wheel_start),
        }
        links = [("body.z", "wheel.z"), ("body.v", "wheel.v"), ("wheel.force", "body.force")]
    else:
        above[1] -= spring[0] / body
        by_wheel = [[0.0, 0.0], [k / body, c / body]]
        parts = {
            "body": Part(above, by_wheel, -spring, spring, ["z", "v"], ["force"], body_start),
            "wheel": Part(below, pull, np.eye(2, 4), np.zeros((2, 1)), ["force"], ["z", "v"], wheel_start),
        }
        links = [("wheel.z", "body.z"), ("wheel.v", "body.v"), ("body.force", "wheel.force")]
    return LinearCoupling(parts, links)


def _servos(random: np.random.Generator) -> LinearCoupling:
    """A motor that moves a carriage and a trailer, held in place by a controller of its own."""
    mass, trailer = random.uniform(1.0, 3.0), random.uniform(0.3, 2.0)
    k, c = random.uniform(5.0, 100.0), random.uniform(0.1, 2.0)
    lag, goal = random.uniform(0.01, 0.1), random.uniform(0.2, 1.0)
    stiff, damp, integral = random.uniform(1.0, 8.0), random.uniform(2.0, 8.0), random.choice([0.0, 0.5])
    # states: force of the motor, carriage, its speed, trailer, its speed
    plant = np.array(
        [
            [-1.0 / lag, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [1.0 / mass, -k / mass, -c / mass, k / mass, c / mass],
            [0.0, 0.0, 0.0, 0.0, 1.0],
            [0.0, k / trailer, c / trailer, -k / trailer, -c / trailer],
        ]
    )
    position_and_speed = np.zeros((2, 5))
    position_and_speed[0, 3 if random.random() < 0.5 else 1] = 1.0
    position_and_speed[1, 2] = 1.0
    parts = {
        "plant": Part(
            a=plant,
            b=[[1.0 / lag], [0.0], [0.0], [0.0], [0.0]],
            c=position_and_speed,
            d=np.zeros((2, 1)),
            inputs=["force"],
            outputs=["position", "speed"],
            start=np.zeros(5),
        ),
        "controller": Part(  # states: integral of the error, and the goal
            a=np.array([[0.0, 1.0], [0.0, 0.0]]),
            b=[[-1.0, 0.0], [0.0, 0.0]],
            c=[[integral, stiff]],
            d=[[-stiff, -damp]],
            inputs=["position", "speed"],
            outputs=["force"],
            start=np.array([0.0, goal]),
        ),
    }
    wires = [("plant.position", "controller.position"), ("plant.speed", "controller.speed")]
    return LinearCoupling(parts, [*wires, ("controller.force", "plant.force")])


def _heat(random: np.random.Generator) -> LinearCoupling:
    """Rooms and walls with slow and fast temperatures; some are heated at a constant rate."""
    count = int(random.integers(2, 6))
    conduct = [0.0, *np.exp(random.uniform(-2.0, 1.0, size=count - 1)), 0.0]
    parts: dict[str, Part] = {}
    links = []
    for i in range(count):
        capacity = _spread(random, 0.05, 5.0)
        sides = [("left", i - 1, conduct[i])] * (i > 0) + [("right", i + 1, conduct[i + 1])] * (i < count - 1)
        links += [(f"t{other}.t", f"t{i}.{side}") for side, other, _ in sides]
        losses = -(conduct[i] + conduct[i + 1] + float(random.choice([0.0, 0.1]))) / capacity
        heating = float(random.choice([0.0, 1.0])) * random.uniform(0.1, 2.0) / capacity
        parts[f"t{i}"] = Part(
            a=[[losses, 1.0], [0.0, 0.0]],
            b=np.array([[value / capacity, 0.0] for _, _, value in sides]).T,
            c=[[1.0, 0.0]],
            d=np.zeros((1, len(sides))),
            inputs=[side for side, _, _ in sides],
            outputs=["t"],
            start=np.array([random.normal() * 10.0, heating]),
        )
    return LinearCoupling(parts, links)


DRAWN = {
    "masses": _masses,
    "pendula": _pendula,
    "circuits": _circuits,
    "networks": _networks,
    "cars": _cars,
    "servos": _servos,
    "heat": _heat,
}


def _prey(random: np.random.Generator) -> Case:
    """Predator and prey (Lotka and Volterra), against a solution of 12 digits."""
    a, c = random.uniform(0.3, 1.5, size=2)
    b, d = random.uniform(0.02, 0.2, size=2)
    start = [c / d * random.uniform(0.3, 2.5), a / b * random.uniform(0.3, 2.5)]
    rate = float(np.sqrt(a * c))
    until = float(random.choice([5, 15, 40])) / rate
    solution = solve_ivp(
        lambda t, z: [z[0] * (a - b * z[1]), z[1] * (d * z[0] - c)],
        *([0.0, 1.001 * until], start, "DOP853"),
        rtol=1e-12,
        atol=1e-12,
        dense_output=True,
    )

    def make(follows: bool) -> dict[str, Species]:
        return {"prey": Species(a, -b, start[0], follows), "predator": Species(-c, d, start[1], follows)}

    def exact(times: Vector) -> dict[str, Vector]:
        return dict(zip(("prey.x", "predator.x"), solution.sol(times), strict=True))

    return Case(make, [("prey.x", "predator.u"), ("predator.x", "prey.u")], exact, until, rate)
