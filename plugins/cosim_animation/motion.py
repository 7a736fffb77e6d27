"""The poses of bodies at the times of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_animation.mechanism import Mechanism

MOST_FRAMES = 600
MOST_LISTED = 6
"""Coordinates that a message names at most."""
AT_ORIGIN = np.array([1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, 0, 0, 0])
"""The pose of a body that lies in the origin of the ground, not turned."""


def frame_rows(time: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows of a result that are shown: at most some hundred, evenly over time, the first and the last too.

    >>> frame_rows(np.array([0.0, 0.5, 0.5, 1.0])).tolist()
    [0, 1, 2, 3]
    """
    if time.size <= MOST_FRAMES:
        return np.arange(time.size)
    rows = np.searchsorted(time, np.linspace(time[0], time[-1], MOST_FRAMES))
    return np.unique(np.append(np.minimum(rows, time.size - 1), time.size - 1))


def body_poses(mechanism: Mechanism, result: cosim.Result, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Poses of all bodies: recorded ones, else from coordinates of joints.

    Returns
    -------
    ndarray, shape (frames, bodies, 12)
        Of each pose a rotation matrix by rows, and a position in m (`X_GB`).

    Raises
    ------
    CosimError
        A result with neither of them.
    """
    moving = [name for name in mechanism.bodies if "mass" in type(mechanism.model[name]).declarations]
    if all(f"{name}.X_GB" in result for name in moving):
        return _recorded_poses(mechanism, moving, result, rows)
    missing = [path for path in mechanism.coordinates() if path not in result]
    if missing:
        listed = ", ".join(missing[:MOST_LISTED]) + (" …" if len(missing) > MOST_LISTED else "")
        raise cosim.CosimError(
            f"the result contains no poses of the bodies: record {listed}, or animate the model itself"
        )
    return _computed_poses(mechanism, result, rows)


def _recorded_poses(
    mechanism: Mechanism, moving: Sequence[str], result: cosim.Result, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The poses that a result has of bodies with mass; the others, such as the ground, do not move."""
    poses = np.tile(AT_ORIGIN, (rows.size, len(mechanism.bodies), 1))
    for name in moving:
        poses[:, mechanism.bodies.index(name)] = _values(result, f"{name}.X_GB")[rows]
    return poses


def _computed_poses(
    mechanism: Mechanism, result: cosim.Result, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The poses that follow from the recorded coordinates of the joints."""
    poses = np.empty((rows.size, len(mechanism.bodies), AT_ORIGIN.size))
    state = mechanism.model.build().default_state()
    columns = {path: _values(result, path) for path in mechanism.coordinates()}
    for frame, row in enumerate(rows):
        for path, values in columns.items():
            state[path] = values[row]
        state.realize(cosim.Stage.POSITION)
        for number, name in enumerate(mechanism.bodies):
            poses[frame, number] = np.ravel(state[f"{name}.X_GB"])
    return poses


def _values(result: cosim.Result, path: str) -> NDArray[np.float64]:
    """Values of a signal as rows of numbers."""
    values = np.asarray(result[path], dtype=float)
    return values.reshape(values.shape[0], -1)


def quaternions(rotations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit quaternions (x, y, z, w) of rotation matrices by rows, (…, 9); neighbours in time agree in sign.

    >>> quaternions(np.array([[1.0, 0, 0, 0, 1, 0, 0, 0, 1]])).tolist()
    [[0.0, 0.0, 0.0, 1.0]]
    """
    from scipy.spatial.transform import Rotation

    shape = rotations.shape[:-1]
    turned = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_quat().reshape(*shape, 4)
    for before, after in pairwise(turned):
        after[np.sum(before * after, axis=-1) < 0.0] *= -1.0
    return turned + 0.0  # -0.0 becomes 0.0


def at_times(
    wanted: NDArray[np.float64], time: NDArray[np.float64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values over time, shape (n, …), at other times, on lines between; the first and last ones beyond.

    >>> at_times(np.array([0.5, 3.0]), np.array([0.0, 1.0]), np.array([[0.0], [4.0]])).tolist()
    [[2.0], [4.0]]
    """
    flat = values.reshape(len(time), -1)
    columns = [np.interp(wanted, time, column) for column in flat.T]
    return np.array(columns).T.reshape(len(wanted), *values.shape[1:])
