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
"""From states and inputs."""
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("waveform_iteration", {}),
    ("jacobi", {"extrapolation": 2}),
]
SMALLEST = 1e-9
"""Of the range: smaller errors are those of the participants."""


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
        """Goes back, and follows slopes."""
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
        """Some steps of the method."""
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
        """Go back."""
        self.x, self.u, self.slope = (values.copy() for values in token)

    def close(self) -> None:
        """Nothing to free."""


class Coupling(NamedTuple):
    """Participants, connections, end and step (s)."""

    parts: dict[str, Part]
    links: list[tuple[str, str]]
    until: float
    step: float


def couplings() -> dict[str, Coupling]:
    """Those that are tried."""

    def states(x: Vector, u: Vector) -> Vector:
        return x

    def spring(x: float, v: float) -> float:
        return 3.0 * x + 2.0 * x**3 + 0.2 * v

    def pull(x: Vector, u: Vector) -> Vector:
        apart = np.array(u) - x[:2]
        return np.asarray(0.5 * apart / np.hypot(*apart) ** 3)

    def diode(x: Vector, u: Vector) -> float:
        return 1e-6 * float(np.expm1(np.clip((u[0] - x[0]) / 0.05, -50.0, 50.0)))

    def reaction(x: Vector, u: Vector) -> float:
        return float(1.2e9 * x[0] * np.exp(-8750.0 / max(u[0], 200.0)))

    def swing(x: Vector, a: float) -> float:
        return float(-9.81 * np.sin(x[0]) - a * np.cos(x[0]))

    def cart(x: Vector, u: Vector) -> float:
        return float(u[0] - 8.0 * x[0] - 0.1 * x[1]) / 2.0

    def rod(x: Vector, u: Vector) -> float:
        return float(0.5 * (x[1] ** 2 * np.sin(x[0]) - swing(x, u[0]) * np.cos(x[0])) - 0.5 * u[0])

    rhythm = {
        f"k{i}": Part(
            lambda x, u, w=w: [w + 0.4 * float(np.sin(u - x[0]).sum())], states, "a b", "angle", [0.3 * i]
        )
        for i, w in enumerate((1.0, 1.3, 0.7))
    }
    left = Part(lambda x, u: [x[1], -x[0] - 0.05 * x[1] + u[0]], states, "f", "x v", [1.0, 0.0])
    right = Part(lambda x, u: [x[1], -2.0 * (x[0] + u[0])], states, "f", "x v", [0.0, 0.0])
    return {
        "van der Pol's oscillator": Coupling(
            {
                "a": Part(lambda x, u: [u[0]], states, "v", "x", [2.0]),
                "b": Part(lambda x, u: [3.0 * (1.0 - u[0] ** 2) * x[0] - u[0]], states, "x", "v", [0.0]),
            },
            [("a.x", "b.x"), ("b.v", "a.v")],
            *(20.0, 0.02),
        ),
        "Brusselator": Coupling(
            {
                "a": Part(lambda x, u: [1.0 + x[0] ** 2 * u[0] - 4.0 * x[0]], states, "y", "x", [1.5]),
                "b": Part(lambda x, u: [3.0 * u[0] - u[0] ** 2 * x[0]], states, "x", "y", [3.0]),
            },
            [("a.x", "b.x"), ("b.y", "a.y")],
            *(20.0, 0.02),
        ),
        "three rhythms (Kuramoto)": Coupling(
            rhythm,
            [
                (f"k{j}.angle", f"k{i}.{port}")
                for i in range(3)
                for port, j in zip("ab", sorted({0, 1, 2} - {i}), strict=True)
            ],
            *(20.0, 0.05),
        ),
        "cart and pendulum, by acceleration": Coupling(
            {
                "cart": Part(
                    lambda x, u: [x[1], cart(x, u)], lambda x, u: [cart(x, u)], "f", "a", [0.2, 0.0], "f"
                ),
                "rod": Part(
                    lambda x, u: [x[1], swing(x, u[0])], lambda x, u: [rod(x, u)], "a", "f", [0.8, 0.0], "a"
                ),
            },
            [("cart.a", "rod.a"), ("rod.f", "cart.f")],
            *(5.0, 0.005),
        ),
        "cubic spring, force and motion": Coupling(
            {
                "a": left,
                "b": Part(
                    lambda x, u: [x[1], -2.0 * (x[0] + spring(x[0] - u[0], x[1] - u[1]))],
                    lambda x, u: [spring(x[0] - u[0], x[1] - u[1])],
                    *("x v", "f", [0.0, 0.0], "x v"),
                ),
            },
            [("a.x", "b.x"), ("a.v", "b.v"), ("b.f", "a.f")],
            *(20.0, 0.02),
        ),
        "cubic spring, motion and motion": Coupling(
            {
                "a": Part(
                    lambda x, u: [x[1], -x[0] - 0.05 * x[1] - spring(x[0] - u[0], x[1] - u[1])],
                    *(states, "y w", "x v", [1.0, 0.0]),
                ),
                "b": Part(
                    lambda x, u: [x[1], -2.0 * (x[0] + spring(x[0] - u[0], x[1] - u[1]))],
                    *(states, "y w", "x v", [0.0, 0.0]),
                ),
            },
            [("a.x", "b.y"), ("a.v", "b.w"), ("b.x", "a.y"), ("b.v", "a.w")],
            *(20.0, 0.02),
        ),
        "cubic spring between two": Coupling(
            {
                "a": left,
                "b": right,
                "s": Part(
                    lambda x, u: [],
                    lambda x, u: [spring(u[2] - u[0], u[3] - u[1])],
                    *("x v y w", "f", [], "x v y w"),
                ),
            },
            [("a.x", "s.x"), ("a.v", "s.v"), ("b.x", "s.y"), ("b.v", "s.w"), ("s.f", "a.f"), ("s.f", "b.f")],
            *(20.0, 0.02),
        ),
        "Lorenz' attractor": Coupling(
            {
                "a": Part(lambda x, u: [10.0 * (u[0] - x[0])], states, "y", "x", [1.0]),
                "b": Part(lambda x, u: [u[0] * (28.0 - u[1]) - x[0]], states, "x z", "y", [1.0]),
                "c": Part(lambda x, u: [u[0] * u[1] - 8.0 / 3.0 * x[0]], states, "x y", "z", [1.0]),
            },
            [("a.x", "b.x"), ("c.z", "b.z"), ("a.x", "c.x"), ("b.y", "c.y"), ("b.y", "a.y")],
            *(4.0, 0.002),
        ),
        "capacitors and a diode": Coupling(
            {
                "a": Part(
                    lambda x, u: [x[2] - x[0] - u[0], 2.0 * x[2], -2.0 * x[1]],
                    *(lambda x, u: x[:1], "i", "v", [0.0, -1.0, 0.0]),
                ),
                "b": Part(
                    lambda x, u: [0.5 * (diode(x, u) - 0.1 * x[0])],
                    *(lambda x, u: [diode(x, u)], "v", "i", [0.0], "v", 24),
                ),
            },
            [("a.v", "b.v"), ("b.i", "a.i")],
            *(10.0, 0.01),
        ),
        "stirred reactor": Coupling(
            {
                "a": Part(
                    lambda x, u: [1.0 - x[0] - reaction(x, u)],
                    *(lambda x, u: [reaction(x, u)], "t", "r", [0.5], "t", 12),
                ),
                "b": Part(
                    lambda x, u: [350.0 - x[0] + 209.0 * u[0] + 2.09 * (300.0 - x[0])],
                    *(states, "r", "t", [350.0], "", 12),
                ),
            },
            [("a.r", "b.r"), ("b.t", "a.t")],
            *(3.0, 0.003),
        ),
        "motor with friction": Coupling(
            {
                "a": Part(
                    lambda x, u: [(12.0 - 0.5 * x[0] - 0.1 * u[0]) / 5e-3],
                    *(lambda x, u: 0.1 * x, "w", "m", [0.0]),
                ),
                "b": Part(
                    lambda x, u: [(u[0] - 0.01 * x[0] - 0.02 * np.tanh(x[0])) / 0.02],
                    *(states, "m", "w", [0.0]),
                ),
            },
            [("a.m", "b.m"), ("b.w", "a.w")],
            *(2.0, 0.004),
        ),
        "predators that are full (Holling)": Coupling(
            {
                "a": Part(
                    lambda x, u: [x[0] * (1.0 - 0.1 * x[0]) - 2.0 * x[0] * u[0] / (1.0 + x[0])],
                    *(states, "p", "n", [2.0]),
                ),
                "b": Part(lambda x, u: [x[0] * (1.2 * u[0] / (1.0 + u[0]) - 0.6)], states, "n", "p", [0.8]),
            },
            [("a.n", "b.n"), ("b.p", "a.p")],
            *(60.0, 0.05),
        ),
        "two bodies in orbit": Coupling(
            {
                "a": Part(
                    lambda x, u: [*x[2:], *pull(x, u)],
                    lambda x, u: x[:2],
                    "u v",
                    "x y",
                    [-0.5, 0.0, 0.0, -0.45],
                ),
                "b": Part(
                    lambda x, u: [*x[2:], *pull(x, u)],
                    lambda x, u: x[:2],
                    "u v",
                    "x y",
                    [0.5, 0.0, 0.0, 0.45],
                ),
            },
            [("a.x", "b.u"), ("a.y", "b.v"), ("b.x", "a.u"), ("b.y", "a.v")],
            *(6.0, 0.01),
        ),
    }


def exact(coupling: Coupling, times: Vector) -> dict[str, Vector]:
    """Every output of the whole system, solved as one."""
    parts, into = coupling.parts, {target: source for source, target in coupling.links}
    edges = np.cumsum([0, *(len(part.start) for part in parts.values())])
    slices = {name: slice(edges[i], edges[i + 1]) for i, name in enumerate(parts)}

    def settled(states: Vector) -> tuple[dict[str, float], dict[str, Vector]]:
        found: dict[str, float] = {}
        for _ in range(200):
            before, inputs = dict(found), dict[str, Vector]()
            for name, part in parts.items():
                inputs[name] = np.array([found.get(into[f"{name}.{u}"], 0.0) for u in part.inputs])
                shown = part.shown(states[slices[name]], inputs[name])
                found |= {f"{name}.{y}": float(v) for y, v in zip(part.outputs, shown, strict=True)}
            if before == found:
                break
        return found, inputs

    def rates(time: float, states: Vector) -> Vector:
        inputs = settled(states)[1]
        return np.concatenate([parts[n].rates(states[slices[n]], inputs[n]) for n in parts])

    start = np.concatenate([part.start for part in parts.values()])
    solved = solve_ivp(rates, times[[0, -1]], start, method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times)
    rows = [settled(states)[0] for states in solved.y.T]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def main() -> None:
    print("| coupling | algorithm | true error | bar over error | verified | verdict |\n|" + "---|" * 6)
    bars: list[float] = []
    verified: list[float] = []
    for name, coupling in couplings().items():
        for algorithm, options in ALGORITHMS:
            loop = CoSimulation(coupling.parts, coupling.links, algorithm, coupling.step, options=options)
            row = f"| {name} | {algorithm}{options or ''} | "
            try:
                result = loop.simulate(coupling.until)
                report = result.coupling
                second = loop.verify(result, coupling.until)
            except cosim.CosimError as error:
                print(f"{row}{str(error)[:90]} | | | |")
                continue
            true = exact(coupling, result.time)
            off = {y: float(np.abs(result[y] - value).max()) for y, value in true.items()}
            names = {each.name.partition(" → ")[0]: each.scale for each in report.connections}
            least = [
                min(float(found[y].error) / max(off[y], SMALLEST * scale) for y, scale in names.items())
                for found in (report, second)
            ]
            worst = max(off[y] / scale for y, scale in names.items())
            print(f"{row}{worst:.1e} | {least[0]:.2g} | {least[1]:.3g} | {report.verdict} |", flush=True)
            bars.append(least[0])
            verified.append(least[1])
    for what, found in (("from the run", bars), ("second run", verified)):
        print(f"{what}: {sum(each >= 1.0 for each in found)} of {len(found)} hold, smallest {min(found):.2g}")


if __name__ == "__main__":
    main()
