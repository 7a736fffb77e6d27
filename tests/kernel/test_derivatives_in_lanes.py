"""Derivatives of runs in lanes: the bytes are those of one direction after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cosim
from cosim.derivatives.carrier import CarryPlan
from cosim.preparation.tangent_tables import plan_of_groups
from cosim.simulation import carried_tangents
from cosim.simulation.carried_tangents import CarriedTangents
from cosim_compiler import native
from cosim_compiler.record import rows_of
from cosim_mechanics import Multibody

pytestmark = pytest.mark.skipif(not native.has_lanes(), reason="plain Python and C have no lanes")


class Ball(cosim.Component):
    """Law: height' = speed, speed' = -g; at the floor speed becomes -e speed."""

    e = cosim.parameter(default=0.8)
    g = cosim.parameter(default=9.81)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(g, speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -g

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, speed_next):
        speed_next[0] = -e * speed


class Feedback(cosim.Component):
    """Law: x' = -k late - 0.1 x."""

    k = cosim.parameter(default=1.2)
    x = cosim.auxiliary_state(start=1.0)
    late = cosim.input()

    @cosim.kernel
    def derivatives(k, x, late, x_dot):
        x_dot[0] = -k * late - 0.1 * x


class Edge(cosim.Component):
    """Law: x' = -a x, and 0 where a is 0: a branch by equality, which a direction along `a` leaves."""

    a = cosim.parameter(default=0.0)
    b = cosim.parameter(default=0.5)
    x = cosim.auxiliary_state(start=1.0)
    y = cosim.auxiliary_state(start=2.0)

    @cosim.kernel
    def derivatives(a, b, x, y, x_dot, y_dot):
        y_dot[0] = -b * y
        x_dot[0] = 0.0
        if a != 0.0:
            x_dot[0] = -a * x


class Largest(cosim.Component):
    """The largest value of the signal at the ends of steps, times `a`; 0 where `a` is 0."""

    a = cosim.parameter(default=0.0)
    largest = cosim.discrete(start=0.0)
    signal = cosim.input()

    @cosim.update
    def compare(a, largest, signal, largest_next):
        largest_next[0] = largest
        if a != 0.0:
            largest_next[0] = max(largest, a * signal)


def mount() -> tuple[cosim.System, list[str]]:
    """An engine on two bushings, one of whose parameters is 0, and a delay of its speed."""
    model = Multibody("mount", gravity=(0, 0, -9.81))
    engine = model.body("engine", mass=120.0, center_of_mass=(0, 0.02, 0.1), inertia=(4.5, 6.0, 5.2))
    model.joint("free", child=engine)
    for name, x in (("left", -0.3), ("right", 0.3)):
        model.add(
            "mechanics.linear_bushing", name, body1="ground", body2=engine,
            frame_on_body1=(x, 0, 0), frame_on_body2=(x, 0, 0),
            stiffness=[0, 900.0, 800.0, 1.2e5, 1.2e5, 2.4e5], damping=[20.0, 20, 20, 300, 300, 600],
        )  # fmt: skip
    speed = model.measure("mechanics.velocity", "speed", of=engine, axis="z")
    model.measure("measures.delay", "felt", source=speed, delay=0.005)
    by = ["engine.mass", "left.stiffness[5]", "right.damping[5]", "felt.delay", "left.stiffness[1]"]
    return model.build(), [
        *by,
        "left.stiffness[0]",
        "engine.inertia[3]",
        "right.stiffness[5]",
        "right.stiffness[4]",
    ]


def balls() -> tuple[cosim.System, list[str]]:
    """Three balls: steps between events are few."""
    model = cosim.Model("balls")
    for i in range(3):
        model.add(Ball(height=1.0 + 0.3 * i), f"b{i}")
    return model.build(), [f"b{i}.{name}" for i in range(3) for name in ("e", "g", "height")]


def feedback() -> tuple[cosim.System, list[str]]:
    """Feedback of its own past, with a delay that is a parameter."""
    model = cosim.Model("feedback")
    model.add(Feedback, "f")
    model.connect(model.measure("measures.delay", "late", source="f.x", delay=0.4), "f.late")
    return model.build(), ["f.k", "late.delay", "f.x"]


def edge() -> tuple[cosim.System, list[str]]:
    """A parameter at which lanes disagree."""
    model = cosim.Model("edge")
    model.add(Edge, "x")
    return model.build(), ["x.a", "x.b", "x.x", "x.y"]


def edge_in_update() -> tuple[cosim.System, list[str]]:
    """Lanes that disagree in an update when a history has its new entry already, and another one has not."""
    model = cosim.Model("edge_in_update")
    model.add(Feedback, "f")
    model.add(Largest, "first")
    model.connect(model.measure("measures.delay", "late", source="f.x", delay=0.4), "f.late")
    model.connect("f.x", "first.signal")
    model.add(Largest, "last")
    model.connect(model.measure("measures.delay", "later", source="f.x", delay=0.7), "last.signal")
    return model.build(), ["f.k", "last.a", "late.delay", "f.x", "later.delay", "first.a", "first.largest"]


SYSTEMS = {
    "mount": (mount, 0.1),
    "balls": (balls, 1.6),
    "feedback": (feedback, 3.0),
    "edge": (edge, 1.0),
    "edge_in_update": (edge_in_update, 3.0),
}


@pytest.fixture(scope="module")
def systems() -> dict[str, tuple[cosim.System, list[str]]]:
    return {name: make() for name, (make, _) in SYSTEMS.items()}


def bytes_of_derivatives(system: cosim.System, by: list[str], until: float, **options: Any) -> bytes:
    """The bytes of the derivatives of all recorded variables along `by`."""
    run = cosim.simulate(system, until=until, derivatives=by, output_interval=until / 37, **options)
    assert not run.warnings
    derivatives = [run.derivative(of, path) for of in run.names if of != "time" for path in by]
    return b"".join(np.ascontiguousarray(x, dtype=float).tobytes() for x in derivatives)


def flow_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the flow go along all steps, as it does with a loose accuracy."""
    monkeypatch.setattr(carried_tangents, "SMOOTH_SUM", 0.0)


def carried(system: cosim.System, by: list[str], until: float, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The arrays of tangents at the end of a run."""
    carriers: list[CarriedTangents] = []
    start = CarriedTangents.start
    monkeypatch.setattr(
        CarriedTangents, "start", lambda self, state: (carriers.append(self), start(self, state))[1]
    )
    cosim.simulate(system, until=until, derivatives=by)
    return carriers[-1]._arrays


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("count", [1, 3, 4, 8, 9])
def test_each_direction_has_the_bytes_that_it_has_alone(
    systems: Any, name: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, until = SYSTEMS[name]
    system, by = systems[name]
    in_lanes = bytes_of_derivatives(system, by[:count], until)
    monkeypatch.setattr(native, "has_lanes", lambda: False)
    fresh, _ = make()  # a system keeps the tangents that were made for it
    arrays = carried(fresh, by[:count], until, monkeypatch)
    assert not arrays["lanes"].size
    assert bytes_of_derivatives(fresh, by[:count], until) == in_lanes


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_directions_have_the_same_bytes_if_the_flow_goes_along_with_them(
    systems: Any, name: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, until = SYSTEMS[name]
    system, by = systems[name]
    without_flow = bytes_of_derivatives(system, by[:count], until)
    flow_goes_along(monkeypatch)
    fresh, _ = make()
    assert bytes_of_derivatives(fresh, by[:count], until) == without_flow


def test_directions_go_in_lanes(systems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system, by = systems["feedback"]
    arrays = carried(system, by, 1.0, monkeypatch)
    plan = rows_of(CarryPlan, arrays["numbers"], 0, 1)[0]
    assert plan.first_direction == 1
    assert plan.step_in_lanes != 0
    assert plan.stays_in_lanes == 1
    assert not arrays["refused_lanes"].any()
    assert arrays["lanes"].any()


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("count", "lanes", "last_group", "last_lanes"),
    [
        *[(1, 2, 0, 2), (2, 2, 0, 2), (3, 4, 0, 4), (4, 4, 0, 4), (5, 4, 4, 4), (6, 8, 0, 8), (8, 8, 0, 8)],
        *[(9, 8, 8, 8), (10, 8, 8, 2), (11, 8, 8, 4), (13, 8, 8, 8), (16, 8, 8, 8), (17, 8, 16, 8)],
    ],
)
def test_groups_take_as_many_lanes_as_they_need(
    count: int, lanes: int, last_group: int, last_lanes: int, first: int
) -> None:
    expected = {
        "directions": first + count, "first_direction": first,
        "lanes": lanes, "last_group": first + last_group, "last_lanes": last_lanes,
    }  # fmt: skip
    assert plan_of_groups(first + count, first) == expected


def test_one_direction_goes_alone(systems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system, by = systems["feedback"]
    assert not carried(system, by[:1], 1.0, monkeypatch)["lanes"].size


@pytest.mark.parametrize("count", [2, 3])
def test_few_directions_go_in_lanes(systems: Any, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    system, by = systems["feedback"]
    arrays = carried(system, by[:count], 1.0, monkeypatch)
    assert arrays["lanes"].any()
    assert not arrays["refused_lanes"].any()


def test_two_directions_whose_lanes_disagree_go_alone(systems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system, by = systems["edge"]
    assert list(carried(system, by[:2], 1.0, monkeypatch)["refused_lanes"]) == [0.0, 1.0, 1.0]
    assert list(carried(system, by[1:3], 1.0, monkeypatch)["refused_lanes"]) == [0.0, 0.0, 0.0]


def test_a_direction_goes_alone_if_its_lane_disagrees_with_that_of_the_flow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    flow_goes_along(monkeypatch)
    system, by = edge()
    assert list(carried(system, by[:1], 1.0, monkeypatch)["refused_lanes"]) == [1.0, 1.0]
    assert list(carried(system, by[1:2], 1.0, monkeypatch)["refused_lanes"]) == [0.0, 0.0]


def test_where_lanes_disagree_their_directions_go_alone(
    systems: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, by = systems["edge"]
    assert list(carried(system, by, 1.0, monkeypatch)["refused_lanes"]) == [0.0] + [1.0] * 4
    assert list(carried(system, by[1:], 1.0, monkeypatch)["refused_lanes"]) == [0.0] * 4


def test_lanes_disagree_between_two_histories(systems: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    system, by = systems["edge_in_update"]
    owners = [system.blocks[row].owners for row in system.update_ranges["end"]]
    assert owners == [("first",), ("late",), ("last",), ("later",)]
    refused = carried(system, by[:3], 1.0, monkeypatch)["refused_lanes"]  # `first` agrees: none goes along it
    assert list(refused) == [0.0] + [1.0] * 3
