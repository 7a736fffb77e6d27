"""Many balls at once: pairs that are found, forces as those of single contacts, heaps that come to rest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_mechanics import BallHeap, Multibody, RigidBody
from cosim_mechanics.forces.neighbour_cells import list_pairs

LAW: dict[str, Any] = {"stiffness": 1e7, "restitution": 0.5}


def pairs_of(centers: Any, radii: Any, room: int = 12) -> tuple[int, set[tuple[int, int]]]:
    """How many pairs `list_pairs` counts, and those that it writes."""
    count = len(radii)
    pairs = np.full(2 * room * count, 7.0)
    found = list_pairs(
        np.ravel(centers), 3, 0, np.asarray(radii), np.zeros(3 * count), np.zeros(4 * count),
        np.zeros(count), pairs,
    )  # fmt: skip
    written = pairs[pairs >= 0].astype(int).reshape(-1, 2)
    assert np.all(pairs[2 * len(written) :] == -1.0)
    return found, {(min(pair), max(pair)) for pair in written.tolist()}


def all_pairs(centers: Any, radii: Any) -> set[tuple[int, int]]:
    """The same by looking at all of them."""
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=-1)
    return set(zip(*np.nonzero(np.triu(apart < radii[:, None] + radii[None], 1)), strict=True))


@pytest.mark.parametrize("width", [0.3, 1.0, 30.0])
def test_the_pairs_that_touch_are_found(width: float) -> None:
    random = np.random.default_rng(11)
    for radii in (np.full(150, 0.1), random.uniform(0.01, 0.15, 150)):
        centers = random.uniform(-width, width, (150, 3))
        found, pairs = pairs_of(centers, radii, 150)
        assert pairs == all_pairs(centers, radii)
        assert found == len(pairs)


def test_balls_that_meet_exactly_do_not_touch() -> None:
    assert pairs_of([[0.0, 0, 0], [0.5, 0, 0]], [0.25, 0.25]) == (0, set())
    assert pairs_of([[0.0, 0, 0], [np.nextafter(0.5, 0), 0, 0]], [0.25, 0.25]) == (1, {(0, 1)})
    assert pairs_of([[0.0, 0, 0]], [0.1]) == (0, set())


def test_pairs_without_room_are_counted() -> None:
    assert pairs_of(np.zeros((5, 3)) + np.arange(5)[:, None] * 1e-3, np.full(5, 0.1), 1)[0] == 10


def heap(balls: Any, radii: Any, u: Any = None, planes: Any = ((0, 0, 1, 0),), **law: Any) -> Multibody:
    """Balls of 1 kg at their places in one heap."""
    model = Multibody("heap")
    for i, place in enumerate(balls):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, *place], u=(0,) * 6 if u is None else u[i])
    model.add(
        "mechanics.ball_heap", "heap", body1="ground", balls="ball0", radii=radii, planes=planes,
        **{**LAW, **law},
    )  # fmt: skip
    return model


def test_its_forces_are_those_of_single_contacts() -> None:
    random = np.random.default_rng(2)
    places, radii = random.uniform(0.0, 0.25, (6, 3)), random.uniform(0.06, 0.12, 6)
    u = random.normal(size=(6, 6))
    model = heap(places, radii, u, [(0, 0, 2, 0), (1, 0, 0, 0.05)], dissipation=0.1)
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    single = Multibody("single")
    touching = 0
    for i in range(6):
        single.joint(
            "free",
            child=single.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3),
            q=[1, 0, 0, 0, *places[i]],
            u=u[i],
        )
        for name, frame in (
            ("z", (0, 0, 0)),
            ("x", {"position": (0.05, 0, 0), "angles": (0, math.pi / 2, 0)}),
        ):
            single.add(
                "mechanics.sphere_contact", f"{name}{i}", body1="ground", body2=f"ball{i}", radius=radii[i],
                frame_on_body1=frame, dissipation=0.1, **LAW,
            )  # fmt: skip
        for j in range(i):
            single.add(
                "mechanics.capsule_contact", f"pair{j}{i}", body1=f"ball{j}", body2=f"ball{i}",
                radius1=radii[j], radius2=radii[i], dissipation=0.1, **LAW,
            )  # fmt: skip
    expected = single.build().default_state().realize(cosim.Stage.REPORT)
    for i in range(6):
        force = expected[f"ball{i}.F_GB"]
        np.testing.assert_allclose(state[f"ball{i}.F_GB"], force, rtol=1e-9, atol=1e-9 * np.abs(force).max())
    parts = [name for name in single.parts if name[0] in "zx" or name.startswith("pair")]
    touching = sum(expected[f"{name}.depth"] > 0.0 for name in parts)
    assert state["heap.contacts"] == touching > 8
    stored = sum(expected[f"{name}.potential_energy"] for name in parts)
    assert state["heap.potential_energy"] == pytest.approx(stored, rel=1e-12)
    lost = sum(expected[f"{name}.dissipated_energy_dot"] for name in parts)
    assert state["heap.dissipated_energy_dot"] == pytest.approx(lost, rel=1e-9)


def test_sliding_friction_is_that_of_coulomb() -> None:
    depth = (3.0 * 9.81 / (4.0 * 1e7 * math.sqrt(0.1))) ** (2.0 / 3.0)
    result = heap([(0, 0, 0.1 - depth)], [0.1], [[0, 0, 0, 2.0, 0, 0]], friction=0.3).simulate(
        until=0.25, accuracy=1e-5
    )
    assert result["ball0.vx"][-1] == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-4)
    assert result["ball0.wy"][-1] * 0.1 == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-4)
    early = result.time < 0.15
    np.testing.assert_allclose(result["ball0.vx"][early], 2.0 - 0.3 * 9.81 * result.time[early], rtol=1e-3)
    assert abs(result["energy.residual"]).max() < 1e-6


def test_a_tower_comes_to_rest_and_its_energy_adds_up() -> None:
    result = heap([(0, 0, 0.1 + 0.25 * i) for i in range(3)], [0.1] * 3, restitution=0.3).simulate(
        until=1.5, accuracy=1e-5
    )
    loads = 9.81 * np.array([3.0, 2.0, 1.0])
    depths = (3.0 * loads / (4.0 * 1e7 * np.sqrt([0.1, 0.05, 0.05]))) ** (2.0 / 3.0)
    rest = np.array([0.1, 0.3, 0.5]) - np.cumsum(depths)
    np.testing.assert_allclose([result[f"ball{i}.z"][-1] for i in range(3)], rest, atol=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-5


@pytest.mark.parametrize("integrator", ["radau5", "bdf"])
def test_implicit_methods_see_what_the_balls_do_to_each_other(integrator: str) -> None:
    """Their Jacobians follow the poses of all balls."""
    places = [(0.18 * i, 0.02 * i, 0.0998 + 0.01 * i) for i in range(4)]
    system = heap(places, [0.1] * 4, friction=0.4, stiffness=1e5).build()
    heights, steps = [], []
    for method in ("dormand_prince", integrator):
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-8)
        simulator.advance_to(0.02)
        heights.append([simulator.state[f"ball{i}.{axis}"] for i in range(4) for axis in "xyz"])
        steps.append(simulator.statistics.steps)
    np.testing.assert_allclose(heights[1], heights[0], atol=1e-7)
    assert steps[1] < 20 * steps[0]


def test_saved_and_restored_it_goes_on_to_the_same_bytes() -> None:
    system = heap([(0.1 * i, 0, 0.0799 + 0.16 * (i % 2)) for i in range(8)], [0.08] * 8, friction=0.4).build()
    whole = cosim.Simulator(system, integrator="integrators.runge_kutta_4", fixed_step=1e-4)
    whole.advance_to(0.05)
    assert whole.state["heap.contacts"] > 0
    saved = whole.state.to_bytes()
    whole.advance_to(0.1)
    again = cosim.Simulator(
        system, system.state_from_bytes(saved), integrator="integrators.runge_kutta_4", fixed_step=1e-4
    )
    again.advance_to(0.1)
    assert again.state.to_bytes() == whole.state.to_bytes()


def test_centres_that_meet_are_an_error() -> None:
    with pytest.raises(cosim.SimulationError, match="two balls meet"):
        heap([(0, 0, 1), (0, 0, 1)], [0.1, 0.1]).build().default_state().realize(cosim.Stage.DYNAMICS)


def test_too_many_contacts_are_an_error() -> None:
    places = [(0.001 * i, 0, 1) for i in range(20)]
    with pytest.raises(cosim.SimulationError, match="more than 8 contacts"):
        heap(places, [0.1] * 20).build().default_state().realize(cosim.Stage.POSITION)


@pytest.mark.parametrize(
    ("balls", "radii", "planes", "message"),
    [
        ("ball0", [0.1] * 3, [(0, 0, 1, 0)], "balls are 3, but from 'ball0' on the model has 2 bodies"),
        ("ball1", [0.1] * 2, [(0, 0, 1, 0)], "from 'ball1' on the model has 1 bodies"),
        ("ground", [0.1], [(0, 0, 1, 0)], "'ground', which is not a body with a mass"),
        ("ball7", [0.1], [(0, 0, 1, 0)], "ball7"),
        ("ball0", [0.0, 0.1], [(0, 0, 1, 0)], "radii"),
        ("ball0", [0.1], [(0, 0, 0, 1)], "normal without length"),
        ("ball0", [0.1], [0, 0, 1, 0], "planes have shape"),
        ("ball0", [0.1], [(0, 0, 1, math.inf)], "not finite"),
    ],
)
def test_impossible_heaps_are_refused(balls: str, radii: Any, planes: Any, message: str) -> None:
    model = Multibody("refused")
    for i in range(2):
        model.joint(
            "free", child=model.body(f"ball{i}", mass=1.0, inertia=(1, 1, 1)), q=[1, 0, 0, 0, i, 0, 1]
        )
    with pytest.raises(cosim.CosimError, match=message):
        model.add(
            "mechanics.ball_heap", "heap", body1="ground", balls=balls, radii=radii, planes=planes, **LAW
        )
        model.build()


class Painted(RigidBody):
    """A body with more to it."""

    color = cosim.parameter(default=0.5)


def test_bodies_of_another_kind_between_are_refused() -> None:
    model = Multibody("mixed")
    for i, kind in enumerate((RigidBody, Painted, RigidBody)):
        body = model.add(kind, f"ball{i}", mass=1.0, inertia=(1, 1, 1))
        model.joint("free", child=body, q=[1, 0, 0, 0, i, 0, 1])
    model.add(
        "mechanics.ball_heap", "heap", body1="ground", balls="ball0", radii=[0.1] * 3, planes=[(0, 0, 1, 0)],
        **LAW,
    )  # fmt: skip
    with pytest.raises(cosim.ModelError, match="need bodies"):
        model.build()


def test_what_a_ball_reads_is_evaluated_before_the_heap() -> None:
    """Each of the bodies is followed: a change of the last one reaches the heap."""
    system = heap([(0, 0, 1), (1, 0, 1), (2, 0, 1)], [0.1] * 3).build()
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    assert state["heap.contacts"] == 0
    state["ball2_joint.q"] = [1, 0, 0, 0, 1.19, 0, 1]
    state.realize(cosim.Stage.ACCELERATION)
    assert state["heap.contacts"] == 1
    assert state["ball1.ax"] < 0.0 < state["ball2.ax"]
    made = BallHeap(body1="ground", balls="ball0", radii=[0.1], planes=[(0, 0, 3, 1)], stiffness=1.0)
    assert made.planes.tolist() == [[0, 0, 1, 1]]
