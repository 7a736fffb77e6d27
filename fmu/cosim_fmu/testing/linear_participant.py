"""Participants for the contract kits: a linear one that steps exactly, and one without functions of C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

import cosim
from cosim import kit

Matrix = NDArray[np.float64]


class LinearParticipant(cosim.Participant):
    """x' = A x + B u, y = C x + D u, with u constant over a step or along a line.

    Parameters
    ----------
    matrices : (A, B, C, D)
        Shapes (n, n), (n, m), (r, n), (r, m).
    inputs, outputs : sequence of str
        Names of the m inputs and of the r outputs; states are ``x0``, ``x1`` …
    start : sequence of float
        The n states at the start.
    follows : bool
        Whether inputs may run along slopes; else they are held.
    """

    def __init__(
        self,
        matrices: Sequence[Any],
        inputs: Sequence[str],
        outputs: Sequence[str],
        start: Sequence[float],
        follows: bool = False,
    ) -> None:
        a, b, c, d = (np.atleast_2d(np.asarray(m, dtype=float)) for m in matrices)
        self.a, self.b = a.reshape(len(start), len(start)), b.reshape(len(start), len(inputs))
        self.c, self.d = c.reshape(len(outputs), len(start)), d.reshape(len(outputs), len(inputs))
        self.inputs, self.outputs, self.start, self.follows = list(inputs), list(outputs), start, follows
        self._at = {name: i for i, name in enumerate(inputs)}
        self._places = {name: i for i, name in enumerate([*outputs, *(f"x{i}" for i in range(len(start)))])}
        self._maps: dict[float, tuple[Matrix, Matrix, Matrix]] = {}
        self._begin({})

    def _begin(self, values: Mapping[str, float]) -> None:
        self.x = np.array(self.start, dtype=float)
        self.u = np.array([values.get(name, 0.0) for name in self.inputs])
        self.slope = np.zeros(len(self.inputs))
        self._runs = False

    def describe(self) -> kit.ParticipantDescription:
        """States are shown as well."""
        names = {
            **dict.fromkeys(self.inputs, "input"),
            **dict.fromkeys(self.outputs, "output"),
            **dict.fromkeys((f"x{i}" for i in range(len(self.start))), "output"),
        }
        return kit.ParticipantDescription(
            "linear system",
            {name: kit.ParticipantVariable(name, kind) for name, kind in names.items()},
            {
                **{f"x{i}": frozenset() for i in range(len(self.start))},
                **{
                    name: frozenset(u for u, gain in zip(self.inputs, row, strict=True) if gain != 0.0)
                    for name, row in zip(self.outputs, self.d, strict=True)
                },
            },
            can_restore=True,
            follows_slopes=self.follows,
        )

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Set the states to their start values."""
        self._begin(values)

    def set(self, names: Sequence[str], values: Any) -> None:
        """Write inputs; their slopes are zero until they are set."""
        for name, value in zip(names, values, strict=True):
            self.u[self._at[name]] = value
        self._hold()

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """Derivatives of inputs over the next step."""
        for name, slope in zip(names, slopes, strict=True):
            self.slope[self._at[name]] = slope
        self._runs = True

    def step(self, time: float, size: float) -> float:
        """Step by the matrix exponential."""
        a, held, sloped = self.maps(size)
        self.x = a @ self.x + held @ self.u
        if self._runs:  # the inputs, along lines
            self.x += sloped @ self.slope
            self.u = self.u + size * self.slope
            self._hold()
        return time + size

    def _hold(self) -> None:
        if self._runs:
            self.slope, self._runs = np.zeros(len(self.inputs)), False

    def maps(self, size: float) -> tuple[Matrix, Matrix, Matrix]:
        """The matrices of a step by `size` (s): of states, of inputs at its start, and of their slopes."""
        matrices = self._maps.get(size)
        if matrices is None:
            n, m = self.b.shape
            whole = np.zeros((n + 2 * m, n + 2 * m))
            whole[:n, :n], whole[:n, n : n + m] = self.a, self.b
            whole[n : n + m, n + m :] = np.eye(m)
            power = expm(size * whole)
            matrices = self._maps[size] = power[:n, :n], power[:n, n : n + m], power[:n, n + m :]
        return matrices

    def get(self, names: Sequence[str]) -> list[float]:
        """Outputs and states."""
        values = [*(self.c @ self.x + self.d @ self.u).tolist(), *self.x.tolist()]
        return [values[self._places[name]] for name in names]

    def save(self) -> Any:
        """States and inputs."""
        return self.x.copy(), self.u.copy(), self.slope.copy()

    def restore(self, token: Any) -> None:
        """Restore the state."""
        self.x, self.u, self.slope = (values.copy() for values in token)
        self._runs = True

    def close(self) -> None:
        """Close nothing: there is no open resource."""


NATIVE = ("native_calls", "native_types", "least_native_steps")


class PythonCalls:
    """A participant of which only the methods of Python are called: for comparisons.

    Parameters
    ----------
    participant : Participant
    """

    def __init__(self, participant: Any) -> None:
        self._participant = participant

    def __getattr__(self, name: str) -> Any:
        if name in NATIVE or name == "_participant":
            raise AttributeError(name)
        return getattr(self._participant, name)
