"""The terms of the equations of motion, and products with them, for users.

Every function takes a system and a State that is realized to VELOCITY (what needs more says so), and returns
numbers in Ground: vectors over the speeds are in the order of ``state.u``; spatial vectors have the angular
part first. They are for analysis, control and tests; the accelerations of a simulation come from the
compiled solvers.
"""

from __future__ import annotations

from typing import (
    Any,
    NamedTuple,
)

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.joint_equations import EquationWriter, has_own_equations, own_equations
from cosim_dynamics.sval import SVal
from cosim_dynamics.tree_motion import TreeMotion
from cosim_mechanics import contracts

Array = NDArray[np.float64]


def mass_matrix(system: cosim.System, state: cosim.State) -> Array:
    """M of M u_dot + V = T, shape (nu, nu), symmetric; rows of speeds that belong to no joint are zero.

    Law: M = sum over the bodies of J^T I J, with J the Jacobian of a body and I its inertia, and what joints
    with equations of their own add.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.

    Returns
    -------
    ndarray, shape (nu, nu), kg.m2, kg.m or kg

    Raises
    ------
    StageError
        When the State is not realized so far.

    Examples
    --------
    >>> import cosim
    >>> from cosim_mechanics import Multibody
    >>> model = Multibody("rod")
    >>> body = model.body("rod", mass=3.0, center_of_mass=(0, 0.5, 0), inertia=(0.25, 0, 0.25))
    >>> joint = model.joint("pin", child=body)
    >>> system = model.build()
    >>> state = system.default_state().realize(cosim.Stage.VELOCITY)
    >>> mass_matrix(system, state).tolist()
    [[1.0]]
    """
    motion = TreeMotion(system, state)
    M = _own_terms(motion, without_tau=True).M
    for i in range(len(motion.links)):
        mass, inertia = motion.inertia(i)
        J = motion.jacobian(i, motion.center(i))
        M += mass * J[3:].T @ J[3:] + J[:3].T @ inertia @ J[:3]
    return M


def mass_times(system: cosim.System, state: cosim.State, v: Any) -> Array:
    """M v, shape (nu,), without setting up M: the generalized forces that accelerations v take at rest.

    Raises
    ------
    ValueError
        When `v` has another shape.
    """
    motion, accelerations = TreeMotion(system, state), _over_speeds(system, v, "v")
    result: Array = _own_terms(motion, without_tau=True).M @ accelerations
    for i in range(len(motion.links)):
        mass, inertia = motion.inertia(i)
        J = motion.jacobian(i, motion.center(i))
        result += mass * J[3:].T @ (J[3:] @ accelerations) + J[:3].T @ (inertia @ (J[:3] @ accelerations))
    return result


def mass_solve(system: cosim.System, state: cosim.State, v: Any) -> Array:
    """M^-1 v, shape (nu,): the accelerations that generalized forces v cause beside all others.

    Speeds that belong to no joint have no mass; their elements of the result are zero.

    Raises
    ------
    ValueError
        When `v` has another shape, or M is singular.
    """
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    forces, M = _over_speeds(system, v, "v"), mass_matrix(system, state)
    moving = M.diagonal() != 0.0
    result = np.zeros(system.nu)
    try:
        result[moving] = cho_solve(cho_factor(M[np.ix_(moving, moving)]), forces[moving])
    except LinAlgError:
        raise ValueError(
            "the mass matrix is singular: some joint moves nothing that has mass or inertia"
        ) from None
    return result


def bias(system: cosim.System, state: cosim.State) -> Array:
    """V of M u_dot + V = T, shape (nu,): centripetal, Coriolis, gyroscopic terms and joints' own.

    Gravity and force elements are not in it: they belong to T.

    Raises
    ------
    StageError
        When the State is not realized to VELOCITY.
    """
    motion = TreeMotion(system, state)
    V = _own_terms(motion, without_tau=True).V
    biases = motion.biases()
    for i in range(len(motion.links)):
        mass, inertia = motion.inertia(i)
        center = motion.center(i)
        J, a = motion.jacobian(i, center), motion.bias_at(i, center, biases)
        w = motion.velocity(i, center)[:3]
        V += J[3:].T @ (mass * a[3:]) + J[:3].T @ (inertia @ a[:3] + np.cross(w, inertia @ w))
    return V


def generalized_forces(system: cosim.System, state: cosim.State) -> Array:
    """T of M u_dot + V = T, shape (nu,): gravity, force elements and the joints' own forces ``tau``.

    Raises
    ------
    StageError
        When the State is not realized to DYNAMICS.
    """
    motion = TreeMotion(system, state)
    T = _own_terms(motion, without_tau=True).V - _own_terms(motion).V
    for i, link in enumerate(motion.links):
        T += motion.jacobian(i, motion.pose(i).origin).T @ motion.read(link.body, "F_GB")
    return T


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
    accelerations = _over_speeds(system, udot, "udot")
    T = generalized_forces(system, state)
    return mass_times(system, state, accelerations) + bias(system, state) - T


def kinetic_energy(system: cosim.System, state: cosim.State) -> float:
    """The kinetic energy of all bodies, and of inertias in joints' own equations, J."""
    return float(0.5 * state.u @ mass_matrix(system, state) @ state.u)


class _OwnTerms(NamedTuple):
    """The parts of M and V from joints."""

    M: Array
    V: Array


def _own_terms(motion: TreeMotion, without_tau: bool = False) -> _OwnTerms:
    """The parts of M and V from rotors and joints' own equations; V also has ``-tau`` of all joints."""
    nu = motion.system.nu
    M, V = np.zeros((nu, nu)), np.zeros(nu)
    for link, speeds in zip(motion.links, motion.speeds, strict=True):
        joint = link.joint
        if not has_own_equations(joint):
            if joint.nu:
                M[speeds, speeds] += motion.added_inertia(joint)
                if not without_tau:
                    V[speeds] -= motion.read(joint, "tau")
            continue

        def value(name: str, element: int, joint: contracts.Joint = joint) -> float:
            if without_tau and name == "tau":
                return 0.0
            return motion.element(joint, name, element)

        equations = EquationWriter(joint, [SVal(0.0)] * 6, SVal.acceleration, value)
        for i, equation in zip(speeds, own_equations(joint, equations, value), strict=True):
            M[i, speeds] += equation.row(joint.nu)
            V[i] += equation.bias
    return _OwnTerms(M, V)


def _over_speeds(system: cosim.System, values: Any, name: str) -> Array:
    numbers = np.asarray(values, dtype=float)
    if numbers.shape != (system.nu,):
        raise ValueError(
            f"{name} has shape {numbers.shape}, needs ({system.nu},): one for each speed of the system"
        )
    return numbers
