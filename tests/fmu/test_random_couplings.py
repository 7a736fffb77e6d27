"""Random coupled linear systems: every master algorithm against the exact solution of its scheme."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from how_many import many
from scipy.linalg import block_diag

import cosim
from cosim_fmu import CoSimulation

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from cosim_fmu.testing.linear_participant import LinearParticipant  # noqa: E402

STEP, STEPS = 0.05, 12


@dataclass
class Coupled:
    """Participants with matrices, and who feeds whom.

    Attributes
    ----------
    parts : dict of str to tuple
        A, B, C, D and the states at the start.
    wired : ndarray, shape (inputs, outputs)
        One output for each input.
    """

    parts: dict[str, tuple[np.ndarray, ...]]
    wired: np.ndarray

    def make(self, follows: bool = False) -> tuple[dict[str, LinearParticipant], list[tuple[str, str]]]:
        inputs = [f"{n}.u{i}" for n, p in self.parts.items() for i in range(p[1].shape[1])]
        outputs = [f"{n}.y{i}" for n, p in self.parts.items() for i in range(p[2].shape[0])]
        links = [(outputs[j], inputs[i]) for i, j in zip(*np.nonzero(self.wired), strict=True)]
        made = {}
        for name, (a, b, c, d, start) in self.parts.items():
            names = [f"u{i}" for i in range(b.shape[1])], [f"y{i}" for i in range(c.shape[0])]
            made[name] = LinearParticipant([a, b, c, d], *names, start, follows)
        return made, links

    def whole(self, place: int) -> np.ndarray:
        return block_diag(*[p[place] for p in self.parts.values()])

    @property
    def start(self) -> np.ndarray:
        return np.concatenate([p[4] for p in self.parts.values()])

    def consistent(self) -> np.ndarray:
        """Outputs at the start."""
        c, d = self.whole(2), self.whole(3)
        return np.linalg.solve(np.eye(len(c)) - d @ self.wired, c @ self.start)

    def explicit(self, order: list[str] | None) -> np.ndarray:
        """Outputs at all points: all from the same values, or one after the other."""
        names = list(self.parts)
        ends = {k: np.cumsum([0] + [size(self.parts[n]) for n in names]) for k, size in SIZES.items()}
        maps = {n: p.maps(STEP) for n, p in self.make()[0].items()}
        x, y = self.start, self.consistent()
        rows = [y]
        for _ in range(STEPS):
            before, y = y, y.copy()
            for name in order or names:
                i = names.index(name)
                mine = {k: slice(e[i], e[i + 1]) for k, e in ends.items()}
                u = (self.wired @ (before if order is None else y))[mine["u"]]
                x[mine["x"]] = maps[name][0] @ x[mine["x"]] + maps[name][1] @ u
                y[mine["y"]] = self.parts[name][2] @ x[mine["x"]] + self.parts[name][3] @ u
            rows.append(y)
        return np.array(rows)

    def implicit(self) -> np.ndarray:
        """Outputs at all points: inputs on the line from the outputs at t to those at t + h."""
        free, held, sloped = (
            block_diag(*[p.maps(STEP)[i] for p in self.make()[0].values()]) for i in range(3)
        )
        c, d, at_end = self.whole(2), self.whole(3), sloped / STEP
        x, y = self.start, self.consistent()
        rows = [y]
        for _ in range(STEPS):
            known = free @ x + (held - at_end) @ self.wired @ y
            y = np.linalg.solve(np.eye(len(c)) - (c @ at_end + d) @ self.wired, c @ known)
            x = known + at_end @ self.wired @ y
            rows.append(y)
        return np.array(rows)

    def gain(self) -> float:
        """Spectral radius of what the fixed point does with a change of the interface."""
        sloped = block_diag(*[p.maps(STEP)[2] for p in self.make()[0].values()])
        return float(
            np.max(np.abs(np.linalg.eigvals((self.whole(2) @ sloped / STEP + self.whole(3)) @ self.wired)))
        )


SIZES = {"x": lambda p: len(p[4]), "u": lambda p: p[1].shape[1], "y": lambda p: p[2].shape[0]}


def draw(seed: int, *, loops: bool, feedthrough: float = 0.6) -> Coupled:
    """Two to six participants of random sizes; without `loops` direct feedthrough goes forward only."""
    random = np.random.default_rng(seed)
    parts: dict[str, tuple[np.ndarray, ...]] = {}
    for i in range(random.integers(2, 7)):
        n, m, r = random.integers(1, 5), random.integers(1, 4), random.integers(1, 4)
        a = random.normal(size=(n, n)) - 2.0 * np.eye(n)
        d = feedthrough * random.normal(size=(r, m)) * (random.random((r, m)) < 0.5)
        parts[f"p{i}"] = a, random.normal(size=(n, m)), random.normal(size=(r, n)), d, random.normal(size=n)
    names = list(parts)
    owners = [name for name in names for _ in range(parts[name][2].shape[0])]
    rows = []
    for name in names:
        b, d = parts[name][1], parts[name][3]
        for k in range(b.shape[1]):
            allowed = np.arange(len(owners))
            if not loops and np.any(d[:, k]):
                allowed = allowed[[names.index(owner) < names.index(name) for owner in owners]]
                if not allowed.size:
                    d[:, k] = 0.0
                    allowed = np.arange(len(owners))
            rows.append(np.eye(len(owners))[random.choice(allowed)])
    return Coupled(parts, np.array(rows))


def run(
    coupled: Coupled, algorithm: str, *, follows: bool = False, **options: float
) -> tuple[np.ndarray, list[str]]:
    parts, links = coupled.make(follows)
    loop = CoSimulation(parts, links, algorithm, STEP, options=options)
    outputs = [f"{n}.{y}" for n, p in parts.items() for y in p.outputs]
    result = loop.simulate(STEP * STEPS, record=outputs)
    return np.array([result[name] for name in outputs]).T, loop.order


def assert_close(found: np.ndarray, expected: np.ndarray, relative: float) -> None:
    assert np.max(np.abs(found - expected)) <= relative * max(1.0, np.max(np.abs(expected)))


SEEDS = range(many(15))


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_explicit_schemes(seed: int) -> None:
    looped = draw(seed, loops=True)
    assert_close(run(looped, "jacobi")[0], looped.explicit(None), 1e-7)
    forward = draw(seed, loops=False)
    found, order = run(forward, "gauss_seidel")
    assert_close(found, forward.explicit(order), 1e-10)


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_implicit_schemes(seed: int) -> None:
    """Newton's method solves loops of any gain; the fixed point those below one, else it says so."""
    coupled = draw(seed, loops=True)
    tight = {"tolerance": 1e-10, "absolute_tolerance": 1e-11}
    assert_close(run(coupled, "interface_newton", follows=True, **tight)[0], coupled.implicit(), 1e-6)
    gain = coupled.gain()
    if gain < 0.7:
        found, _ = run(coupled, "waveform_iteration", follows=True, iterations=200, **tight)
        assert_close(found, coupled.implicit(), 1e-6)
    elif gain > 1.2:
        with pytest.raises(cosim.SimulationError, match=r"did not settle.*200 iterations.*p\d\.y\d"):
            run(coupled, "waveform_iteration", follows=True, iterations=200, **tight)


def test_a_loop_without_a_solution_names_what_it_tried() -> None:
    part = np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), np.ones((1, 1)), np.zeros(0)
    shifted = np.array([[-1.0]]), np.zeros((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1)
    coupled = Coupled({"a": part, "b": shifted}, np.array([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(cosim.SimulationError) as caught:
        run(coupled, "jacobi")
    text = str(caught.value)
    assert "substitutions" in text and "Newton step" in text and "singular" in text
    assert "a.y0 by 1" in text and "b.y0 by" in text and "b.y0 → a.u0 → a.y0 → b.u0" in text
