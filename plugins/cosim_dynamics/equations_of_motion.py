"""The equations of motion in the form in which they are thought of: s-vals with numbers in them.

`torque_equations` is a recursive Newton-Euler formulation in which the accelerations stay unknown. The
compiled solvers and the operators compute the same M and V in other ways; tests hold them together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.joint_equations import EquationWriter, own_equations
from cosim_dynamics.spatial_sval import SpatialSVal
from cosim_dynamics.sval import SVal
from cosim_dynamics.tree_motion import TreeMotion

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
    motion = TreeMotion(system, state)
    accelerations = _accelerations(motion)
    links = motion.links
    wrenches = [_required_force(motion, i, A) for i, A in enumerate(accelerations)]
    result: dict[int, SVal] = {}
    for i in reversed(range(len(links))):
        result |= _equations_of_joint(motion, i, wrenches[i])
        parent = links[i].parent
        if parent >= 0:
            wrenches[parent] = wrenches[parent] + wrenches[i].force_at(motion.p_M[parent] - motion.p_M[i])
    return dict(sorted(result.items()))


def _accelerations(motion: TreeMotion) -> list[SpatialSVal]:
    """For each link its angular acceleration and the acceleration of its joint's M."""
    accelerations: list[SpatialSVal] = []
    for i, link in enumerate(motion.links):
        R_GF, p_M, speeds = motion.R_GF[i], motion.p_M[i], motion.speeds[i]
        A, w_P = SpatialSVal(), np.zeros(3)
        if link.parent >= 0:
            A = _moved(motion, link.parent, accelerations[link.parent], p_M)
            w_P = motion.velocity(link.parent, p_M)[:3]
        if link.joint.nu:
            u = motion.state.u[speeds]
            spin, slip = motion.angular[:, speeds] @ u, motion.linear[:, speeds] @ u
            remainder = motion.velocity_terms(i)
            A = A + np.concatenate([np.cross(w_P, spin), 2.0 * np.cross(w_P, slip)])
            A = A + np.concatenate([R_GF @ remainder[:3], R_GF @ remainder[3:]])
            for k in speeds:
                column = np.concatenate([motion.angular[:, k], motion.linear[:, k]])
                A = A + SpatialSVal.along(column, SVal.acceleration(int(k)))
        accelerations.append(A)
    return accelerations


def _moved(motion: TreeMotion, link: int, A: SpatialSVal, point: Array) -> SpatialSVal:
    """The accelerations of a link at another of its points than its joint's M."""
    arm = point - motion.p_M[link]
    w = motion.velocity(link, point)[:3]
    return SpatialSVal(A.angular, A.linear + A.angular.cross(arm) + np.cross(w, np.cross(w, arm)))


def _required_force(motion: TreeMotion, link: int, A: SpatialSVal) -> SpatialSVal:
    """Moment about the joint's M and force that accelerate a link's body so."""
    mass, inertia = motion.inertia(link)
    center = motion.center(link)
    w = motion.velocity(link, center)[:3]
    force = mass * _moved(motion, link, A, center).linear
    moment = inertia @ A.angular + np.cross(w, inertia @ w)
    return SpatialSVal(moment, force).force_at(motion.p_M[link] - center)


def _equations_of_joint(motion: TreeMotion, index: int, wrench: SpatialSVal) -> dict[int, SVal]:
    """The torque equations of one joint from the force that it transmits."""
    joint, speeds = motion.links[index].joint, motion.speeds[index]
    if not joint.nu:
        return {}
    R_FG = motion.R_GF[index].T
    if motion.links[index].reversed:
        # What the joint's own parent, which is the outer body, gives to its child, in the joint's own frames.
        wrench = wrench.force_at(motion.p_F[index] - motion.p_M[index]) * -1.0
        R_FG = motion.read(joint, "X_FM")[:9].reshape(3, 3) @ R_FG
    transmitted = [*(R_FG @ wrench.angular), *(R_FG @ wrench.linear)]

    def value(name: str, element: int) -> float:
        if name == "tau":
            return 0.0
        return motion.element(joint, name, element)

    def acceleration(i: int) -> SVal:
        return SVal.acceleration(int(speeds[i]))

    equations = own_equations(joint, EquationWriter(joint, transmitted, acceleration, value), value)
    return {int(speeds[i]): equation for i, equation in enumerate(equations)}
