"""Random coupled linear systems: each master algorithm gives exactly what its scheme prescribes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from how_many import many
from scipy.linalg import block_diag

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

STEP = 0.05
STEPS = 12
SEEDS = range(many(15))


class Part(NamedTuple):
    """A linear participant: x' = A x + B u, y = C x + D u, from a state at the start."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    start: np.ndarray


@dataclass
class CoupledSystem:
    """Linear participants and their connections.

    Attributes
    ----------
    parts : dict of str to Part
    wired : ndarray, shape (inputs, outputs)
        1 where an output feeds an input; each input has one output.
    """

    parts: dict[str, Part]
    wired: np.ndarray

    def participants(self, follows: bool = False) -> dict[str, LinearParticipant]:
        """The participants; their inputs are u0, u1, …, their outputs y0, y1, …"""
        participants = {}
        for name, part in self.parts.items():
            inputs = [f"u{i}" for i in range(part.B.shape[1])]
            outputs = [f"y{i}" for i in range(part.C.shape[0])]
            matrices = [part.A, part.B, part.C, part.D]
            participants[name] = LinearParticipant(matrices, inputs, outputs, part.start, follows)
        return participants

    def connections(self) -> list[tuple[str, str]]:
        inputs = [f"{name}.u{i}" for name, part in self.parts.items() for i in range(part.B.shape[1])]
        outputs = [f"{name}.y{i}" for name, part in self.parts.items() for i in range(part.C.shape[0])]
        return [(outputs[j], inputs[i]) for i, j in zip(*np.nonzero(self.wired), strict=True)]

    def blocks(self, matrix: str) -> np.ndarray:
        """A matrix of all participants, in diagonal blocks."""
        return block_diag(*[getattr(part, matrix) for part in self.parts.values()])

    def maps(self, index: int) -> np.ndarray:
        """`LinearParticipant.maps` of all participants over a step, in diagonal blocks."""
        return block_diag(*[p.maps(STEP)[index] for p in self.participants().values()])

    @property
    def start(self) -> np.ndarray:
        return np.concatenate([part.start for part in self.parts.values()])

    def consistent_outputs(self) -> np.ndarray:
        """Outputs at the start."""
        C, D = self.blocks("C"), self.blocks("D")
        return np.linalg.solve(np.eye(len(C)) - D @ self.wired, C @ self.start)

    def explicit_scheme(self, order: list[str] | None) -> np.ndarray:
        """Outputs at all points: inputs are held; all from the last point, or in an order with new ones."""
        names = list(self.parts)
        states = slices([len(part.start) for part in self.parts.values()])
        inputs = slices([part.B.shape[1] for part in self.parts.values()])
        outputs = slices([part.C.shape[0] for part in self.parts.values()])
        maps = {name: participant.maps(STEP) for name, participant in self.participants().items()}
        x, y = self.start, self.consistent_outputs()
        rows = [y]
        for _ in range(STEPS):
            old_outputs, y = y, y.copy()
            for name in order or names:
                i, part = names.index(name), self.parts[name]
                u = (self.wired @ (old_outputs if order is None else y))[inputs[i]]
                x[states[i]] = maps[name][0] @ x[states[i]] + maps[name][1] @ u
                y[outputs[i]] = part.C @ x[states[i]] + part.D @ u
            rows.append(y)
        return np.array(rows)

    def implicit_scheme(self) -> np.ndarray:
        """Outputs at all points: inputs on the line from the outputs at t to those at t + h."""
        free, held, sloped = (self.maps(i) for i in range(3))
        C, D, at_end = self.blocks("C"), self.blocks("D"), sloped / STEP
        x, y = self.start, self.consistent_outputs()
        rows = [y]
        for _ in range(STEPS):
            # x at the end of the step is this part and one of the outputs at that end
            explicit_part = free @ x + (held - at_end) @ self.wired @ y
            y = np.linalg.solve(np.eye(len(C)) - (C @ at_end + D) @ self.wired, C @ explicit_part)
            x = explicit_part + at_end @ self.wired @ y
            rows.append(y)
        return np.array(rows)

    def fixed_point_gain(self) -> float:
        """The spectral radius of the map from the interface to that of the next fixed-point iteration."""
        iteration = (self.blocks("C") @ self.maps(2) / STEP + self.blocks("D")) @ self.wired
        return float(np.max(np.abs(np.linalg.eigvals(iteration))))


def slices(sizes: list[int]) -> list[slice]:
    """Where each participant's elements are in a vector of all."""
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def draw(seed: int, *, loops: bool, feedthrough: float = 0.6) -> CoupledSystem:
    """Two to six participants of random sizes; without `loops` direct feedthrough goes forward only."""
    random = np.random.default_rng(seed)
    parts: dict[str, Part] = {}
    for i in range(random.integers(2, 7)):
        n, m, r = random.integers(1, 5), random.integers(1, 4), random.integers(1, 4)
        A = random.normal(size=(n, n)) - 2.0 * np.eye(n)
        D = feedthrough * random.normal(size=(r, m)) * (random.random((r, m)) < 0.5)
        B, C = random.normal(size=(n, m)), random.normal(size=(r, n))
        parts[f"p{i}"] = Part(A, B, C, D, random.normal(size=n))
    names = list(parts)
    owners = [name for name in names for _ in range(parts[name].C.shape[0])]  # of outputs
    wired = []
    for name in names:
        B, D = parts[name].B, parts[name].D
        for k in range(B.shape[1]):
            allowed = np.arange(len(owners))
            if not loops and np.any(D[:, k]):
                allowed = allowed[[names.index(owner) < names.index(name) for owner in owners]]
                if not allowed.size:
                    D[:, k] = 0.0
                    allowed = np.arange(len(owners))
            wired.append(np.eye(len(owners))[random.choice(allowed)])
    return CoupledSystem(parts, np.array(wired))


def run(
    coupled: CoupledSystem, algorithm: str, *, follows: bool = False, **options: float
) -> tuple[np.ndarray, list[str]]:
    """Outputs at all points, and the order in which the participants step."""
    participants = coupled.participants(follows)
    loop = CoSimulation(participants, coupled.connections(), algorithm, STEP, options=options)
    outputs = [f"{name}.{y}" for name, participant in participants.items() for y in participant.outputs]
    result = loop.simulate(STEP * STEPS, record=outputs)
    return np.array([result[name] for name in outputs]).T, loop.order


def assert_close(outputs: np.ndarray, expected: np.ndarray, relative: float) -> None:
    assert np.max(np.abs(outputs - expected)) <= relative * max(1.0, np.max(np.abs(expected)))


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_explicit_schemes(seed: int) -> None:
    with_loops = draw(seed, loops=True)
    assert_close(run(with_loops, "jacobi")[0], with_loops.explicit_scheme(None), 1e-7)
    without_loops = draw(seed, loops=False)
    outputs, order = run(without_loops, "gauss_seidel")
    assert_close(outputs, without_loops.explicit_scheme(order), 1e-10)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_implicit_schemes(seed: int) -> None:
    """Newton's method solves loops of any gain, fixed-point iteration those of gains below 1."""
    coupled = draw(seed, loops=True)
    tight = {"tolerance": 1e-10, "absolute_tolerance": 1e-11}
    assert_close(run(coupled, "interface_newton", follows=True, **tight)[0], coupled.implicit_scheme(), 1e-6)
    gain = coupled.fixed_point_gain()
    if gain < 0.7:
        outputs, _ = run(coupled, "waveform_iteration", follows=True, iterations=200, **tight)
        assert_close(outputs, coupled.implicit_scheme(), 1e-6)
    elif gain > 1.2:
        with pytest.raises(cosim.SimulationError, match=r"did not settle.*200 iterations.*p\d\.y\d"):
            run(coupled, "waveform_iteration", follows=True, iterations=200, **tight)


def test_a_loop_without_a_solution_names_what_was_tried() -> None:
    """a.y = a.u and b.y = 1 + b.u, connected in a ring."""
    a = Part(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.ones((1, 1)), np.zeros(0))
    b = Part(-np.ones((1, 1)), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
    coupled = CoupledSystem({"a": a, "b": b}, np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(cosim.SimulationError) as caught:
        run(coupled, "jacobi")
    message = str(caught.value)
    assert "substitutions" in message and "Newton step" in message and "singular" in message
    assert "a.y0 by 1" in message and "b.y0 by" in message
    assert "b.y0 → a.u0 → a.y0 → b.u0" in message
