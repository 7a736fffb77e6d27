"""Random models that can be lowered: bodies with forces and constraints, parts with events, delays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from driven import Driven
from event_parts import Ball, Clockwork
from export_random import Lag, Sampler, Swing
from random_constraints import coordinates, random_constraints
from random_trees import random_state, random_tree

import cosim
import cosim_mechanics


class FromLength(cosim.Component):
    """A bounded number for a length."""

    entry = cosim.input(unit="m")
    value = cosim.output()

    @cosim.kernel
    def bound(entry, value):
        value[0] = math.tanh(entry)


class FromSpeed(cosim.Component):
    """A bounded number for a speed."""

    entry = cosim.input(unit="m/s")
    value = cosim.output()

    @cosim.kernel
    def bound(entry, value):
        value[0] = math.tanh(entry)


class ToForce(cosim.Component):
    """A bounded force for a number."""

    factor = cosim.parameter(unit="N", default=1.0)
    entry = cosim.input()
    value = cosim.output(unit="N")

    @cosim.kernel
    def bound(entry, factor, value):
        value[0] = factor * math.tanh(entry)


class ToLength(cosim.Component):
    """A bounded length for a number."""

    factor = cosim.parameter(unit="m", default=1.0)
    entry = cosim.input()
    value = cosim.output(unit="m")

    @cosim.kernel
    def bound(entry, factor, value):
        value[0] = factor * math.tanh(entry)


class ToNumber(cosim.Component):
    """A bounded number for a number."""

    factor = cosim.parameter(default=1.0)
    entry = cosim.input()
    value = cosim.output()

    @cosim.kernel
    def bound(entry, factor, value):
        value[0] = factor * math.tanh(entry)


SOLVERS = ("dynamics.sval", "dynamics.articulated_body", "dynamics.composite_rigid_body")
INTEGRATORS: tuple[dict[str, Any], ...] = (
    {"integrator": "integrators.runge_kutta_merson", "accuracy": 1e-5},
    {"integrator": "integrators.dormand_prince", "accuracy": 1e-7},
    {"integrator": "integrators.radau5", "accuracy": 1e-5},
    {"integrator": "integrators.semi_implicit_euler", "fixed_step": 5e-4, "accuracy": 1e-5},
    {"integrator": "integrators.runge_kutta_4", "fixed_step": 1e-3, "accuracy": 1e-4},
    {"integrator": "integrators.bdf", "accuracy": 1e-5},
)
PARTS = {Lag: "entry", Swing: "push", Sampler: "entry", Clockwork: "drive", Ball: "floor_height"}
MOVING = {"prescribed_motion", "prescribed_speed", "prescribed_acceleration"}
MAXIMUM_BODIES = 4


def driven_model(seed: int) -> Driven:
    """A random model with its inputs; equal seeds give equal models."""
    rng = np.random.default_rng([2024, seed])
    model = _bodies(seed, rng)
    signals: list[str] = []
    _measure_bodies(model, rng, signals)
    ports = [*_forces(model, rng), *_parts(model, rng, signals)]
    _add_measures(model, rng, signals)
    free = []
    for i, port in enumerate(ports):
        if signals and rng.random() < 0.6:
            kind = {"force": ToForce, "floor_height": ToLength}.get(port.partition(".")[2], ToNumber)
            _follow(model, kind, f"w{i}", str(rng.choice(signals)), factor=float(rng.uniform(-0.5, 0.5)))
            model.connect(f"w{i}.value", port)
        else:
            free.append(port)
    tuned = [f"{n}.{p}" for n, p in (("p0", "time_constant"), ("spring", "stiffness")) if n in model.parts
             and p in type(model.parts[n]).declarations]  # fmt: skip
    settings = dict(INTEGRATORS[seed % len(INTEGRATORS)])
    clocks = [part for part in model.parts.values() if isinstance(part, Clockwork)]
    if clocks and settings["integrator"] == "integrators.bdf":
        settings["integrator"] = "integrators.radau5"  # BDF makes almost no progress if every step updates
    kinds = {d.kind for part in model.parts.values() for d in part.declarations.values()}
    if "position" not in kinds and settings["integrator"] == "integrators.semi_implicit_euler":
        settings["integrator"] = "integrators.runge_kutta_4"
    return Driven(model, settings, seed, free, tuned)


def _bodies(seed: int, rng: np.random.Generator) -> Any:
    """A tree in random positions, in half of the cases with constraints that these positions meet."""
    if rng.random() < 0.15:
        return cosim.Model("random")
    solver = SOLVERS[seed % len(SOLVERS)]
    system = random_tree(np.random.default_rng(seed), solver, MAXIMUM_BODIES).build()
    state = random_state(system, rng)
    model = random_tree(np.random.default_rng(seed), solver, MAXIMUM_BODIES)
    for name, part in system.parts.items():
        if isinstance(part, cosim_mechanics.Joint) and part.nq:
            model.set_start(f"{name}.q", np.array(state[f"{name}.q"]))
            model.set_start(f"{name}.u", 0.3 * np.array(state[f"{name}.u"]))
    if rng.random() < 0.5:
        constraints = {
            id(v): (kind, v) for kind, v in random_constraints(system, state, rng) if kind not in MOVING
        }
        for i, (kind, values) in enumerate(constraints.values()):
            model.add(f"mechanics.{kind}", f"c{i}", **values)
    return model


def _follow(model: Any, kind: type[cosim.Component], name: str, source: str, **values: Any) -> str:
    """Add a component that follows a signal; return its output."""
    model.add(kind, name, **values)
    model.connect(source, f"{name}.entry")
    return f"{name}.value"


def _measure_bodies(model: Any, rng: np.random.Generator, signals: list[str]) -> None:
    """Measure places and velocities of bodies; append the bounded measures to `signals`."""
    bodies = [name for name in model.parts if name.startswith("b") and name[1:].isdigit()]
    for i in range(int(rng.integers(0, 3)) if bodies else 0):
        kind = str(rng.choice(["position", "velocity"]))
        axis = tuple(rng.normal(size=3))
        model.measure(f"mechanics.{kind}", f"m{i}", of=str(rng.choice(bodies)), axis=axis)
        bounded = {"position": FromLength, "velocity": FromSpeed}[kind]
        signals.append(_follow(model, bounded, f"n{i}", f"m{i}.value"))


def _forces(model: Any, rng: np.random.Generator) -> list[str]:
    """Add force elements; return the inputs of those that have one."""
    bodies = [name for name in model.parts if name.startswith("b") and name[1:].isdigit()]
    if not bodies:
        return []
    single_coordinates = coordinates(model.build())
    ports = []

    def ends() -> dict[str, Any]:
        body1, body2 = rng.choice(["ground", *bodies], size=2, replace=False)
        return {"body1": str(body1), "body2": str(body2)}

    def stations() -> dict[str, Any]:
        return {f"station_on_body{i}": tuple(rng.normal(size=3)) for i in (1, 2)}

    if rng.random() < 0.6:
        model.add("mechanics.two_point_spring", "spring", **ends(), **stations(), free_length=0.3,
                  stiffness=float(rng.uniform(5, 80)), damping=float(rng.uniform(0, 2)))  # fmt: skip
    if rng.random() < 0.4:
        model.add("mechanics.two_point_damper", "damper", **ends(), **stations(), damping=1.5)
    if rng.random() < 0.4:
        stiffness, damping = tuple(rng.uniform(5, 50, size=6)), tuple(rng.uniform(0.1, 2, size=6))
        model.add("mechanics.linear_bushing", "bushing", **ends(), stiffness=stiffness, damping=damping)
    if single_coordinates and rng.random() < 0.5:
        coordinate = str(rng.choice(single_coordinates))
        limits = {"lower": -0.8, "upper": 0.9, "stiffness": 200.0, "dissipation": 0.2}
        model.add("mechanics.coordinate_stop", "stop", coordinate=coordinate, **limits)
    if single_coordinates and rng.random() < 0.6:
        model.add("mechanics.actuator", "motor", coordinate=str(rng.choice(single_coordinates)))
        ports.append("motor.effort")
    if rng.random() < 0.5:
        model.add(
            "mechanics.applied_force", "pull", body=str(rng.choice(bodies)), axis=tuple(rng.normal(size=3))
        )
        ports.append("pull.force")
    return ports


def _parts(model: Any, rng: np.random.Generator, signals: list[str]) -> list[str]:
    """Add parts with events; append their outputs to `signals` and return their inputs."""
    ports = []
    for i in range(int(rng.integers(1, 4))):
        kind = list(PARTS)[int(rng.integers(len(PARTS)))]
        values: dict[str, Any] = {
            Lag: {"time_constant": float(rng.uniform(0.02, 0.5)), "share": float(rng.uniform(-1, 1))},
            Sampler: {"period": float(rng.choice([0.01, 0.0137, 0.02, 0.05]))},
            Swing: {"limit": float(rng.uniform(0.2, 0.7))},
            Clockwork: {"period": float(rng.uniform(0.03, 0.2)), "gain": float(rng.uniform(0.2, 1.0))},
            Ball: {"restitution": float(rng.uniform(0.8, 0.95))},
        }[kind]
        model.add(kind, f"p{i}", **values)
        ports.append(f"p{i}.{PARTS[kind]}")
        if kind is Ball:
            signals.append(_follow(model, FromLength, f"n_p{i}", f"p{i}.height"))
        elif kind is not Clockwork:
            signals.append(f"p{i}.y")
    return ports


def _add_measures(model: Any, rng: np.random.Generator, signals: list[str]) -> None:
    """Measure signals, each perhaps a measure itself; append the measures to `signals`."""
    kinds: dict[str, dict[str, Any]] = {
        "delay": {"delay": float(rng.uniform(0.004, 0.06))},
        "integrate": {},
        "first_order_filter": {"time_constant": 0.05},
        "sliding_mean": {"window": 0.03},
        "maximum": {},
        "sample_and_hold": {"period": 0.03},
        "rate_limiter": {"rising": 0.5, "falling": 0.4},
    }
    for i in range(int(rng.integers(0, 3)) if signals else 0):
        kind = str(rng.choice(list(kinds)))
        model.measure(f"measures.{kind}", f"f{i}", source=str(rng.choice(signals)), **kinds[kind])
        signals.append(f"f{i}.value")
