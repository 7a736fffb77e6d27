"""Jacobians of points and frames, and what is added to their accelerations by velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.tree_motion import TreeMotion

Array = NDArray[np.float64]


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


def _located(motion: TreeMotion, link: int, frame: Any) -> Array:
    """The origin of a frame on a body, in Ground."""
    numbers = np.asarray(frame, dtype=float).reshape(-1)
    if numbers.size not in (3, 12):
        raise ValueError(f"a frame on a body is a position of 3 numbers or a pose of 12, not {numbers.size}")
    R, p = motion.pose(link)
    located: Array = p + R @ numbers[-3:]
    return located
