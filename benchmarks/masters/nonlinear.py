"""Error bars of couplings that are far from linear, against the system solved as a whole.

    python benchmarks/masters/nonlinear.py

Oscillators, chaos, chemistry, gravity, an acceleration that closes a loop, a diode: 13 couplings under four
algorithms. Prints the true error over the range of the worst output, the smallest bar over its true error
from the run and against half the step, and the verdict. None of them was there when the constants of the
estimate were chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cosim
from cosim import kit
from cosim_fmu import CoSimulation

Vector = NDArray[np.float64]
Equations = Callable[[Vector, Vector], Sequence[float]]
"""Equations of states and inputs."""
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("waveform_iteration", {}),
    ("jacobi", {"extrapolation": 2}),
]
MOST_ROUNDS = 200
SMALLEST = 1e-9
"""Errors below this part of the range are those of the participants."""


class Part(cosim.Participant):
    """x' = f(x, u), y = g(x, u) by the classical Runge-Kutta method; inputs run along lines.

    Parameters
    ----------
    rates, shown : callable
        f and g.
    inputs, outputs : str
        Names, with blanks between them.
    start : sequence of float
    direct : str
        Inputs on which all outputs depend at the same instant.
    pieces : int
        Steps of the method in an exchange.
    """

    def __init__(
        self,
        rates: Equations,
        shown: Equations,
        inputs: str,
        outputs: str,
        start: Sequence[float],
        direct: str = "",
        pieces: int = 4,
    ) -> None:
        self.rates, self.shown, self.start, self.pieces = rates, shown, list(start), pieces
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
        """Inputs that are held until slopes are set."""
        for name, value in zip(names, values, strict=True):
            self.u[self.inputs.index(name)] = value
        self.slope[:] = 0.0

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of inputs over the next step."""
        for name, value in zip(names, slopes, strict=True):
            self.slope[self.inputs.index(name)] = value

    def step(self, time: float, size: float) -> float:
        """Make some steps of the method."""
        h = size / self.pieces
        for _ in range(self.pieces if self.start else 0):
            middle, end = self.u + 0.5 * h * self.slope, self.u + h * self.slope
            k1 = np.array(self.rates(self.x, self.u))
            k2 = np.array(self.rates(self.x + 0.5 * h * k1, middle))
            k3 = np.array(self.rates(self.x + 0.5 * h * k2, middle))
            k4 = np.array(self.rates(self.x + h * k3, end))
            self.x, self.u = self.x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), end
        self.slope = np.zeros(len(self.inputs))
        return time + size

    def get(self, names: Sequence[str]) -> list[float]:
        """Outputs."""
        values = dict(zip(self.outputs, self.shown(self.x, self.u), strict=True))
        return [float(values[name]) for name in names]

    def save(self) -> Any:
        """States and inputs."""
        return self.x.copy(), self.u.copy(), self.slope.copy()

    def restore(self, token: Any) -> None:
        """Restore the state."""
        self.x, self.u, self.slope = (values.copy() for values in token)

    def close(self) -> None:
        """Close nothing: there is no open resource."""


class Coupling(NamedTuple):
    """Participants, connections, end and step (s)."""

    parts: dict[str, Part]
    links: list[tuple[str, str]]
    until: float
    step: float


def states(x: Vector, u: Vector) -> Vector:
    """All states as outputs."""
    return x


def van_der_pol() -> Coupling:
    """Van der Pol's oscillator, position and speed apart."""
    parts = {
        "a": Part(lambda x, u: [u[0]], states, "v", "x", [2.0]),
        "b": Part(lambda x, u: [3.0 * (1.0 - u[0] ** 2) * x[0] - u[0]], states, "x", "v", [0.0]),
    }
    return Coupling(parts, [("a.x", "b.x"), ("b.v", "a.v")], until=20.0, step=0.02)


def brusselator() -> Coupling:
    """A reaction that oscillates, its two substances apart."""
    parts = {
        "a": Part(lambda x, u: [1.0 + x[0] ** 2 * u[0] - 4.0 * x[0]], states, "y", "x", [1.5]),
        "b": Part(lambda x, u: [3.0 * u[0] - u[0] ** 2 * x[0]], states, "x", "y", [3.0]),
    }
    return Coupling(parts, [("a.x", "b.x"), ("b.y", "a.y")], until=20.0, step=0.02)


def kuramoto() -> Coupling:
    """Three rhythms that pull at each other."""

    def rhythm(rate: float, start: float) -> Part:
        return Part(
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
    """A cart gives its acceleration, the pendulum on it the force, both at once."""

    def swing(x: Vector, a: float) -> float:
        return float(-9.81 * np.sin(x[0]) - a * np.cos(x[0]))

    def cart(x: Vector, u: Vector) -> float:
        return float(u[0] - 8.0 * x[0] - 0.1 * x[1]) / 2.0

    def rod(x: Vector, u: Vector) -> float:
        return float(0.5 * (x[1] ** 2 * np.sin(x[0]) - swing(x, u[0]) * np.cos(x[0])) - 0.5 * u[0])

    parts = {
        "cart": Part(lambda x, u: [x[1], cart(x, u)], lambda x, u: [cart(x, u)], "f", "a", [0.2, 0.0], "f"),
        "rod": Part(lambda x, u: [x[1], swing(x, u[0])], lambda x, u: [rod(x, u)], "a", "f", [0.8, 0.0], "a"),
    }
    return Coupling(parts, [("cart.a", "rod.a"), ("rod.f", "cart.f")], until=5.0, step=0.005)


def cubic_spring(x: float, v: float) -> float:
    """Force of a spring with a damper, N."""
    return 3.0 * x + 2.0 * x**3 + 0.2 * v


def left_mass() -> Part:
    """A mass on a spring, which takes a force."""
    return Part(lambda x, u: [x[1], -x[0] - 0.05 * x[1] + u[0]], states, "f", "x v", [1.0, 0.0])


def spring_by_force_and_motion() -> Coupling:
    """The right mass has the spring between them."""
    right = Part(
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
    """Both masses contain the spring between them."""
    left = Part(
        lambda x, u: [x[1], -x[0] - 0.05 * x[1] - cubic_spring(x[0] - u[0], x[1] - u[1])],
        states,
        "y w",
        "x v",
        [1.0, 0.0],
    )
    right = Part(
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
    right = Part(lambda x, u: [x[1], -2.0 * (x[0] + u[0])], states, "f", "x v", [0.0, 0.0])
    spring = Part(
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
        "a": Part(lambda x, u: [10.0 * (u[0] - x[0])], states, "y", "x", [1.0]),
        "b": Part(lambda x, u: [u[0] * (28.0 - u[1]) - x[0]], states, "x z", "y", [1.0]),
        "c": Part(lambda x, u: [u[0] * u[1] - 8.0 / 3.0 * x[0]], states, "x y", "z", [1.0]),
    }
    links = [("a.x", "b.x"), ("c.z", "b.z"), ("a.x", "c.x"), ("b.y", "c.y"), ("b.y", "a.y")]
    return Coupling(parts, links, until=4.0, step=0.002)


def diode() -> Coupling:
    """A circuit that oscillates charges a capacitor through a diode."""

    def current(x: Vector, u: Vector) -> float:
        return 1e-6 * float(np.expm1(np.clip((u[0] - x[0]) / 0.05, -50.0, 50.0)))

    circuit = Part(
        lambda x, u: [x[2] - x[0] - u[0], 2.0 * x[2], -2.0 * x[1]],
        lambda x, u: x[:1],
        "i",
        "v",
        [0.0, -1.0, 0.0],
    )
    capacitor = Part(
        lambda x, u: [0.5 * (current(x, u) - 0.1 * x[0])],
        lambda x, u: [current(x, u)],
        "v",
        "i",
        [0.0],
        "v",
        pieces=24,
    )
    parts = {"a": circuit, "b": capacitor}
    return Coupling(parts, [("a.v", "b.v"), ("b.i", "a.i")], until=10.0, step=0.01)


def stirred_reactor() -> Coupling:
    """Concentration and temperature of a reactor."""

    def reaction(x: Vector, u: Vector) -> float:
        return float(1.2e9 * x[0] * np.exp(-8750.0 / max(u[0], 200.0)))

    concentration = Part(
        lambda x, u: [1.0 - x[0] - reaction(x, u)],
        lambda x, u: [reaction(x, u)],
        "t",
        "r",
        [0.5],
        "t",
        pieces=12,
    )
    temperature = Part(
        lambda x, u: [350.0 - x[0] + 209.0 * u[0] + 2.09 * (300.0 - x[0])],
        states,
        "r",
        "t",
        [350.0],
        pieces=12,
    )
    parts = {"a": concentration, "b": temperature}
    return Coupling(parts, [("a.r", "b.r"), ("b.t", "a.t")], until=3.0, step=0.003)


def motor() -> Coupling:
    """A motor drives a wheel with smooth Coulomb friction."""
    parts = {
        "a": Part(
            lambda x, u: [(12.0 - 0.5 * x[0] - 0.1 * u[0]) / 5e-3], lambda x, u: 0.1 * x, "w", "m", [0.0]
        ),
        "b": Part(lambda x, u: [(u[0] - 0.01 * x[0] - 0.02 * np.tanh(x[0])) / 0.02], states, "m", "w", [0.0]),
    }
    return Coupling(parts, [("a.m", "b.m"), ("b.w", "a.w")], until=2.0, step=0.004)


def predators() -> Coupling:
    """Predators that are full (Holling)."""
    parts = {
        "a": Part(
            lambda x, u: [x[0] * (1.0 - 0.1 * x[0]) - 2.0 * x[0] * u[0] / (1.0 + x[0])],
            states,
            "p",
            "n",
            [2.0],
        ),
        "b": Part(lambda x, u: [x[0] * (1.2 * u[0] / (1.0 + u[0]) - 0.6)], states, "n", "p", [0.8]),
    }
    return Coupling(parts, [("a.n", "b.n"), ("b.p", "a.p")], until=60.0, step=0.05)


def two_bodies() -> Coupling:
    """Two bodies in orbit around each other."""

    def pull(x: Vector, u: Vector) -> Vector:
        apart = np.array(u) - x[:2]
        return np.asarray(0.5 * apart / np.hypot(*apart) ** 3)

    def body(start: Sequence[float]) -> Part:
        return Part(lambda x, u: [*x[2:], *pull(x, u)], lambda x, u: x[:2], "u v", "x y", start)

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


def exact(coupling: Coupling, times: Vector) -> dict[str, Vector]:
    """Every output of the whole system, solved as one."""
    parts, into = coupling.parts, {target: source for source, target in coupling.links}
    edges = np.cumsum([0, *(len(part.start) for part in parts.values())])
    slices = {name: slice(edges[i], edges[i + 1]) for i, name in enumerate(parts)}

    def settled(states: Vector) -> tuple[dict[str, float], dict[str, Vector]]:
        """Outputs and inputs, passed on until they no longer change."""
        outputs: dict[str, float] = {}
        for _ in range(MOST_ROUNDS):
            before, inputs = dict(outputs), dict[str, Vector]()
            for name, part in parts.items():
                inputs[name] = np.array([outputs.get(into[f"{name}.{u}"], 0.0) for u in part.inputs])
                shown = part.shown(states[slices[name]], inputs[name])
                outputs |= {f"{name}.{y}": float(v) for y, v in zip(part.outputs, shown, strict=True)}
            if before == outputs:
                break
        return outputs, inputs

    def rates(time: float, states: Vector) -> Vector:
        inputs = settled(states)[1]
        return np.concatenate([parts[n].rates(states[slices[n]], inputs[n]) for n in parts])

    start = np.concatenate([part.start for part in parts.values()])
    solved = solve_ivp(rates, times[[0, -1]], start, method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times)
    rows = [settled(states)[0] for states in solved.y.T]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


class Judged(NamedTuple):
    """The least bar over its error in one run: as estimated from the run, and by a second run."""

    estimated: float
    verified: float


def judge(name: str, algorithm: str, options: dict[str, Any]) -> Judged | None:
    """Run a coupling, print its row; None where it does not come to its end."""
    coupling = COUPLINGS[name]()
    loop = CoSimulation(coupling.parts, coupling.links, algorithm, coupling.step, options=options)
    row = f"| {name} | {algorithm}{options or ''} | "
    try:
        result = loop.simulate(coupling.until)
        report = result.coupling
        second = loop.verify(result, coupling.until)
    except cosim.CosimError as error:
        print(f"{row}{str(error)[:90]} | | | |")
        return None
    true = exact(coupling, result.time)
    errors = {y: float(np.abs(result[y] - value).max()) for y, value in true.items()}
    scales = {each.name.partition(" → ")[0]: each.scale for each in report.connections}
    estimated, verified = (
        min(float(bars[y].error) / max(errors[y], SMALLEST * scale) for y, scale in scales.items())
        for bars in (report, second)
    )
    worst = max(errors[y] / scale for y, scale in scales.items())
    print(f"{row}{worst:.1e} | {estimated:.2g} | {verified:.3g} | {report.verdict} |", flush=True)
    return Judged(estimated, verified)


def main() -> None:
    """Print a row for each coupling and algorithm, and how many bars hold."""
    print("| coupling | algorithm | true error | bar over error | verified | verdict |\n|" + "---|" * 6)
    cases = [
        judged
        for name in COUPLINGS
        for algorithm, options in ALGORITHMS
        if (judged := judge(name, algorithm, options)) is not None
    ]
    for title, ratios in (
        ("from the run", [case.estimated for case in cases]),
        ("second run", [case.verified for case in cases]),
    ):
        hold = sum(ratio >= 1.0 for ratio in ratios)
        print(f"{title}: {hold} of {len(ratios)} hold, smallest {min(ratios):.2g}")


if __name__ == "__main__":
    main()
