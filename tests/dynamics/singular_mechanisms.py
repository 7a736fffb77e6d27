"""Mechanisms that pass singular positions, and their exact motion with one degree of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.integrate import solve_ivp

from cosim_mechanics import Multibody

GRAVITY = 9.81
UPRIGHT = np.pi / 2


def four_bars(
    loops: int, speed: float = -1.0, length: float = 1.0, turned: float = 0.0, angle: float = UPRIGHT
) -> Multibody:
    """Return N parallelograms in a row, of rods with 1 kg; where all lie in one line, each loop can fold.

    Parameters
    ----------
    turned : float, rad
        The angle by which Ground's axes and gravity are turned; the motion of the mechanism is the same.
    """
    down = GRAVITY * np.array([np.sin(turned), -np.cos(turned), 0.0])
    model = Multibody("four_bars", gravity=tuple(down))
    base = length * np.array([np.cos(turned), np.sin(turned), 0.0])
    inertia = (1e-3 * length**2, length**2 / 12, length**2 / 12)
    names = [f"rod{i}" for i in range(loops + 1)] + [f"coupler{i}" for i in range(loops)]
    for name in names:
        model.body(name, mass=1.0, center_of_mass=(length / 2, 0, 0), inertia=inertia)
    for i in range(loops + 1):
        model.joint(
            "pin",
            name=f"pin{i}",
            child=f"rod{i}",
            frame_on_parent=tuple(i * base),
            q=angle + turned,
            u=speed,
        )
    for i in range(loops):
        model.joint(
            "pin",
            name=f"tip{i}",
            child=f"coupler{i}",
            parent=f"rod{i}",
            frame_on_parent=(length, 0, 0),
            q=-angle,
            u=-speed,
        )
        ends = {"body1": f"coupler{i}", "body2": f"rod{i + 1}"}
        model.constraint(
            "ball_constraint", f"closure{i}", **ends, point1=(length, 0, 0), point2=(length, 0, 0)
        )
    return model


def parallel_rods(rods: int, angle: float, speed: float) -> Multibody:
    """Return a bar on rods of 1 m side by side, all of 1 kg; each rod from the third on is redundant."""
    model = Multibody("parallel_rods", gravity=(0, -GRAVITY, 0))
    for i in range(rods):
        model.body(f"rod{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
        model.joint(
            "pin", name=f"pin{i}", child=f"rod{i}", frame_on_parent=(float(i), 0, 0), q=angle, u=speed
        )
    length = rods - 1.0
    inertia = (1e-3, length**2 / 12, length**2 / 12)
    model.body("bar", mass=1.0, center_of_mass=(length / 2, 0, 0), inertia=inertia)
    model.joint(
        "pin", name="tip", child="bar", parent="rod0", frame_on_parent=(1.0, 0, 0), q=-angle, u=-speed
    )
    for i in range(1, rods):
        ends = {"body1": "bar", "body2": f"rod{i}"}
        model.constraint(
            "ball_constraint", f"closure{i}", **ends, point1=(float(i), 0, 0), point2=(1.0, 0, 0)
        )
    return model


def exact_parallel(rods: int, times: Sequence[float], angle: float, speed: float) -> np.ndarray:
    """Return the angle of the rods of `parallel_rods` at times; the bar does not turn."""
    return pendulum_angle(rods / 3 + 1, (rods / 2 + 1) * GRAVITY, times, (angle, speed))


def exact_angle(
    loops: int, times: Sequence[float], speed: float = -1.0, length: float = 1.0, angle: float = UPRIGHT
) -> np.ndarray:
    """Return the angle of the rods of `four_bars` at times; the couplers do not turn."""
    inertia = ((loops + 1) / 3 + loops) * length**2
    weight = ((loops + 1) / 2 + loops) * length * GRAVITY
    return pendulum_angle(inertia, weight, times, (angle, speed))


def pendulum_angle(
    inertia: float, weight: float, times: Sequence[float], start: tuple[float, float]
) -> np.ndarray:
    """Return q at times, by inertia q'' = -weight cos q, from q and q' at the start."""
    return solve_angle(lambda t, y: [y[1], -weight * np.cos(y[0]) / inertia], times, start)


def solve_angle(rates: Any, times: Sequence[float], start: tuple[float, float]) -> np.ndarray:
    """Return the first of two states at times."""
    span = (0.0, times[-1])
    solution = solve_ivp(rates, span, start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times)
    return np.array(solution.y[0])


#: Bricard's mechanism: six hinges along edges of a cube, each perpendicular to the rods that it connects.
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
EDGES = np.roll(CORNERS, -1, axis=0) - CORNERS
AXES = np.array([np.cross(EDGES[i - 1], EDGES[i]) for i in range(6)])


def hinge_frame(z: np.ndarray, origin: np.ndarray) -> tuple[float, ...]:
    """Return a pose with this z axis and origin."""
    x = np.roll(np.abs(z), 1)
    return (*np.column_stack([x, np.cross(z, x), z]).ravel(), *origin)


def bricard() -> Multibody:
    """Return five rods of 1 m and 1 kg on Ground; one of the equations is redundant in every position."""
    model = Multibody("bricard", gravity=(0, -GRAVITY, 0))
    for i in range(5):
        model.body(
            f"rod{i}", mass=1.0, center_of_mass=tuple(EDGES[i] / 2), inertia=tuple((1 - EDGES[i] ** 2) / 12)
        )
        origin = EDGES[i - 1] if i else CORNERS[0]
        parent = {"parent": f"rod{i - 1}"} if i else {}
        model.joint(
            "pin",
            name=f"hinge{i}",
            child=f"rod{i}",
            **parent,
            frame_on_parent=hinge_frame(AXES[i], origin),
            frame_on_child=hinge_frame(AXES[i], np.zeros(3)),
        )
    ends = {"body1": "rod4", "body2": "ground"}
    model.constraint("ball_constraint", "closure", **ends, point1=tuple(EDGES[4]), point2=tuple(CORNERS[5]))
    across = np.roll(np.abs(AXES[5]), 1)
    for name, direction in {"first": across, "second": np.cross(AXES[5], across)}.items():
        model.constraint(
            "constant_angle", name, **ends, axis1=tuple(direction), axis2=tuple(AXES[5]), angle=np.pi / 2
        )
    return model


def bricard_corners(angle: float) -> np.ndarray:
    """Return the corners, shape (6, 3), when every other hinge has turned by this angle.

    With twists of 90° and without offsets cos a + cos b + cos a cos b = 0 connects neighbouring angles; those
    here are a - 90° and b - 90°.

    References
    ----------
    Y. Chen, Z. You, T. Tarnai, Threefold-symmetric Bricard linkages for deployable structures, International
    Journal of Solids and Structures 42, 2005.
    """
    neighbour_angle = np.arcsin(np.sin(angle) / (np.sin(angle) - 1.0))
    R, corners = np.eye(3), [CORNERS[0]]
    for i, turn in enumerate([angle, neighbour_angle, angle, neighbour_angle, angle]):
        n = AXES[i]
        cross = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        R = R @ (np.eye(3) + np.sin(turn) * cross + (1 - np.cos(turn)) * cross @ cross)
        corners.append(corners[-1] + R @ EDGES[i])
    return np.array(corners)


def exact_bricard(times: Sequence[float]) -> np.ndarray:
    """Return the angle of the first hinge at times, from rest.

    The energies of five thin rods give one equation of motion for it.
    """
    domain, degree = [-np.pi - 0.1, 0.1], 120
    paths = [
        [
            Chebyshev.interpolate(
                np.vectorize(lambda a, i=i, k=k: bricard_corners(a)[i, k]), degree, domain=domain
            )
            for k in range(3)
        ]
        for i in range(6)
    ]

    def inertia(a: np.ndarray) -> np.ndarray:
        rates = np.array([[path.deriv()(a) for path in corner] for corner in paths])
        center, turning = (rates[1:] + rates[:-1]) / 2, rates[1:] - rates[:-1]
        return (center**2).sum((0, 1)) + (turning**2).sum((0, 1)) / 12

    def potential(a: np.ndarray) -> np.ndarray:
        heights = np.array([corner[1](a) for corner in paths])
        return GRAVITY * ((heights[1:] + heights[:-1]) / 2).sum(0)

    J, V = (Chebyshev.interpolate(f, degree, domain=domain) for f in (inertia, potential))
    J_slope, V_slope = J.deriv(), V.deriv()

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], -(0.5 * J_slope(y[0]) * y[1] ** 2 + V_slope(y[0])) / J(y[0])]

    return solve_angle(rates, times, (0.0, 0.0))
