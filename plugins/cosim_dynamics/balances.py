"""Sums over all bodies: momenta, energies, and what joints transmit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.tree_motion import TreeMotion
from cosim_mechanics import contracts

Array = NDArray[np.float64]


def center_of_mass(system: cosim.System, state: cosim.State) -> Array:
    """Position of the common centre of mass of all bodies, in Ground, shape (3,), m."""
    motion = TreeMotion(system, state)
    masses = np.array([motion.inertia(i).mass for i in range(len(motion.links))])
    centers = np.array([motion.center(i) for i in range(len(motion.links))])
    return np.asarray(masses @ centers / masses.sum(), dtype=float)


def momentum(system: cosim.System, state: cosim.State, about: Any = None) -> Array:
    """Angular momentum about a point and momentum of all bodies, in Ground, shape (6,), N.m.s and N.s.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    about : array_like, shape (3,), m, optional
        The point, in Ground; by default the common centre of mass.
    """
    motion = TreeMotion(system, state)
    point = np.asarray(center_of_mass(system, state) if about is None else about, dtype=float)
    result = np.zeros(6)
    for i in range(len(motion.links)):
        mass, inertia = motion.inertia(i)
        center = motion.center(i)
        V = motion.velocity(i, center)
        p = mass * V[3:]
        result += np.concatenate([inertia @ V[:3] + np.cross(center - point, p), p])
    return result


def potential_energy(system: cosim.System, state: cosim.State) -> float:
    """Sum of the ``potential_energy`` of all parts: gravity and force elements, J.

    Raises
    ------
    StageError
        When the State is not realized as far as one of them needs.
    """
    paths = [f"{name}.potential_energy" for name in system.parts]
    return float(sum(float(np.sum(state[path])) for path in paths if path in system.variables))


def joint_reactions(system: cosim.System, state: cosim.State) -> dict[str, Array]:
    """The action of each joint on its child: moment about M's origin and force, in Ground, by joint.

    Law: the force that the accelerations of all bodies beyond the joint take, less what force elements,
    gravity and constraints do to them. Its part along the joint's free motion, ``H_FM^T reaction`` in F, is
    `tau` and what constraints exert on the joint's coordinates.

    Parameters
    ----------
    system : System
    state : State
        Realized to ACCELERATION.

    Returns
    -------
    dict of str to ndarray, shape (6,), N.m and N
        The force on the child; `reactions_on_parents` has what its parent feels.

    Raises
    ------
    StageError
        When the State is not realized so far.
    """
    return _reactions(TreeMotion(system, state), on_parents=False)


def reactions_on_parents(system: cosim.System, state: cosim.State) -> dict[str, Array]:
    """The action of each joint on its parent: moment about F's origin and force, in Ground, by joint.

    It is the opposite of `joint_reactions`, about another point.

    Parameters
    ----------
    system : System
    state : State
        Realized to ACCELERATION.

    Returns
    -------
    dict of str to ndarray, shape (6,), N.m and N

    Raises
    ------
    StageError
        When the State is not realized so far.
    """
    return _reactions(TreeMotion(system, state), on_parents=True)


def _reactions(motion: TreeMotion, on_parents: bool) -> dict[str, Array]:
    """The action of each joint on its parent or its child; a reversed one has its child inside."""
    reactions = {}
    for i, wrench in enumerate(_transmitted(motion)):
        link = motion.links[i]
        outer = link.reversed == on_parents
        reactions[link.joint.name] = wrench if outer else -_at(wrench, motion.p_F[i] - motion.p_M[i])
    return reactions


def _transmitted(motion: TreeMotion) -> list[Array]:
    """For each link what its joint does to its body, about the origin of the joint's frame on it."""
    transmitted = [np.zeros(6) for _ in motion.links]
    constraint_forces = _constraint_forces(motion)
    for i in reversed(range(len(motion.links))):
        link, p_M = motion.links[i], motion.p_M[i]
        p_B = motion.pose(i).origin
        mass, inertia = motion.inertia(i)
        A, applied = motion.read(link.body, "A_GB"), motion.read(link.body, "F_GB") + constraint_forces[i]
        w, arm = motion.velocity(i, p_B)[:3], motion.center(i) - p_B
        force = mass * (A[3:] + np.cross(A[:3], arm) + np.cross(w, np.cross(w, arm)))
        moment = inertia @ A[:3] + np.cross(w, inertia @ w) + np.cross(motion.center(i) - p_M, force)
        needed = np.concatenate([moment, force]) - _at(applied, p_M - p_B)
        transmitted[i] += needed
        if link.parent >= 0:
            transmitted[link.parent] += _at(transmitted[i], motion.p_M[link.parent] - p_M)
    return transmitted


def _constraint_forces(motion: TreeMotion) -> list[Array]:
    """For each link what constraints do to its body, about the body's origin."""
    forces = [np.zeros(6) for _ in motion.links]
    for part in motion.system.parts.values():
        if isinstance(part, contracts.Constraint):
            for attachment, declaration in part.declarations.items():
                if declaration.kind == "attachment" and declaration.options["provides"] == "body":
                    link = motion.index(part.values.attachments[attachment])
                    if link >= 0:
                        forces[link] += motion.read(part, f"force_on_{attachment}")
    return forces


def _at(wrench: Array, arm: Array) -> Array:
    """A force about another point, which is at `arm` from the old one."""
    return np.concatenate([wrench[:3] - np.cross(arm, wrench[3:]), wrench[3:]])
