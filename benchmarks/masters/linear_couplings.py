"""Linear couplings drawn at random, by kind, and their exact solutions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from cuts import TwoMasses
from numpy.typing import NDArray
from scipy.linalg import block_diag, expm

from cosim_fmu.testing.linear_participant import LinearParticipant

Vector = NDArray[np.float64]
Links = list[tuple[str, str]]


class Part(NamedTuple):
    """x' = A x + B u, y = C x + D u, with names of inputs and outputs, and the states at the start."""

    a: Any
    b: Any
    c: Any
    d: Any
    inputs: list[str]
    outputs: list[str]
    start: Any


@dataclass(frozen=True)
class LinearCoupling:
    """Linear parts by name, and the connections between them."""

    parts: dict[str, Part]
    links: Links

    def participants(self, follows: bool) -> dict[str, LinearParticipant]:
        """The parts as participants, which step exactly; `follows`: with the slopes of their inputs."""
        return {
            name: LinearParticipant(part[:4], part.inputs, part.outputs, part.start, follows)
            for name, part in self.parts.items()
        }

    def solution(self, times: Vector) -> dict[str, Vector]:
        """The values of all outputs at rising times, s; the first one is that of the start."""
        maps: dict[float, Vector] = {}  # from states to states, by length of time
        states = np.concatenate([part.start for part in self.parts.values()])
        rows, now = [], float(times[0])
        for time in times.tolist():
            length = round(time - now, 13)
            if length not in maps:
                maps[length] = expm((time - now) * self.matrix)
            states, now = maps[length] @ states, time
            rows.append(states)
        return dict(zip(self._outputs, (np.array(rows) @ self._outputs_of_states.T).T, strict=True))

    @cached_property
    def matrix(self) -> Vector:
        """A of x' = A x for the states of all parts together."""
        a, b = self._block_diagonal("a"), self._block_diagonal("b")
        return np.asarray(a + b @ self._wiring @ self._outputs_of_states)

    @cached_property
    def _outputs_of_states(self) -> Vector:
        """C of y = C x for all parts together: y = C' x + D' W y, with the wiring W."""
        c, d = self._block_diagonal("c"), self._block_diagonal("d")
        return np.linalg.solve(np.eye(len(self._outputs)) - d @ self._wiring, c)

    @cached_property
    def _wiring(self) -> Vector:
        """1 for each input in the column of its output."""
        inputs = [f"{name}.{u}" for name, part in self.parts.items() for u in part.inputs]
        wiring = np.zeros((len(inputs), len(self._outputs)))
        for source, target in self.links:
            wiring[inputs.index(target), self._outputs.index(source)] = 1.0
        return wiring

    @cached_property
    def _outputs(self) -> list[str]:
        return [f"{name}.{y}" for name, part in self.parts.items() for y in part.outputs]

    def _block_diagonal(self, matrix: str) -> Vector:
        return np.asarray(block_diag(*(np.atleast_2d(getattr(part, matrix)) for part in self.parts.values())))


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    """A number that is drawn evenly on a logarithmic scale."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _masses(random: np.random.Generator) -> LinearCoupling:
    """Two masses, cut by force and motion or by motion and motion."""
    damping = float(random.choice([0.0, 0.02, 0.2]))
    m1, m2, c1, c2 = (log_uniform(random, 0.3, 3.0) for _ in range(4))
    k1, k2, k = (log_uniform(random, 0.3, 10.0) for _ in range(3))
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
    """A quarter car, cut above or below its suspension; the road is a sine wave, and a part of the wheel."""
    body, wheel = random.uniform(200.0, 500.0), random.uniform(25.0, 60.0)
    k, c, tyre = random.uniform(1e4, 4e4), random.uniform(500.0, 3000.0), random.uniform(1e5, 2.5e5)
    wave, height = random.uniform(3.0, 20.0), random.uniform(0.005, 0.03)
    body_start = random.normal(size=2) * [0.03, 0.2]
    wheel_start = np.r_[random.normal(size=2) * [0.01, 0.2], height, 0.0]
    # states: position and speed of the body; of the wheel, and then of the road
    road = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -(wave**2), 0.0]]
    suspension = np.array([[k, c]])
    if random.random() < 0.5:  # the suspension belongs to the wheel: motion in, force out
        parts = {
            "body": Part(
                a=[[0.0, 1.0], [0.0, 0.0]],
                b=[[0.0], [1.0 / body]],
                c=np.eye(2),
                d=np.zeros((2, 1)),
                inputs=["force"],
                outputs=["z", "v"],
                start=body_start,
            ),
            "wheel": Part(
                a=[
                    [0.0, 1.0, 0.0, 0.0],
                    [-tyre / wheel - k / wheel, -c / wheel, tyre / wheel, 0.0],
                    *road,
                ],
                b=[[0.0, 0.0], [k / wheel, c / wheel], [0.0, 0.0], [0.0, 0.0]],
                c=[[k, c, 0.0, 0.0]],
                d=-suspension,
                inputs=["z", "v"],
                outputs=["force"],
                start=wheel_start,
            ),
        }
        links = [("body.z", "wheel.z"), ("body.v", "wheel.v"), ("wheel.force", "body.force")]
    else:  # it belongs to the body
        parts = {
            "body": Part(
                a=[[0.0, 1.0], [-k / body, -c / body]],
                b=[[0.0, 0.0], [k / body, c / body]],
                c=-suspension,
                d=suspension,
                inputs=["z", "v"],
                outputs=["force"],
                start=body_start,
            ),
            "wheel": Part(
                a=[[0.0, 1.0, 0.0, 0.0], [-tyre / wheel, 0.0, tyre / wheel, 0.0], *road],
                b=[[0.0], [-1.0 / wheel], [0.0], [0.0]],
                c=np.eye(2, 4),
                d=np.zeros((2, 1)),
                inputs=["force"],
                outputs=["z", "v"],
                start=wheel_start,
            ),
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
        capacity = log_uniform(random, 0.05, 5.0)
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


DRAWN_KINDS = {
    "masses": _masses,
    "pendula": _pendula,
    "circuits": _circuits,
    "networks": _networks,
    "cars": _cars,
    "servos": _servos,
    "heat": _heat,
}
"""By kind, the function that draws a coupling."""
