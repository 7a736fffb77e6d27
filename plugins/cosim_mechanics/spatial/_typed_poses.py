"""Poses as people type them. Not for kernel functions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_mechanics.spatial._angles import pose_from_angles
from cosim_mechanics.spatial._poses import IDENTITY

#: Units of the twelve reals.
POSE_UNITS = ["1"] * 9 + ["m"] * 3
ABOUT_AND_ALONG = (*(f"about {axis}" for axis in "xyz"), *(f"along {axis}" for axis in "xyz"))

#: A rotation matrix this far from orthonormal is a mistake; nearer ones are made orthonormal.
TOLERANCE = 1e-6
#: Rounding of a matrix in full precision, which is left as it is.
ROUNDING = 1e-12

UNTURNED = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)  # a rotation matrix by rows
VALID = (
    "a pose is a position [x, y, z] (m), { position = [x, y, z], angles = [ax, ay, az] } with body-fixed "
    "x-y-z angles (rad), the pair (position, angles), or twelve reals: the rotation matrix by rows, then the "
    "position"
)


def pose(value: Any) -> NDArray[np.float64]:
    """The pose X_AB that a value stands for, as twelve reals.

    Parameters
    ----------
    value : array_like, dict or pair
        - three numbers: a position, no rotation;
        - a dict with ``position`` and ``angles`` (three numbers each, either may be left out);
        - a pair (position, angles);
        - twelve reals: the rotation matrix R_AB by rows, then the position p_AB.

        Positions are in m, angles in rad; any number may be a string with a unit (``"-300 mm"``, ``"30
        deg"``). Angles are body-fixed x-y-z: first about x, then about the new y, then about the new z.

    Returns
    -------
    ndarray, shape (12,)
        R_AB by rows, then p_AB from A's origin to B's, expressed in A, m.

    Raises
    ------
    ValueError
        When the value has another form, is not finite, or its rotation matrix is not orthonormal (to 1e-6;
        smaller errors, as of numbers typed with seven digits, are removed) or is left-handed.

    Examples
    --------
    >>> pose((0, 0, 0.1)).tolist()
    [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.1]
    >>> pose({"position": ["-300 mm", 0, 0]})[9:].tolist()
    [-0.3, 0.0, 0.0]
    >>> pose(((0, 0, 0), (0, 0, "90 deg")))[:6].round(12).tolist()
    [0.0, -1.0, 0.0, 1.0, 0.0, 0.0]
    """
    if isinstance(value, Mapping):
        return _from_mapping(value)
    items = _items(value)
    if len(items) == 2 and all(_is_sequence(item) for item in items):
        return _from_parts(items[0], items[1])
    if len(items) == 3 and not any(_is_sequence(item) for item in items):
        position = [_number(item, "m", "position") for item in items]
        return np.array([*UNTURNED, *position]) + 0.0  # as in `_from_parts`
    if len(items) == 12 and not any(_is_sequence(item) for item in items):
        return _from_reals(items)
    raise ValueError(f"{_quoted(value)} is not a pose: {VALID}")


def pose_parameter(description: str = "") -> Any:
    """Declare a parameter that is a pose: everything that `pose` reads, by default the identity.

    >>> pose_parameter("frame F on body 1").shape
    (12,)
    """
    return cosim.parameter(unit=POSE_UNITS, shape=12, default=IDENTITY, convert=pose, description=description)


def point_parameter(description: str = "") -> Any:
    """Declare a parameter that is a point of a body, in its frame, m: by default its origin.

    >>> point_parameter("point of application, in the body's frame").unit()
    'm'
    """
    return cosim.parameter(
        unit="m", shape=3, default=(0.0, 0.0, 0.0), description=description, elements="xyz"
    )


def _from_mapping(value: Mapping[str, Any]) -> NDArray[np.float64]:
    unknown = [key for key in value if key not in ("position", "angles")]
    if unknown or not value:
        fault = f"has '{unknown[0]}'" if unknown else "is empty"
        raise ValueError(f"the pose {fault}, needs position, angles or both: {VALID}")
    zero = (0.0, 0.0, 0.0)
    return _from_parts(value.get("position", zero), value.get("angles", zero))


def _from_parts(position: Any, angles: Any) -> NDArray[np.float64]:
    reals = pose_from_angles(_three(angles, "rad", "angles"), _three(position, "m", "position"))
    return np.array(reals) + 0.0  # no negative zeros where people look


def _from_reals(items: Sequence[Any]) -> NDArray[np.float64]:
    reals = [_number(item, unit, "pose") for item, unit in zip(items, POSE_UNITS, strict=True)]
    rotation = np.array(reals[:9]).reshape(3, 3)
    error = float(np.abs(rotation.T @ rotation - np.eye(3)).max())
    if error > TOLERANCE:
        raise ValueError(
            f"the rotation matrix of the pose is not orthonormal: R^T R differs from the identity by "
            f"{error:.3g}, {TOLERANCE:g} is allowed; its rows come first, then the position"
        )
    if np.linalg.det(rotation) < 0.0:
        raise ValueError(
            "the rotation matrix of the pose is left-handed (determinant -1): a mirror image is not a "
            "change the sign of one axis"
        )
    if error > ROUNDING:
        left, _, right = np.linalg.svd(rotation)
        rotation = left @ right
    return np.concatenate([rotation.ravel(), reals[9:]])


def _three(value: Any, unit: str, part: str) -> tuple[float, float, float]:
    items = _items(value)
    if len(items) != 3 or any(_is_sequence(item) for item in items):
        raise ValueError(f"the {part} of the pose is {_quoted(value)}, needs three numbers ({unit})")
    x, y, z = (_number(item, unit, part) for item in items)
    return (x, y, z)


def _number(value: Any, unit: str, part: str) -> float:
    if isinstance(value, str):
        return float(cosim.parse_quantity(value, unit))
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"the {part} has {_quoted(value)}, needs a finite number ({unit})")
    return number


def _items(value: Any) -> list[Any]:
    return list(value) if _is_sequence(value) else []


def _is_sequence(value: Any) -> bool:
    if isinstance(value, (float, int, list, tuple)):  # abstract classes take ten times as long
        return isinstance(value, (list, tuple))
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _quoted(value: Any) -> str:
    text = " ".join(repr(value).split())  # an array has several lines
    return text if len(text) <= 60 else text[:57] + "..."
