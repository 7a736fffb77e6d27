"""Error bars of couplings with a sampled controller, against exact solutions.

    python benchmarks/masters/sampled.py [--cases 200]

A linear system of one to three states and a controller (P, PI or PID) that looks at it every so often and
holds its output, which it says is discrete. Its clock ticks at each exchange, or at every second or fifth; it
answers at the end of the exchange in which it ticks, or (`early`) has ticked where that exchange began. The
estimate was written without these cases.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

Vector = NDArray[np.float64]
ALGORITHMS: list[tuple[str, dict[str, Any]]] = [
    ("jacobi", {}),
    ("gauss_seidel", {}),
    ("jacobi", {"extrapolation": 1}),
    ("waveform_iteration", {}),
    ("interface_newton", {}),
    ("adaptive", {"tolerance": 1e-3}),
]
SMALLEST_ERROR = 1e-9
"""An error below this part of the range counts as zero."""
ROUNDING = 1e-6
"""How much a tick may miss its time by rounding, relative to its period."""


class Law(NamedTuple):
    """u = kp (1 - y) + ki ∫(1 - y) - kd (y - y before) / period, at each tick."""

    period: float
    kp: float
    ki: float
    kd: float


class Memory(NamedTuple):
    """The memory of the controller: output, integral, inputs at the last tick and now, number of ticks."""

    u: float = 0.0
    integral: float = 0.0
    y_before: float = 0.0
    y: float = 0.0
    ticks: int = 0


class Sampled(cosim.Participant):
    """A controller that ticks at multiples of its period, at the end of a step or where it begins."""

    def __init__(self, law: Law, early: bool) -> None:
        self.law, self.early = law, early
        self._memory = Memory()

    def describe(self) -> kit.ParticipantDescription:
        """One input, one discrete output."""
        variables = {n: kit.ParticipantVariable(n, c) for n, c in (("y", "input"), ("u", "output"))}
        none: dict[str, frozenset[str]] = {"u": frozenset()}
        return kit.ParticipantDescription(
            "controller", variables, none, can_restore=True, discrete=frozenset({"u"})
        )

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Begin anew."""
        self._memory = Memory(y=float(values.get("y", 0.0)))

    def set(self, names: Sequence[str], values: Any) -> None:
        """The input."""
        if len(names):
            self._memory = self._memory._replace(y=float(values[0]))

    def step(self, time: float, size: float) -> float:
        """Make the ticks of this step; the first one is at 0 if they are early, else a period later."""
        while True:
            memory = self._memory
            periods_ahead = (time + size) / self.law.period - memory.ticks - (not self.early)
            if periods_ahead < (ROUNDING if self.early else -ROUNDING):
                return time + size
            self._memory = tick(self.law, memory)

    def get(self, names: Sequence[str]) -> list[float]:
        """Output, or input."""
        return [getattr(self._memory, name) for name in names]

    def save(self) -> Any:
        """The state that a step changes."""
        return self._memory

    def restore(self, token: Any) -> None:
        """Restore the state."""
        self._memory = token

    def close(self) -> None:
        """Close nothing: there is no open resource."""


def tick(law: Law, memory: Memory) -> Memory:
    """The memory of the controller after a tick."""
    integral = memory.integral + law.period * (1.0 - memory.y)
    change = memory.y - memory.y_before
    u = law.kp * (1.0 - memory.y) + law.ki * integral - law.kd * change / law.period
    return Memory(u, integral, memory.y, memory.y, memory.ticks + 1)


class Plant(NamedTuple):
    """x' = a x + b u, y = c x, and x at the start."""

    a: Vector
    b: Vector
    c: Vector
    start: Vector


class JudgedCase(NamedTuple):
    """A case: true error and bar of the plant's output, over its range."""

    seed: int
    early: bool
    algorithm: str
    exchanges: int
    true: float
    bar: float
    verdict: str


def check_bars(seed: int) -> JudgedCase:
    """The case of this number."""
    random = np.random.default_rng(seed)
    early, exchanges = bool(random.integers(2)), int(random.choice([1, 2, 5]))
    # without rollback across a tick, adaptive exchanges would meet its end ever more closely
    algorithm, options = ALGORITHMS[int(random.integers(len(ALGORITHMS) if early else len(ALGORITHMS) - 1))]
    system = _plant(random)
    rate = float(np.abs(np.linalg.eigvals(system.a)).max())
    law = Law(
        float(random.uniform(0.02, 0.2) / rate),
        float(random.uniform(0.2, 2.0)),
        float(random.choice([0.0, 0.5])),
        float(random.choice([0.0, 0.1])) / rate,
    )
    matrices = system.a, system.b, system.c, [[0.0]]
    plant = LinearParticipant(matrices, ["u"], ["y"], system.start.tolist())
    parts = {"plant": plant, "controller": Sampled(law, early)}
    if random.integers(2):
        parts = dict(reversed(parts.items()))
    links = [("plant.y", "controller.y"), ("controller.u", "plant.u")]
    loop = CoSimulation(parts, links, algorithm, law.period / exchanges, options=options)
    result = loop.simulate(until=law.period * float(random.choice([60, 200, 600])))
    y, bar = exact(system, law, early, result.time), result.coupling["plant.y"]
    scale = float(np.ptp(y))
    true = float(np.abs(result["plant.y"] - y).max()) / scale
    return JudgedCase(seed, early, algorithm, exchanges, true, bar.error / scale, result.coupling.verdict)


def _plant(random: np.random.Generator) -> Plant:
    """A lag, an oscillator, or an oscillator behind a lag."""
    size = int(random.integers(1, 4))
    w, damping, lag = random.uniform(0.5, 3.0), random.uniform(0.05, 1.0), random.uniform(2.0, 8.0)
    whole = np.array([[0.0, 1.0, 0.0], [-(w**2), -2.0 * damping * w, w**2], [0.0, 0.0, -lag]])
    a = np.array([[-w]]) if size == 1 else whole[:size, :size]
    b = np.zeros((size, 1))
    b[-1] = (w, w**2, lag)[size - 1]
    return Plant(a, b, np.eye(1, size), 0.5 * random.normal(size=size))


def exact(plant: Plant, law: Law, early: bool, times: Vector) -> Vector:
    """The plant's output, if the controller answered each tick at once."""
    size = plant.start.size
    held_input = np.zeros((size + 1, size + 1))  # of the plant's states, then its input
    held_input[:size, :size], held_input[:size, size:] = plant.a, plant.b
    state, now, memory = np.r_[plant.start, 0.0], 0.0, Memory(ticks=int(not early))
    outputs = []
    for time in times.tolist():
        while memory.ticks * law.period <= time + ROUNDING * law.period:
            tick_time = memory.ticks * law.period
            state, now = expm((tick_time - now) * held_input) @ state, tick_time
            memory = tick(law, memory._replace(y=float((plant.c @ state[:size])[0])))
            state[size] = memory.u
        state, now = expm((time - now) * held_input) @ state, time
        outputs.append(float((plant.c @ state[:size])[0]))
    return np.array(outputs)


def main() -> None:
    """Print how often bars hold, with and without an error."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        judged = list(pool.map(check_bars, range(arguments.cases), chunksize=5))
    with_error = [case for case in judged if case.true > SMALLEST_ERROR]
    print("| cases | number | bars hold | median of bar over error | unknown |")
    print("|---" * 5 + "|")
    groups = {
        "all with an error": with_error,
        "… known": [case for case in with_error if case.verdict != "unknown"],
    }
    groups |= {f"`{name}`": [c for c in with_error if c.algorithm == name] for name in dict(ALGORITHMS)}
    for name, cases in groups.items():
        over = np.array([case.bar / case.true for case in cases])
        unknown = sum(case.verdict == "unknown" for case in cases)
        print(f"| {name} | {over.size} | {np.mean(over >= 1.0):.3f} | {np.median(over):.2g} | {unknown} |")
    without_error = [case for case in judged if case.true <= SMALLEST_ERROR]
    for several in (False, True):
        cases = [case for case in without_error if (case.exchanges > 1) == several]
        bars = [case.bar for case in cases] or [0.0]
        print(
            f"without an error, {'several exchanges' if several else 'one exchange'} a tick: {len(cases)}, "
            f"largest bar {max(bars):.1g}, median {np.median(bars):.1g} of the range, "
            f"{sum(case.verdict == 'fine' for case in cases)} fine"
        )


if __name__ == "__main__":
    main()
