"""Limits of stability of the master algorithms agree with the eigenvalues of a communication step."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cut_errors import largest_error

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from cuts import STIFF, Cut, TwoMasses
from scipy.linalg import block_diag

import cosim
from cosim_fmu import CoSimulation
from cosim_fmu.testing.linear_participant import LinearParticipant

DAMPED = TwoMasses(c1=0.3, c2=0.3, k=10.0, c=0.2)
FORCE, MOTION = DAMPED.force_and_motion(), DAMPED.motion_and_motion()


def wires(cut: Cut, parts: dict[str, LinearParticipant]) -> np.ndarray:
    """The matrix of connections: 1 for the input of a row that the output of a column feeds."""
    inputs = [f"{n}.{u}" for n, p in parts.items() for u in p.inputs]
    outputs = [f"{n}.{y}" for n, p in parts.items() for y in p.outputs]
    matrix = np.zeros((len(inputs), len(outputs)))
    for source, target in cut.links:
        matrix[inputs.index(target), outputs.index(source)] = 1.0
    return matrix


def amplification(cut: Cut, step: float, algorithm: str) -> np.ndarray:
    """The matrix of a communication step for states and outputs, by the definition of the algorithm."""
    parts = cut.make(False)
    connections = wires(cut, parts)
    states, outputs, inputs = (
        [name for name, p in parts.items() for _ in range(size(p))]
        for size in (lambda p: len(p.start), lambda p: len(p.outputs), lambda p: len(p.inputs))
    )
    start = np.eye(len(states) + len(outputs))
    x, y = np.split(start.copy(), [len(states)])
    for name, part in parts.items():
        sources = y if algorithm == "gauss_seidel" else start[len(states) :]
        u = (connections @ sources)[np.array(inputs) == name]
        rows = np.array(states) == name
        free, forced, _ = part.maps(step)
        x[rows] = free @ x[rows] + forced @ u
        y[np.array(outputs) == name] = part.c @ x[rows] + part.d @ u
    return np.vstack([x, y])


def implicit_amplification(cut: Cut, step: float) -> np.ndarray:
    """The matrix of a communication step in which inputs follow lines to the outputs at its end."""
    parts = cut.make(True)
    connections = wires(cut, parts)
    free, at_start, sloped = (block_diag(*[p.maps(step)[i] for p in parts.values()]) for i in range(3))
    at_end = sloped / step
    c, d = block_diag(*[p.c for p in parts.values()]), block_diag(*[p.d for p in parts.values()])
    explicit = np.hstack([free, (at_start - at_end) @ connections])
    y = np.linalg.solve(np.eye(len(c)) - c @ at_end @ connections - d @ connections, c @ explicit)
    return np.vstack([explicit + at_end @ connections @ y, y])


def radius(matrix: np.ndarray) -> float:
    """The spectral radius of a matrix."""
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def first_above_one(growth: Callable[[float], float], step: float) -> float:
    """The smallest step above `step` at which `growth` passes 1."""
    while growth(step) < 1.0:
        step *= 1.02
    low, high = step / 1.02, step
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if growth(middle) > 1.0 else (middle, high)
    return high


def rate_of_growth(cut: Cut, algorithm: str, step: float) -> float:
    """The growth per communication step in a run, from the largest states of two parts of it."""
    loop = CoSimulation(cut.make(algorithm == "interface_newton"), cut.links, algorithm, step)
    assert loop.order == ("left", "right")
    result = loop.simulate(3000 * step, record=cut.signals)
    sizes = np.linalg.norm([result[name] for name in cut.signals], axis=0)
    return float(sizes[2600:].max() / sizes[1000:1401].max()) ** (1.0 / 1600.0)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("cut", "algorithm"), [(FORCE, "jacobi"), (FORCE, "gauss_seidel"), (MOTION, "jacobi")]
)
def test_runs_grow_at_the_rate_of_the_closed_form_below_and_above_its_limit(cut: Cut, algorithm: str) -> None:
    edge = first_above_one(lambda step: radius(amplification(cut, step, algorithm)), 0.02)
    below, above = (
        (radius(amplification(cut, step, algorithm)), rate_of_growth(cut, algorithm, step))
        for step in (0.85 * edge, 1.2 * edge)
    )
    for expected, rate in (below, above):
        assert rate == pytest.approx(expected, rel=5e-4)
    assert below[1] < 1.0 < above[1]


def test_an_implicit_coupling_has_a_limit_of_stability() -> None:
    """It is finite, since a stiff motion does not follow the line of its inputs."""
    cut = STIFF.force_and_motion()
    edge = first_above_one(lambda step: radius(implicit_amplification(cut, step)) - 1e-6, 2e-3)
    assert edge > 50.0 * first_above_one(lambda step: radius(amplification(cut, step, "jacobi")), 1e-6)
    for step, grows in ((0.95 * edge, False), (1.1 * edge, True)):
        result = CoSimulation(cut.make(True), cut.links, "interface_newton", step).simulate(60 * step)
        sizes = np.max(np.abs([result[name] for name in cut.signals]), axis=0)
        assert (sizes[-1] > 1e3 * sizes[1]) == grows
        if grows:
            expected = radius(implicit_amplification(cut, step))
            assert (sizes[50] / sizes[30]) ** (1.0 / 20.0) == pytest.approx(expected, rel=1e-2)


def test_gauss_seidel_over_motions_is_stable_at_every_step() -> None:
    assert (
        max(radius(amplification(MOTION, step, "gauss_seidel")) for step in np.linspace(0.01, 3.0, 300)) < 1.0
    )
    for step in (0.05, 0.5, 1.5):
        result = CoSimulation(MOTION.make(False), MOTION.links, "gauss_seidel", step).simulate(400 * step)
        assert max(abs(result[name][-1]) for name in MOTION.signals) < 0.1


def contraction(cut: Cut, step: float) -> float:
    """The factor by which an iteration changes an error of the interface at the end of a step."""
    parts = cut.make(True)
    left, right = parts["left"], parts["right"]
    assert left.outputs[2] == "force" and right.outputs == ["x", "v"]
    # inputs at the end of the step, reached along a line: a change du is the slope du / step
    gain = {name: part.c @ part.maps(step)[2] / step + part.d for name, part in parts.items()}
    return radius(np.block([[np.zeros((1, 1)), gain["left"][2:]], [gain["right"], np.zeros((2, 2))]]))


def test_fixed_point_iteration_converges_where_its_matrix_contracts() -> None:
    cut = TwoMasses(k=300.0, c=1.0).force_and_motion()
    edge = first_above_one(lambda step: contraction(cut, step), 1e-3)
    options: dict[str, Any] = {"iterations": 400, "tolerance": 1e-9}
    inside = CoSimulation(cut.make(True), cut.links, "waveform_iteration", 0.9 * edge, options=options)
    assert inside.simulate(3.0 * edge).statistics["algorithm"]["largest_iterations"] > 30
    outside = CoSimulation(cut.make(True), cut.links, "waveform_iteration", 1.1 * edge, options=options)
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        outside.simulate(3.0 * edge)
    newton = CoSimulation(cut.make(True), cut.links, "interface_newton", 1.1 * edge)
    assert newton.simulate(3.0 * edge).message == ""


def test_stiff_coupling_needs_newton() -> None:
    """With a step of half the fast period, explicit algorithms grow and fixed-point iterations diverge."""
    cut, step = STIFF.force_and_motion(), 3e-3
    for algorithm in ("jacobi", "gauss_seidel"):
        assert radius(amplification(cut, step, algorithm)) > 1.5
    assert contraction(cut, step) > 1.1
    with pytest.raises(cosim.SimulationError, match="did not settle"):
        largest_error(cut, "waveform_iteration", step, 0.1)
    assert largest_error(cut, "interface_newton", step, 0.5) < 4e-2
    assert largest_error(cut, "interface_newton", 5e-4, 0.5) < 1e-3
