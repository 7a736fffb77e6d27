"""Free bodies in space, connected in pairs by the force elements under test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

Vector = NDArray[np.float64]

BODY: dict[str, Any] = {"mass": 1.3, "center_of_mass": (0.02, -0.01, 0.03), "inertia": (0.2, 0.3, 0.25)}


class TwoBodies:
    """One pair of free bodies for each element, all in one system, without gravity.

    Bodies and joints come from the registry, by id.

    Parameters
    ----------
    elements : sequence of ForceElement
        Their attachments ``body1`` and ``body2`` are set here.
    """

    def __init__(self, elements: Sequence[Any]) -> None:
        model = cosim.Model("two_bodies")
        model.add("mechanics.ground", "ground")
        model.add("mechanics.gravity", "gravity", gravity=(0.0, 0.0, 0.0))
        for i, element in enumerate(elements):
            for end in ("a", "b"):
                model.add("mechanics.rigid_body", f"{end}{i}", **BODY)
                model.add("mechanics.free", f"joint_{end}{i}", parent="ground", child=f"{end}{i}")
            given = {**element.values.given, "body1": f"a{i}", "body2": f"b{i}"}
            model.add(type(element), f"element{i}", **given)
        self.system = model.build()

    def state(self, *poses: Pose) -> cosim.State:
        """A State with the bodies of each pair at these poses, not realized."""
        state = self.system.default_state()
        self.place(state, *poses)
        return state

    def place(self, state: cosim.State, *poses: Pose) -> None:
        """Set poses and velocities of all pairs."""
        for i, pose in enumerate(poses):
            for end, (q, u) in zip("ab", pose, strict=True):
                state[f"joint_{end}{i}.q"] = q
                state[f"joint_{end}{i}.u"] = u

    @staticmethod
    def forces(state: cosim.State, pair: int = 0) -> tuple[Vector, Vector]:
        """The spatial forces on both bodies of a pair, about their origins, in Ground, rotation first."""
        state.realize(cosim.Stage.ACCELERATION)
        return state[f"a{pair}.F_GB"], state[f"b{pair}.F_GB"]

    def computed(self, state: cosim.State) -> list[str]:
        """All that the first element computes, and its forces, as hexadecimal text, to the last bit."""
        forces = self.forces(state)
        state.realize(cosim.Stage.REPORT)
        found = [f"F_GB: {force.tobytes().hex()}" for force in forces]
        for path, variable in self.system.variables.items():
            if path.startswith("element0.") and variable.kind in ("cache", "output"):
                found.append(f"{path}: {np.asarray(state[path], dtype=float).tobytes().hex()}")
        return found


Pose = tuple[tuple[Vector, Vector], tuple[Vector, Vector]]


def random_pose(seed: int, angle: float, distance: float, speed: float) -> Pose:
    """Poses and velocities of a pair of bodies: coordinates and speeds of two free joints.

    Parameters
    ----------
    seed : int
    angle : float
        Largest rotation of each body, rad.
    distance : float
        Largest coordinate of each body's origin, m.
    speed : float
        Largest component of the velocities, m/s and rad/s.
    """
    random = np.random.default_rng(seed)

    def one() -> tuple[Vector, Vector]:
        axis = random.normal(size=3)
        half = 0.5 * angle * random.uniform(-1.0, 1.0)
        quaternion = [math.cos(half), *(math.sin(half) * axis / np.linalg.norm(axis))]
        q = np.array([*quaternion, *random.uniform(-distance, distance, 3)])
        return q, random.uniform(-speed, speed, 6)

    return one(), one()


def about_ground(force: Vector, position: Vector) -> Vector:
    """A spatial force about a body's origin, moved to Ground's origin."""
    return np.concatenate([force[:3] + np.cross(position, force[3:]), force[3:]])
