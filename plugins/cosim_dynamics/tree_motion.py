"""The motion of a tree of bodies in numbers, as matrices over its degrees of freedom."""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.link import Link
from cosim_dynamics.tree import Tree
from cosim_mechanics.contracts import Joint

Array = NDArray[np.float64]


class BodyPose(NamedTuple):
    """The pose of a body, in Ground."""

    rotation: Array  # R_GB
    origin: Array  # p_GB, m


class CentralInertia(NamedTuple):
    """The mass and the inertia of a body."""

    mass: float  # kg
    inertia: Array  # about the centre of mass, in Ground's axes, shape (3, 3), kg.m2


class TreeMotion:
    """The positions of the joints of a system, and the motion of bodies by each speed, in Ground.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.

    Attributes
    ----------
    links : list of Link
    speeds : list of ndarray of int
        For each link the places of its speeds in ``state.u``.
    R_GF, p_F, p_M : list of ndarray
        For each link the rotation of F, shape (3, 3), and the positions of the origins of F and M, shape
        (3,), m. F is on the inner body and M on the outer one, also where the joint is reversed.
    angular, linear, at : ndarray, shape (3, nu)
        For each speed the angular velocity that one unit of it gives to what it carries, the velocity of M's
        origin, and where that is. Zero for speeds that belong to no joint.
    carries : ndarray of bool, shape (links, nu)
        Whether a speed moves a link.

    Raises
    ------
    StageError
        When the State is not realized to VELOCITY.
    """

    def __init__(self, system: cosim.System, state: cosim.State) -> None:
        self.system, self.state = system, state
        self.tree = Tree.of(system.parts.values(), self._attached, _no_problem)
        self.links = self.tree.links
        nu = system.nu
        self.angular, self.linear, self.at = np.zeros((3, nu)), np.zeros((3, nu)), np.zeros((3, nu))
        self.carries = np.zeros((len(self.links), nu), dtype=bool)
        self.speeds: list[NDArray[np.int64]] = []
        self.R_GF: list[Array] = []
        self.p_F: list[Array] = []
        self.p_M: list[Array] = []
        self._terms: list[Array] = []
        state.require(cosim.Stage.VELOCITY, "the motion of the bodies")
        for i, link in enumerate(self.links):
            joint = link.joint
            X_PF = self.read(joint, "frame_on_child" if link.reversed else "frame_on_parent")
            p_FM, H, terms = self._joint(link)
            R_GP, p_P = self.pose(link.parent)
            self.R_GF.append(R_GP @ X_PF[:9].reshape(3, 3))
            self.p_F.append(p_P + R_GP @ X_PF[9:])
            self.p_M.append(self.p_F[i] + self.R_GF[i] @ p_FM)
            self._terms.append(terms)
            first = system.variables[f"{joint.name}.u"].slot.offset - system.nq if joint.nu else 0
            speeds = np.arange(first, first + joint.nu)
            self.speeds.append(speeds)
            if joint.nu:
                self.angular[:, speeds] = self.R_GF[i] @ H[:3]
                self.linear[:, speeds] = self.R_GF[i] @ H[3:]
                self.at[:, speeds] = self.p_M[i][:, None]
            if link.parent >= 0:
                self.carries[i] = self.carries[link.parent]
            self.carries[i, speeds] = True

    def _joint(self, link: Link) -> tuple[Array, Array, Array]:
        """p_FM, H_FM, shape (6, nu), and (dH_FM/dt) u, with F on the inner and M on the outer body."""
        joint = link.joint
        X, nu = self.read(joint, "X_FM"), joint.nu
        R, p, H, terms = X[:9].reshape(3, 3), X[9:], np.zeros((6, nu)), np.zeros(6)
        if nu:
            H, terms = self.read(joint, "H_FM").reshape(nu, 6).T, self.read(joint, "HDotU_FM")
        if not link.reversed:
            return p, H, terms
        # The joint says how M moves in F; here F is on the inner body, so the motion of F in M is wanted,
        # about F's origin and in M's axes: p_MF = -R' p, w_MF = -R' w, v_MF = R' (w x p - v). The terms
        # without u_dot are the derivatives of these by time, in M, while u_dot is zero.
        u = np.atleast_1d(self.state[f"{joint.name}.u"]) if nu else np.zeros(0)
        (w, v), (b_w, b_v) = np.split(H @ u, 2), np.split(terms, 2)
        moved = np.cross(H[:3], p[:, None], axis=0) - H[3:]
        change = np.cross(b_w, p) - b_v + np.cross(w, 2.0 * v - np.cross(w, p))
        return -R.T @ p, np.vstack([-R.T @ H[:3], R.T @ moved]), np.concatenate([-R.T @ b_w, R.T @ change])

    def velocity_terms(self, link: int) -> Array:
        """(dH_FM/dt) u of a link's joint, in F on the inner body, shape (6,)."""
        return self._terms[link]

    def read(self, part: cosim.Component, name: str) -> Array:
        """A variable of a part, as an array."""
        return np.asarray(self.state[f"{part.name}.{name}"], dtype=float)

    def added_inertia(self, joint: Joint) -> Array:
        """The inertia that rotors add to the mass matrix's diagonal for a joint's speeds, kg.m2 or kg."""
        slot = self.system.assembly.layout.slots[joint.name]["added_inertia"]
        *_, cache = self.system.arrays(self.state)
        return np.asarray(cache[slot.offset : slot.offset + slot.size], dtype=float)

    def element(self, joint: Joint, name: str, element: int) -> float:
        """One element of a quantity of a joint."""
        values = self.added_inertia(joint) if name == "added_inertia" else self.read(joint, name)
        return float(values.reshape(-1)[element])

    def pose(self, link: int) -> BodyPose:
        """The pose of a link; Ground's for -1."""
        if link < 0:
            return BodyPose(np.eye(3), np.zeros(3))
        X_GB = self.read(self.links[link].body, "X_GB")
        return BodyPose(X_GB[:9].reshape(3, 3), X_GB[9:])

    def index(self, body: str | cosim.Component) -> int:
        """The link of a body; -1 for a part that carries joints without being moved.

        Raises
        ------
        LookUpError
            No body has this name, with the nearest one.
        """
        name = body if isinstance(body, str) else body.name
        for i, link in enumerate(self.links):
            if link.body.name == name:
                return i
        if "X_GB" in getattr(self.system.parts.get(name), "declarations", {}):
            return -1
        raise cosim.LookUpError("body", name, [link.body.name for link in self.links])

    def jacobian(self, link: int, point: Any) -> Array:
        """Angular velocity of a link and velocity of its point at `point`, for unit speeds; (6, nu)."""
        if link < 0:
            return np.zeros((6, self.system.nu))
        arms = np.asarray(point, dtype=float)[:, None] - self.at
        linear = self.linear + np.cross(self.angular, arms, axis=0)
        return np.vstack([self.angular, linear]) * self.carries[link]

    def center(self, link: int) -> Array:
        """Position of the centre of mass of a link's body, m."""
        R, p = self.pose(link)
        center: Array = p + R @ self.read(self.links[link].body, "center_of_mass")
        return center

    def inertia(self, link: int) -> CentralInertia:
        """The mass and the inertia of a link."""
        body = self.links[link].body
        xx, yy, zz, xy, xz, yz = self.read(body, "inertia")
        R = self.pose(link).rotation
        central = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        return CentralInertia(float(self.state[f"{body.name}.mass"]), central)

    def velocity(self, link: int, point: Any) -> Array:
        """Angular velocity, and velocity of the point of the body that is at `point`; shape (6,)."""
        if link < 0:
            return np.zeros(6)
        V = self.read(self.links[link].body, "V_GB")
        arm = np.asarray(point, dtype=float) - self.pose(link).origin
        return np.concatenate([V[:3], V[3:] + np.cross(V[:3], arm)])

    def biases(self) -> list[tuple[Array, Array]]:
        """For each link the angular acceleration, and the acceleration of M's origin, while u_dot is zero."""
        biases: list[tuple[Array, Array]] = []
        for i, link in enumerate(self.links):
            R_GF, speeds = self.R_GF[i], self.speeds[i]
            u = self.state.u[speeds]
            spin, slip = self.angular[:, speeds] @ u, self.linear[:, speeds] @ u
            alpha, a = self._at(link.parent, self.p_M[i], biases)
            if link.joint.nu:
                remainder = self.velocity_terms(i)
                w_P = self.velocity(link.parent, self.p_M[i])[:3]
                alpha = alpha + np.cross(w_P, spin) + R_GF @ remainder[:3]
                a = a + 2.0 * np.cross(w_P, slip) + R_GF @ remainder[3:]
            biases.append((alpha, a))
        return biases

    def bias_at(self, link: int, point: Any, biases: list[tuple[Array, Array]]) -> Array:
        """Angular acceleration, and acceleration of a link's point, while u_dot is zero; shape (6,)."""
        return np.concatenate(self._at(link, np.asarray(point, dtype=float), biases))

    def _at(self, link: int, point: Array, biases: list[tuple[Array, Array]]) -> tuple[Array, Array]:
        if link < 0:
            return np.zeros(3), np.zeros(3)
        alpha, a = biases[link]
        arm = point - self.p_M[link]
        w = self.velocity(link, point)[:3]
        return alpha, a + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))

    def _attached(self, part: cosim.Component, attachment: str) -> cosim.Component:
        value = part.values.attachments[attachment]
        return self.system.parts[value if isinstance(value, str) else value.name]


def _no_problem(where: str, text: str) -> None:
    """A system that exists has a sound tree."""
    raise cosim.ModelError.of(where, text)
