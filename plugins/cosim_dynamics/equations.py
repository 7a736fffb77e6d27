"""The equations of motion in the form in which they are thought of: s-vals with numbers in them.

`torque_equations` is a recursive Newton-Euler formulation in which the accelerations stay unknown. The
compiled solver computes the same M and V another way; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.joint_equations import Equations, own_equations
from cosim_dynamics.sval import SVal
from cosim_dynamics.sval_triple import SValTriple
from cosim_dynamics.tree import Link, Tree

Array = NDArray[np.float64]


def torque_equations(system: cosim.System, state: cosim.State) -> dict[int, SVal]:
    """For each speed of a joint the generalized force that its acceleration takes, as an s-val.

    Law: T_i = sum_j M_ij u_dot_j + V_i; gravity, force elements and `tau` belong to T and are not in it.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.

    Returns
    -------
    dict of int to SVal
        By index in ``state.u``; the degrees of freedom of the s-vals are counted likewise.

    Raises
    ------
    StageError
        When the State is not realized to VELOCITY.

    References
    ----------
    Darwin2K/dyno's s-vals; J.Y.S. Luh et al., On-line computational scheme for mechanical manipulators, 1980,
    for the recursion.
    """
    return _Recursion(system, state, lambda link: np.zeros(6), ignored=("tau",)).equations()


def mass_matrix(system: cosim.System, state: cosim.State) -> Array:
    """M of M u_dot + V = T, shape (nu, nu), symmetric; rows of speeds that belong to no joint are zero.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    """
    M = np.zeros((system.nu, system.nu))
    for i, equation in torque_equations(system, state).items():
        M[i] = equation.row(system.nu)
    return M


def bias(system: cosim.System, state: cosim.State) -> Array:
    """V of M u_dot + V = T, shape (nu,): centripetal, Coriolis, gyroscopic terms and joints' own.

    Gravity and force elements are not in it: they stand on the side of T.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    """
    V = np.zeros(system.nu)
    for i, equation in torque_equations(system, state).items():
        V[i] = equation.bias
    return V


def inverse_dynamics(system: cosim.System, state: cosim.State, udot: Any) -> Array:
    """Generalized forces to add to those that act so that the accelerations become `udot`, shape (nu,).

    Law: M udot + V - T, with T from gravity, force elements and the joints' `tau`.

    Parameters
    ----------
    system : System
    state : State
        Realized to DYNAMICS at least.
    udot : array_like, shape (nu,), rad/s2 or m/s2

    Raises
    ------
    ValueError
        When `udot` has another shape.
    StageError
        When the State is not realized to DYNAMICS.
    """
    accelerations = np.asarray(udot, dtype=float)
    if accelerations.shape != (system.nu,):
        raise ValueError(
            f"udot has shape {accelerations.shape}, needs ({system.nu},): one for each speed of the system"
        )
    forces = np.zeros(system.nu)
    recursion = _Recursion(
        system, state, lambda link: np.asarray(state[f"{link.body.name}.F_GB"]), ignored=()
    )
    for i, equation in recursion.equations().items():
        forces[i] = equation.evaluate(accelerations)
    return forces


@dataclass(frozen=True)
class _Motion:
    """Pose, angular velocity and accelerations of a body, in Ground."""

    R: Array
    p: Array
    w: Array
    alpha: SValTriple
    a: SValTriple

    def point(self, offset: Array) -> SValTriple:
        """Acceleration of the point of the body at `offset` from its origin."""
        return self.a + self.alpha.cross(offset) + np.cross(self.w, np.cross(self.w, offset))


class _Recursion:
    def __init__(
        self,
        system: cosim.System,
        state: cosim.State,
        force: Callable[[Link], Array],
        ignored: tuple[str, ...],
    ) -> None:
        self.system, self.state, self.force, self.ignored = system, state, force, ignored
        self.tree = Tree.of(system.parts.values(), self._attached, _no_problem)

    def equations(self) -> dict[int, SVal]:
        motions = self._outward()
        links = self.tree.links
        f = [SValTriple() for _ in links]
        n = [SValTriple() for _ in links]
        result: dict[int, SVal] = {}
        for i in reversed(range(len(links))):
            link, motion = links[i], motions[i]
            R_GF, p_M = self._frames(link, motions)
            force, moment, p_C = self._inertia(link, motion)
            applied = self.force(link)
            f[i] = f[i] + force - applied[3:]
            n[i] = (
                n[i]
                + moment
                + force.crossed_by(p_C - p_M)
                - applied[:3]
                - np.cross(motion.p - p_M, applied[3:])
            )
            wrench = [*(R_GF.T @ n[i]), *(R_GF.T @ f[i])]
            if link.parent >= 0:
                _, p_P = self._frames(links[link.parent], motions)
                f[link.parent] = f[link.parent] + f[i]
                n[link.parent] = n[link.parent] + n[i] + f[i].crossed_by(p_M - p_P)
            result |= self._own(link, wrench)
        return dict(sorted(result.items()))

    def _outward(self) -> list[_Motion]:
        ground = _Motion(np.eye(3), np.zeros(3), np.zeros(3), SValTriple(), SValTriple())
        motions: list[_Motion] = []
        for link in self.tree.links:
            joint, body = link.joint, link.body
            parent = motions[link.parent] if link.parent >= 0 else ground
            R_GF, p_M = self._frames(link, motions)
            X_GB = self._read(body, "X_GB")
            p_B = X_GB[9:]
            w_B = self._read(body, "V_GB")[:3]
            H = self._read(joint, "H_FM").reshape(joint.nu, 6) if joint.nu else np.zeros((0, 6))
            remainder = self._read(joint, "HDotU_FM")
            spin, slip = SValTriple(*remainder[:3]), SValTriple(*remainder[3:])
            V_FM = np.zeros(6)
            for k in range(joint.nu):
                acceleration = SVal.acceleration(self._first(joint) + k)
                spin = spin + SValTriple.along(H[k, :3], acceleration)
                slip = slip + SValTriple.along(H[k, 3:], acceleration)
                V_FM += H[k] * self.state.u[self._first(joint) + k]
            alpha = parent.alpha + R_GF @ spin + np.cross(parent.w, R_GF @ V_FM[:3])
            a_M = parent.point(p_M - parent.p) + 2.0 * np.cross(parent.w, R_GF @ V_FM[3:]) + R_GF @ slip
            moving = _Motion(X_GB[:9].reshape(3, 3), p_M, w_B, alpha, a_M)
            motions.append(_Motion(moving.R, p_B, w_B, alpha, moving.point(p_B - p_M)))
        return motions

    def _frames(self, link: Link, motions: list[_Motion]) -> tuple[Array, Array]:
        """R_GF and the position of M's origin in Ground."""
        X_PF, X_FM = self._read(link.joint, "frame_on_parent"), self._read(link.joint, "X_FM")
        R_GP, p_P = (
            (motions[link.parent].R, motions[link.parent].p) if link.parent >= 0 else (np.eye(3), np.zeros(3))
        )
        R_GF = R_GP @ X_PF[:9].reshape(3, 3)
        return R_GF, p_P + R_GP @ X_PF[9:] + R_GF @ X_FM[9:]

    def _inertia(self, link: Link, motion: _Motion) -> tuple[SValTriple, SValTriple, Array]:
        """Force and moment about the centre of mass that move the body so, and where that centre is."""
        mass = float(self.state[f"{link.body.name}.mass"])
        offset = motion.R @ self._read(link.body, "center_of_mass")
        xx, yy, zz, xy, xz, yz = self._read(link.body, "inertia")
        inertia = motion.R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ motion.R.T
        moment = inertia @ motion.alpha + np.cross(motion.w, inertia @ motion.w)
        return mass * motion.point(offset), moment, motion.p + offset

    def _own(self, link: Link, wrench: list[SVal]) -> Mapping[int, SVal]:
        joint = link.joint
        if not joint.nu:
            return {}
        first = self._first(joint)

        def value(name: str, element: int) -> float:
            if name in self.ignored:
                return 0.0
            return float(np.reshape(self.state[f"{joint.name}.{name}"], -1)[element])

        equations = Equations(joint, wrench, lambda i: SVal.acceleration(first + i), value)
        return {first + i: equation for i, equation in enumerate(own_equations(joint, equations, value))}

    def _read(self, part: cosim.Component, name: str) -> Array:
        return np.asarray(self.state[f"{part.name}.{name}"], dtype=float)

    def _first(self, joint: cosim.Joint) -> int:
        """Index of the joint's first speed in u."""
        return self.system.variables[f"{joint.name}.u"].slot.offset - self.system.nq

    def _attached(self, part: cosim.Component, attachment: str) -> cosim.Component:
        value = part.values.attachments[attachment]
        return self.system.parts[value if isinstance(value, str) else value.name]


def _no_problem(where: str, text: str) -> None:
    """A system that exists has a sound tree."""
    raise cosim.ModelError.of(where, text)
