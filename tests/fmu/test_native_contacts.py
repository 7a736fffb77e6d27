"""Native FMUs with contacts have the same bytes as the run in Python, through impacts and sticking."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from export_tools import running
from native_tools import InProcess, export_native, needs_compiler

import cosim
from cosim_mechanics import Multibody, shapes

pytestmark = [needs_compiler, pytest.mark.thorough]
METHOD = "integrators.dormand_prince"
ROUGH = {"stiffness": 1e7, "restitution": 0.4, "static_friction": 0.5, "dynamic_friction": 0.4}


def pile() -> cosim.Model:
    """A block that slides and stops, a drum that starts to roll, a ball and a rod on a table."""
    model = Multibody("pile")
    half = math.sqrt(0.5)
    starts = {
        "block": [1, 0, 0, 0, 0, 0, 0.1],
        "drum": [half, half, 0, 0, 0, 2, 0.1],
        "ball": [1, 0, 0, 0, 0.1, 4, 0.35],
        "rod": [1, 0, 0, 0, -0.1, 4, 0.27],
    }
    for name, q in starts.items():
        body = model.body(name, mass=1.0, inertia=(0.004, 0.004, 0.004))
        speed = 0.4 if name in ("block", "drum") else 0.0
        model.joint("free", child=body, q=q, u=[0, 0, 0, speed, 0, 0])
    floor = shapes.HalfSpace()
    model.shape_contacts("slides", "ground", floor, "block", shapes.Box((0.3, 0.3, 0.2), 0.02), **ROUGH)
    model.shape_contacts("rolls", "ground", floor, "drum", shapes.Cylinder(0.1, 0.3, 0.02), **ROUGH)
    table = shapes.Box((1, 1, 0.2), frame=(0, 4, 0.1))
    model.shape_contacts("ball_on", "ground", table, "ball", shapes.Sphere(0.1), **ROUGH)
    model.shape_contacts("rod_on", "ground", table, "rod", shapes.Capsule(0.05, (0.1, 0, 0)), **ROUGH)
    model.shape_contacts(
        "meet", "ball", shapes.Sphere(0.1), "rod", shapes.Capsule(0.05, (0.1, 0, 0)), **ROUGH
    )
    return model


def heap() -> cosim.Model:
    """All kinds of shapes fall together on a floor with friction; two have a material of their own."""
    model = Multibody("heap")
    rubber = shapes.Material("5 MPa", 0.5, restitution=0.3, friction=0.8)
    shapes_of_bodies: dict[str, Any] = {
        "crate": shapes.Box((0.3, 0.3, 0.2), 0.02, material=rubber),
        "ball": shapes.Sphere(0.1, material=shapes.Material("1 GPa", friction=0.1)),
        "rod": shapes.Capsule(0.05, (0.1, 0, 0)),
        "drum": shapes.Cylinder(0.1, 0.2, 0.02),
        "stone": shapes.ConvexMesh([(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)], 0.02),
    }
    positions = {
        "crate": (0, 0.1),
        "ball": (0.05, 0.3),
        "rod": (0.3, 0.06),
        "drum": (0.5, 0.1),
        "stone": (0.2, 0.2),
    }
    for name, (x, z) in positions.items():
        body = model.body(name, mass=1.0, inertia=(0.004, 0.004, 0.004))
        model.joint("free", child=body, q=[1, 0, 0, 0, x, 0, z], u=[0, 0, 0, 0.3, 0, 0])
    model.collisions(
        "scene",
        {"ground": shapes.HalfSpace(), **shapes_of_bodies},
        stiffness=1e7,
        restitution=0.4,
        friction=0.4,
    )
    return model


def rattle(friction: float = 0.1) -> cosim.Model:
    """A ball strikes two walls 1,000 times a second, with friction."""
    model = Multibody("rattle", gravity=(0, 0, 0))
    ball = model.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 0.1], u=[0, 0, 0, 0.01, 0, 1.35])
    for name, frame in (("low", (0, 0, -0.0005)), ("high", ((0, 0, 0.2005), (math.pi, 0, 0)))):
        model.add(
            "mechanics.sphere_contact", name, body1="ground", body2=ball, radius=0.1, frame_on_body1=frame,
            stiffness=1e11, static_friction=friction, dynamic_friction=friction,
        )  # fmt: skip
    return model


def smooth_rattle() -> cosim.Model:
    """The ball of `rattle` without friction."""
    return rattle(friction=0.0)


@pytest.mark.parametrize(
    ("make_model", "until", "accuracy"),
    [(pile, 0.24, 1e-4), (rattle, 0.1, 1e-6), (smooth_rattle, 0.1, 1e-6), (heap, 0.6, 1e-4)],
    ids=["pile", "rattle", "smooth_rattle", "heap"],
)
def test_contacts_have_the_same_bytes_also_after_a_rollback(
    make_model: Callable[[], cosim.Model], until: float, accuracy: float, tmp_path: Path
) -> None:
    in_python = InProcess(make_model(), METHOD, accuracy).start()
    count = 12
    step = until / count
    options = {"kind": "cs", "integrator": METHOD, "accuracy": accuracy}
    with running(export_native(make_model(), tmp_path / "contact.fmu", **options)) as fmu:
        fmu.start()
        for i in range(count):
            fmu.steps(i, i + 1, step)
            in_python.advance(step * i + step)
            assert fmu.all() == in_python.all()
            if i == 5:
                state, values_of_state = fmu.slave.serializeFMUState(fmu.slave.getFMUState()), fmu.all()
        fmu.slave.setFMUState(fmu.slave.deserializeFMUState(state))
        assert fmu.all() == values_of_state
        fmu.steps(6, count, step)
        assert fmu.all() == in_python.all()
    assert in_python.simulator is not None
    state = in_python.simulator.state
    if make_model in (rattle, smooth_rattle):
        impacts = in_python.simulator.statistics.events / 2  # one event at touching, one at parting
        assert impacts > 0.9 * 1000 * until
    elif make_model is heap:
        assert state["scene.contacts"] >= 4
    else:
        assert state["slides_1.regime"] == 1
        assert abs(state["block.vx"]) < 1e-3
        assert state["rolls_1.regime"] == 1
