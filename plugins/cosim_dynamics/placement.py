"""The result of placing a mechanism, and what moved for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

import cosim

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Placement:
    """A State in which bodies are where they should be.

    Attributes
    ----------
    state : State
        Speeds zero, realized to ACCELERATION.
    moved : dict of str to (ndarray, ndarray)
        By path of the coordinates of a joint (``"elbow.q"``): before and after, of those that moved.
    at_limits : list of str
        Elements of coordinates that stand at an end of their range.
    position_error, angle_error : float
        The largest ones, m and rad.
    iterations, tries : int
        Of the last search, and how many were begun.

    Examples
    --------
    >>> import cosim
    >>> from cosim_dynamics import inverse_kinematics
    >>> from cosim_mechanics import Multibody
    >>> model = Multibody("crane")
    >>> body = model.body("hook", mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> joint = model.joint("slider", name="rail", child=body)
    >>> print(inverse_kinematics(model.build(), {"hook": (2.0, 0.0, 0.0)}))
    rail.q: 0 → 2
    """

    state: cosim.State
    moved: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    at_limits: list[str] = field(default_factory=list)
    position_error: float = 0.0
    angle_error: float = 0.0
    iterations: int = 0
    tries: int = 1

    def __str__(self) -> str:
        lines = [
            f"{path}: {_shown(before)} → {_shown(after)}" for path, (before, after) in self.moved.items()
        ]
        lines += [f"{name} stands at the end of its range" for name in self.at_limits]
        return "\n".join(lines) or "nothing moved"


def _shown(values: Array) -> str:
    return " ".join(f"{value + 0.0:.9g}" for value in values)
