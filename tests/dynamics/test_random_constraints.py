"""Random trees with random constraints of all kinds against a dense solution by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from constraint_jets import Moving, conditions, skew
from test_random_trees import SOLVERS, random_state, random_tree, rotation

import cosim
import cosim_mechanics
from cosim_dynamics import frame_bias, frame_jacobian, kinetic_energy, potential_energy
from cosim_mechanics import Multibody

PAIRS = ["rod", "ball_constraint", "weld_constraint", "point_in_plane", "point_on_line", "constant_angle"]
PAIRS += ["rolling_ball", "rolling_disc"]
COUPLES = ["coordinate_coupler", "speed_coupler", "gear"]
SINGLES = ["lock", "constant_speed", "constant_acceleration", "prescribed_motion"]
SIZES = {"ball_constraint": 3, "weld_constraint": 6, "point_on_line": 2, "rolling_ball": 3, "rolling_disc": 3}
SIMPLE = ("Pin", "Slider", "Screw", "Cylinder", "Translation")
FEW, MANY = range(12), range(12, 1012)
GROUND = np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])


def pose(state: cosim.State, body: str) -> np.ndarray:
    return GROUND if body == "ground" else np.array(state[f"{body}.X_GB"])


def station(X: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A point of Ground in the frame of a body."""
    return X[:9].reshape(3, 3).T @ (p - X[9:])


def between(kind: str, state: cosim.State, bodies: list[str], rng: np.random.Generator) -> dict[str, Any]:
    """Values of a constraint between two bodies with which this State meets it."""
    one, two = rng.choice(["ground", *bodies], size=2, replace=False)
    X1, X2 = pose(state, one), pose(state, two)
    R1, R2 = X1[:9].reshape(3, 3), X2[:9].reshape(3, 3)
    p1, p2 = rng.normal(scale=0.5, size=(2, 3))
    n, k = rng.normal(size=(2, 3))
    apart = X2[9:] + R2 @ p2 - X1[9:] - R1 @ p1
    ends = {"body1": one, "body2": two}
    points = {"point1": p1, "point2": p2}
    there = X1[9:] + R1 @ p1
    if kind == "rod":
        return {**ends, **points, "length": np.linalg.norm(apart)}
    if kind == "ball_constraint":
        return {**ends, "point1": p1, "point2": station(X2, there)}
    if kind == "weld_constraint":
        F = rotation(rng)
        frame2 = np.r_[(R2.T @ R1 @ F).ravel(), station(X2, there)]
        return {**ends, "frame1": np.r_[F.ravel(), p1], "frame2": frame2}
    if kind == "point_in_plane":
        in_plane = np.cross(n, k)
        return {**ends, "normal": n, "point1": p1, "point2": station(X2, there + R1 @ in_plane)}
    if kind == "point_on_line":
        return {**ends, "axis": n, "point1": p1, "point2": station(X2, there + 0.7 * R1 @ n)}
    e1, e2 = R1 @ n / np.linalg.norm(n), R2 @ k / np.linalg.norm(k)
    if kind == "constant_angle":
        return {**ends, "axis1": n, "axis2": k, "angle": np.arccos(e1 @ e2)}
    if apart @ e1 < 0.0:
        n, e1 = -n, -e1
    if kind == "rolling_ball":
        return {**ends, **points, "normal": n, "radius": apart @ e1}
    return {**ends, **points, "normal": n, "axis": k, "radius": apart @ e1 / np.sqrt(1.0 - (e1 @ e2) ** 2)}


def coordinates(system: cosim.System) -> list[str]:
    """All whose rate is their speed, as constraints name them, in turn."""
    joints = {n: p for n, p in system.parts.items() if type(p).__name__ in SIMPLE}
    return [f"{name}[{i}]" for name, joint in joints.items() for i in range(joint.nu)]


def index(system: cosim.System, coordinate: str) -> int:
    """Of its speed among u."""
    name, _, i = coordinate.rstrip("]").partition("[")
    return system.variables[f"{name}.u"].slot.offset - system.nq + int(i)


def value(state: cosim.State, coordinate: str) -> float:
    name, _, i = coordinate.rstrip("]").partition("[")
    return float(np.atleast_1d(state[f"{name}.q"])[int(i)])


def on(kind: str, state: cosim.State, found: list[str]) -> dict[str, Any]:
    """Values of a constraint on the next coordinates with which this State meets it."""
    first = found.pop()
    if kind in COUPLES:
        second = found.pop()
        more = {} if kind == "gear" else {"offset": 0.3}
        if kind == "coordinate_coupler":
            more["offset"] = value(state, second) + 0.7 * value(state, first)
        return {"coordinate1": first, "coordinate2": second, "ratio": -0.7, **more}
    return {
        "coordinate": first,
        **{
            "lock": {"value": value(state, first)},
            "constant_speed": {"speed": 0.4},
            "constant_acceleration": {"acceleration": 0.6},
            "prescribed_motion": {"source": "wave"},
        }[kind],
    }


def chosen(system: cosim.System, state: cosim.State, rng: np.random.Generator) -> list[Any]:
    """Constraints of at most half as many equations as there are speeds; now and then one of them twice."""
    bodies, found = [n for n in system.parts if n.startswith("b")], coordinates(system)
    rng.shuffle(found)
    kinds, left, taken = [*PAIRS, *SINGLES, *COUPLES], system.nu // 2, []
    for kind in rng.permutation(kinds)[: int(rng.integers(1, 8))].tolist():
        needed = 0 if kind in PAIRS else 1 if kind in SINGLES else 2
        if SIZES.get(kind, 1) <= left and needed <= len(found):
            left -= SIZES.get(kind, 1)
            made = on(kind, state, found) if needed else between(kind, state, bodies, rng)
            taken.append((kind, made))
    if taken and rng.random() < 0.4:
        again = taken[int(rng.integers(len(taken)))]
        taken.append(again)
    return taken


def bodies_of(state: cosim.State) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each body the Jacobian and the bias of its motion in Ground, angular part first."""
    system, nu = state.system, state.system.nu
    names = [n for n in system.parts if n.startswith("b")]
    found = {
        n: (frame_jacobian(system, state, n, (0, 0, 0)), frame_bias(system, state, n, (0, 0, 0)))
        for n in names
    }
    return {**found, "ground": (np.zeros((6, nu)), np.zeros(6))}


def unconstrained(model: Multibody, state: cosim.State, bodies: Any) -> tuple[np.ndarray, np.ndarray]:
    """M and T - V, body by body."""
    M, right = np.zeros((state.system.nu,) * 2), np.zeros(state.system.nu)
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
        right += to_center.T @ (force - at_center @ A)
    return M, right


def equations(state: cosim.State, bodies: Any, taken: list[Any], amplitude: float) -> np.ndarray:
    """Rows (G, b, d) of G u_dot + b = 0 and G u = d, with NaN where speeds are not held."""
    nu = state.system.nu
    rows: list[Any] = []
    for kind, values in taken:
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
    """Whether some speeds meet all equations."""
    held = rows[~np.isnan(rows[:, -1])]
    u = np.linalg.lstsq(held[:, :-2], held[:, -1], rcond=1e-9)[0]
    return bool(np.abs(held[:, :-2] @ u - held[:, -1]).max(initial=0.0) < 1e-6)


def constrained(model: Multibody, state: cosim.State, taken: list[Any]) -> tuple[cosim.System, float]:
    """The tree with these constraints, and the amplitude of the wave that one of them follows."""
    follows = [values["coordinate"] for kind, values in taken if kind == "prescribed_motion"]
    amplitude = value(state, follows[0]) / np.sin(0.9) if follows else 1.0
    model.measure("measures.sinusoid", "wave", amplitude=amplitude, frequency=2.0, phase=0.9)
    for i, (kind, values) in enumerate(taken):
        model.add(f"mechanics.{kind}", f"c{i}", **values)
    return model.build(), amplitude


def make(seed: int, most: int, solver: str = "dynamics.sval") -> tuple[Multibody, cosim.State, Any] | None:
    """A random tree in a State that meets random constraints; None where there are none."""
    rng = np.random.default_rng(seed)
    bare = random_tree(rng, solver, most).build()
    state = random_state(bare, rng)
    taken = chosen(bare, state, rng)
    if not taken:
        return None
    model = random_tree(np.random.default_rng(seed), solver, most)
    system, amplitude = constrained(model, state, taken)
    found = system.default_state()
    found.set_q(state.q)
    found.set_u(state.u)
    try:
        cosim.assemble(system, found)
    except cosim.SimulationError:
        found.set_q(state.q)
        found.realize(cosim.Stage.ACCELERATION)
        assert not can_be_met(equations(found, bodies_of(found), taken, amplitude)), (seed, taken)
        return None
    assert np.abs(found.q - state.q).max() < 1e-6
    return model, found, (taken, amplitude)


def check(seed: int, most: int) -> bool:
    made = make(seed, most)
    if made is None:
        return False
    model, state, (taken, amplitude) = made
    system, bodies = state.system, bodies_of(state)
    for n, (J, _) in bodies.items():
        assert n == "ground" or np.allclose(J @ state.u, state[f"{n}.V_GB"], rtol=0, atol=1e-11)
    M, right = unconstrained(model, state, bodies)
    rows = equations(state, bodies, taken, amplitude)
    L, free = np.linalg.cholesky(M), np.linalg.solve(M, right)
    S = np.linalg.solve(L, rows[:, :-2].T).T
    size = np.linalg.norm(S, axis=1)
    S, size = S * (size > 1e-11)[:, None], np.maximum(size, 1e-11)
    S, missing = S / size[:, None], -(rows[:, :-2] @ free + rows[:, -2]) / size
    udot = free + np.linalg.solve(L.T, np.linalg.lstsq(S, missing, rcond=1e-7)[0])
    if np.abs(rows[:, :-2] @ udot + rows[:, -2]).max() > 1e-6 * (1.0 + np.abs(udot).max()):
        return False  # they contradict each other
    values = np.linalg.svd(S, compute_uv=False)
    weakest = values[values > 1e-7].min(initial=1.0)
    found = state.y_dot[system.nq : system.nq + system.nu]
    scale = np.abs(udot).max() + np.abs(free).max()
    assert np.abs(found - udot).max() <= 1e-12 * np.linalg.cond(M) * scale / weakest**2, (seed, taken)
    redundant = any(np.atleast_1d(state[f"c{i}.redundant"]).any() for i in range(len(taken)))
    if weakest > 1e-4:
        assert redundant == (np.sum(values > 1e-7) < len(S)), (seed, taken)
    return True


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", FEW)
def test_a_few_random_constraints(seed: int) -> None:
    check(seed, 8)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", MANY)
def test_many_random_constraints(seed: int) -> None:
    check(seed, 20)


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", FEW[:6])
def test_all_solvers_agree(seed: int) -> None:
    answers = []
    for solver in SOLVERS:
        made = make(seed, 12, solver)
        if made is None:
            return
        state, taken = made[1], made[2][0]
        multipliers = [np.atleast_1d(state[f"c{i}.multipliers"]) for i in range(len(taken))]
        accelerations = [state[f"{n}.A_GB"] for n in state.system.parts if n.startswith("b")]
        answers.append([state.y_dot.copy(), np.concatenate(multipliers), np.concatenate(accelerations)])
    for other in answers[1:]:
        for one, two in zip(answers[0], other, strict=True):
            assert np.abs(one - two).max() <= 1e-10 * (1.0 + np.abs(one).max()), (seed, taken)


def test_deep_trees_with_few_equations_are_solved_by_recursion() -> None:
    """The rule is fixed and said; corrections after a step go the same way."""
    said = []
    for links in (12, 13):
        model = Multibody("chain", gravity=(0, -9.81, 0))
        for i in range(links):
            model.body(f"b{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
            carrier = {"parent": f"b{i - 1}", "frame_on_parent": (1, 0, 0)} if i else {}
            model.joint("pin", child=f"b{i}", q=0.2, **carrier)
        model.add("mechanics.ball_constraint", "tip", body1="ground", body2=f"b{links - 1}", point1=(2, 1, 0))
        said.append(model.build().dynamics)
    assert said[0].startswith(
        "mass matrix of composite rigid bodies (below 13 speeds in a row), multipliers of 3"
    )
    assert said[1].startswith(
        "recursion over articulated bodies (from 13 speeds in a row on), multipliers of 3"
    )
    simulator = cosim.Simulator(model.build(), accuracy=1e-7)
    simulator.initialize()
    before = kinetic_energy(simulator.system, simulator.state) + potential_energy(
        simulator.system, simulator.state
    )
    simulator.advance_to(0.5)
    after = kinetic_energy(simulator.system, simulator.state) + potential_energy(
        simulator.system, simulator.state
    )
    assert np.abs(simulator.state["tip.position_error"]).max() < 1e-9
    assert after == pytest.approx(before, abs=1e-4 * abs(before))


def moved(values: dict[str, Any], R: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """The same constraint where Ground is somewhere else: what it fixes there goes along."""
    found = dict(values)
    for i in (1, 2):
        if values.get(f"body{i}") != "ground":
            continue
        for name in {1: ("normal", "axis1"), 2: ("axis2",)}[i]:
            if name in values:
                found[name] = R @ np.array(values[name])
        if f"point{i}" in values:
            found[f"point{i}"] = p + R @ np.array(values[f"point{i}"])
        if f"frame{i}" in values:
            found[f"frame{i}"] = moved_frame(values[f"frame{i}"], R, p)
        turns_axis = "radius" in values  # that of a disc is on body2, that of a line on body1
        if "axis" in values and turns_axis == (i == 2):
            found["axis"] = R @ np.array(values["axis"])
    return found


def moved_frame(X: Any, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    X = np.array(X, dtype=float)
    return np.r_[(R @ X[:9].reshape(3, 3)).ravel(), p + R @ X[9:]]


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", FEW[:6])
def test_a_rigid_motion_of_the_whole_scene_changes_nothing(seed: int) -> None:
    made = make(seed, 8)
    if made is None:
        return
    _, state, (taken, _) = made
    rng = np.random.default_rng(seed + 1000)
    R, p = rotation(rng), rng.normal(size=3)
    other = random_tree(np.random.default_rng(seed), "dynamics.sval", 8)
    gravity = other.parts["gravity"].values.numbers["gravity"]
    gravity[:] = R @ gravity
    for part in other.parts.values():
        if isinstance(part, cosim_mechanics.Joint) and part.values.attachments["parent"] == "ground":
            frame = part.values.numbers["frame_on_parent"]
            frame[:] = moved_frame(frame, R, p)
    system, _ = constrained(other, state, [(kind, moved(values, R, p)) for kind, values in taken])
    there = system.default_state()
    there.set_y(state.y)
    there.realize(cosim.Stage.ACCELERATION)
    scale = np.abs(state.y_dot).max()
    assert np.abs(there.y_dot - state.y_dot).max() <= 1e-7 * scale
    for name in bodies_of(state):
        if name != "ground":
            assert np.allclose(there[f"{name}.X_GB"], moved_frame(state[f"{name}.X_GB"], R, p), atol=1e-12)
