"""Random trees of bodies on joints of all kinds, in random states."""

from __future__ import annotations

import numpy as np

import cosim
import cosim_mechanics
from cosim_mechanics import Multibody

JOINTS = (
    "pin",
    "slider",
    "screw",
    "universal",
    "cylinder",
    "planar",
    "gimbal",
    "ball",
    "translation",
    "free",
    "bushing",
    "weld",
)
SOLVERS = ("dynamics.sval", "dynamics.composite_rigid_body", "dynamics.articulated_body")


def rotation(rng: np.random.Generator) -> np.ndarray:
    """Return a random rotation matrix."""
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def frame(rng: np.random.Generator) -> list[float]:
    """Return a random pose as twelve numbers."""
    return [*rotation(rng).ravel(), *rng.normal(scale=0.5, size=3)]


def random_tree(rng: np.random.Generator, solver: str, most_bodies: int) -> Multibody:
    """Return a tree of bodies ``b0`` … on joints ``j0`` …; the first joint is no weld."""
    model = Multibody("tree", gravity=tuple(rng.normal(scale=10.0, size=3)), dynamics=solver)
    bodies: list[str] = []
    for i in range(int(rng.integers(1, most_bodies + 1))):
        axes = rotation(rng)
        # principal moments of three rods: any positive lengths give a possible body
        a, b, c = rng.uniform(0.05, 1.0, size=3)
        inertia = axes @ np.diag([b + c, a + c, a + b]) @ axes.T
        model.body(
            f"b{i}",
            mass=float(rng.uniform(0.2, 5.0)),
            center_of_mass=tuple(rng.normal(scale=0.3, size=3)),
            inertia=inertia,
        )
        kind = str(rng.choice([k for k in JOINTS if bodies or k != "weld"]))
        pitch = {"pitch": float(rng.normal())} if kind == "screw" else {}
        model.joint(
            kind,
            name=f"j{i}",
            parent=str(rng.choice(["ground", *bodies])),
            child=f"b{i}",
            frame_on_parent=frame(rng),
            frame_on_child=frame(rng),
            **pitch,
        )
        bodies.append(f"b{i}")
    return model


def random_state(system: cosim.System, rng: np.random.Generator) -> cosim.State:
    """Return a random State, realized to Acceleration; its quaternions have length 1."""
    state = system.default_state()
    q = rng.uniform(-1.0, 1.0, size=system.nq)
    state.set_q(q)
    for name, part in system.parts.items():
        if isinstance(part, cosim_mechanics.Joint) and part.nq > part.nu:
            values = np.array(state[f"{name}.q"])
            values[:4] /= np.linalg.norm(values[:4])
            state[f"{name}.q"] = values
    state.set_u(rng.normal(size=system.nu))
    return state.realize(cosim.Stage.ACCELERATION)
