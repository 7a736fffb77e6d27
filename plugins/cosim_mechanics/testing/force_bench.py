"""Bodies in space, with the force elements under test between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import cosim
from cosim.testing.drawn_values import Values, drawn_values, values_text, write_values
from cosim_mechanics.contracts import ForceContribution

Vector = NDArray[np.float64]
Triple = tuple[float, float, float]
STENCIL = ((-2.0, 1.0 / 12.0), (-1.0, -8.0 / 12.0), (1.0, 8.0 / 12.0), (2.0, -1.0 / 12.0))
"""Places and weights of a central difference of fourth order."""

LONGEST = 10
"""The latest time of a scene, s."""
MOST_DRAWS = 999
"""Sets of an element's own values among which scenes choose."""

BODY: dict[str, Any] = {"mass": 1.3, "center_of_mass": (0.02, -0.01, 0.03), "inertia": (0.2, 0.3, 0.25)}


@dataclass(frozen=True)
class Placed:
    """The pose and the velocity of a body, in Ground.

    Attributes
    ----------
    turn : triple of float
        Rotation vector, rad.
    at : triple of float
        The body's origin, m.
    w, v : triple of float
        Angular velocity, rad/s, and velocity of the origin, m/s.
    """

    turn: Triple = (0.0, 0.0, 0.0)
    at: Triple = (0.0, 0.0, 0.0)
    w: Triple = (0.0, 0.0, 0.0)
    v: Triple = (0.0, 0.0, 0.0)

    @property
    def rotation(self) -> Rotation:
        """The rotation from the body's axes to Ground's."""
        return Rotation.from_rotvec(self.turn)

    @property
    def quaternion(self) -> Vector:
        """The quaternion (w, x, y, z)."""
        return np.roll(self.rotation.as_quat(), 1)


@dataclass(frozen=True)
class Scene:
    """Both bodies, the angles of two hinges for elements of coordinates, the element's values, and the time.

    Attributes
    ----------
    values : int
        Which ones: 0 as they are declared, else drawn (`drawn_values`).
    time : float
        s
    """

    body1: Placed = Placed()
    body2: Placed = Placed()
    q: float = 0.0
    u: float = 0.0
    values: int = 0
    q2: float = 0.0
    u2: float = 0.0
    time: float = 0.0

    def at_rest(self) -> Scene:
        """A copy with the same poses and values, without motion."""
        motionless = {"w": (0.0, 0.0, 0.0), "v": (0.0, 0.0, 0.0)}
        body1, body2 = replace(self.body1, **motionless), replace(self.body2, **motionless)
        return replace(self, body1=body1, body2=body2, u=0.0, u2=0.0)


class NoExampleError(Exception):
    """A check cannot be made in this scene: the element refuses it, or nothing is smooth there."""


class Bench:
    """A system of bodies with parts under test on them."""

    system: cosim.System

    def put(self, y: Vector, joint: str, q: Any, u: Any) -> None:
        """Write coordinates and speeds of a joint."""
        for name, values in (("q", q), ("u", u)):
            slot = self.system.variables[f"{joint}.{name}"].slot
            y[slot.offset : slot.offset + slot.size] = values

    def written(self, state: cosim.State, part: str) -> list[str]:
        """All that a part computes, as hexadecimal text, to the last bit."""
        state.realize(cosim.Stage.REPORT)
        return [
            f"{path}: {np.asarray(state[path], dtype=float).tobytes().hex()}"
            for path, variable in self.system.variables.items()
            if path.startswith(f"{part}.") and variable.kind in ("cache", "output")
        ]


class ForceBench(Bench):
    """Two free bodies and two hinged ones for each element, all in one system, without gravity.

    Bodies and joints come from the registry, by id. The second hinge is for elements of two coordinates.

    Parameters
    ----------
    elements : sequence of Force
        Their attachments are set here: bodies in the order of their declaration, coordinates to the hinges.
    """

    def __init__(self, elements: Sequence[Any]) -> None:
        model = cosim.Model("bench")
        model.add("mechanics.ground", "ground")
        model.add("mechanics.gravity", "gravity", gravity=(0.0, 0.0, 0.0))
        for i, element in enumerate(elements):
            values, ends, hinges = dict(element.values.given), iter("ab"), iter("cd")
            for name, declaration in type(element).declarations.items():
                options = declaration.options
                if declaration.kind == "attachment" and not options.get("each") and name not in values:
                    is_coordinate = options["provides"] == "coordinate"
                    values[name] = f"joint_{next(hinges)}{i}" if is_coordinate else f"{next(ends)}{i}"
            joints = {"a": "free", "b": "free", "c": "pin", "d": "pin"}
            if "d" in hinges:  # no second coordinate took it
                del joints["d"]
            for end, joint in joints.items():
                model.add("mechanics.rigid_body", f"{end}{i}", **BODY)
                model.add(f"mechanics.{joint}", f"joint_{end}{i}", parent="ground", child=f"{end}{i}")
            model.add(type(element), f"element{i}", **values)
        self.model = model
        self.system = model.build()
        self._declared = self.system.default_state()
        self._start = self._declared.y.copy()
        self._drawn: dict[tuple[int, int], Values] = {}

    def state(self, *scenes: Scene) -> cosim.State:
        """A State with the bodies of each element placed so, and its own values; not realized.

        Its time is that of the first scene.
        """
        state = self.system.default_state()
        self._put_bodies(state, scenes)
        for i, scene in enumerate(scenes):
            if scene.values:
                self.put_values(state, self.values(scene, i), i)
        return state

    def place(self, state: cosim.State, *scenes: Scene) -> None:
        """Place the bodies of all elements, and write the elements' own values."""
        self._put_bodies(state, scenes)
        for i, scene in enumerate(scenes):
            self.put_values(state, self.values(scene, i), i)

    def values(self, scene: Scene, index: int = 0) -> Values:
        """An element's own values in a scene, by name."""
        key = scene.values, index
        if key not in self._drawn:
            self._drawn[key] = drawn_values(self._declared, f"element{index}", scene.values)
        return self._drawn[key]

    def put_values(self, state: cosim.State, values: Values, index: int = 0) -> None:
        """Write an element's own values."""
        write_values(state, f"element{index}", values)

    def scene_text(self, scene: Scene) -> str:
        """A scene in the message of a check that fails."""
        return f"{scene}" + (f" ({values_text(self.values(scene))})" if scene.values else "")

    def _put_bodies(self, state: cosim.State, scenes: Sequence[Scene]) -> None:
        y = self._start.copy()
        for i, scene in enumerate(scenes):
            for end, body in (("a", scene.body1), ("b", scene.body2)):
                self.put(y, f"joint_{end}{i}", [*body.quaternion, *body.at], [*body.w, *body.v])
            self.put(y, f"joint_c{i}", scene.q, scene.u)
            if f"joint_d{i}" in self.system.parts:
                self.put(y, f"joint_d{i}", scene.q2, scene.u2)
        state.set_time(scenes[0].time)
        state.set_y(y)

    @staticmethod
    def forces(state: cosim.State, index: int = 0) -> dict[str, Vector]:
        """The forces of one element: on its bodies ``a`` and ``b``, then on others and on joints by name."""
        exerted = ForceBench.contribution(state, index)
        on_ends = {end: exerted.bodies.get(f"{end}{index}", np.zeros(6)) for end in "ab"}
        on_others = {name: force for name, force in exerted.bodies.items() if name[0] not in "ab"}
        return on_ends | on_others | exerted.coordinates

    @staticmethod
    def contribution(state: cosim.State, index: int = 0) -> ForceContribution:
        """The forces and inertias of one element."""
        state.realize(cosim.Stage.ACCELERATION)
        contribution: ForceContribution = state.system.parts[f"element{index}"].force_contribution(state)
        return contribution

    @classmethod
    def power(cls, state: cosim.State, index: int = 0) -> tuple[float, float]:
        """The power of one element on bodies and coordinates, W, and the size of the terms of this sum."""
        total = size = 0.0
        for name, force in cls.forces(state, index).items():
            body = f"{name}{index}" if name in ("a", "b") else name
            path = f"{name}.u" if name.startswith("joint") else f"{body}.V_GB"
            velocity = np.atleast_1d(state[path])
            total += float(force @ velocity)
            size += float(np.abs(force) @ np.abs(velocity))
        return total, size

    def computed(self, state: cosim.State) -> list[str]:
        """All that the first element computes, and its forces, as hexadecimal text, to the last bit."""
        forces = self.forces(state)
        return [f"force on {name}: {force.tobytes().hex()}" for name, force in forces.items()] + self.written(
            state, "element0"
        )


def realized(state: cosim.State, stage: cosim.Stage = cosim.Stage.ACCELERATION) -> cosim.State:
    """The State, realized. One that the element refuses with an error, or without numbers, is not usable."""
    try:
        state.realize(max(stage, cosim.Stage.ACCELERATION))
    except cosim.SimulationError as error:
        raise NoExampleError from error
    if not np.all(np.isfinite(state.y_dot)):
        raise NoExampleError
    return state


@contextmanager
def no_example_is_skipped() -> Iterator[None]:
    """Let Hypothesis look for another example where one is none."""
    try:
        yield
    except NoExampleError:
        assume(False)


def scenes(angle: float, distance: float, speed: float) -> st.SearchStrategy[Scene]:
    """Scenes in these ranges, on a grid, so that the smallest counterexample is easy to read.

    Parameters
    ----------
    angle : float
        Largest rotation of each body and of the hinges, rad.
    distance : float
        Largest coordinate of each body's origin, m.
    speed : float
        Largest component of the velocities, m/s and rad/s.
    """

    def triple(largest: float) -> st.SearchStrategy[Triple]:
        return st.tuples(number(largest), number(largest), number(largest))

    def number(largest: float) -> st.SearchStrategy[float]:
        return st.integers(-50, 50).map(lambda i: round(largest * i / 50.0, 12))

    body = st.builds(Placed, triple(angle / math.sqrt(3.0)), triple(distance), triple(speed), triple(speed))
    draws = st.integers(0, MOST_DRAWS)
    second = number(angle), number(speed)
    time = st.integers(0, LONGEST).map(float)
    return st.builds(Scene, body, body, number(angle), number(speed), draws, *second, time)


def random_scene(seed: int, angle: float, distance: float, speed: float) -> Scene:
    """One scene in these ranges, the same for each seed; every third one with the declared values.

    Its time is the last that is drawn.
    """
    random = np.random.default_rng(seed)

    def triple(largest: float) -> Triple:
        x, y, z = random.uniform(-largest, largest, 3).tolist()
        return (x, y, z)

    def body() -> Placed:
        return Placed(triple(angle / math.sqrt(3.0)), triple(distance), triple(speed), triple(speed))

    q, u = float(random.uniform(-angle, angle)), float(random.uniform(-speed, speed))
    bodies = body(), body()
    q2, u2 = float(random.uniform(-angle, angle)), float(random.uniform(-speed, speed))
    time = float(random.uniform(0.0, LONGEST))
    return Scene(*bodies, q, u, seed if seed % 3 else 0, q2, u2, time)


def about_ground(force: Vector, position: Vector) -> Vector:
    """A spatial force about a body's origin, moved to Ground's origin."""
    return np.concatenate([force[:3] + np.cross(position, force[3:]), force[3:]])
