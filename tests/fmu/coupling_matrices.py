"""Matrices of a communication step of linear couplings, and the steps at which they become unstable."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag

from cosim_fmu.testing.linear_participant import LinearParticipant

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from cuts import Cut

SCAN_FACTOR = 1.02
"""Successive steps of `first_above_one` differ by this factor."""


def wires(cut: Cut, parts: dict[str, LinearParticipant]) -> np.ndarray:
    """The matrix of connections: 1 for the input of a row that the output of a column feeds."""
    inputs = [f"{n}.{u}" for n, p in parts.items() for u in p.inputs]
    outputs = [f"{n}.{y}" for n, p in parts.items() for y in p.outputs]
    matrix = np.zeros((len(inputs), len(outputs)))
    for source, target in cut.links:
        matrix[inputs.index(target), outputs.index(source)] = 1.0
    return matrix


def amplification(cut: Cut, step: float, algorithm: str) -> np.ndarray:
    """The matrix of a step of "jacobi" or "gauss_seidel", which maps states and outputs to the next ones."""
    parts = cut.make(follows=False)
    connections = wires(cut, parts)
    # the part to which each state, output and input belongs
    states = [name for name, part in parts.items() for _ in part.start]
    outputs = [name for name, part in parts.items() for _ in part.outputs]
    inputs = [name for name, part in parts.items() for _ in part.inputs]
    start = np.eye(len(states) + len(outputs))
    x, y = np.split(start.copy(), [len(states)])
    for name, part in parts.items():
        # Gauss-Seidel reads outputs that earlier parts have written in this step
        sources = y if algorithm == "gauss_seidel" else start[len(states) :]
        u = (connections @ sources)[np.array(inputs) == name]
        rows = np.array(states) == name
        # with held inputs: x_next = free x + forced u; y_next = c x_next + d u
        free, forced, _ = part.maps(step)
        x[rows] = free @ x[rows] + forced @ u
        y[np.array(outputs) == name] = part.c @ x[rows] + part.d @ u
    return np.vstack([x, y])


def implicit_amplification(cut: Cut, step: float) -> np.ndarray:
    """The matrix of a step with inputs interpolated linearly to the outputs at the end of the step."""
    parts = cut.make(follows=True)
    connections = wires(cut, parts)
    # x_next = free x + (at_start - at_end) u + at_end u_next; y_next = c x_next + d u_next
    free, at_start, sloped = (block_diag(*[p.maps(step)[i] for p in parts.values()]) for i in range(3))
    at_end = sloped / step
    c, d = block_diag(*[p.c for p in parts.values()]), block_diag(*[p.d for p in parts.values()])
    explicit = np.hstack([free, (at_start - at_end) @ connections])
    y = np.linalg.solve(np.eye(len(c)) - c @ at_end @ connections - d @ connections, c @ explicit)
    return np.vstack([explicit + at_end @ connections @ y, y])


def contraction(cut: Cut, step: float) -> float:
    """The factor by which an iteration changes an error of the interface at the end of a step."""
    parts = cut.make(follows=True)
    left, right = parts["left"], parts["right"]
    assert left.outputs[2] == "force" and right.outputs == ["x", "v"]
    # inputs at the end of the step, reached along a line: a change du is the slope du / step
    gain = {name: part.c @ part.maps(step)[2] / step + part.d for name, part in parts.items()}
    return spectral_radius(
        np.block([[np.zeros((1, 1)), gain["left"][2:]], [gain["right"], np.zeros((2, 2))]])
    )


def spectral_radius(matrix: np.ndarray) -> float:
    """The largest magnitude of an eigenvalue."""
    return float(np.max(np.abs(np.linalg.eigvals(matrix))))


def first_above_one(growth: Callable[[float], float], step: float) -> float:
    """The smallest step above `step` at which `growth` passes 1.

    A range of steps above 1 that is narrower than `SCAN_FACTOR` may be missed.
    """
    while growth(step) < 1.0:
        step *= SCAN_FACTOR
    low, high = step / SCAN_FACTOR, step
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if growth(middle) > 1.0 else (middle, high)
    return high
