"""Sums over all bodies: momenta, energies, and what joints transmit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.tree_motion import TreeMotion

Array = NDArray[np.float64]


def center_of_mass(system: cosim.System, state: cosim.State) -> Array:
    """Position of the common centre of mass of all bodies, in Ground, shape (3,), m."""
    motion = TreeMotion(system, state)
    masses = np.array([motion.inertia(i)[0] for i in range(len(motion.links))])
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
    """What each joint transmits to its child: moment about M's origin and force, in Ground, by joint.

    Law: the force that the accelerations of all bodies beyond the joint take, less what force elements and
    gravity do to them. The part along the joint's free motion is `tau`, which is in it.

    Parameters
    ----------
    system : System
    state : State
        Realized to ACCELERATION.

    Returns
    -------
    dict of str to ndarray, shape (6,), N.m and N
        The force on the child; its parent feels the opposite.

    Raises
    ------
    StageError
        When the State is not realized so far.
    ValueError
        When the model has constraints: their forces on the bodies would be missing here.
    """
    for name, part in system.parts.items():
        if isinstance(part, cosim.Constraint):
            raise ValueError(f"reactions of joints are not known where constraints act on bodies ({name})")
    motion = TreeMotion(system, state)
    transmitted = [np.zeros(6) for _ in motion.links]
    for i in reversed(range(len(motion.links))):
        link, p_M = motion.links[i], motion.p_M[i]
        p_B = motion.pose(i)[1]
        mass, inertia = motion.inertia(i)
        A, applied = motion.read(link.body, "A_GB"), motion.read(link.body, "F_GB")
        w, arm = motion.velocity(i, p_B)[:3], motion.center(i) - p_B
        force = mass * (A[3:] + np.cross(A[:3], arm) + np.cross(w, np.cross(w, arm)))
        moment = inertia @ A[:3] + np.cross(w, inertia @ w) + np.cross(motion.center(i) - p_M, force)
        moment -= applied[:3] + np.cross(p_B - p_M, applied[3:])
        transmitted[i] += np.concatenate([moment, force - applied[3:]])
        if link.parent >= 0:
            outer = transmitted[i]
            lever = np.cross(p_M - motion.p_M[link.parent], outer[3:])
            transmitted[link.parent] += np.concatenate([outer[:3] + lever, outer[3:]])
    return {link.joint.name: wrench for link, wrench in zip(motion.links, transmitted, strict=True)}
