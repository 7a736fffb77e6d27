"""Checks of mass and inertia, in all forms in which users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_mechanics.spatial import Reals

ROUNDING = 1e-9
"""How much principal moments may violate the triangle inequality, relative to the largest one."""
SINGULAR = 1e-12
"""An inertia with a determinant up to this part of Ixx Iyy Izz counts as singular."""

VALID = (
    "three principal moments (Ixx, Iyy, Izz), six numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) "
    "or a symmetric 3x3 matrix"
)
"""Forms of an inertia, for messages."""

TURNING_UNITS = ["1/(kg.m2)"] * 6 + ["m"] * 3
"""Units of the six elements of an inverse inertia and of a centre of mass."""


def positive_mass(value: Any) -> float:
    """A mass in kg; `ValueError` when it is not more than zero.

    >>> positive_mass("500 g")
    0.5
    """
    try:
        mass = _number(value, "kg")
    except ValueError as error:
        raise error if isinstance(error, cosim.CosimError) else ValueError(f"mass {error}") from None
    if not mass > 0.0:
        raise ValueError(
            f"mass is {mass:g} kg, needs more than 0: attach forces and frames to an existing body "
            "instead of adding one without mass"
        )
    return mass


def central_inertia(value: Any) -> NDArray[np.float64]:
    """The six elements of a central inertia matrix, kg.m2, from any of the forms that are accepted.

    Parameters
    ----------
    value : array_like
        Three principal moments, six numbers (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or a symmetric 3x3 matrix, about
        the centre of mass, in the axes of the body.

    Returns
    -------
    ndarray, shape (6,)

    Raises
    ------
    ValueError
        For another form, or when no body can have these moments.

    Examples
    --------
    >>> central_inertia((1, 2, 3)).tolist()
    [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    >>> central_inertia((1, 1, 5))
    Traceback (most recent call last):
    ...
    ValueError: inertia has principal moments 1, 1, 5 kg.m2: no body has them, since 5 is more than 1 + 1. ...
    """
    matrix = _matrix(value)
    a, b, c = _principal_moments(matrix)
    slack = ROUNDING * max(abs(a), abs(c))
    shown = f"inertia has principal moments {a:.6g}, {b:.6g}, {c:.6g} kg.m2: no body has them, since "
    advice = "Moments are about the centre of mass, in the axes of the body."
    if a < -slack:
        raise ValueError(f"{shown}{a:.6g} is negative. {advice}")
    if c > a + b + slack:
        raise ValueError(f"{shown}{c:.6g} is more than {a:.6g} + {b:.6g}. {advice}")
    return _six_elements(matrix)


def _principal_moments(matrix: NDArray[np.float64]) -> list[float]:
    """The principal moments of inertia in rising order, kg.m2."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = matrix.tolist()
    if xy == xz == yz == 0.0:  # the most frequent case
        return sorted((xx, yy, zz))
    moments: list[float] = np.linalg.eigvalsh(matrix).tolist()
    return moments


def inertia_as_written(value: Any) -> NDArray[np.float64]:
    """The six elements of an inertia matrix as `central_inertia`, whether a body can have them or not.

    >>> inertia_as_written((1, 1, 5)).tolist()
    [1.0, 1.0, 5.0, 0.0, 0.0, 0.0]
    """
    return _six_elements(_matrix(value))


def _six_elements(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[0, 1], matrix[0, 2], matrix[1, 2]])


NO_SUCH_BODY = (
    "the mass is not more than 0",
    "no body has this inertia: each of Ixx, Iyy, Izz is at most the sum of the other two",
    "no body has this inertia: |Iyz|, |Ixz|, |Ixy| are at most half of Ixx, Iyy, Izz",
)


def fault_of_mass_properties(mass: float, inertia: Reals) -> float:
    """The number, from 1, of the sentence of `NO_SUCH_BODY` that is true of a mass and an inertia, or 0.

    For kernel functions. It checks conditions that hold in any axes; `central_inertia` checks the principal
    moments.

    >>> fault_of_mass_properties(1.0, (1.0, 1.0, 5.0, 0.0, 0.0, 0.0))
    2.0
    """
    if not mass > 0.0:
        return 1.0
    xx = inertia[0]
    yy = inertia[1]
    zz = inertia[2]
    slack = ROUNDING * (abs(xx) + abs(yy) + abs(zz))
    if not (xx + yy - zz >= -slack and yy + zz - xx >= -slack and zz + xx - yy >= -slack):
        return 2.0
    if not (
        2.0 * abs(inertia[5]) <= xx + slack
        and 2.0 * abs(inertia[4]) <= yy + slack
        and 2.0 * abs(inertia[3]) <= zz + slack
    ):
        return 3.0
    return 0.0


def _matrix(value: Any) -> NDArray[np.float64]:
    """The symmetric matrix of an inertia in any of the accepted forms."""
    try:
        inertia = np.array(_numbers(value), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, cosim.CosimError):
            raise
        raise ValueError(f"inertia is {value!r}, needs {VALID}, in kg.m2") from error
    if not np.isfinite(inertia).all():
        raise ValueError(f"inertia is not finite: {value!r}, needs {VALID}, in kg.m2")
    if inertia.shape == (3,):
        return np.diag(inertia)
    if inertia.shape == (6,):
        xx, yy, zz, xy, xz, yz = inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if inertia.shape != (3, 3):
        raise ValueError(f"inertia has shape {inertia.shape}, needs {VALID}, in kg.m2")
    if np.abs(inertia - inertia.T).max() > ROUNDING * np.abs(inertia).max():
        raise ValueError(
            "inertia is a matrix that is not symmetric: make element (i, j) equal to element (j, i)"
        )
    return 0.5 * (inertia + inertia.T)


def _numbers(value: Any) -> Any:
    """The numbers of nested lists, each a number or a text with a unit."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_numbers(item) for item in value]
    return _number(value, "kg.m2")


def _number(value: Any, unit: str) -> float:
    """A number, or a text with a unit, in this unit."""
    if isinstance(value, str):
        return float(cosim.parse_quantity(value, unit))
    is_array = isinstance(value, np.ndarray) and value.ndim > 0
    if is_array or isinstance(value, (bool, list, tuple, dict)) or not hasattr(value, "__float__"):
        raise ValueError(f"is {value!r}, needs a number [{unit}]")
    return float(value)


def inverse_inertia(inertia: Reals) -> tuple[float, float, float, float, float, float]:
    """The six elements of the inverse of an inertia matrix, in the same order; zeros if it has none.

    >>> inverse_inertia((2.0, 4.0, 5.0, 0.0, 0.0, 0.0))
    (0.5, 0.25, 0.2, 0.0, 0.0, 0.0)
    >>> inverse_inertia((2.0, 2.0, 0.0, 0.0, 0.0, 0.0))
    (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    """
    xx, yy, zz = inertia[0], inertia[1], inertia[2]
    xy, xz, yz = inertia[3], inertia[4], inertia[5]
    a = yy * zz - yz * yz
    b = xz * yz - xy * zz
    c = xy * yz - xz * yy
    determinant = xx * a + xy * b + xz * c
    if determinant <= SINGULAR * xx * yy * zz:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return (
        a / determinant,
        (xx * zz - xz * xz) / determinant,
        (xx * yy - xy * xy) / determinant,
        b / determinant,
        c / determinant,
        (xy * xz - xx * yz) / determinant,
    )
