"""Random constraints on random trees, and a dense solution of their equations by numpy.

`make` draws a tree, a State and constraints that this State meets. `check` compares the accelerations of the
framework with those of least squares: the constraints come from `constraint_jets`, the masses body by body.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from constraint_jets import Moving, conditions, skew
from random_trees import random_state, random_tree, rotation

import cosim
from cosim_dynamics import frame_bias, frame_jacobian
from cosim_mechanics import Multibody

PAIRS = ["rod", "ball_constraint", "weld_constraint", "point_in_plane", "point_on_line", "constant_angle"]
PAIRS += ["rolling_ball", "rolling_disc"]
COUPLES = ["coordinate_coupler", "speed_coupler", "gear"]
SINGLES = ["lock", "constant_speed", "constant_acceleration", "prescribed_motion"]
SIZES = {"ball_constraint": 3, "weld_constraint": 6, "point_on_line": 2, "rolling_ball": 3, "rolling_disc": 3}
SIMPLE = ("Pin", "Slider", "Screw", "Cylinder", "Translation")
GROUND = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])


class RandomCase(NamedTuple):
    """A model, a State that meets its constraints, these by kind and values, the amplitude of the wave."""

    model: Multibody
    state: cosim.State
    constraints: list[tuple[str, dict[str, Any]]]
    amplitude: float


def pose(state: cosim.State, body: str) -> np.ndarray:
    """Return the pose of a body or of Ground."""
    return GROUND if body == "ground" else np.array(state[f"{body}.X_GB"])


def station(X: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return a point of Ground in the frame of a body."""
    return X[:9].reshape(3, 3).T @ (p - X[9:])


def pair_values(kind: str, state: cosim.State, bodies: list[str], rng: np.random.Generator) -> dict[str, Any]:
    """Return values with which this State meets a constraint between two random bodies."""
    first_body, second_body = rng.choice(["ground", *bodies], size=2, replace=False)
    X1, X2 = pose(state, first_body), pose(state, second_body)
    R1, R2 = X1[:9].reshape(3, 3), X2[:9].reshape(3, 3)
    p1, p2 = rng.normal(scale=0.5, size=(2, 3))
    n, k = rng.normal(size=(2, 3))
    distance = X2[9:] + R2 @ p2 - X1[9:] - R1 @ p1
    ends = {"body1": first_body, "body2": second_body}
    points = {"point1": p1, "point2": p2}
    contact = X1[9:] + R1 @ p1
    if kind == "rod":
        return {**ends, **points, "length": np.linalg.norm(distance)}
    if kind == "ball_constraint":
        return {**ends, "point1": p1, "point2": station(X2, contact)}
    if kind == "weld_constraint":
        F = rotation(rng)
        frame2 = np.r_[(R2.T @ R1 @ F).ravel(), station(X2, contact)]
        return {**ends, "frame1": np.r_[F.ravel(), p1], "frame2": frame2}
    if kind == "point_in_plane":
        in_plane = np.cross(n, k)
        return {**ends, "normal": n, "point1": p1, "point2": station(X2, contact + R1 @ in_plane)}
    if kind == "point_on_line":
        return {**ends, "axis": n, "point1": p1, "point2": station(X2, contact + 0.7 * R1 @ n)}
    e1, e2 = R1 @ n / np.linalg.norm(n), R2 @ k / np.linalg.norm(k)
    if kind == "constant_angle":
        return {**ends, "axis1": n, "axis2": k, "angle": np.arccos(e1 @ e2)}
    if distance @ e1 < 0.0:
        n, e1 = -n, -e1
    if kind == "rolling_ball":
        return {**ends, **points, "normal": n, "radius": distance @ e1}
    return {**ends, **points, "normal": n, "axis": k, "radius": distance @ e1 / np.sqrt(1.0 - (e1 @ e2) ** 2)}


def coordinates(system: cosim.System) -> list[str]:
    """Return the names of all coordinates whose rate is their speed."""
    joints = {n: p for n, p in system.parts.items() if type(p).__name__ in SIMPLE}
    return [f"{name}[{i}]" for name, joint in joints.items() for i in range(joint.nu)]


def index(system: cosim.System, coordinate: str) -> int:
    """Return the index in u of the speed of a coordinate."""
    name, _, i = coordinate.rstrip("]").partition("[")
    return system.variables[f"{name}.u"].slot.offset - system.nq + int(i)


def value(state: cosim.State, coordinate: str) -> float:
    """Return the value of a coordinate."""
    name, _, i = coordinate.rstrip("]").partition("[")
    return float(np.atleast_1d(state[f"{name}.q"])[int(i)])


def coordinate_values(kind: str, state: cosim.State, free: list[str]) -> dict[str, Any]:
    """Return values with which this State meets a constraint on coordinates, which are taken from `free`."""
    first = free.pop()
    if kind in COUPLES:
        second = free.pop()
        offset = {} if kind == "gear" else {"offset": 0.3}
        if kind == "coordinate_coupler":
            offset["offset"] = value(state, second) + 0.7 * value(state, first)
        return {"coordinate1": first, "coordinate2": second, "ratio": -0.7, **offset}
    return {
        "coordinate": first,
        **{
            "lock": {"value": value(state, first)},
            "constant_speed": {"speed": 0.4},
            "constant_acceleration": {"acceleration": 0.6},
            "prescribed_motion": {"source": "wave"},
        }[kind],
    }


def random_constraints(system: cosim.System, state: cosim.State, rng: np.random.Generator) -> list[Any]:
    """Return constraints with half as many equations as speeds at most; sometimes one of them twice."""
    bodies, free = [n for n in system.parts if n.startswith("b")], coordinates(system)
    rng.shuffle(free)
    kinds, equations_left, constraints = [*PAIRS, *SINGLES, *COUPLES], system.nu // 2, []
    for kind in rng.permutation(kinds)[: int(rng.integers(1, 8))].tolist():
        needed = 0 if kind in PAIRS else 1 if kind in SINGLES else 2
        if SIZES.get(kind, 1) <= equations_left and needed <= len(free):
            equations_left -= SIZES.get(kind, 1)
            of_pair = kind in PAIRS
            values = (
                pair_values(kind, state, bodies, rng) if of_pair else coordinate_values(kind, state, free)
            )
            constraints.append((kind, values))
    if constraints and rng.random() < 0.4:
        constraints.append(constraints[int(rng.integers(len(constraints)))])
    return constraints


def bodies_of(state: cosim.State) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the Jacobian and the bias of each body's motion in Ground, angular part first."""
    system, nu = state.system, state.system.nu
    names = [n for n in system.parts if n.startswith("b")]
    motions = {
        n: (frame_jacobian(system, state, n, (0, 0, 0)), frame_bias(system, state, n, (0, 0, 0)))
        for n in names
    }
    return {**motions, "ground": (np.zeros((6, nu)), np.zeros(6))}


def unconstrained(model: Multibody, state: cosim.State, bodies: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return M and T - V, summed over the bodies."""
    M, forces = np.zeros((state.system.nu,) * 2), np.zeros(state.system.nu)
    gravity = np.array(model.parts["gravity"].values.numbers["gravity"])
    for n, (J, bias) in bodies.items():
        if n == "ground":
            continue
        numbers = model.parts[n].values.numbers
        R, w = pose(state, n)[:9].reshape(3, 3), (J @ state.u)[:3]
        mass, arm = float(numbers["mass"][0]), R @ np.array(numbers["center_of_mass"])
        xx, yy, zz, xy, xz, yz = numbers["inertia"]
        inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        to_center = np.block([[np.eye(3), np.zeros((3, 3))], [-skew(arm), np.eye(3)]]) @ J
        at_center = np.block([[inertia, np.zeros((3, 3))], [np.zeros((3, 3)), mass * np.eye(3)]])
        A = np.r_[bias[:3], bias[3:] - np.cross(arm, bias[:3]) + np.cross(w, np.cross(w, arm))]
        force = np.r_[-np.cross(w, inertia @ w), mass * gravity]
        M += to_center.T @ at_center @ to_center
        forces += to_center.T @ (force - at_center @ A)
    return M, forces


def equations(state: cosim.State, bodies: Any, constraints: list[Any], amplitude: float) -> np.ndarray:
    """Return rows (G, b, d) of G u_dot + b = 0 and G u = d; d is NaN where only accelerations are held."""
    nu = state.system.nu
    rows: list[Any] = []
    for kind, values in constraints:
        if kind in PAIRS:
            ends = [str(values["body1"]), str(values["body2"])]

            def condition(udot: np.ndarray, kind=kind, values=values, ends=ends) -> np.ndarray:
                moving = [
                    Moving(pose(state, n), bodies[n][0] @ state.u, bodies[n][0] @ udot + bodies[n][1])
                    for n in ends
                ]
                return np.array([jet.c[d] * d for jet, d in conditions(kind, *moving, values)])

            zero = condition(np.zeros(nu))
            G = np.array([condition(unit) - zero for unit in np.eye(nu)]).T
            rows += [np.r_[g, z, 0.0] for g, z in zip(G, zero, strict=True)]
        else:
            row = np.zeros(nu + 2)
            row[index(state.system, values.get("coordinate2", values.get("coordinate")))] = 1.0
            if "ratio" in values:
                row[index(state.system, values["coordinate1"])] -= values["ratio"]
            row[-2:] = {
                "constant_acceleration": (-0.6, np.nan),
                "prescribed_motion": (4.0 * amplitude * np.sin(0.9), 2.0 * amplitude * np.cos(0.9)),
                "constant_speed": (0.0, 0.4),
                "speed_coupler": (0.0, 0.3),
            }.get(kind, (0.0, 0.0))
            rows.append(row)
    return np.array(rows)


def can_be_met(rows: np.ndarray) -> bool:
    """Return whether some speeds meet all equations."""
    held = rows[~np.isnan(rows[:, -1])]
    u = np.linalg.lstsq(held[:, :-2], held[:, -1], rcond=1e-9)[0]
    return bool(np.abs(held[:, :-2] @ u - held[:, -1]).max(initial=0.0) < 1e-6)


def constrained(model: Multibody, state: cosim.State, constraints: list[Any]) -> tuple[cosim.System, float]:
    """Return the system with these constraints, and the amplitude of the wave that one of them follows."""
    driven = [values["coordinate"] for kind, values in constraints if kind == "prescribed_motion"]
    amplitude = value(state, driven[0]) / np.sin(0.9) if driven else 1.0
    model.measure("measures.sinusoid", "wave", amplitude=amplitude, frequency=2.0, phase=0.9)
    for i, (kind, values) in enumerate(constraints):
        model.add(f"mechanics.{kind}", f"c{i}", **values)
    return model.build(), amplitude


def make(seed: int, most_bodies: int, solver: str = "dynamics.sval") -> RandomCase | None:
    """Return a random tree in a State that meets random constraints; None if there is no such State."""
    rng = np.random.default_rng(seed)
    bare = random_tree(rng, solver, most_bodies).build()
    state = random_state(bare, rng)
    constraints = random_constraints(bare, state, rng)
    if not constraints:
        return None
    model = random_tree(np.random.default_rng(seed), solver, most_bodies)
    system, amplitude = constrained(model, state, constraints)
    assembled = system.default_state()
    assembled.set_q(state.q)
    assembled.set_u(state.u)
    try:
        cosim.assemble(system, assembled)
    except cosim.SimulationError:
        assembled.set_q(state.q)
        assembled.realize(cosim.Stage.ACCELERATION)
        assert not can_be_met(equations(assembled, bodies_of(assembled), constraints, amplitude)), (
            seed,
            constraints,
        )
        return None
    assert np.abs(assembled.q - state.q).max() < 1e-6
    return RandomCase(model, assembled, constraints, amplitude)


def check(seed: int, most_bodies: int) -> bool:
    """Compare one random case with least squares; False if there is nothing to compare."""
    case = make(seed, most_bodies)
    if case is None:
        return False
    model, state, constraints, amplitude = case
    system, bodies = state.system, bodies_of(state)
    for n, (J, _) in bodies.items():
        assert n == "ground" or np.allclose(J @ state.u, state[f"{n}.V_GB"], rtol=0, atol=1e-11)
    # least squares in the norm of the masses: u_dot = free + L^-T x, with the smallest x
    M, forces = unconstrained(model, state, bodies)
    rows = equations(state, bodies, constraints, amplitude)
    L, free = np.linalg.cholesky(M), np.linalg.solve(M, forces)
    S = np.linalg.solve(L, rows[:, :-2].T).T
    lengths = np.linalg.norm(S, axis=1)
    S, lengths = S * (lengths > 1e-11)[:, None], np.maximum(lengths, 1e-11)
    S, missing = S / lengths[:, None], -(rows[:, :-2] @ free + rows[:, -2]) / lengths
    expected = free + np.linalg.solve(L.T, np.linalg.lstsq(S, missing, rcond=1e-7)[0])
    if np.abs(rows[:, :-2] @ expected + rows[:, -2]).max() > 1e-6 * (1.0 + np.abs(expected).max()):
        return False  # they contradict each other
    # the weaker the equations, the less exact the solution
    values = np.linalg.svd(S, compute_uv=False)
    weakest = values[values > 1e-7].min(initial=1.0)
    u_dot = state.y_dot[system.nq : system.nq + system.nu]
    scale = np.abs(expected).max() + np.abs(free).max()
    assert np.abs(u_dot - expected).max() <= 1e-12 * np.linalg.cond(M) * scale / weakest**2, (
        seed,
        constraints,
    )
    redundant = any(np.atleast_1d(state[f"c{i}.redundant"]).any() for i in range(len(constraints)))
    if weakest > 1e-4:
        assert redundant == (np.sum(values > 1e-7) < len(S)), (seed, constraints)
    return True
