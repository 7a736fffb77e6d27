"""What a user asks a multibody system: its mass matrix, Jacobians, momenta, energies.

Every function takes a system and a State that is realized to VELOCITY (what needs more says so), and returns
numbers in Ground: vectors over the speeds are in the order of ``state.u``; spatial vectors have the angular
part first. They are for analysis, control and tests; the accelerations of a simulation come from the
compiled solvers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.joint_equations import Equations, own_equations
from cosim_dynamics.sval import SVal
from cosim_dynamics.tree_motion import TreeMotion

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
    M = _own(motion)[0]
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
    motion, given = TreeMotion(system, state), _over_speeds(system, v, "v")
    result: Array = _own(motion)[0] @ given
    for i in range(len(motion.links)):
        mass, inertia = motion.inertia(i)
        J = motion.jacobian(i, motion.center(i))
        result += mass * J[3:].T @ (J[3:] @ given) + J[:3].T @ (inertia @ (J[:3] @ given))
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

    given, M = _over_speeds(system, v, "v"), mass_matrix(system, state)
    moving = M.diagonal() != 0.0
    result = np.zeros(system.nu)
    try:
        result[moving] = cho_solve(cho_factor(M[np.ix_(moving, moving)]), given[moving])
    except LinAlgError:
        raise ValueError(
            "the mass matrix is singular: some joint moves nothing that has mass or inertia"
        ) from None
    return result


def bias(system: cosim.System, state: cosim.State) -> Array:
    """V of M u_dot + V = T, shape (nu,): centripetal, Coriolis, gyroscopic terms and joints' own.

    Gravity and force elements are not in it: they stand on the side of T.

    Raises
    ------
    StageError
        When the State is not realized to VELOCITY.
    """
    motion = TreeMotion(system, state)
    V = _own(motion, without_tau=True)[1]
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
    T = _own(motion, without_tau=True)[1] - _own(motion)[1]
    for i, link in enumerate(motion.links):
        T += motion.jacobian(i, motion.pose(i)[1]).T @ motion.read(link.body, "F_GB")
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
    given = _over_speeds(system, udot, "udot")
    T = generalized_forces(system, state)
    return mass_times(system, state, given) + bias(system, state) - T


def point_jacobian(
    system: cosim.System, state: cosim.State, body: str | cosim.Component, station: Any = (0.0, 0.0, 0.0)
) -> Array:
    """J of v = J u: the velocity in Ground of a station of a body, shape (3, nu).

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    body : str or Component
    station : array_like, shape (3,), m
        The point, in the body's frame.

    Raises
    ------
    LookUpError
        No body has this name.
    """
    return frame_jacobian(system, state, body, station)[3:]


def point_bias(
    system: cosim.System, state: cosim.State, body: str | cosim.Component, station: Any = (0.0, 0.0, 0.0)
) -> Array:
    """(dJ/dt) u of a station of a body: its acceleration in Ground while u_dot is zero, shape (3,), m/s2."""
    return frame_bias(system, state, body, station)[3:]


def frame_jacobian(
    system: cosim.System, state: cosim.State, body: str | cosim.Component, frame: Any = (0.0, 0.0, 0.0)
) -> Array:
    """J of V = J u: angular velocity of a frame fixed on a body, and velocity of its origin, shape (6, nu).

    Both in Ground's axes, so that only the frame's origin matters.

    Parameters
    ----------
    system : System
    state : State
        Realized to VELOCITY at least.
    body : str or Component
    frame : array_like, shape (12,) or (3,)
        Pose of the frame on the body (rotation by rows, then the position), or the position alone, m.

    Raises
    ------
    LookUpError
        No body has this name.
    ValueError
        When `frame` has another shape.
    """
    motion = TreeMotion(system, state)
    link = motion.index(body)
    return motion.jacobian(link, _located(motion, link, frame))


def frame_bias(
    system: cosim.System, state: cosim.State, body: str | cosim.Component, frame: Any = (0.0, 0.0, 0.0)
) -> Array:
    """(dJ/dt) u of a frame on a body: its accelerations in Ground while u_dot is zero, shape (6,)."""
    motion = TreeMotion(system, state)
    link = motion.index(body)
    return motion.bias_at(link, _located(motion, link, frame), motion.biases())


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
    constraint = getattr(cosim, "Constraint", ())
    for name, part in system.parts.items():
        if isinstance(part, constraint):
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


def kinetic_energy(system: cosim.System, state: cosim.State) -> float:
    """Of all bodies, J; inertias that joints bring by equations of their own are counted too."""
    motion = TreeMotion(system, state)
    total = 0.5 * state.u @ _own(motion)[0] @ state.u
    for i in range(len(motion.links)):
        mass, inertia = motion.inertia(i)
        V = motion.velocity(i, motion.center(i))
        total += 0.5 * (mass * V[3:] @ V[3:] + V[:3] @ inertia @ V[:3])
    return float(total)


def potential_energy(system: cosim.System, state: cosim.State) -> float:
    """Sum of the ``potential_energy`` of all parts: gravity and force elements, J.

    Raises
    ------
    StageError
        When the State is not realized as far as one of them needs.
    """
    paths = [f"{name}.potential_energy" for name in system.parts]
    return float(sum(float(np.sum(state[path])) for path in paths if path in system.variables))


def _own(motion: TreeMotion, without_tau: bool = False) -> tuple[Array, Array]:
    """What joints' own equations add to M and V, and ``-tau`` of all joints in V."""
    system, state = motion.system, motion.state
    M, V = np.zeros((system.nu, system.nu)), np.zeros(system.nu)
    for link, speeds in zip(motion.links, motion.speeds, strict=True):
        joint = link.joint
        if type(joint).create_equations is cosim.Joint.create_equations:
            if joint.nu and not without_tau:
                V[speeds] -= motion.read(joint, "tau")
            continue

        def value(name: str, element: int, joint: cosim.Joint = joint) -> float:
            if without_tau and name == "tau":
                return 0.0
            return float(np.reshape(state[f"{joint.name}.{name}"], -1)[element])

        equations = Equations(joint, [SVal(0.0)] * 6, SVal.acceleration, value)
        for i, equation in zip(speeds, own_equations(joint, equations, value), strict=True):
            M[i, speeds] += equation.row(joint.nu)
            V[i] += equation.bias
    return M, V


def _located(motion: TreeMotion, link: int, frame: Any) -> Array:
    """Where the origin of a frame on a body is, in Ground."""
    given = np.asarray(frame, dtype=float).reshape(-1)
    if given.size not in (3, 12):
        raise ValueError(f"a frame on a body is a position of 3 numbers or a pose of 12, not {given.size}")
    R, p = motion.pose(link)
    located: Array = p + R @ given[-3:]
    return located


def _over_speeds(system: cosim.System, values: Any, name: str) -> Array:
    given = np.asarray(values, dtype=float)
    if given.shape != (system.nu,):
        raise ValueError(
            f"{name} has shape {given.shape}, needs ({system.nu},): one for each speed of the system"
        )
    return given
