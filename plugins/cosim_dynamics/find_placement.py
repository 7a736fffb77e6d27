"""Coordinates at which bodies are where they should be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.free_directions import holds, velocity_jacobian
from cosim_dynamics.placement import Placement
from cosim_dynamics.ranges import Range, ranges_of
from cosim_dynamics.tree_motion import TreeMotion
from cosim_mechanics import contracts
from cosim_mechanics.spatial import pose

Array = NDArray[np.float64]
ITERATIONS = 200
TRIES = 30
TOLERANCE = 1e-10
"""m and rad."""
LARGEST_STEP = 0.5
"""Of a coordinate in one iteration, rad or m."""
MEETS = 1e3
"""Weight of constraints beside targets in a step; after it they are met exactly."""
STUCK = 1e-13
"""Of a step, rad or m."""


def inverse_kinematics(
    system: cosim.System,
    targets: Mapping[str, Any],
    state: cosim.State | None = None,
    *,
    frames: Mapping[str, Any] | None = None,
    fixed: Iterable[str] = (),
    within_limits: bool = True,
    tolerance: float = TOLERANCE,
    tries: int = TRIES,
) -> Placement:
    """The State near a given one in which bodies are where they should be, and what moved for that.

    Law: the least sum of squares of what is missing, by Levenberg and Marquardt's method on the Jacobian of
    the targets; angles are weighted with the size of the mechanism. Constraints hold, and coordinates stay
    within their ranges. Of many solutions it finds one near the start. Where a search ends elsewhere, it
    begins anew from coordinates drawn from their ranges, always the same ones.

    Parameters
    ----------
    system : System
    targets : mapping of str to array_like
        By body: where its origin shall be in Ground, shape (3,), m; or its pose, as a joint's frame is
        written: twelve numbers, or a position and angles. Without targets only constraints and ranges are
        met.
    state : State, optional
        Where the search begins, by default the default State. It is not changed.
    frames : mapping of str to pose, optional
        By body: the frame on it that the target is for, by default the body's own.
    fixed : iterable of str
        Joints that do not move.
    within_limits : bool
        Whether coordinates stay in the ranges of force elements with `lower` and `upper`, as
        `mechanics.coordinate_stop`.
    tolerance : float, m and rad
    tries : int
        Searches that are begun at most.

    Returns
    -------
    Placement
        ``start_values(placement.state)`` are start values for the model.

    Raises
    ------
    LookUpError
        No body or joint has such a name.
    SimulationError
        When no search reached the targets: how near the best one came, and which ranges held it.

    References
    ----------
    T. Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, IEEE
    Transactions on Robotics 27 (2011).

    Examples
    --------
    >>> from cosim_mechanics import Multibody
    >>> model = Multibody("pendulum")
    >>> body = model.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
    >>> joint = model.joint("pin", name="hinge", child=body)
    >>> found = inverse_kinematics(model.build(), {"rod": (0, 1, 0)}, frames={"rod": (1, 0, 0)})
    >>> print(found)
    hinge.q: 0 → 1.57079633
    """
    start = (system.default_state() if state is None else state).copy()
    start.set_u(np.zeros(system.nu))
    search = _Search(system, start, targets, frames or {}, fixed, within_limits, tolerance)
    best: cosim.State | None = None
    best_size = math.inf
    random = np.random.default_rng(0)
    for number in range(1, max(1, tries) + 1):
        candidate = start.copy() if number == 1 else search.drawn(random)
        try:
            iterations = search.run(candidate)
        except (cosim.SimulationError, ValueError):
            continue  # constraints that are not met from there
        position, angle = search.errors(candidate)
        if position <= tolerance and angle <= tolerance:
            candidate.realize(cosim.Stage.ACCELERATION)
            moved = _moved(system, system.default_state() if state is None else state, candidate)
            return Placement(
                candidate, moved, search.at_limits(candidate), position, angle, iterations, number
            )
        size = position + search.size * angle
        if best is None or size < best_size:
            best, best_size = candidate.copy(), size
    raise cosim.SimulationError(start.time, search.complaint(best, max(1, tries)))


class _Target(NamedTuple):
    """A wanted pose of a frame on a link."""

    link: int
    frame: Array  # its pose on the link
    rotation: Array | None  # in Ground; None: any
    position: Array  # in Ground, m


class _Search:
    """The constants of all tries."""

    def __init__(
        self,
        system: cosim.System,
        start: cosim.State,
        targets: Mapping[str, Any],
        frames: Mapping[str, Any],
        fixed: Iterable[str],
        within_limits: bool,
        tolerance: float,
    ) -> None:
        self.system, self.start, self.tolerance = system, start, tolerance
        motion = TreeMotion(system, start.realize(cosim.Stage.VELOCITY))
        bodies = [link.body.name for link in motion.links]
        for name in (*targets, *frames):
            if name not in bodies:
                raise cosim.LookUpError("body", name, bodies)
        for name in frames:
            if name not in targets:
                raise cosim.LookUpError("target", name, targets)
        self.targets = [
            _Target(motion.index(name), np.array(pose(frames.get(name, (0.0, 0.0, 0.0)))), *_goal(goal))
            for name, goal in targets.items()
        ]
        self.closed = holds(system)
        self.free = np.ones(system.nu, dtype=bool)
        joints = {link.joint.name: i for i, link in enumerate(motion.links)}
        for name in fixed:
            if name not in joints:
                raise cosim.LookUpError("joint", name, joints)
            self.free[motion.speeds[joints[name]]] = False
        self.ranges = ranges_of(system, start) if within_limits else []
        self.size = max([float(np.linalg.norm(p)) for p in motion.p_M], default=0.0) or 1.0
        self.turning = [s for s in _simple_speeds(system, motion) if self.free[s.speed]]

    def drawn(self, random: np.random.Generator) -> cosim.State:
        """A start of another try: free coordinates anywhere in their ranges, or in a full turn."""
        state = self.start.copy()
        y = np.array(state.y)
        for place in self.turning:
            ends = next((r for r in self.ranges if r.speed == place.speed), place)
            y[place.coordinate] = random.uniform(ends.lower, ends.upper)
        state.set_y(y)
        return state

    def run(self, state: cosim.State) -> int:
        """Move a State as near to the targets as it gets from where it is; how many steps that took."""
        self._enter_ranges(state)
        cosim.assemble(self.system, state)
        damping, missing = 1e-3, self._missing(state)
        for iteration in range(ITERATIONS):
            if self._is_met(missing):
                return iteration
            J, y = self._jacobian(state), np.array(state.y)
            while True:
                step = self._step(state, J, missing, damping)
                if not np.abs(step).max(initial=0.0) > STUCK or damping > 1e12:
                    return iteration
                self._move(state, y, step)
                after = self._missing(state)
                if after @ after < missing @ missing:
                    damping, missing = max(1e-14, 0.1 * damping), after
                    break
                damping *= 10.0
                state.set_y(y)
        return ITERATIONS

    def errors(self, state: cosim.State) -> tuple[float, float]:
        """Largest distance, m, and angle, rad."""
        missing = self._missing(state).reshape(-1, 6)
        angles = np.linalg.norm(missing[:, :3], axis=1).max(initial=0.0) / self.size
        return float(np.linalg.norm(missing[:, 3:], axis=1).max(initial=0.0)), float(angles)

    def at_limits(self, state: cosim.State) -> list[str]:
        """Coordinates at an end of their range."""
        q = state.y
        return [
            r.name for r in self.ranges if min(q[r.coordinate] - r.lower, r.upper - q[r.coordinate]) <= STUCK
        ]

    def complaint(self, state: cosim.State | None, tries: int) -> str:
        """Why no State was found."""
        if state is None:
            return f"inverse kinematics: the constraints are met from none of {tries} starts"
        position, angle = self.errors(state)
        held = self.at_limits(state)
        ranges = f", held by the ranges of {', '.join(held)}" if held else ""
        return (
            f"inverse kinematics: no State of {tries} searches reaches the targets; the nearest is off by "
            f"{position:.3g} m and {angle:.3g} rad{ranges}. The targets may be out of reach, or need a joint "
            "that is fixed"
        )

    def _is_met(self, missing: Array) -> bool:
        parts = missing.reshape(-1, 6)
        goal = 0.1 * self.tolerance
        return bool(
            (np.linalg.norm(parts[:, :3], axis=1) <= goal * self.size).all()
            and (np.linalg.norm(parts[:, 3:], axis=1) <= goal).all()
        )

    def _missing(self, state: cosim.State) -> Array:
        """The rotation (rad, times the size of the mechanism) and translation (m) that each target lacks."""
        from scipy.spatial.transform import Rotation

        motion = TreeMotion(self.system, state.realize(cosim.Stage.VELOCITY))
        parts = [np.zeros(0)]
        for target in self.targets:
            R, p = motion.pose(target.link)
            turn = np.zeros(3)
            if target.rotation is not None:
                R_GF = R @ target.frame[:9].reshape(3, 3)
                turn = Rotation.from_matrix(target.rotation @ R_GF.T).as_rotvec()
            parts += [self.size * turn, target.position - p - R @ target.frame[9:]]
        return np.concatenate(parts)

    def _jacobian(self, state: cosim.State) -> Array:
        motion = TreeMotion(self.system, state)
        rows = [np.zeros((0, self.system.nu))]
        for target in self.targets:
            R, p = motion.pose(target.link)
            J = motion.jacobian(target.link, p + R @ target.frame[9:])
            rows += [J[:3] * (self.size if target.rotation is not None else 0.0), J[3:]]
        return np.vstack(rows)

    def _step(self, state: cosim.State, J: Array, missing: Array, damping: float) -> Array:
        """The displacements along speeds of a damped step that stays in the ranges."""
        from scipy.optimize import lsq_linear

        rows, right = [J], [missing]
        if self.closed:
            G = velocity_jacobian(state) * MEETS * self.size
            rows, right = [*rows, G], [*right, np.zeros(len(G))]
        scale = math.sqrt(damping * max(float((J * J).sum()), 1e-300) / max(1, self.system.nu))
        A = np.vstack([*rows, scale * np.eye(self.system.nu)])
        b = np.concatenate([*right, np.zeros(self.system.nu)])
        lower, upper = np.full(self.system.nu, -LARGEST_STEP), np.full(self.system.nu, LARGEST_STEP)
        q = state.y
        for r in self.ranges:
            lower[r.speed] = max(lower[r.speed], r.lower - q[r.coordinate])
            upper[r.speed] = min(upper[r.speed], r.upper - q[r.coordinate])
        lower, upper = np.minimum(lower, 0.0), np.maximum(upper, 0.0)
        step = np.zeros(self.system.nu)
        able = self.free & (upper - lower > STUCK)
        if not able.any():
            return step
        plain = np.linalg.lstsq(A[:, able], b, rcond=None)[0]
        if ((plain >= lower[able]) & (plain <= upper[able])).all():
            step[able] = plain
        else:
            bounded = lsq_linear(A[:, able], b, (lower[able], upper[able]), method="bvls")
            step[able] = np.clip(bounded.x, lower[able], upper[able])
        return step

    def _move(self, state: cosim.State, y: Array, step: Array) -> None:
        """Coordinates moved along speeds; constraints met, quaternions of length 1."""
        state.set_y(y)
        state.set_u(step)
        cache = self.system.arrays(state.realize(cosim.Stage.VELOCITY)).c
        rates = cache[: self.system.nq].copy()  # it begins with the rates of coordinates
        moved = y.copy()
        moved[: self.system.nq] += rates
        state.set_y(moved)
        cosim.assemble(self.system, state)

    def _enter_ranges(self, state: cosim.State) -> None:
        y = np.array(state.y)
        for r in self.ranges:
            if self.free[r.speed]:
                y[r.coordinate] = min(max(y[r.coordinate], r.lower), r.upper)
        state.set_y(y)


def _goal(goal: Any) -> tuple[Array | None, Array]:
    """Rotation, or None where it does not matter, and position."""
    if np.size(np.asarray(goal, dtype=object)) == 3 and np.ndim(goal) == 1:
        return None, np.array(pose(goal))[9:]
    X = np.array(pose(goal))
    return X[:9].reshape(3, 3), X[9:]


def _simple_speeds(system: cosim.System, motion: TreeMotion) -> list[Range]:
    """Coordinates whose rate is a speed: a full turn of each angle, and lengths as they are."""
    ranges = []
    for link, speeds in zip(motion.links, motion.speeds, strict=True):
        joint: contracts.Joint = link.joint
        if joint.nq != joint.nu:
            continue
        for i in range(joint.nu):
            variable = system.variables[f"{joint.name}.q"]
            place = variable.slot.offset + i
            present = float(motion.state.y[place])
            reach = math.pi if joint.declarations["q"].unit(i) == "rad" else 0.0
            name = joint.name if joint.nu == 1 else f"{joint.name}[{i}]"
            ranges.append(Range(name, place, int(speeds[i]), present - reach, present + reach))
    return ranges


def _moved(system: cosim.System, before: cosim.State, after: cosim.State) -> dict[str, tuple[Array, Array]]:
    moved = {}
    for path, variable in system.variables.items():
        if variable.kind == "position" and path.endswith(".q"):
            old, new = (np.atleast_1d(np.asarray(s[path], dtype=float)) for s in (before, after))
            if not np.array_equal(old, new):
                moved[path] = old.copy(), new.copy()
    return moved
