"""The poses of bodies at the times of a picture."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_animation.mechanism import Mechanism

MOST_FRAMES = 600
"""Frames of an animation, about: a result with more rows is thinned."""
IDENTITY_POSE = np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
"""The pose of a body at Ground: the rotation by rows, then the position."""
MOST_LISTED = 6
"""Paths that a message lists; of more, "…" stands for the others."""


def frame_rows(time: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows of a result that are shown: about `MOST_FRAMES` at most, evenly over time, with both ends.

    >>> frame_rows(np.array([0.0, 0.5, 0.5, 1.0])).tolist()
    [0, 1, 2, 3]
    """
    if time.size <= MOST_FRAMES:
        return np.arange(time.size)
    rows = np.searchsorted(time, np.linspace(time[0], time[-1], MOST_FRAMES))
    return np.unique(np.append(np.minimum(rows, time.size - 1), time.size - 1))


def body_poses(mechanism: Mechanism, result: cosim.Result, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Poses of all bodies, shape (frames, bodies, 12): recorded ones, else from coordinates of joints.

    Raises
    ------
    CosimError
        A result with neither of them.
    """
    moving = [name for name in mechanism.bodies if "mass" in type(mechanism.model[name]).declarations]
    if all(f"{name}.X_GB" in result for name in moving):
        return _recorded_poses(mechanism, result, rows, moving)
    return _poses_from_coordinates(mechanism, result, rows)


def _recorded_poses(
    mechanism: Mechanism, result: cosim.Result, rows: NDArray[np.int64], moving: list[str]
) -> NDArray[np.float64]:
    """The poses of moving bodies in the result; the other bodies are at Ground."""
    poses = np.tile(IDENTITY_POSE, (rows.size, len(mechanism.bodies), 1))
    for name in moving:
        poses[:, mechanism.bodies.index(name)] = _values(result, f"{name}.X_GB")[rows]
    return poses


def _poses_from_coordinates(
    mechanism: Mechanism, result: cosim.Result, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The poses that the bodies have where the joints have their recorded coordinates."""
    missing = [path for path in mechanism.coordinates() if path not in result]
    if missing:
        listed = ", ".join(missing[:MOST_LISTED]) + (" …" if len(missing) > MOST_LISTED else "")
        raise cosim.CosimError(
            f"the result contains no poses of the bodies: record {listed}, or animate the model itself"
        )
    state = mechanism.model.build().default_state()
    columns = {path: _values(result, path) for path in mechanism.coordinates()}
    poses = np.empty((rows.size, len(mechanism.bodies), IDENTITY_POSE.size))
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
