"""Bushing with full stiffness and damping matrices, preload and neutral pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_mechanics.forces.bushing_limits import NEARLY_SINGULAR, require_no_flip, require_no_turn
from cosim_mechanics.forces.linear_bushing import COORDINATE, FORCE, LinearBushing
from cosim_mechanics.forces.semidefinite import is_semidefinite
from cosim_mechanics.spatial import ABOUT_AND_ALONG, compose, inverse, pose_from_angles, put3


def units(rotation: str, mixed: str, translation: str) -> list[str]:
    """Units of a six by six matrix by rows, rotation first.

    >>> units("N.m/rad", "N", "N/m")[3:6]
    ['N', 'N', 'N']
    """
    return ([rotation] * 3 + [mixed] * 3) * 3 + ([mixed] * 3 + [translation] * 3) * 3


def matrix(of: list[str]) -> Callable[[Any], NDArray[np.float64]]:
    """A converter for six by six reals with these units: a matrix, or six numbers for a diagonal one.

    Any number may be text with a unit.

    >>> matrix(units("N.m/rad", "N", "N/m"))([1, 2, 3, 4, 5, "6 N/mm"])[5].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 6000.0]
    """

    def number(item: Any, index: int) -> float:
        return cosim.parse_quantity(item, of[index]) if isinstance(item, str) else float(item)

    def convert(value: Any) -> NDArray[np.float64]:
        value = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
        rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else row for row in value]
        if len(rows) == 6 and not any(isinstance(row, list) for row in rows):
            return np.diag([number(item, 7 * i) for i, item in enumerate(rows)])
        flat = [item for row in rows for item in (row if isinstance(row, list) else [row])]
        if len(flat) != 36:
            raise ValueError(
                f"{value!r} is not a matrix: give 6 x 6 numbers, rotation first, or a diagonal of 6"
            )
        return np.array([number(item, i) for i, item in enumerate(flat)]).reshape(6, 6)

    return convert


NOT_SYMMETRIC = (
    "the stiffness matrix is not symmetric, so its forces have no potential: give its symmetric part "
    "(K + K^T) / 2"
)
NOT_SEMIDEFINITE = "a matrix is not positive semidefinite: it would give energy instead of taking it"
STIFFNESS = units("N.m/rad", "N", "N/m")
DAMPING = units("N.m.s/rad", "N.s", "N.s/m")


class CoupledBushing(LinearBushing):
    """A bushing whose six directions are coupled, that may be preloaded and relaxed in another pose.

    Law: with the coordinates q of `LinearBushing` and its kinematics,

        f = preload - K (q - neutral) - C qdot.

    Frames and signs
    ----------------
    As of `LinearBushing`: f acts on the coordinates of M in F, rotation first. A positive preload pushes M
    toward larger q. K_ij couples the displacement j to the force i.

    Limits
    ------
    As of `LinearBushing`. K has to be symmetric: forces of a linear law with another K depend on the way that
    led to a displacement, so they have no potential and could drive a motion for ever. K and the symmetric
    part of C have to be positive semidefinite; the skew part of C does no work.

    Parameters
    ----------
    body1, body2 : body
    frame_on_body1, frame_on_body2 : pose, default identity
        X_B1F and X_B2M.
    stiffness : array_like, shape (6, 6) or (6,), symmetric, N.m/rad, N, N/m
        K.
    damping : array_like, shape (6, 6) or (6,), N.m.s/rad, N.s, N.s/m, default 0
        C.
    preload : array_like, shape (6,), ["N.m"]*3 + ["N"]*3, default 0
        f in the neutral pose at rest.
    neutral : array_like, shape (6,), ["rad"]*3 + ["m"]*3, default 0
        Coordinates of the neutral pose.
    dissipated_energy : float, J, default 0
        Start value of the dissipated energy.

    Returns
    -------
    Everything that `LinearBushing` has, under the same names and at the same stages.

    Raises
    ------
    SimulationError
        When the State is realized to INSTANCE: K is not symmetric, or K or C is not semidefinite.

    Energy
    ------
    Stored: (q - neutral) . K (q - neutral) / 2 - preload . (q - neutral), negative where the preload has done
    work. Dissipated at the rate qdot . C qdot >= 0.

    References
    ----------
    Simbody 3.7, ``Force::LinearBushing``, for the coordinates.

    Examples
    --------
    >>> K = np.diag([10.0, 10.0, 10.0, 1e4, 1e4, 2e4])
    >>> K[3, 4] = K[4, 3] = 2e3
    >>> mount = CoupledBushing(body1="ground", body2="engine", stiffness=K, preload=(0, 0, 0, 0, 0, 500))
    >>> float(mount.stiffness[4, 3])
    2000.0
    """

    stiffness = cosim.parameter(
        unit=STIFFNESS,
        shape=(6, 6),
        convert=matrix(STIFFNESS),
        description="symmetric, rotation first",
    )
    damping = cosim.parameter(
        unit=DAMPING,
        shape=(6, 6),
        default=(0.0,) * 6,
        convert=matrix(DAMPING),
        description="rotation first",
    )
    preload = cosim.parameter(
        unit=FORCE,
        shape=6,
        default=(0.0,) * 6,
        description="forces on the coordinates in the neutral pose",
        elements=ABOUT_AND_ALONG,
    )
    neutral = cosim.parameter(
        unit=COORDINATE,
        shape=6,
        default=(0.0,) * 6,
        description="coordinates of the neutral pose",
        elements=ABOUT_AND_ALONG,
    )
    work = cosim.cache_slot(shape=36, description="scratch for the checks of the matrices")

    @cosim.kernel(refuses=(NOT_SYMMETRIC, NOT_SEMIDEFINITE))
    def matrices(stiffness, damping, work):
        for i in range(6):
            for j in range(i):
                # Relative to the diagonal, which bounds the elements of a semidefinite matrix.
                size = math.sqrt(abs(stiffness[7 * i] * stiffness[7 * j]))
                if abs(stiffness[6 * i + j] - stiffness[6 * j + i]) > 1e-9 * size:
                    return 1.0
        if is_semidefinite(stiffness, work) and is_semidefinite(damping, work):
            return 0.0
        return 2.0

    @cosim.kernel
    def energy(q, stiffness, preload, neutral, potential_energy):
        e = 0.0
        for i in range(6):
            x = q[i] - neutral[i]
            e -= preload[i] * x
            for j in range(6):
                e += 0.5 * x * stiffness[6 * i + j] * (q[j] - neutral[j])
        potential_energy[0] = e

    @cosim.kernel
    def watch(q, stiffness, damping, preload, status):
        holds = 0.0
        for i in range(3):
            holds += abs(preload[i]) + stiffness[7 * i] + damping[7 * i]
        status[0] = 1.0 if holds > 0.0 and math.cos(q[1]) < NEARLY_SINGULAR else 0.0

    @cosim.kernel
    def coordinate_forces(
        q, qdot, stiffness, damping, preload, neutral, f, power_dissipation, dissipated_energy_dot
    ):
        power = 0.0
        for i in range(6):
            spring = preload[i]
            damper = 0.0
            for j in range(6):
                spring -= stiffness[6 * i + j] * (q[j] - neutral[j])
                damper += damping[6 * i + j] * qdot[j]
            f[i] = spring - damper
            power += qdot[i] * damper
        power_dissipation[0] = power
        dissipated_energy_dot[0] = power

    @cosim.update
    def follow(q, side, stiffness, preload, last_angles, last_angles_next):
        may_flip = stiffness[0] > 0.0 or preload[0] != 0.0 or stiffness[14] > 0.0 or preload[2] != 0.0
        if side == 0.0 and may_flip:
            require_no_flip(last_angles, q)
        for i in range(3):
            holds = stiffness[7 * i] > 0.0 or preload[i] != 0.0
            if side == 0.0 and holds:
                require_no_turn(last_angles[i], q[i])
        put3(last_angles_next, q)

    def rest_pose(self) -> Sequence[float]:
        """The pose at which the springs balance the preload."""
        numbers = self.values.numbers
        stiffness = numbers["stiffness"].reshape(6, 6)
        q = numbers["neutral"] + np.linalg.lstsq(stiffness, numbers["preload"], rcond=None)[0]
        X_FM = pose_from_angles(q[:3], q[3:])
        return compose(compose(numbers["frame_on_body1"], X_FM), inverse(numbers["frame_on_body2"]))
