"""Positions of closed loops that are singular exactly where a run begins.

There the equations of a mechanism have a lower rank than around it. The rank alone does not say so: equations
that repeat others (a ball constraint in a plane, Bricard's mechanism) lower it everywhere. What tells them
apart is of second order. With w G = 0 a motion with speeds u, G u = 0, meets G u_dot + b(u) = 0 only where
w b(u) = 0. For equations that repeat others this holds for all such u, since they are met wherever the others
are. At a singular position it is a condition on the speeds: the tangents of the branches that meet there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.cached_vectors import reals_at
from cosim_dynamics.constraint_arrays import constraint_arrays
from cosim_dynamics.mechanism import Mechanism, equations_of, terms_of
from cosim_dynamics.pivoted_cholesky import TRUSTED
from cosim_dynamics.tangent import elements_of_y

Array = NDArray[np.float64]

#: Below this sine of the angle to a singular position an equation does not count at all.
VANISHED = 0.1 * TRUSTED
#: Of what was added up: what is left of w b by rounding and by the errors of positions is less.
LEFT_OVER = 1e-6
#: Of what speeds of this size bring in general: less says that they are along a branch.
ALONG = 1e-3
#: Speeds that are tried: a quadratic form that vanishes for so many random ones vanishes for all.
TRIED = 3
#: Speeds that a message names at most.
NAMED = 6


class SingularStart:
    """The singular directions at a State, and the motions that are possible from there.

    Parameters
    ----------
    state : State
        Realized to ACCELERATION; it is left as it is.
    mechanism : Mechanism
        What the blocks of the solver know.
    group : GroupSlots
        The equations that are checked.
    owners : list of str
        The name of the constraint that each of these belongs to.

    Attributes
    ----------
    constraints : list of str
        Those whose equations are of a lower rank here than around; empty at an ordinary position.
    message : str
        What the motion does, as a sentence.
    is_possible : bool
        Whether there is a motion with the speeds that the State has.
    contradicting : list of str
        Constraints at an ordinary position whose accelerations no motion meets all.
    """

    def __init__(self, state: cosim.State, mechanism: Mechanism, group: Any, owners: list[str]) -> None:
        self._mechanism, self._group, self._owners = mechanism, group, owners
        self.constraints: list[str] = []
        self.message, self.is_possible = "", True
        self.contradicting: list[str] = []
        if any(state[f"{name}.redundant"] for name in set(owners)):
            self._find_singular(state)

    def _find_singular(self, state: cosim.State) -> None:
        arrays = constraint_arrays(state.arrays["c"], self._mechanism, self._group)
        jacobian, eliminated, sizes = (
            x.copy() for x in (arrays.jacobian, arrays.eliminated, arrays.cholesky.sizes)
        )
        holding = np.flatnonzero(sizes > 0.0)
        if not holding.size:
            return
        dofs = [self._mechanism.dofs[member.number] for member in arrays.members]
        D = np.array([state.arrays["c"][dof.D] for dof in dofs])
        usual = np.sqrt(sizes[holding])
        left, values, _ = np.linalg.svd((eliminated[holding] / np.sqrt(D)) / usual[:, None])
        lost = left[:, np.count_nonzero(values > VANISHED) :]  # combinations of equations that hold nothing
        if not lost.shape[1]:
            return
        self._state, self._lost, self._usual, self._held = state, lost, usual, holding
        self._find_contradictions(state)
        speeds = np.array([dof.u for dof in dofs])
        free = self._free_speeds(jacobian[holding] / usual[:, None], len(holding) - lost.shape[1], speeds)
        if not free.size:
            return
        changes, scale = self._changes_in_general(free)
        if scale == 0.0:
            return
        around = np.abs(lost @ changes.T).max(axis=1)
        names = (self._owners[r] for r, x in zip(holding, around, strict=True) if x > ALONG * around.max())
        self.constraints = list(dict.fromkeys(names))
        branches = []
        if free.shape[1] == 2:  # a plane, in which the only combination has two tangents
            branches = self._tangents(free, np.linalg.svd(changes)[2][0])
        self._describe_motion(state, scale, branches)

    def _changes_in_general(self, free: Array) -> tuple[Array, float]:
        """How far combinations that hold nothing are from being met by free speeds of size 1; the largest."""
        changes, scale = [], 0.0
        rng = np.random.default_rng(0)
        for _ in range(TRIED):
            u = free @ rng.normal(size=free.shape[1])
            change, added = self._second_order(u / np.abs(u).max())
            largest = float(np.abs(change).max())
            scale = max(scale, largest if largest > LEFT_OVER * added else 0.0)
            changes.append(change)
        return np.array(changes), scale

    def _find_contradictions(self, state: cosim.State) -> None:
        """Name the constraints whose accelerations no motion has: what holds nothing has to be met."""
        values, added = self._evaluate_equations(state.u)
        missed = np.abs(self._lost @ (self._lost.T @ (values / self._usual)))
        if missed.max() > LEFT_OVER * (added / self._usual).max():
            rows = zip(self._held, missed, strict=True)
            self.contradicting = list(
                dict.fromkeys(self._owners[r] for r, x in rows if x > ALONG * missed.max())
            )

    def _second_order(self, u: Array) -> tuple[Array, float]:
        """The part of w b that is quadratic in the speeds, for each combination, and what was added up."""
        at_rest, _ = self._evaluate_equations(0.0 * u)
        forward, added = self._evaluate_equations(u)
        backward, _ = self._evaluate_equations(-u)
        change: Array = self._lost.T @ ((0.5 * (forward + backward) - at_rest) / self._usual)
        return change, float((added / self._usual).max())

    def _tangents(self, free: Array, combination: Array) -> list[Array]:
        """The directions in a plane of speeds in which a quadratic form is zero."""
        of_first, of_last, of_sum = (
            float(combination @ self._second_order(u)[0])
            for u in (free[:, 0], free[:, 1], free[:, 0] + free[:, 1])
        )
        mixed = of_sum - of_first - of_last
        inside = mixed * mixed - 4.0 * of_first * of_last
        if not inside > 0.0:
            return []
        root = -0.5 * (mixed + np.copysign(np.sqrt(inside), mixed))
        tangents = [
            free @ np.array(pair) for pair in ((root, of_first), (of_last, root))
        ]  # x / y of first x2 + …
        return [u / np.abs(u).max() for u in tangents]

    def _describe_motion(self, state: cosim.State, scale: float, branches: list[Array]) -> None:
        """What the speeds are here, and where the motion goes."""
        u, u_dot = state.u, state.y_dot[state.system.nq :][: state.system.nu]
        size = float(np.abs(u).max(initial=0.0))
        self.message = (
            "a singular position: the rank of its equations is lower here than around, and branches of the "
            "motion meet"
        )
        if branches:
            self.message += f" ({', and '.join(_ratio(state, branch) for branch in branches)})"
        values, _ = self._evaluate_equations(u)
        error = float(np.abs(self._lost.T @ (values / self._usual)).max())
        if size > 0.0 and error > ALONG * scale * size * size:
            self.is_possible = False
            self.message += (
                f". No branch has the speeds {_listed(state, u)}: give speeds along one of them, or none, or "
                "start beside that position"
            )
        elif size > 0.0:
            self.message += f". The motion goes on along the branch that its speeds show: {_listed(state, u)}"
        elif np.abs(u_dot).max(initial=0.0) > 0.0:
            self.message += (
                ". It is at rest, so each branch is possible; the run takes the one nearest to where forces "
                f"push it: {_listed(state, u_dot, '_dot')}"
            )
        else:
            self.message += ". It is at rest, and nothing moves it: it stays there"

    def _free_speeds(self, G: Array, rank: int, speeds: Array) -> Array:
        """Speeds with G u = 0, as columns over all speeds of the State."""
        system = self._state.system
        _, _, right = np.linalg.svd(G)
        basis = np.zeros((system.nu, right.shape[0] - rank))
        basis[speeds - system.nq] = right[rank:].T
        return basis

    def _evaluate_equations(self, u: Array) -> tuple[Array, Array]:
        """The equations with the accelerations without them, and the sum of the sizes of what was added."""
        twin, held = self._state.copy(), self._held
        twin.set_u(u)
        twin.realize(cosim.Stage.ACCELERATION)
        c = twin.arrays["c"]
        values, added = np.zeros(len(held)), np.zeros(len(held))
        for i, r in enumerate(held):
            equation = equations_of(self._mechanism, self._group)[int(r)]
            values[i] = c[equation.constant]
            added[i] = abs(values[i])
            for term in terms_of(self._mechanism, equation):
                coefficients, accelerations = (
                    reals_at(c, slot, term.size) for slot in (term.coefficients, term.acceleration)
                )
                values[i] += coefficients @ accelerations
                added[i] += np.abs(coefficients * accelerations).sum()
        return values, added


def _listed(state: cosim.State, values: Array, suffix: str = "") -> str:
    """The numbers for the speeds that are not zero, with the names of these."""
    shown = _not_zero(values)
    text = ", ".join(f"{_path(state, i)}{suffix} = {values[i]:.3g}" for i in shown[:NAMED])
    return text + (f" and {len(shown) - NAMED} others" if len(shown) > NAMED else "")


def _ratio(state: cosim.State, values: Array) -> str:
    """A direction of the speeds: those that are not zero."""
    shown = _not_zero(values)[:NAMED]
    return f"{' : '.join(_path(state, i) for i in shown)} = {' : '.join(f'{values[i]:.3g}' for i in shown)}"


def _not_zero(values: Array) -> list[int]:
    return [int(i) for i in np.flatnonzero(np.abs(values) > 1e-6 * np.abs(values).max())]


def _path(state: cosim.State, i: int) -> str:
    """The path of a speed."""
    return elements_of_y(state.system)[state.system.nq + i][0]
