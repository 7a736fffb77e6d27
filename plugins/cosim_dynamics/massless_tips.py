"""Joints at the tips of a tree that would move nothing that has inertia."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.connectivity import Report
from cosim_dynamics.link import Link
from cosim_dynamics.tree import Tree
from cosim_mechanics import contracts

#: Below this part of the largest inertia a degree of freedom counts as having none.
NOTHING = 1e-14
ONE = np.ones((1, 1))


def check_tips(tree: Tree, has_own_terms: Container[str], problem: Report) -> None:
    """Report tips whose inertia does not resist their joint: the mass matrix would be singular in every pose.

    Only tips, with the values and in the pose that the model was given; what comes about later is found when
    the equations are solved. Joints with equations of their own, or with rotors, have more inertia, so they
    are passed over.
    """
    carrying = {link.parent for link in tree.links}
    for i, link in enumerate(tree.links):
        if i in carrying or link.joint.name in has_own_terms or not link.joint.nu:
            continue
        H, X_FM = _motion(link.joint)
        if H is None or X_FM is None:
            continue
        R_FM, p_FM = X_FM[:9].reshape(3, 3), X_FM[9:]
        w, v = R_FM.T @ H[:3], R_FM.T @ H[3:]
        if link.reversed:  # F moves against M: about F's origin and in its axes
            w, v = -H[:3], np.cross(H[:3], p_FM[:, None], axis=0) - H[3:]
        resistance = _resistance(link, w, v)
        values, vectors = (resistance[0], ONE) if link.joint.nu == 1 else np.linalg.eigh(resistance)
        if not values[0] > NOTHING * abs(values[-1]):
            free = ", ".join(f"u[{k}]" for k in np.flatnonzero(abs(vectors[:, 0]) > 1e-6))
            problem(
                link.joint.name,
                f"the mass matrix is singular: nothing resists {free}, since body '{link.body.name}' has no "
                "inertia about that motion. Give it an inertia, or use a joint that does not let it move so",
            )


def find_unresisted(state: cosim.State) -> str:
    """A motion that meets no inertia in this State, as an end of a sentence; empty where there is none."""
    from cosim_dynamics.operators import mass_matrix
    from cosim_dynamics.tree_motion import TreeMotion

    system = state.system
    try:
        # the block that failed left the stage behind it
        evaluated = state.copy().realize(cosim.Stage.VELOCITY)
        M, motion = mass_matrix(system, evaluated), TreeMotion(system, evaluated)
    except cosim.CosimError:
        return ""
    size = np.sqrt(np.where(M.diagonal() > 0.0, M.diagonal(), 1.0))
    if not np.all(np.isfinite(M)):
        return ""
    loose = np.linalg.eigh(M / np.outer(size, size))[1][:, 0]
    joints = []
    for link, speeds in zip(motion.links, motion.speeds, strict=True):
        moving = [f"u[{k}]" for k, i in enumerate(speeds) if abs(loose[i]) > 1e-3 * np.abs(loose).max()]
        if moving:
            joints.append(f"{', '.join(moving)} of '{link.joint.name}' (body '{link.body.name}')")
    return f"; here nothing resists {' together with '.join(joints)}" if joints else ""


def _resistance(link: Link, w: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mass matrix of the body alone, shape (nu, nu).

    `w` and `v`, shape (3, nu), are angular velocities and velocities at the origin and in the axes of its
    joint frame, a column for each speed of the joint.
    """
    numbers = link.body.values.numbers
    xx, yy, zz, xy, xz, yz = numbers["inertia"].tolist()
    frame = link.joint.values.numbers["frame_on_parent" if link.reversed else "frame_on_child"]
    R, p = frame[:9].reshape(3, 3), frame[9:]
    x, y, z = (R.T @ (numbers["center_of_mass"] - p)).tolist()
    turning = R @ w
    moving = v + np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]) @ w  # of the centre of mass
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    mass = float(numbers["mass"][0])
    result: NDArray[np.float64] = turning.T @ central @ turning + mass * moving.T @ moving
    return result


def _motion(joint: contracts.Joint) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """H_FM, shape (6, nu), and X_FM at the start values; None where they depend on more than the joint."""
    values: dict[str, Any] = dict(joint.values.numbers)
    values |= {n: np.zeros(d.size) for n, d in joint.declarations.items() if d.kind == "cache"}
    written_slots = set()
    for name, kernel in joint.kernels.items():
        arguments = joint.arguments[name]
        written = {a.name for a in arguments if a.effect == "write"}
        if not written & {"H_FM", "X_FM"}:
            continue
        if kernel.is_python or any(a.name not in values or a.effect == "add" for a in arguments):
            return None, None
        scalars = {a.name for a in arguments if a.effect == "read" and joint.declarations[a.name].shape == ()}
        kernel(*[float(values[n][0]) if n in scalars else values[n] for n in kernel.arguments])
        written_slots |= written
    if not {"H_FM", "X_FM"} <= written_slots:
        return None, None
    return values["H_FM"].reshape(joint.nu, 6).T, values["X_FM"]
