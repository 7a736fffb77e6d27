"""The poses of bodies at the times of a picture."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_animation.mechanism import Mechanism

MOST_FRAMES = 600


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
    """Poses of all bodies, shape (frames, bodies, 12): recorded ones, else from coordinates of joints.

    Raises
    ------
    CosimError
        A result with neither of them.
    """
    names = mechanism.bodies
    moving = [name for name in names if "mass" in type(mechanism.model[name]).declarations]
    poses = np.zeros((rows.size, len(names), 12))
    poses[:, :, [0, 4, 8]] = 1.0
    if all(f"{name}.X_GB" in result for name in moving):
        for name in moving:
            poses[:, names.index(name)] = _values(result, f"{name}.X_GB")[rows]
        return poses
    missing = [path for path in mechanism.coordinates() if path not in result]
    if missing:
        listed = ", ".join(missing[:6]) + (" …" if len(missing) > 6 else "")
        raise cosim.CosimError(
            f"the result contains no poses of the bodies: record {listed}, or animate the model itself"
        )
    state = mechanism.model.build().default_state()
    columns = {path: _values(result, path) for path in mechanism.coordinates()}
    for frame, row in enumerate(rows):
        for path, values in columns.items():
            state[path] = values[row]
        state.realize(cosim.Stage.POSITION)
        for number, name in enumerate(names):
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
    return turned + 0.0


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


def packed_integers(values: Any) -> str:
    """Whole numbers as base64 of little-endian words of four bytes."""
    import base64

    return base64.b64encode(np.ascontiguousarray(values, dtype="<u4").tobytes()).decode()


def packed(values: Any) -> str:
    """Numbers as base64 of little-endian floats of four bytes."""
    import base64

    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()
