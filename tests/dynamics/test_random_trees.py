"""Random trees of all joint kinds: three solvers give the same accelerations, which meet the equations."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_dynamics import bias, inverse_dynamics, mass_matrix, torque_equations
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
FEW, MANY = range(12), range(12, 1012)


def rotation(rng: np.random.Generator) -> np.ndarray:
    matrix, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return matrix * np.sign(np.linalg.det(matrix))


def frame(rng: np.random.Generator) -> list[float]:
    return [*rotation(rng).ravel(), *rng.normal(scale=0.5, size=3)]


def random_tree(rng: np.random.Generator, solver: str, most_bodies: int) -> Multibody:
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
        more = {"pitch": float(rng.normal())} if kind == "screw" else {}
        model.joint(
            kind,
            name=f"j{i}",
            parent=str(rng.choice(["ground", *bodies])),
            child=f"b{i}",
            frame_on_parent=frame(rng),
            frame_on_child=frame(rng),
            **more,
        )
        bodies.append(f"b{i}")
    return model


def random_state(system: cosim.System, rng: np.random.Generator) -> cosim.State:
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


def check_accelerations(seed: int, most_bodies: int) -> None:
    accelerations = {}
    for solver in SOLVERS:
        rng = np.random.default_rng(seed)
        system = random_tree(rng, solver, most_bodies).build()
        state = random_state(system, rng)
        accelerations[solver] = np.array(state.y_dot[system.nq : system.nq + system.nu])
    if not system.nu:
        return
    # of the last solver: the states of all three have the same values
    M, V = mass_matrix(system, state), bias(system, state)
    udot = accelerations["dynamics.sval"]
    scale = (abs(M) @ abs(udot) + abs(V)).max() + 1.0
    for other in accelerations.values():
        assert abs(M @ (udot - other)).max() <= 1e-10 * scale
    # inverse dynamics: M udot + V - T = 0, with gravity in T
    assert abs(inverse_dynamics(system, state, udot)).max() <= 1e-10 * scale
    # the s-vals: row i of M and V_i, whatever the accelerations
    for i, equation in torque_equations(system, state).items():
        assert abs(equation.row(system.nu) - M[i]).max() <= 1e-12 * abs(M).max()
        assert abs(equation.bias - V[i]) <= 1e-12 * (abs(V).max() + 1.0)
    assert abs(M - M.T).max() <= 1e-12 * abs(M).max()
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", FEW)
def test_a_few_random_trees(seed: int) -> None:
    check_accelerations(seed, 12)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", MANY)
def test_many_random_trees(seed: int) -> None:
    check_accelerations(seed, 40)
