"""Independent small changes of the continuous state: a quaternion has three, though it has four numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_mechanics import contracts

Array = NDArray[np.float64]
STATES = ("position", "speed", "auxiliary")
"""Kinds of variables that y is made of; signals that show parts of it have names of their own."""
STEP = 1e-4
"""Of differences, in parts of a coordinate's size, or rad, m …"""


class Tangent:
    """The directions in which the continuous state of a State can change, with a name for each.

    Law: dy = basis dx. For coordinates of a joint that has as many speeds, x are the coordinates themselves;
    for a joint with more coordinates than speeds (quaternions), q_dot = N(q) u, x are small displacements
    along the speeds, and the basis holds N. All other states stand for themselves.

    Parameters
    ----------
    state : State
        What it belongs to; not changed.

    Attributes
    ----------
    names : list of str
        ``"hinge.q"``, or ``"integral of ball.u[0]"`` for a displacement along a speed.
    basis : ndarray, shape (ny, n)
    inverse : ndarray, shape (n, ny)
        A left inverse of the basis.
    displacements : ndarray of int
        The places of q among the n.
    turns : ndarray of bool, shape (n,)
        Whether it is an angle.
    """

    def __init__(self, state: cosim.State) -> None:
        self.system = state.system
        system = self.system
        self._blocks = [
            (system.variables[f"{name}.q"].slot.offset, part.nq, system.variables[f"{name}.u"].slot, name)
            for name, part in system.parts.items()
            if isinstance(part, contracts.Joint) and part.nq > part.nu > 0
        ]
        curved = {first: (count, u, name) for first, count, u, name in self._blocks}
        elements = elements_of_y(system)
        self.names: list[str] = []
        columns: list[Array] = []
        turns: list[bool] = []
        row = 0
        while row < system.ny:
            if row in curved:
                count, u, name = curved[row]
                N = self._rates(state, row, count, u.offset, u.size)
                for k in range(u.size):
                    column = np.zeros(system.ny)
                    column[row : row + count] = N[:, k]
                    columns.append(column)
                    self.names.append(f"integral of {elements[u.offset + k][0]}")
                    turns.append(system.variables[f"{name}.u"].unit(k) == "rad/s")
                row += count
            else:
                columns.append(np.eye(1, system.ny, row)[0])
                self.names.append(elements[row][0])
                turns.append(row < system.nq and elements[row][1] == "rad")
                row += 1
        self.basis: Array = np.array(columns).T.reshape(system.ny, len(columns))
        self.inverse: Array = np.asarray(np.linalg.pinv(self.basis), dtype=float)
        self.turns = np.array(turns, dtype=bool)
        spheres = [self._sphere(state, first, count, u.offset, u.size) for first, count, u, _ in self._blocks]
        self._spheres = [places for places in spheres if places is not None]
        self.displacements = np.flatnonzero(abs(self.basis[: system.nq]).sum(axis=0))

    def moved(self, y: Array, x: Array) -> Array:
        """The continuous state after a small change; what a joint keeps at its length stays so."""
        moved: Array = y + self.basis @ x
        for places in self._spheres:
            moved[places] *= np.linalg.norm(y[places]) / np.linalg.norm(moved[places])
        return moved

    def drift(self, state: cosim.State) -> Array:
        """d(basis)/dt along the motion of a State that is realized to ACCELERATION, shape (ny, n)."""
        if not self._blocks or not state.u.any():
            return np.zeros_like(self.basis)
        rate = np.array(state.y_dot)
        rate[self.system.nq :] = 0.0
        step = STEP / max(1.0, abs(rate).max())
        bases = []
        for sign in (1.0, -1.0):
            other = state.copy()
            other.set_y(np.array(state.y) + sign * step * rate)
            bases.append(Tangent(other).basis)
        drift: Array = (bases[0] - bases[1]) / (2.0 * step)
        return drift

    def _sphere(
        self, state: cosim.State, first: int, count: int, speeds: int, nu: int
    ) -> NDArray[np.int64] | None:
        """The coordinates of a joint whose length no speed changes (a quaternion), if there are such.

        Looked for where all coordinates are other than zero: there the one combination of coordinates that no
        speed changes is parallel to the coordinates themselves.
        """
        probe = state.copy()
        q = np.array(state.q)
        q[first : first + count] += 0.1 * np.sqrt(np.arange(2.0, 2.0 + count))
        probe.set_q(q)
        N = self._rates(probe, first, count, speeds, nu)
        fixed = np.linalg.svd(N)[0][:, -1]
        inside = np.flatnonzero(abs(fixed) > 1e-9)
        along = q[first + inside]
        parallel = abs(fixed[inside] @ along) >= (1.0 - 1e-9) * np.linalg.norm(along)
        return first + inside if parallel and nu == count - 1 else None

    def _rates(self, state: cosim.State, first: int, count: int, speeds: int, nu: int) -> Array:
        """N of q_dot = N u of one joint, shape (count, nu)."""
        columns = []
        for k in range(nu):
            probe = state.copy()
            u = np.zeros(self.system.nu)
            u[speeds - self.system.nq + k] = 1.0
            probe.set_u(u)
            columns.append(probe.realize(cosim.Stage.ACCELERATION).y_dot[first : first + count].copy())
        return np.column_stack(columns)


def slopes(function: Callable[[Array], Array], scale: Array) -> Array:
    """Derivatives of a vector function of n numbers at zero, shape (m, n), by differences of fourth order.

    Parameters
    ----------
    function : callable
        From an array of n numbers to an array of m numbers.
    scale : ndarray, shape (n,)
        The size of each of the n numbers.
    """
    columns = []
    for k, size in enumerate(scale):
        unit = np.zeros(len(scale))
        unit[k] = STEP * size

        def central(factor: float, unit: Array = unit) -> Array:
            ahead, back = function(factor * unit), function(-factor * unit)
            return np.asarray((ahead - back) / (2.0 * factor), dtype=float)

        columns.append((4.0 * central(0.5) - central(1.0)) / (3.0 * STEP * size))
    return np.column_stack(columns) if columns else np.zeros((len(function(np.zeros(0))), 0))


def elements_of_y(system: cosim.System) -> list[tuple[str, str]]:
    """Path and unit of each element of y."""
    elements = [("", "1")] * system.ny
    for path, variable in system.variables.items():
        if variable.slot.array == "y" and variable.kind in STATES:
            size = variable.slot.size
            for i in range(size):
                name = path if size == 1 else f"{path}[{i}]"
                elements[variable.slot.offset + i] = name, variable.unit(i)
    return elements
