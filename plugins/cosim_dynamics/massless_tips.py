"""Joints whose motion meets no inertia: tips of a tree before a run, any joint in a State."""

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

NO_INERTIA = 1e-14
"""Below this part of the largest inertia a degree of freedom counts as having none."""
TAKES_PART = 1e-3
"""From this part of the largest speed on, a speed belongs to a motion that is computed in a State."""


def check_tips(tree: Tree, has_own_terms: Container[str], problem: Report) -> None:
    """Report tips whose inertia does not resist their joint: the mass matrix would be singular in every pose.

    It checks only tips, with the values and in the pose of the model; a singularity in another pose is found
    when the equations are solved. Joints with equations of their own, or with rotors, have more inertia, so
    they are passed over.
    """
    carrying = {link.parent for link in tree.links}
    for i, link in enumerate(tree.links):
        if i in carrying or link.joint.name in has_own_terms or not link.joint.nu:
            continue
        H_FM, X_FM = _motion(link.joint)
        if H_FM is None or X_FM is None:
            continue
        free_speeds = _unresisted_speeds(_resistance(link, *_velocities(link, H_FM, X_FM)))
        if free_speeds:
            free = ", ".join(f"u[{k}]" for k in free_speeds)
            problem(
                link.joint.name,
                f"the mass matrix is singular: nothing resists {free}, since body '{link.body.name}' has no "
                "inertia about that motion. Give it an inertia, or use a joint that does not let it move so",
            )


def find_unresisted(state: cosim.State) -> str:
    """A motion that meets no inertia in this State, as an end of a sentence; empty where there is none."""
    from cosim_dynamics.operators import mass_matrix  # here, since models that run do not need them
    from cosim_dynamics.tree_motion import TreeMotion

    system = state.system
    try:
        # in a copy: the block that failed left the stage of this State behind
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
        moving = [f"u[{k}]" for k, i in enumerate(speeds) if abs(loose[i]) > TAKES_PART * np.abs(loose).max()]
        if moving:
            joints.append(f"{', '.join(moving)} of '{link.joint.name}' (body '{link.body.name}')")
    return f"; here nothing resists {' together with '.join(joints)}" if joints else ""


def _velocities(
    link: Link, H_FM: NDArray[np.float64], X_FM: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Angular velocities and velocities of the body's joint frame, in its axes, shape (3, nu) each."""
    R_FM, p_FM = X_FM[:9].reshape(3, 3), X_FM[9:]
    if link.reversed:  # F moves against M: about F's origin and in its axes
        return -H_FM[:3], np.cross(H_FM[:3], p_FM[:, None], axis=0) - H_FM[3:]
    return R_FM.T @ H_FM[:3], R_FM.T @ H_FM[3:]


def _unresisted_speeds(resistance: NDArray[np.float64]) -> list[int]:
    """The speeds of the motion that meets the least inertia, if it meets none; empty if all are resisted."""
    if resistance.shape == (1, 1):
        return [] if resistance[0, 0] > 0.0 else [0]
    values, vectors = np.linalg.eigh(resistance)
    if values[0] > NO_INERTIA * abs(values[-1]):
        return []
    speeds: list[int] = np.flatnonzero(abs(vectors[:, 0]) > 1e-6).tolist()
    return speeds


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
