"""A linear system with names, and how to get one from a system and a State."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.kit import write_whole
from cosim_dynamics.mode import Mode

Array = NDArray[np.float64]
GROWS = 1e-6
"""Of the largest eigenvalue: a real part above it belongs to a mode that grows, one below may be rounding."""
ROUNDING = 1e-9
"""Eigenvalues smaller than this part of the largest one are zero, and so are such imaginary parts."""


@dataclass(frozen=True)
class Linearization:
    """dx/dt = A x + B u, y = C x + D u: small changes about a State.

    Attributes
    ----------
    A, B, C, D : ndarray, shapes (n, n), (n, m), (p, n), (p, m)
    states, inputs, outputs : list of str
        A name for each of the n, m, p. ``"integral of ball.u[0]"`` is a small displacement along that speed:
        joints with quaternions have as many of these as speeds.
    time : float, s
        Of the State.

    Examples
    --------
    >>> A, B, C, D = np.array([[0.0, 1.0], [-4.0, 0.0]]), np.zeros((2, 0)), np.zeros((0, 2)), np.zeros((0, 0))
    >>> oscillator = Linearization(A, B, C, D, states=["q", "u"], inputs=[], outputs=[])
    >>> [round(mode.frequency * 2 * np.pi, 9) for mode in oscillator.modes()]
    [2.0]
    """

    A: Array
    B: Array
    C: Array
    D: Array
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    time: float = 0.0

    def modes(self) -> list[Mode]:
        """Eigenvalues and shapes, slow ones first; of a conjugate pair one."""
        if not self.states:
            return []
        values, vectors = np.linalg.eig(self.A)
        nothing = ROUNDING * max(abs(values).max(), 1e-300)
        modes = []
        for value, vector in zip(values, vectors.T, strict=True):
            real = 0.0 if abs(value.real) <= nothing else float(value.real)
            imaginary = 0.0 if abs(value.imag) <= nothing else float(value.imag)
            if imaginary >= 0.0:
                shape = np.asarray(vector, dtype=complex)
                modes.append(Mode(complex(real, imaginary), shape / shape[np.argmax(abs(shape))]))
        return sorted(modes, key=lambda mode: (abs(mode.eigenvalue), mode.eigenvalue.real))

    def growing(self) -> list[tuple[str, Mode]]:
        """Modes that grow, the fastest first, each with the state in which it shows most; none: it is stable.

        Examples
        --------
        >>> upright = Linearization(
        ...     np.array([[0.0, 1.0], [9.0, 0.0]]), np.zeros((2, 0)), np.zeros((0, 2)), np.zeros((0, 0)),
        ...     states=["stick.q", "stick.u"], inputs=[], outputs=[]
        ... )
        >>> [(name, round(mode.time_constant, 9)) for name, mode in upright.growing()]
        [('stick.u', -0.333333333)]
        """
        modes = self.modes()
        border = GROWS * max((abs(mode.eigenvalue) for mode in modes), default=0.0)
        growing = [
            (self.states[int(np.argmax(abs(mode.shape)))], mode)
            for mode in modes
            if mode.eigenvalue.real > border
        ]
        return sorted(growing, key=lambda pair: -pair[1].eigenvalue.real)

    def to_dict(self) -> dict[str, Any]:
        """Everything as lists and numbers, with the modes."""
        modes = [
            {
                "eigenvalue": [mode.eigenvalue.real, mode.eigenvalue.imag],
                "frequency": mode.frequency,
                "damping_ratio": mode.damping_ratio if mode.eigenvalue else None,
                "shape": [[value.real, value.imag] for value in mode.shape.tolist()],
            }
            for mode in self.modes()
        ]
        matrices = {name: getattr(self, name).tolist() for name in "ABCD"}
        names = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        return {"time": self.time, **names, **matrices, "modes": modes}

    def write(self, path: str | Path) -> None:
        """Write `to_dict` as JSON."""
        write_whole(Path(path), (json.dumps(self.to_dict(), indent=1) + "\n").encode())
